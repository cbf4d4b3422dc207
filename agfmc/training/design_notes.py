"""Lines about designs that were searched for, which stand as comments in their control files."""

from __future__ import annotations

from ..codes.matrix import smallest_distances
from ..control.tree import Leaf
from .design import matrix_of

__all__ = ["code_notes", "in_brackets", "loss_name", "tree_notes"]


def tree_notes(chosen, members=None) -> list[str]:
    """Lines about the tree that a search chose (`tree_search.Chosen`), or about the `ScoredTree`s
    of an ensemble beside it."""
    best, search, space = chosen.best, chosen.costs.search, chosen.costs.space
    scheme = "random-tree" if chosen.drawn else "best-tree"
    which = " in which classes stay together as wanted" if search.together else ""
    trees = f"{space.all_trees:,} trees{which}"
    deep = "" if search.max_depth is None else f" of depth {search.max_depth} at most"
    lines = [f"{scheme}: leave-one-out {loss_name(search.loss)} {best.loss:.4f} +- "
             f"{best.error:.4f} a point; judged by points that did not choose it "
             f"{chosen.apart:.4f} +- {chosen.apart_error:.4f}"]
    if chosen.exact:
        least = f"only tree{which}" if space.all_trees == 1 else \
            f"least{deep}, of {trees}" if deep else f"least of all {trees}"
        lines.append(f"exact: the {least}, from {space.splits:,} splits")
    elif chosen.drawn:
        lines.append(f"the best of {chosen.drawn}, among {trees}; {space.splits:,} splits")
    else:
        lines.append(f"not exact: {space.splits:,} of {space.all_splits:,} splits were tried, by "
                     f"a local search among {trees}{deep}; how much better the best of all is, is "
                     "not known")
    if chosen.balance:
        lines.append(f"balance: {chosen.balance:g} for each classifier that a point is asked")
    judged = f"judged by {chosen.costs.splits.options.canonical()}"
    if members is not None:
        return [*lines, judged, "   loss +- std.error    asked: member",
                *(f"{one.loss:7.4f} {one.error:8.4f} {one.asked:12.2f}  {in_brackets(one.tree)}"
                  for one in members)]
    return [*lines, f"{len(best.nodes)} classifiers, of which {best.asked:.2f} are asked for a "
            "point on average", judged, "   loss +- std.error    share of points: node",
            *(f"{node.loss:7.4f} {node.error:8.4f} {node.share:12.4f}  "
              f"{_classes(node.left, best.tree.names)} / {_classes(node.right, best.tree.names)}"
              for node in best.nodes)]


def loss_name(loss) -> str:
    """The words for a `split_costs.Loss`."""
    return {"log-loss": "log loss", "error": "errors at nodes",
            "cost": "cost above that of right answers"}[loss.name]


def in_brackets(tree) -> str:
    """A decision tree as labels in round brackets, on one line."""
    made: list = [None] * len(tree.nodes)
    for number in range(len(tree.nodes) - 1, -1, -1):
        made[number] = "(" + " ".join(
            str(child.label) if isinstance(child, Leaf) else made[child]
            for child in tree.nodes[number].children) + ")"
    return made[0]


def _classes(labels, names):
    words = [names.get(label, str(label)) for label in labels]
    # a name with one of the separators is shown by its label
    words = [str(label) if {",", "/", ";"}.intersection(word) else word
             for label, word in zip(labels, words)]
    return (", " if any(" " in name for name in names.values()) else " ").join(words)


def code_notes(chosen) -> list[str]:
    """Lines about the code that a search chose (`code_search.ChosenCode`)."""
    point, names = chosen.chosen, chosen.tree.names
    rows, labels = matrix_of(chosen.tree)
    lines = [f"best-code: {point.rows} rows of {chosen.pool} candidates; leave-one-out log loss "
             f"{point.loss:.4f} +- {chosen.error:.4f} a point, {100 * point.wrong:.2f} % wrong; "
             f"judged by points that did not choose it {point.judged:.4f} +- {point.error:.4f}",
             "decoded by least squares, after a temperature of "
             f"{1 / float(chosen.map.weights):.3f} and a floor of {chosen.map.floor:.2g}",
             "smallest distance between rows {}, between columns {}".format(
                 *smallest_distances(rows, len(labels))),
             f"judged by {chosen.machine.canonical()}",
             "rows    loss  wrong  judged +- error: the row that came (+) or went (-)"]
    exchanged = [point] if point.added else []
    for number, step in enumerate((*chosen.curve, *exchanged)):
        changes = [f"{sign} {_classes(left, names)} / {_classes(right, names)}"
                   for sign, some in (("+", step.added), ("-", step.dropped))
                   for left, right in some]
        text = f"{step.rows} rows" if number == 0 and step.rows > 1 else "; ".join(changes)
        if step is point:
            text = f"chosen, rows exchanged at the end: {text}"
        lines.append(f"{step.rows:4d} {step.loss:7.4f} {step.wrong:6.4f} {step.judged:7.4f} "
                     f"{step.error:8.4f}: {text}")
    return lines
