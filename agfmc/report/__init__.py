"""Results made visible: one neutral form, renderers for text and HTML, charts."""
