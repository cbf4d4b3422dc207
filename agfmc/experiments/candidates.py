"""Candidates of a comparison: control files or schemes, each with the decoders that suit it.

Options that a control tree leaves open are those of rows; where no row is open, those of
multi-class nodes.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

import numpy as np

from ..control.build import for_names, named_as, rename, reopened, resolve_options
from ..control.parse import parse
from ..control.tree import changed, Tree, TREE_DECODERS
from ..control.write import format_tree
from ..core.errors import ControlError, in_control_file, UsageError
from ..data.training import for_classes
from ..data.types import Dataset
from ..decode.methods import find_method
from ..designs.design import design
from ..designs.schemes import find_scheme, read_scheme, scheme_name
from ..files.result_store import from_record, point_parts, result_key, ResultCache, to_record
from ..learners.protocol import parse_options, plan_jobs
from ..models.control_files import read_control
from ..prediction.decoding import decoders_of, Decoding, named_decoding
from .search import SearchedOptions

CANNOT_JUDGE = "a learned decoder is fitted to the leave-one-out values, which cannot evaluate it"


@dataclass(frozen=True)
class Candidate:
    """A configuration that is not trained yet, under the name that the user wrote.

    Attributes
    ----------
    tree : training control tree, or None for a scheme that is laid out anew for each training part
    decoders : names, or None for those that suit
    design : parameters of the scheme
    design_s : seconds of a core that a tree from the same points took
    """

    name: str
    tree: Tree | None
    scheme: str | None
    decoders: tuple | None = None
    design: dict = field(default_factory=dict, compare=False)
    design_s: float = field(default=0.0, compare=False, repr=False)

    @property
    def made_of_data(self) -> bool:
        """True if the points decide the tree."""
        return self.tree is None and "data" in find_scheme(self.scheme).made_of

    def for_classes(self, labels) -> Candidate:
        """The candidate without classes that are not in `labels`; a scheme names none."""
        if self.tree is None:
            return self
        return replace(self, tree=for_classes(self.tree, labels))

    def tree_for(self, data: Dataset, names: dict) -> Tree:
        """The training control tree for a training part with names {label: name}."""
        if self.tree is not None:
            return named_as(for_names(self.tree, names), names)
        labels = [int(label) for label in np.unique(data.y)]
        return design(
            self.scheme,
            labels,
            names=names,
            x=data.x,
            y=data.y,
            weights=data.weights,
            **self.design,
        )


def decoders_for(
    tree: Tree, names: tuple | None = None, calibrated: tuple[bool, ...] = (True,), points: int = 0
) -> tuple[Decoding, ...]:
    """The `Decoding`s that a control tree is tried with: of these names, else those that suit it.

    Those that suit are those of `decoders_of`, but for full in the place of recursive, which has no
    log loss. `calibrated` is as in an `Experiment`; without probabilities one is enough.
    """
    decoders = decoders_of(tree, names, points)
    if names is None:
        decoders = tuple(
            dict.fromkeys(  # those that a tree names may be the same then
                replace(decoder, tree="full") if decoder.tree == "recursive" else decoder
                for decoder in decoders
            )
        )
    return tuple(
        replace(decoder, calibrated=flag)
        for decoder in decoders
        for flag in (calibrated if decoder.calibration_key(tree) else calibrated[:1])
    )


def read_candidate(text: str, decoders: tuple | None = None, seed: int = 1) -> Candidate:
    """The `Candidate` of FILE or SCHEME, a scheme with its parameters, and `:DECODER,...` behind.

    `decoders` are names, where the text has none. Raises `UsageError` for text that is neither,
    and for a trained control file `ControlError`.
    """
    name, words = _split_word(text)
    if words is not None:
        decoders = tuple(word.strip() for word in words.split(","))
    for word in decoders or ():
        if word not in TREE_DECODERS:
            find_method(word)
    if name == "-" or os.path.exists(name) and not os.path.isdir(name):
        tree = read_control(name)
        tree.require_options()
        if tree.options:
            with in_control_file():
                parse_options(tree.options, **tree.place(tree.headings["options"])._asdict())
        named_decoding(tree)
        for direct in tree.directs.values():
            if direct.learner.is_program:
                raise tree.place(direct).error(
                    ControlError,
                    "a classifier of code G is run by a program: it cannot be tried here",
                )
        return Candidate(name, tree, None, decoders)
    try:
        find_scheme(scheme_name(name))
    except UsageError as error:
        data, order = (
            (f" but the data {name}.vec", ": is the order of the operands right?")
            if os.path.exists(f"{name}.vec")
            else ("", "")
        )
        raise UsageError(f"there is no file '{name}'{data}, and {error.message}{order}") from None
    return scheme_candidate(name, decoders, seed)


def scheme_candidate(text: str, decoders: tuple | None = None, seed: int = 1) -> Candidate:
    """The `Candidate` of a scheme, which has its parameters in its name."""
    scheme, settings = read_scheme(text, seed)
    if not {"classes", "data"}.intersection(scheme.made_of):
        raise UsageError(
            f"the scheme {scheme.name} starts from a file: let print_control make a "
            "control file of it"
        )
    name = " ".join([scheme.name, *(word for word in text.split() if "=" in word)])
    return Candidate(name, None, scheme.name, decoders, settings)


def read_candidates(texts, decoders: tuple | None = None, seed: int = 1) -> list[Candidate]:
    """The `Candidate`s of texts, each file or scheme with its parameters once."""
    candidates = [read_candidate(text, decoders, seed) for text in texts]
    names = [candidate.name for candidate in candidates]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"{name} is given twice: put its decoders together, as in {name}:inverse,vote"
            )
    return candidates


def suited(candidates, k: int) -> list[Candidate]:
    """The default `Candidate`s of a comparison that suit k classes: ensembles have different trees
    of three and more."""
    return [candidate for candidate in candidates if k > 2 or candidate.scheme != "ensemble"]


def _split_word(text):
    """(file or scheme, decoders or None): the name ends at the last colon that leaves a file,
    else at the first."""
    if os.path.exists(text) or ":" not in text:
        return text, None
    ends = [at for at, letter in enumerate(text) if letter == ":"]
    end = next((at for at in reversed(ends) if os.path.exists(text[:at])), ends[0])
    return text[:end], text[end + 1 :]


# -- open options ----------------------------------------------------------------------------------


def open_rows(tree: Tree) -> list[bool]:
    """For each row of `tree`, True where the options of the command line would be its own."""
    default = object()
    return [text is default for text in resolve_options(tree, default)]


def open_nodes(tree: Tree) -> list[int]:
    """The numbers of the multi-class nodes of `tree` that have `""` for their options."""
    return [number for number, direct in tree.directs.items() if direct.options == ""]


def opened_again(tree: Tree, text: str = "", seed: int = 1) -> Tree:
    """`tree` whose rows of one learner are all open, whatever options they have.

    `text` has options to begin with, else those of the tree's heading, else those that most of
    these rows have. `UsageError` where options that are not searched differ and none are given.
    """
    jobs = plan_jobs(tree, "m", text, seed)[: len(tree.rows)]
    given = text or tree.options
    named = given or not jobs or any(open_rows(tree))
    learner = type(parse_options(given) if named else jobs[0].options)
    texts = Counter(job.text for job in jobs if type(job.options) is learner)
    if not texts:
        return tree
    if not given:
        others = sorted({SearchedOptions(one).fixed for one in texts})
        if len(others) > 1:
            raise UsageError(
                "the rows to be tuned again differ in options that are not searched, "
                f"'{others[0]}' and '{others[1]}': `options` gives those of all"
            )
        given = texts.most_common(1)[0][0]
    return reopened(tree, texts, given)


def searched_options(tree: Tree, text: str) -> SearchedOptions:
    """The options, with `text` for open rows, that a search begins with; `UsageError` without
    any."""
    if any(open_rows(tree)):
        return SearchedOptions(text)
    codes = sorted({tree.directs[number].learner_letter for number in open_nodes(tree)})
    if not codes:
        raise UsageError(
            'there is nothing to tune: no row or node of the control has "" for its '
            "options (`again` searches those of rows that have some)"
        )
    if len(codes) > 1:
        raise UsageError(
            f'nodes of several learners, {" and ".join(codes)}, have "" for their '
            "options: the nodes of one alone can be tuned, give those of the others "
            'options, or " "'
        )
    return SearchedOptions("", codes[0])


def with_options(tree: Tree, text: str) -> Tree:
    """`tree` with the options `text` for what is open."""
    is_open = open_rows(tree)
    if any(is_open):
        texts = [text if replaced else row.text for row, replaced in zip(tree.rows, is_open)]
        return rename(tree, texts, quoted=True)
    nodes = list(tree.nodes)
    for number in open_nodes(tree):
        nodes[number] = changed(nodes[number], direct=changed(nodes[number].direct, options=text))
    return changed(tree, nodes=tuple(nodes))


class Design(NamedTuple):
    """A control tree for a training part, and the seconds of a core that it took to make it of
    its points, 0.0 where the classes are enough."""

    tree: Tree
    seconds: float


@dataclass(frozen=True)
class _StoredDesign:
    seconds: Annotated[float, (0.0, 1e300)]
    text: str


def design_of(candidate: Candidate, data: Dataset, names: dict, cache=ResultCache(None)) -> Design:
    """The `Design` of a candidate for the points of a training part; names: {label: name}.

    What `cache` has is not made again, and comes with the seconds that it took.
    """
    if not candidate.made_of_data:
        return Design(candidate.tree_for(data, names), candidate.design_s)
    key = result_key(
        "design 4",
        *point_parts(data),
        candidate.scheme,
        sorted(candidate.design.items()),
    )

    def loaded(stored):
        tree = parse(stored.text)
        # options and programs are none of a design
        if (
            list(tree.classes) != np.unique(data.y).tolist()
            or tree.directs
            or any(row.text or not row.quoted for row in tree.rows)
        ):
            return None
        return Design(changed(tree, names={}), stored.seconds)

    design = from_record(_StoredDesign, cache.get(key), loaded)
    if design is None:
        start = time.process_time()
        tree = candidate.tree_for(data, {})
        design = Design(tree, time.process_time() - start)
        cache.put(key, to_record(_StoredDesign(design.seconds, format_tree(tree))))
    return design._replace(tree=named_as(design.tree, names))
