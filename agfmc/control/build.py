"""Trees from coding matrices and from nested pairs, and trees from other trees."""

import os
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from ..core.errors import ControlError, UsageError
from ..core.text import name_fault
from .intervals import differing
from .parse import heading_fault
from .tree import (
    changed,
    clash,
    Heading,
    LazySequence,
    Leaf,
    MAX_LABEL,
    Node,
    renumbered,
    Row,
    Tree,
    TREE_DECODERS,
)


def from_rows(rows: Sequence, labels: Sequence[int], names: dict | None = None) -> Tree:
    """A tree of one coding matrix; `rows` are (left, right) positions in `labels`."""
    node = Node(LazySequence(_row, rows), tuple(map(Leaf, labels)), False, 0)
    return Tree((node,), _named(names, labels))


def _row(sides):
    left, right = sides
    return Row("", True, tuple(left), tuple(right))


def from_pairs(pairs, labels: Sequence[int]) -> Tree:
    """A decision tree from nested pairs of positions in `labels`, such as ((2, 0), 1)."""
    nodes = []
    stack = [(pairs, None, 0, 0)]
    while stack:
        pair, parent, branch, depth = stack.pop()
        if isinstance(pair, tuple):
            child = len(nodes)
            nodes.append([None, None, depth])
            stack.append((pair[1], child, 1, depth + 1))
            stack.append((pair[0], child, 0, depth + 1))
        else:
            child = Leaf(labels[pair])
        if parent is not None:
            nodes[parent][branch] = child
    if not nodes:
        raise UsageError("a tree needs at least two classes")
    return Tree(
        tuple(
            Node((Row("", True, (0,), (1,)),), (left, right), True, depth)
            for left, right, depth in nodes
        )
    )


def joined(trees: Iterable[Tree]) -> Tree:
    """Join control trees of the same classes to an ensemble.

    Each tree has the same weight; the members of an ensemble among them share its weight. Options
    and decoders that all trees have in common stay in the heading.

    Parameters
    ----------
    trees : iterable of Tree
        The control trees; a single one is returned as it is.

    Returns
    -------
    Tree
        The ensemble.

    Raises
    ------
    UsageError
        If there is no tree.
    ControlError
        If trees have different classes or names of classes.
    """
    if isinstance(trees, Tree):
        trees = [trees]
    else:
        trees = list(trees)
    if wrong := {type(tree).__name__ for tree in trees if not isinstance(tree, Tree)}:
        raise UsageError(
            "an ensemble is made of control trees, as agfmc.design makes them, not of "
            + ", ".join(sorted(wrong))
        )
    if len(trees) < 2:
        if not trees:
            raise UsageError("an ensemble needs at least one configuration")
        return trees[0]
    first = trees[0]
    names: dict[int, str] = {}
    for tree in trees:
        for labels, others, what in (
            (tree.classes, first.classes, "has"),
            (first.classes, tree.classes, "lacks"),
        ):
            other = sorted(set(labels).difference(others))
            if other:
                raise ControlError(
                    f"{what} class {other[0]}, unlike the first configuration: the "
                    "configurations of an ensemble have the same classes",
                    file=tree.source,
                )
        if wrong := differing(tree.names, names):
            raise ControlError(
                f"class {wrong[0]} is {tree.names[wrong[0]]!r}, in a configuration "
                f"before it {names[wrong[0]]!r}",
                file=tree.source,
            )
        names = {**tree.names, **names}
        if conflict := clash(names.items()):
            raise ControlError(conflict[1], file=tree.source)
    weights = [share for tree in trees for share in tree.weights]
    if len({tree.options for tree in trees}) > 1:
        trees = [_options_written_out(tree) for tree in trees]
    nodes: list = []
    roots: list[int] = []
    for tree in trees:
        start = len(nodes)
        roots += [start + root for root in tree.roots]
        nodes += [
            changed(
                node,
                children=tuple(
                    child if isinstance(child, Leaf) else child + start for child in node.children
                ),
            )
            for node in tree.nodes
        ]
    whole = Tree(tuple(nodes), names, None, {}, tuple(roots))
    decoders = {tree.decoder for tree in trees}
    for keyword, text, stays in (
        ("options", trees[0].options, trees[0].options != ""),
        (
            "decoder",
            trees[0].decoder,
            len(decoders) == 1 and TREE_DECODERS.get(trees[0].decoder) == "ensembles",
        ),
        ("weights", " ".join(map(repr, weights)), len(set(weights)) > 1),
        (
            "normalisation",
            trees[0].norm_file,
            len({tree.norm_file and os.path.realpath(tree.norm_file) for tree in trees}) == 1,
        ),
    ):
        whole = with_heading(whole, keyword, text if stays else None)
    return whole


