"""Places in messages on tables."""

import re


def without_lines(message):
    """A message on rows of a text without the lines, which tests of places look at."""
    return re.sub(r":[0-9]+: (?=row |column '[^']*', row )", ": ", message)
