"""The colours of all pictures and pages.

Blue and orange differ for the colour-blind and in print; the others are Okabe and Ito's ("Color
universal design", 2008).  Every colour of text has a contrast of 4.5 at least on its paper.
"""

# Right answers and the side -1 are left (blue), errors and the side +1 right (orange); shades are
# mixed with the paper below numbers, which have to stay readable on them.

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1b1b",
    "muted": "#595959",
    "grid": "#e4e4e4",
    "grey": "#8c8c8c",
    "left": "#2171b5",
    "right": "#e6730c",
    "third": "#009e73",
    "left-pale": "#9ecae1",
    "left-text": "#1a5f9e",
    "shade-left": "#2171b5",
    "shade-right": "#e6730c",
}
DARK = {
    "paper": "#15181d",
    "ink": "#e9eaec",
    "muted": "#a9afb8",
    "grid": "#333842",
    "grey": "#8c929c",
    "left": "#6baed6",
    "right": "#fd8d3c",
    "third": "#4cc39b",
    "left-pale": "#2b5876",
    "left-text": "#8cc3e8",
    "shade-left": "#3f7fa8",
    "shade-right": "#b5651d",
}