def _options_written_out(tree):
    """`tree` without its heading of options: they stand at the rows that take them."""
    quoted = all(row.quoted for row in tree.rows)
    texts = [tree.options if quoted and text == "" else text for text in written_out(tree)]
    if tree.options:
        return with_heading(rename(tree, texts, quoted), "options", None)
    return tree


def relabelled(tree: Tree, labels: Sequence[int], names: dict | None = None) -> Tree:
    """`tree` with labels[i] in place of class i, and the names {label: name} of its classes."""
    if list(labels) != list(range(len(labels))):
        return _with_labels(tree, labels, names)
    return changed(tree, names=_named(names, tree.labels))


def _with_labels(tree, labels, names):
    """`tree` with labels[label] in place of each label, and the names {label: name}."""
    tree = changed(tree, nodes=tuple(renumbered(node, labels) for node in tree.nodes))
    return changed(tree, names=_named(names, tree.labels))


def code_rows(tree: Tree) -> list:
    """The coding matrix of any tree, as rows of positions in its leaf order.

    Rows in pre-order; a row of an inner node spreads over the leaves of its
    children and leaves all other classes out (Mills, "Solving for
    multi-class", section 3, equation 12).  Of an ensemble, the rows of all members, and the leaf
    order of the first.
    """
    return [row.sides_of(branches) for row, branches in _branches(tree)]


def _branches(tree):
    """(row, positions of leaves below each branch of its node) of all binary classifiers."""
    spans = tree.spans()
    position = {label: i for i, label in enumerate(tree.labels)}
    branches = [
        (row, [range(*span) for span in ends])
        for node, ends in zip(tree.nodes[tree.parts[0]], spans)
        for row in node.rows
    ]
    for root, part in zip(tree.roots[1:], tree.parts[1:]):
        at = [position[label] for _, label in tree.leaves(root)]
        branches += [
            (row, [at[slice(*span)] for span in ends])
            for node, ends in zip(tree.nodes[part], spans[part])
            for row in node.rows
        ]
    return branches


def to_code(tree: Tree) -> Tree:
    """A tree as one non-hierarchical coding matrix over the same binary classifiers.

    That of an ensemble has the rows of all members, and columns in the order of the first. The
    options "." are written out, as the nodes that they refer to go away, and a decoder that is for
    trees is left out. Raises `ControlError` for a multi-class node, which has no place in a code.
    """
    for direct in tree.directs.values():
        raise tree.place(direct).error(
            ControlError,
            f"a classifier of code {direct.learner_letter} is not binary, and cannot "
            "be a row of a coding matrix",
        )
    rows = LazySequence(
        _leaf_row,
        [
            (row, text, branches)
            for text, (row, branches) in zip(written_out(tree), _branches(tree))
        ],
    )
    leaves = tuple(map(Leaf, tree.labels))
    return _without_tree(tree, changed(tree, nodes=(Node(rows, leaves, False, 0),), roots=(0,)))


def with_heading(tree: Tree, keyword: str, text: str | None) -> Tree:
    """`tree` with this text in its heading `keyword`, one of `HEADINGS`; None: without it.

    Raises `UsageError` for a text that could not be read again.
    """
    headings = {word: heading for word, heading in tree.headings.items() if word != keyword}
    if text is not None:
        if keyword != "normalisation":
            text = " ".join(text.split())
        if wrong := heading_fault(keyword, text, len(tree.roots)):
            raise UsageError(wrong)
        headings[keyword] = Heading(text)
    return changed(tree, headings=headings)


