"""Tree to control text, in the layout that libAGF prints."""

import re
from collections.abc import Iterator

from ..core.errors import ControlError, ModelError, UsageError
from ..core.text import name_fault
from .parse import MAX_DEPTH, MAX_MEMBERS, MAX_TEXT, Sizes
from .tree import HEADINGS, Leaf, looks_like_options, Tree

_PLAIN = re.compile(r"[^\s{};\"#\ufeff\0][^\s{};\"\0]*\Z")
_DEEPEST = 40  # levels that are indented further: the text of a chain stays proportional to it


def quote_options(text: str) -> str:
    """Options in double quotes, as a training file holds them.

    Raises `UsageError` for what the language cannot hold (a line break).
    """
    if fault := name_fault(text, "model"):
        raise UsageError(f"a control file cannot hold the options or name {text!r}: {fault}")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def quote_name(name: str) -> str:
    """A model's name as a classification file holds it: quoted only where it must be.

    Raises `UsageError` for a name that the language cannot hold (a line break).
    """
    if _PLAIN.match(name) and not name.isdigit():
        return name
    if looks_like_options(name):
        name = "./" + name
    return quote_options(name)


def libagf_begins(name: str) -> bool:
    """Return True if libAGF, too, reads `name` in a control file as the name of a model.

    It does where the text begins with a letter of ASCII or a slash, never with a quote.
    """
    return re.match("[A-Za-z/]", quote_name(name)) is not None


def quote_class(name: str) -> str:
    """A class's name as a control file holds it: quoted where it could be another thing.

    Raises `UsageError` for a name in quotes that would be training options.
    """
    plain = _PLAIN.match(name) and not (name[0].isdigit() or "/" in name)
    if plain and not (len(name) == 1 and name.isupper()):  # which may be a code
        return name
    if looks_like_options(name):
        raise UsageError(f"a control file cannot hold the class name {name!r} in place of a label")
    return quote_options(name)


def format_tree(tree: Tree) -> str:
    """Control text of `tree`: training or classification file, any nesting.

    Headings and class names go into comments at the top, `# options: TEXT`, `# decoder: NAME`,
    `# weights: NUMBERS`, `# normalisation: FILE` and `# class LABEL: NAME`.  A blank line parts the
    members of an ensemble. Raises `ModelError` for names that no line can hold.
    """
    return "".join(tree_lines(tree))


def tree_lines(tree: Tree, by_name: bool = False) -> Iterator[str]:
    """Yield the lines of `format_tree`: a row of a large code is made when it is its turn.

    With `by_name`, names stand in place of labels in braces and of positions in partitions that
    are to be trained; labels that follow from the names have no comments. Raises `UsageError`
    for a class without a name.
    """
    for keyword in HEADINGS:
        if keyword in tree.headings:
            text = tree.headings[keyword].text
            if fault := name_fault(text, "model"):
                raise ModelError(f"a control file cannot hold '# {keyword}: {text}': {fault}")
            yield f"# {keyword}: {text}\n"
    words = {label: str(label) for label in tree.classes}
    names = tree.names
    if by_name:
        tree.require_options()  # a class before the name of a model could be taken for it
        if lacking := [label for label in words if label not in names]:
            raise UsageError(
                f"class {lacking[0]} has no name, and the others shall stand by theirs"
            )
        words = {label: quote_class(name) for label, name in names.items()}
        if dict(enumerate(sorted(names.values()))) == names:
            names = {}
    for label, name in sorted(names.items()):
        if fault := name_fault(name):
            raise ModelError(f"a control file cannot hold the name {name!r}: {fault}")
        yield f"# class {label}: {name}\n"
    for root in tree.roots:
        if root:
            yield "\n"
        yield from _member_lines(tree, root, words, by_name)


def _member_lines(tree, root, words, by_name):
    """The lines of one configuration; words: {label: what stands for it in braces}."""
    stack = [(root, 0)]
    while stack:
        number, branch = stack.pop()
        node = tree.nodes[number]
        indent = "  " * min(node.depth, _DEEPEST)
        if branch == 0:
            yield from _head(node, indent, _branch_words(tree, node, words if by_name else None))
            if (
                node.rows
                and not node.bare
                and all(isinstance(child, Leaf) for child in node.children)
            ):
                if node.rows[0].is_name:
                    yield indent + "{\n"
                    for child in node.children:
                        yield f"{indent}  {words[child.label]}\n"
                    yield indent + "}\n"
                else:
                    yield (
                        indent
                        + "{ "
                        + " ".join(words[child.label] for child in node.children)
                        + "}\n"
                    )
                continue
        while branch < len(node.children):
            child = node.children[branch]
            branch += 1
            if isinstance(child, Leaf):
                yield f"{indent}  {words[child.label]}\n"
            else:
                stack.append((number, branch))
                stack.append((child, 0))
                break
        else:
            yield indent + "}\n"


def _branch_words(tree, node, words):
    """The words for the branches of a node in its partitions.

    With `words`, {label: name}, these are the names of its classes, else it is its position, as
    where a model has a name: the parser could not tell that from the name of a class.
    """
    if words is None or node.direct is not None or node.rows[0].is_name:
        return [str(position) for position in range(len(node.children))]
    branches = []
    for child in node.children:
        if isinstance(child, Leaf):
            branches.append(words[child.label])
        else:
            branches.append(" ".join(words[label] for _, label in tree.leaves(child)))
    return branches


def _head(node, indent, branches):
    if node.direct is not None:
        direct = node.direct
        options = quote_options(direct.options)
        if direct.name is None:
            yield f"{indent}{options} {direct.learner_letter} {{\n"
        else:
            yield f"{indent}{quote_name(direct.name)} {direct.learner_letter} {options}\n"
            yield indent + "{\n"
    elif node.bare:
        row = node.rows[0]
        yield f"{indent}{_text(row)}\n{indent}{{\n" if row.is_name else f"{indent}{_text(row)} {{\n"
    else:
        for row in node.rows:
            left, right = (" ".join([branches[i] for i in side]) for side in (row.left, row.right))
            yield f"{indent}{_text(row)} {left} / {right};\n"
        if not all(isinstance(child, Leaf) for child in node.children):
            yield indent + "{\n"


def require_readable(tree: Tree) -> None:
    """Raise `ControlError` where `tree` is too large for its control text to be read again."""
    if wrong := _excess(tree):
        raise ControlError(f"the control file would be too large to be read again: {wrong}")


def _excess(tree):
    if len(tree.roots) > MAX_MEMBERS:
        return f"more than {MAX_MEMBERS} configurations"
    sizes = Sizes()
    size = 0
    for number in range(len(tree.nodes) - 1, -1, -1):  # a node after all those inside it
        if tree.nodes[number].depth >= MAX_DEPTH:
            return f"nested deeper than {MAX_DEPTH} levels"
        if wrong := sizes.exceeded(tree.nodes[number], number):
            return wrong
    for line in tree_lines(tree):
        size += len(line) if line.isascii() else len(line.encode("utf-8", "surrogateescape"))
        if size > MAX_TEXT:
            return f"more than {MAX_TEXT >> 20} MiB of text"
    return None


def _text(row):
    if row.is_name:
        return quote_name(row.text)
    return quote_options(row.text)
