"""Tree to control text, laid out as libAGF prints it."""

from __future__ import annotations

import re

from ..errors import UsageError
from .tree import Leaf, looks_like_options

__all__ = ["format_tree", "libagf_begins", "quote_name", "quote_options"]

_PLAIN = re.compile(r"[^\s{};\"#\ufeff\0][^\s{};\"\0]*\Z")
_DEEPEST = 40  # levels that are indented further: the text of a chain stays proportional to it


def quote_options(text):
    """Options in double quotes, as a training file holds them.

    Raises `UsageError` for what the language cannot hold (a line break).
    """
    if "\n" in text or "\0" in text:
        raise UsageError("a control file cannot hold options or names with a line break")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def quote_name(name):
    """A model's name as a classification file holds it: quoted only where it must be.

    Raises `UsageError` for a name that the language cannot hold (a line break).
    """
    if _PLAIN.match(name) and not name.isdigit():
        return name
    if looks_like_options(name):
        name = "./" + name
    return quote_options(name)


def libagf_begins(name):
    """Whether libAGF, too, takes what stands in a control file for `name` for a model's name.

    It does where that begins with a letter of ASCII or a slash, and so for no name in quotes.
    """
    return re.match("[A-Za-z/]", quote_name(name)) is not None


def format_tree(tree):
    """Control text of `tree`: training or classification file, any nesting.

    Class names go into comments `# class LABEL: NAME` at the top.
    """
    lines = [f"# class {label}: {name}" for label, name in sorted(tree.names.items())]
    stack = [(0, 0)]
    while stack:
        number, branch = stack.pop()
        node = tree.nodes[number]
        indent = "  " * min(node.depth, _DEEPEST)
        if branch == 0:
            lines += _head(node, indent)
            if node.rows and not node.bare and \
                    all(isinstance(child, Leaf) for child in node.children):
                if node.rows[0].is_name:
                    lines += [f"{indent}{{", *(f"{indent}  {child.label}"
                                               for child in node.children), f"{indent}}}"]
                else:
                    lines.append(indent + "{ " + " ".join(
                        str(child.label) for child in node.children) + "}")
                continue
        while branch < len(node.children):
            child = node.children[branch]
            branch += 1
            if isinstance(child, Leaf):
                lines.append(f"{indent}  {child.label}")
            else:
                stack.append((number, branch))
                stack.append((child, 0))
                break
        else:
            lines.append(f"{indent}}}")
    return "\n".join(lines) + "\n"


def _head(node, indent):
    """The model and, unless all children are classes, its opening brace."""
    if node.direct is not None:
        direct = node.direct
        options = quote_options(direct.options)
        if direct.name is None:
            return [f"{indent}{options} {direct.code} {{"]
        return [f"{indent}{quote_name(direct.name)} {direct.code} {options}", indent + "{"]
    if node.bare:
        row = node.rows[0]
        if row.is_name:
            return [indent + _text(row), indent + "{"]
        return [f"{indent}{_text(row)} {{"]
    lines = [f"{indent}{_text(row)} {' '.join(map(str, row.left))} / "
             f"{' '.join(map(str, row.right))};" for row in node.rows]
    if not all(isinstance(child, Leaf) for child in node.children):
        lines.append(indent + "{")
    return lines


def _text(row):
    return quote_name(row.text) if row.is_name else quote_options(row.text)