def for_output(tree: Tree) -> Tree:
    """`tree` for standard output: its normalisation is named from the current folder."""
    path = tree.norm_file
    if path is None:
        return tree
    return with_heading(tree, "normalisation", path)


def without_names(tree: Tree) -> Tree:
    """`tree` without the names of its classes and its headings, but for the weights."""
    return changed(
        tree,
        names={},
        headings={word: tree.headings[word] for word in tree.headings if word == "weights"},
    )


def _without_idle_options(tree):
    """`tree` without its heading of options where no row takes them."""
    default = object()
    if (
        not tree.options
        or all(row.quoted for row in tree.rows)
        and default in resolve_options(tree, default)
    ):
        return tree
    return with_heading(tree, "options", None)


def _without_tree(tree, code):
    """`code`, which was made of `tree`, without a decoder for trees where it has become none."""
    lost = tree.hierarchical and not code.hierarchical and code.decoder in TREE_DECODERS
    if not code.is_ensemble:
        code = with_heading(code, "weights", None)
    if lost:
        return with_heading(code, "decoder", None)
    return code


def _leaf_row(item):
    row, text, branches = item
    left, right = row.sides_of(branches)
    return changed(row, text=text, left=left, right=right)


def written_out(tree: Tree) -> list[str]:
    """Names or options of every row, with "." replaced by the options it stands for."""
    if not all(row.quoted for row in tree.rows):
        return [row.text for row in tree.rows]
    default = object()
    return [
        "" if resolved is default else row.text if row.text != "." else resolved or " "
        for row, resolved in zip(tree.rows, resolve_options(tree, default))
    ]


def rename(tree: Tree, texts: Iterable[str], quoted: bool = False) -> Tree:
    """`tree` with other names (or options, where `quoted`), in the order of the text.

    Its heading of options stays where a row still takes them.
    """
    texts = iter(texts)
    nodes = []
    for node in tree.nodes:
        rows = tuple(changed(row, text=next(texts), quoted=quoted) for row in node.rows)
        nodes.append(changed(node, rows=rows))
    return _without_idle_options(changed(tree, nodes=tuple(nodes)))


def with_options(tree: Tree, text: str) -> Tree:
    """`tree` with the same training options for all binary classifiers."""
    return _without_idle_options(
        changed(
            tree,
            nodes=tuple(
                changed(node, rows=LazySequence(partial(_with_options, text), node.rows))
                for node in tree.nodes
            ),
        )
    )


def _with_options(text, row):
    return changed(row, text=text, quoted=True)


def rename_directs(tree: Tree, names: dict[int, str | None]) -> Tree:
    """`tree` with names for its multi-class nodes, {node number: name}."""
    return changed(
        tree,
        nodes=tuple(
            changed(node, direct=changed(node.direct, name=names[number]))
            if number in names
            else node
            for number, node in enumerate(tree.nodes)
        ),
    )


def resolve_options(tree: Tree, default: object = "") -> list:
    """The options each binary classifier is trained with, in the order of the text.

    `""` stands for `default`, or without one for the options of the tree's heading, `" "` for
    none, `"."` for the last options used in the same node, else in the node above, else as `""`.
    Options replace the default; they are not added to it.
    """
    tree.require_options()
    default = default or tree.options
    last: list = [None] * len(tree.nodes)
    parents = {
        child: number
        for number, node in enumerate(tree.nodes)
        for child in node.children
        if not isinstance(child, Leaf)
    }
    result = []
    for number, node in enumerate(tree.nodes):
        # Models that stand side by side share the last options of the node above them.
        scope = parents.get(number)
        if scope is not None:
            current = last[scope]
        else:
            current = None
        for row in node.rows:
            if row.text == "":
                current = default
            elif row.text == ".":
                if current is None:
                    current = default
            else:
                current = row.text.strip()
            result.append(current)
        if scope is not None:
            last[scope] = current
        last[number] = current
    return result


