"""The options that a control tree leaves open: which they are, and the tree with them filled in.

They are those of rows; where no row is open, those of multi-class nodes.
"""

from __future__ import annotations

from collections import Counter

from ..control.build import rename, reopened, resolve_options
from ..control.tree import changed, Tree
from ..core.errors import UsageError
from ..learners.protocol import parse_options, plan_jobs
from .search import SearchedOptions


def open_rows(tree: Tree) -> list[bool]:
    """For each row of `tree`, True where the options of the command line would be its own."""
    default = object()
    return [text is default for text in resolve_options(tree, default)]


def open_nodes(tree: Tree) -> list[int]:
    """The numbers of the multi-class nodes of `tree` that have `""` for their options."""
    return [number for number, direct in tree.directs.items() if direct.options == ""]


def opened_again(tree: Tree, text: str = "", seed: int = 1) -> Tree:
    """`tree` whose rows of one learner are all open, whatever options they have.

    text: options to begin with, else those of the tree's heading, else those that most of these
    rows have.  `UsageError` where options that are not searched differ and none are given.
    """
    jobs, given = plan_jobs(tree, "m", text, seed)[:len(tree.rows)], text or tree.options
    named = given or not jobs or any(open_rows(tree))
    learner = type(parse_options(given) if named else jobs[0].options)
    texts = Counter(job.text for job in jobs if type(job.options) is learner)
    if not texts:
        return tree
    if not given:
        others = sorted({SearchedOptions(one).fixed for one in texts})
        if len(others) > 1:
            raise UsageError("the rows to be tuned again differ in options that are not searched, "
                             f"'{others[0]}' and '{others[1]}': -+ gives those of all")
        given = texts.most_common(1)[0][0]
    return reopened(tree, texts, given)


def searched_options(tree: Tree, text: str) -> SearchedOptions:
    """The options, with `text` for open rows, that a search begins with; `UsageError` without
    any."""
    if any(open_rows(tree)):
        return SearchedOptions(text)
    codes = sorted({tree.directs[number].learner_letter for number in open_nodes(tree)})
    if not codes:
        raise UsageError('there is nothing to tune: no row or node of the control has "" for its '
                         'options (tune_m --again searches those of rows that have some)')
    if len(codes) > 1:
        raise UsageError(f'nodes of several learners, {" and ".join(codes)}, have "" for their '
                         'options: the nodes of one alone can be tuned, give those of the others '
                         'options, or " "')
    return SearchedOptions("", codes[0])


def with_options(tree: Tree, texts) -> Tree:
    """`tree` with options for what is open: one text for all, or one for each row of `tree`."""
    is_open = open_rows(tree)
    if isinstance(texts, str):
        if not any(is_open):
            nodes = set(open_nodes(tree))
            return changed(tree, nodes=tuple(
                changed(node, direct=changed(node.direct, options=texts)) if number in nodes
                else node for number, node in enumerate(tree.nodes)))
        texts = [texts] * len(tree.rows)
    return rename(tree, [text if replaced else row.text for row, text, replaced in
                         zip(tree.rows, texts, is_open)], quoted=True)
