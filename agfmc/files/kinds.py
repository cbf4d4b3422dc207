"""Kinds of files by their names: the formats of tables and answers."""

from __future__ import annotations

import os
from typing import NamedTuple


class AnswerFormat(NamedTuple):
    """A format of tables of answers, all of which are written and read.

    Attributes
    ----------
    ending : ending of the names of files
    help : one sentence for help and manual
    delimiter : character between cells, None where there is none
    writer : "room.module:class" of this package, as that of `AnswerText`, which takes the row too
    reader : "room.module:function", as that of `answers_in_table`
    is_table : data in this format are read too
    is_text : it may be compressed with gzip
    """

    ending: str
    help: str
    delimiter: str | None = None
    writer: str = "answers.text_table:AnswerText"
    reader: str = "answers.columns:answers_in_table"
    is_table: bool = True
    is_text: bool = True

    @property
    def endings(self) -> tuple[str, ...]:
        """Its endings, also that of a file compressed with gzip, which text may be."""
        if self.is_text:
            return (self.ending, f"{self.ending}.gz")
        return (self.ending,)


ANSWER_FORMATS = (
    AnswerFormat(".csv", "text with commas between cells", ","),
    AnswerFormat(".tsv", "text with tabs between cells", "\t"),
    AnswerFormat(
        ".jsonl",
        "a JSON object in each line",
        reader="answers.columns:answers_in_lines",
        is_table=False,
    ),
    AnswerFormat(".parquet", "a Parquet file", None, "answers.arrow:AnswerParquet", is_text=False),
    AnswerFormat(".feather", "an Arrow file", None, "answers.arrow:AnswerArrow", is_text=False),
    AnswerFormat(".arrow", "an Arrow file", None, "answers.arrow:AnswerArrow", is_text=False),
)
TEXT_ENDINGS = tuple(end for one in ANSWER_FORMATS if one.delimiter for end in one.endings)
ENDINGS = tuple(end for one in ANSWER_FORMATS if one.is_table for end in one.endings)
ANSWER_ENDINGS = tuple(end for one in ANSWER_FORMATS for end in one.endings)
_UNTITLED = {
    *ENDINGS,
    ".txt",
    ".jsonl",
    ".json",
    ".svm",
    ".lvq",
    ".vec",
    ".cls",
    ".con",
    ".truth",
    ".mbm",
    ".mbc",
    ".mbt",
}  # endings that titles do not have
ANSWERS_IN_HELP = ", ".join(one.ending for one in ANSWER_FORMATS)


def is_table(path: str) -> bool:
    """Return True if the name of a file ends as those of tables do."""
    return str(path).lower().endswith(ENDINGS)


def is_answer_table(path: str) -> bool:
    """Return True if the name of a file ends as those of tables of answers do."""
    return str(path).lower().endswith(ANSWER_ENDINGS)


def name_of_file(path: str) -> str:
    """The name of a file of data, answers or a model, without its folder and the ending that tells
    its format; the path where nothing else is left."""
    stem = os.path.basename(path).removesuffix(".gz")
    base, ending = os.path.splitext(stem)
    return (base if ending in _UNTITLED else stem) or path


def answer_format(path: str) -> AnswerFormat:
    """The format of answers that are written to a file of that name; CSV for any other name."""
    path = str(path).lower()
    return next((one for one in ANSWER_FORMATS if path.endswith(one.endings)), ANSWER_FORMATS[0])