def reopened(tree: Tree, texts: Collection[str], options: str) -> Tree:
    """`tree` with "" in place of the options of the rows that have one of `texts`.

    A row with "." has those that it stands for. `options` of the heading are for all rows with "".
    """
    default = object()
    rows = [
        "" if text is default or text in texts else text or " "
        for text in resolve_options(tree, default)
    ]
    return rename(with_heading(tree, "options", options or None), rows, quoted=True)


def check_classes(
    tree: Tree,
    counts: dict[int, int],
    source: str,
    remedy: str | None = None,
    names: Mapping[int, str] = MappingProxyType({}),
    least: int = 2,
) -> None:
    """Raise `ControlError` unless the classes of `tree` are those in the data.

    A class that the tree does not name and one with fewer than `least` samples are errors: they
    would be trained into a model that cannot be right; so are names that no file can hold. Where it
    would help, the error names `min_class`.

    Parameters
    ----------
    counts : dict, {label: number of samples}
    remedy : str, optional, command that writes a control file for the labels of the data, where
        they are all of them
    names : mapping, those of the data
    """
    for label, name in tree.names.items():
        if fault := name_fault(name):
            raise ControlError(f"class {label} cannot be {name!r}: {fault}", file=tree.source)
    known = set(tree.labels)
    extra = sorted(set(counts) - known)
    if remedy or extra:
        hint = (
            f"; `{remedy or 'print_control DATA'}` writes a control file for the labels of the data"
        )
    else:
        hint = ""
    for node in tree.nodes:
        for child in node.children:
            if isinstance(child, Leaf) and counts.get(child.label, 0) < least:
                has, way = ("one sample", "") if child.label in counts else ("no samples", hint)
                if has == "one sample" or not extra:
                    way = (
                        ", or `min_class=2`, which leaves out the classes with fewer than "
                        f"2 samples{way}"
                    )
                raise tree.place(child).error(
                    ControlError,
                    f"class {_called(child.label, tree.names)} has {has} in {source}: expected at "
                    f"least 2{way}",
                )
    if extra:
        shown = ", ".join(_called(label, names) for label in extra[:8])
        if len(extra) > 8:
            shown += ", ..."
        least = 1 + max(counts[label] for label in extra)
        if all(counts[label] >= least for label in known):
            way = f"; `min_class={least}` leaves out the classes with fewer than {least} samples"
        else:
            way = ""
        raise ControlError(
            f"the data in {source} hold class{'es' if len(extra) > 1 else ''} "
            f"{shown}, which the control file does not name{way}{hint}",
            file=tree.source,
        )


def _called(label, names):
    if label in names:
        return f"{label} '{names[label]}'"
    return str(label)


def for_names(tree: Tree, names: dict[int, str]) -> Tree:
    """`tree` with the labels that the data have for its classes: these are known by their names.

    `names` are those of the data, {label: name}. Classes that the data do not have get labels
    behind these. A tree that does not name all of its classes, or none of those of the data, keeps
    its labels.
    """
    label_of = {name: label for label, name in names.items()}
    unknown = [label for label, name in tree.names.items() if name not in label_of]
    if len(tree.names) < len(tree.classes) or len(unknown) == len(tree.names):
        return tree
    if unknown and names.keys() >= set(unknown) and not differing(names, tree.names):
        return tree  # limits of a quantity
    new = {label: label_of.get(name) for label, name in tree.names.items()}
    new.update(zip(unknown, range(1 + max(names), MAX_LABEL)))
    if all(label == old for old, label in new.items()):
        return tree
    return _with_labels(tree, new, {new[label]: name for label, name in tree.names.items()})


