"""The looks of all pictures in one place: colours, of matplotlib and of pages, type and lines.

Blue and orange differ for the colour-blind and in print; the others are Okabe and Ito's ("Color
universal design", 2008).  Every colour of text has a contrast of 4.5 at least on its paper.
"""

__all__ = ["BLUES", "DARK", "DECODERS", "FALLBACKS", "LIGHT", "LOSSES", "MATPLOTLIB", "ORANGES",
           "PATHS", "POLLS", "RULE"]

# Right answers and the side -1 are left (blue), errors and the side +1 right (orange); shades are
# mixed with the paper below numbers, which have to stay readable on them.
LIGHT = {"paper": "#ffffff", "ink": "#1b1b1b", "muted": "#595959", "grid": "#e4e4e4",
         "grey": "#8c8c8c", "left": "#2171b5", "right": "#e6730c", "left-pale": "#9ecae1",
         "right-pale": "#fdbe85", "left-text": "#1a5f9e", "right-text": "#a84a00",
         "shade-left": "#2171b5", "shade-right": "#e6730c", "third": "#009e73",
         "fourth": "#cc79a7"}
DARK = {"paper": "#15181d", "ink": "#e9eaec", "muted": "#a9afb8", "grid": "#333842",
        "grey": "#8c929c", "left": "#6baed6", "right": "#fd8d3c", "left-pale": "#2b5876",
        "right-pale": "#8a4b14", "left-text": "#8cc3e8", "right-text": "#fdae6b",
        "shade-left": "#3f7fa8", "shade-right": "#b5651d", "third": "#4cc39b",
        "fourth": "#dfa3c4"}

# From paper to the darkest, for shares of right answers and for errors.
BLUES = (LIGHT["paper"], LIGHT["left-pale"], LIGHT["left"])
ORANGES = ("#fff3e6", "#fee0bf", "#fdae6b", LIGHT["right"], "#8a3a06")

# Lines of trees that join classes, and ways of points, as wide as their share.
PATHS = {"join": "#2b4a6f", "share": "#7f9db9"}
# Of cells, boxes and panels.
RULE = "#c8c8c8"
# matplotlib's scale of the losses of nodes, up to where black numbers can be read on it.
LOSSES = ("YlOrRd", 0.62)
# Decoders that are simulated: POLL, most opponents first, and others.
POLLS = ("#08306b", LIGHT["left"], "#6baed6", LIGHT["left-pale"])
DECODERS = {"max_win": LIGHT["ink"], "adag": "#d95f02", "ddag": "#7b3294"}

# What matplotlib is told of all figures.
MATPLOTLIB = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
              "axes.titlesize": 10, "savefig.dpi": 160, "svg.hashsalt": "agfmc", "backend": "agg",
              # images lie over each other as they are, not as one of more picture elements
              "image.composite_image": False}
# Fonts tried in this order, where they are installed, for signs that DejaVu Sans lacks.
FALLBACKS = ("Noto Sans CJK JP", "Noto Sans CJK SC", "Source Han Sans", "Droid Sans Fallback",
             "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Arial Unicode MS",
             "Hiragino Sans", "Yu Gothic", "Microsoft YaHei", "Noto Sans Devanagari",
             "Noto Sans Thai", "Noto Sans Symbols2")
