"""Proportions of the classes on the command line."""

from __future__ import annotations

import argparse

from .options import finite_number

__all__ = ["PROPORTIONS", "proportions"]

PROPORTIONS = "numbers p,p,... in ascending order of the labels, label=p,... for all of them, or " \
              "the .cls file of a sample"


def proportions(text):
    """A type for options: the name of a .cls file, a list of numbers, or {label: number}."""
    if text.endswith(".cls"):
        return text
    words = text.split(",")
    pairs = [word.partition("=") for word in words]
    if not any(sign for _, sign, _ in pairs):
        try:
            return [finite_number(word) for word in words]
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(
                f"expected p,p,... or label=p,... or a .cls file: {error}") from None
    found = {}
    for label, sign, number in pairs:
        if not sign or not label.strip().isdecimal():
            raise argparse.ArgumentTypeError(
                f"expected label=p, found '{label}{sign}{number}'")
        if int(label) in found:
            raise argparse.ArgumentTypeError(f"class {int(label)} is named twice")
        found[int(label)] = finite_number(number)
    return found