def named_as(tree: Tree, names: dict[int, str]) -> Tree:
    """`tree` with the names of the data, {label: name}, where it has no names.

    Raises `ControlError` where the two would give a class two names, or two classes one:
    the labels of the data are other classes than the control file means.  Names that are the
    same limits of a quantity are one name.
    """
    stored = {label: names[label] for label in tree.labels if label in names}
    if not tree.names:
        return changed(tree, names=stored)
    different = differing(stored, tree.names)
    stored = {
        label: name if label in different else tree.names.get(label, name)
        for label, name in stored.items()
    }
    if conflict := clash([*tree.names.items(), *stored.items()]):
        raise ControlError(
            f"{conflict[1]}: its names of classes and those of the data disagree; "
            "print_control writes them from the data, and mbh2mbm renames "
            "those of a model",
            file=tree.source,
        )
    return tree


def _named(names, labels):
    if names:
        return {label: names[label] for label in labels if label in names}
    return {}


def restricted(tree: Tree, labels: Iterable[int]) -> Tree:
    """`tree` without the classes that are not in `labels`; the same tree where it has none.

    A row with an empty side goes; so does one that has become the same partition as an earlier
    row with the same options.  A node with one branch left is replaced by that branch.  The
    options "." are written out, as the row that they refer to may go, and a decoder for trees is
    left out where none is left.  So one-vs-one stays one-vs-one, and likewise for one-vs-rest,
    adjacent and exhaustive codes.

    Raises `ControlError` where fewer than two classes are left, or one that no row separates
    from the others.
    """
    keep = set(labels)
    if keep.issuperset(tree.labels):
        return tree
    last = len(tree.nodes)
    left: list = [None] * last  # of each node: itself by its number, the one branch of it, or None
    thin = {}
    texts = list(written_out(tree))
    for number in range(last - 1, -1, -1):  # children before their parents
        node = tree.nodes[number]
        mine = [texts.pop() for _ in node.rows][::-1]
        position: dict[int, int] = {}
        children: list = []
        for branch, child in enumerate(node.children):
            if isinstance(child, Leaf):
                if child.label not in keep:
                    child = None
            else:
                child = left[child]
            if child is not None:
                position[branch] = len(children)
                children.append(child)
        if len(children) > 1:
            thin[number] = changed(
                node, rows=_rows(node.rows, mine, position, tree), children=tuple(children)
            )
        left[number] = number if len(children) > 1 else children[0] if children else None
    if not thin:
        raise ControlError(
            "names fewer than two of the classes that are left in the data", file=tree.source
        )
    left_over = sorted(thin)
    fewer = changed(
        tree,
        nodes=_numbered(thin),
        names={label: name for label, name in tree.names.items() if label in keep},
        roots=tuple(bisect_left(left_over, root) for root in tree.roots),
    )
    return _without_idle_options(_without_tree(tree, fewer))


def _rows(rows, texts, position, tree):
    thin = []
    seen = {}
    for row, text in zip(rows, texts):
        sides = [
            tuple(position[i] for i in side if i in position) for side in (row.left, row.right)
        ]
        if not all(sides):
            continue
        before = frozenset(map(frozenset, (row.left, row.right)))
        # a row that stands twice in the file may be meant to count twice
        if seen.setdefault((frozenset(map(frozenset, sides)), text), before) == before:
            thin.append(changed(row, text=text, left=sides[0], right=sides[1]))
    separated = {i for row in thin for i in (*row.left, *row.right)}
    if rows and len(separated) < len(position):
        raise tree.place(rows[0]).error(
            ControlError,
            "without the classes that are left out, a branch of this coding matrix "
            "is in no partition: print_control, with the same `min_class`, writes one for the "
            "classes that are left",
        )
    return tuple(thin)


def _numbered(nodes):
    """The nodes {number: node} with new numbers and depths, in the same order."""
    numbers = {number: at for at, number in enumerate(sorted(nodes))}
    depths = [0] * len(nodes)
    result = []
    for number, at in numbers.items():
        children = tuple(
            child if isinstance(child, Leaf) else numbers[child] for child in nodes[number].children
        )
        for child in children:
            if not isinstance(child, Leaf):
                depths[child] = depths[at] + 1
        result.append(changed(nodes[number], children=children, depth=depths[at]))
    return tuple(result)
