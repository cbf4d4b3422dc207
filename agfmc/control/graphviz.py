"""Tree to Graphviz text, of which `dot -Tsvg` draws a control file."""

from ..core.text import clean, visible
from .tree import Leaf, Tree

_LEFT, _RIGHT = "#b3d1ec", "#fbc08d"  # different for the colour-blind, too
_HEAD = """\
digraph control {
  graph [ordering=out, nodesep=0.15, ranksep=0.35];
  node [fontname="Helvetica,Arial,sans-serif", fontsize=11, height=0.3, margin="0.08,0.04"];
  edge [fontname="Helvetica,Arial,sans-serif", fontsize=9, color="#707070", \
fontcolor="#505050", arrowhead=none];
"""


def format_dot(tree: Tree) -> str:
    """Graphviz text of any control `tree`, with class names.

    A single classifier is a small node whose edges say -1 (left) and +1 (right), with its options
    or its name.  A coding matrix is a table with a row for each classifier and a column for each
    branch, whose classes stand below; an edge leads from a column to a branch that is divided
    further.  A multi-class node is a box, a member of an ensemble a cluster with its weight.
    """
    sizes = tree.class_counts()
    if not tree.is_ensemble:
        return "".join([_HEAD, *_statements(tree, tree.parts[0], "c", sizes), "}\n"])
    lines = [_HEAD]
    for member, (part, weight) in enumerate(zip(tree.parts, tree.weights)):
        lines += [
            f"  subgraph cluster{member} {{\n",
            f'  label="{member + 1}: weight {weight:.3g}";\n',
            *_statements(tree, part, f"m{member}c", sizes),
            "  }\n",
        ]
    return "".join([*lines, "}\n"])


def _statements(tree, part, prefix, sizes):
    """The nodes of a member and its edges; prefix: of the names of its classes."""
    lines = []
    for number in range(part.start, part.stop):
        node = tree.nodes[number]
        if node.direct is not None:
            lines.append(f"  n{number} [shape=box, label={_direct(node.direct)}];\n")
        elif node.bare:
            text = node.rows[0].text
            if text == "":
                look = (
                    "shape=circle, width=0.12, height=0.12, style=filled, "
                    'fillcolor="#707070", label=""'
                )
            else:
                look = f"shape=ellipse, label={_quoted(visible(text))}"
            lines.append(f"  n{number} [{look}];\n")
        else:
            lines.append(f"  n{number} [shape=plain, label=<\n{_table(tree, node, sizes)}  >];\n")
        lines += _branches(tree, number, node, prefix)
    return lines


def _branches(tree, number, node, prefix):
    matrix = node.direct is None and not node.bare
    for branch, child in enumerate(node.children):
        if isinstance(child, Leaf):
            if matrix:
                continue  # it stands in the table
            target = f"{prefix}{child.label}"
            yield (
                f'  {target} [shape=box, style="rounded,filled", color="#a0a0a0", '
                f'fillcolor="#f2f2f2", label={_quoted(_class_name(tree, child))}];\n'
            )
        else:
            target = f"n{child}"
        if matrix:
            yield f"  n{number}:b{branch}:s -> {target};\n"
        elif node.bare:
            yield f'  n{number} -> {target} [label=" {"-+"[branch]}1"];\n'
        else:
            yield f"  n{number} -> {target};\n"


def _table(tree, node, sizes):
    named = any(row.text != "" for row in node.rows)
    lines = [
        '    <table border="0" cellborder="1" cellspacing="0" cellpadding="3" color="#c0c0c0">\n'
    ]
    for row in node.rows:
        cells = ["<td></td>"] * len(node.children)
        for side, sign, colour in ((row.left, "-", _LEFT), (row.right, "+", _RIGHT)):
            for branch in side:
                cells[branch] = f'<td bgcolor="{colour}">{sign}</td>'
        head = ""
        if named:
            text = visible(row.text) or " "
            head = f'<td border="0" align="right">{_marked(text)}</td>'
        lines.append(f"      <tr>{head}{''.join(cells)}</tr>\n")
    if named:
        foot = '<td border="0"></td>'
    else:
        foot = ""
    for branch, child in enumerate(node.children):
        if isinstance(child, Leaf):
            text = _class_name(tree, child)
        else:
            text = f"{sizes[child]} classes"
        foot += f'<td border="0" port="b{branch}">{_marked(text)}</td>'
    lines.append(f"      <tr>{foot}</tr>\n    </table>\n")
    return "".join(lines)


def _direct(direct):
    texts = [
        f"{direct.learner_letter}: {direct.learner.title}",
        direct.name,
        direct.options.strip(),
    ]
    return _quoted("\n".join(visible(text) for text in texts if text))


def _class_name(tree, leaf):
    return str(tree.names.get(leaf.label, leaf.label))


def _quoted(text):
    """`text` as a quoted label, which knows backslashes and entities."""
    text = clean(text).replace("&", "&amp;").replace("\\", "\\\\")
    return '"' + text.replace('"', '\\"').replace("\n", "\\n") + '"'


def _marked(text):
    text = clean(text)
    # a single backslash before N would be the name of the node, as in quotes
    for sign, escaped in (("\\", "\\\\"), ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, escaped)
    if text.strip():
        return text.replace("\n", "<br/>")
    return "&#160;"
