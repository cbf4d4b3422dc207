"""Results made visible: one neutral form, renderers for text, HTML and MultiQC, charts."""
