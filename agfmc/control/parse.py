"""Control text to tree: one parser for training and classification files.

    control   := model "{" branch+ "}" control?
    branch    := model "{" branch+ "}" | CLASS
    model     := NAME | NAME CODE OPTIONS | OPTIONS CODE | partition+
    partition := NAME branch+ "/" branch+ ";"

NAME is a word, or text in double quotes; CODE is a letter, and OPTIONS before or
behind it stand in double quotes.  CLASS is a label, or in a file without labels the name of a
class, a word or text in double quotes; a branch of a partition is its position in the braces
that follow, or the name of a class in it.  Each function takes (source,
position) and returns (position, value); positions become lines and columns
only where a token is stored or an error is raised.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

from ..core.errors import ControlError, warn_user
from ..core.text import first_words, name_fault
from .learners import NODE_LEARNERS
from .tree import (
    changed,
    clash,
    Heading,
    HEADINGS,
    Leaf,
    looks_like_options,
    MAX_CELLS,
    MAX_LABEL,
    Node,
    NodeClassifier,
    renumbered,
    Row,
    shares,
    Tree,
)

# Limits on a control file, and on the matrices that it describes: a short text can stand for
# anything.
MAX_DEPTH = 10_000
MAX_TEXT = 256 * 2**20  # bytes
MAX_SIDES = 2**26  # labels that classifiers separate, all together
MAX_MEMBERS = 10_000  # of an ensemble
_LONGEST = {
    "options": 4096,
    "decoder": 64,
    "weights": 32 * MAX_MEMBERS,
    "normalisation": 4096,
}  # characters of a heading


class Sizes:
    """Sizes of a file so far, counted as its nodes close, innermost first.

    Cells: rows times branches of its coding matrices, `MAX_CELLS` at most.  Sides: for
    each classifier the labels that it separates, and the levels above it; `MAX_SIDES` at
    most.
    """

    def __init__(self):
        self.cells = self.sides = 0
        self._leaves = {}  # {node number: labels} where the parent is still open

    def exceeded(self, node, number):
        """Count a `Node` with its number; -> the limit that it exceeds, in words, or None."""
        counts = [
            1 if isinstance(child, Leaf) else self._leaves.pop(child) for child in node.children
        ]
        leaves = self._leaves[number] = sum(counts)
        self.sides += leaves
        if not node.bare:
            self.cells += len(node.rows) * len(counts)
            self.sides += node.depth * len(node.rows)
            if leaves > len(counts):  # else no more than what stands in the text
                self.sides += sum(counts[i] for row in node.rows for i in (*row.left, *row.right))
        if self.cells > MAX_CELLS:
            return (
                f"the coding matrices up to here have {self.cells} entries: there may be "
                f"{MAX_CELLS} at most"
            )
        if self.sides > MAX_SIDES:
            return (
                f"the classifiers up to here separate {self.sides} labels, all together: "
                f"there may be {MAX_SIDES} at most"
            )
        return None


# A thousand pieces at a time: the memory of a match grows with their number.
_BLANK = re.compile(r"(?:\s+|#[^\n]*){0,1000}")
_QUOTABLE = re.compile(r'(?:[^"\\\n]+|\\[^\n]){0,1000}')
_WORD = re.compile(r"[^\s{};\"]+")
_ESCAPE = re.compile(r'\\(["\\])')
_VALUE = re.compile(r"[0-9]+:\S")  # of LIBSVM text, behind its label
_EXCHANGED = ', as in LIBSVM text (`kind="svm"`): is the order of the operands right?'
_INDEX = re.compile(r"[0-9]+")
_NUMBER = re.compile(r"[0-9]+\Z")
_WEIGHT = re.compile(r"[-+]?(?:\.?[0-9]|(?:nan|inf|infinity)\b)", re.I)
_HEADING = re.compile(
    r"^[ \t]*#[ \t]*((?:options?|decoders?|weights?|"
    r"normali[sz]ations?)[ \t]*):(.*)",
    re.M | re.I,
)
_CLASS_NAME = re.compile(r"^[ \t]*#[ \t]*class[ \t]+([0-9]{1,10}):[ \t]*(\S.*)", re.M)


class _Source:
    """The text with a way from positions to lines and columns."""

    def __init__(self, text, name):
        self.text = text
        self.name = name
        self._newlines = [match.start() for match in re.finditer("\n", text)]

    def place(self, at):
        line = bisect_right(self._newlines, at - 1)
        if line:
            start = self._newlines[line - 1] + 1
        else:
            start = 0
        return line + 1, at - start + 1

    def error(self, at, message):
        line, column = self.place(at)
        return ControlError(message, file=self.name, line=line, column=column)

    def skip(self, at):
        while (end := _BLANK.match(self.text, at).end()) > at:
            at = end
        return at

    def piece_at(self, at):
        if at >= len(self.text):
            return "the end of the file"
        if self.text[at] == '"':
            end = closing_quote(self.text, at) + 1
        else:
            end = 0
        match = _WORD.match(self.text, at)
        if end:
            piece = self.text[at:end]
        elif match:
            piece = match.group()
        else:
            piece = self.text[at]
        return f"'{piece[:30]}{'...' if len(piece) > 30 else ''}'"


def closing_quote(text: str, at: int) -> int:
    """Position of the quote that closes the one at `at`, on the same line; -1 without one."""
    at += 1
    while (end := _QUOTABLE.match(text, at).end()) > at:
        at = end
    if text.startswith('"', at):
        return at
    return -1


def parse(text: str, source: str | None = None) -> Tree:
    """Parse control `text` into a `Tree`.

    `source` names the file in errors.  Raises `ControlError` with line and
    column for anything outside the grammar, and for duplicate labels, a child
    on both sides of a partition, on one side twice or on none of any
    partition, an empty side, a wrong number of branches, unbalanced braces,
    nesting deeper than `MAX_DEPTH`, members of an ensemble that do not have the same
    labels, more of them than `MAX_MEMBERS`, and what stands for more than `Sizes` allow.
    """
    src = _Source(text.removeprefix("\ufeff"), source)
    nul = src.text.find("\0")
    if nul >= 0:
        raise src.error(nul, "expected a control file, found binary data")
    at = src.skip(0)
    if at == len(src.text):
        raise src.error(
            at,
            "expected a control file, found an empty one, which a command that "
            "failed may have left",
        )
    nodes = []
    roots = []
    labels = {}  # {label or name of a class: its position in the text}
    sizes = Sizes()
    while at < len(src.text):
        word = _WORD.match(src.text, at)
        if roots and (src.text[at] in "{};" or word and _NUMBER.match(word.group())):
            raise src.error(
                at,
                "expected the end of the file or another configuration, found " + src.piece_at(at),
            )
        if len(roots) == MAX_MEMBERS:
            raise src.error(at, f"an ensemble may have {MAX_MEMBERS} configurations at most")
        roots.append(len(nodes))
        at, labels_of_member = _member(src, at, nodes, sizes)
        _check_same(src, at - 1, labels, labels_of_member)
        labels = labels or labels_of_member
        at = src.skip(at)
    if isinstance(next(iter(labels)), str):
        names = _numbered_names(src, labels)
        label_of = {name: label for label, name in names.items()}
        nodes = [renumbered(node, label_of) for node in nodes]
    else:
        names = _class_names(src, labels)
    return Tree(tuple(nodes), names, source, _headings(src, len(roots)), tuple(roots))


def _numbered_names(src, names):
    """{label: name} of classes that the file calls by names, {name: position}.

    The labels are those of `# class` lines, or the places of the names in sorted order, as of a
    table: where the data number them otherwise, training goes by the names.
    """
    lines = list(_CLASS_NAME.finditer(src.text))
    if not lines:
        return dict(enumerate(sorted(names)))
    label_of = {match[2].rstrip(): int(match[1]) for match in lines}
    for name, at in names.items():
        if name not in label_of:
            raise src.error(
                at,
                f"class '{name}' has no '# class' line: there are those of {first_words([*label_of])}",
            )
    return _class_names(src, {label_of[name] for name in names})


def _check_same(src, end, first, others):
    """Refuse a member with other labels than the first; end: position of its closing brace."""
    if not first or first.keys() == others.keys():
        return
    rule = "the configurations of an ensemble have the same classes"
    for label, at in others.items():
        if label not in first:
            raise src.error(at, f"class {label} is not in the first configuration: {rule}")
    missing = next(label for label in first if label not in others)
    line, column = src.place(first[missing])
    raise src.error(
        end,
        f"class {missing} is missing in this configuration, in the first it is at "
        f"line {line}, column {column}: {rule}",
    )


def _member(src, start, nodes, sizes):
    """One configuration, whose nodes are added to `nodes`; -> position, {label: position}."""
    at = start
    labels = {}
    open_nodes = []
    while True:
        if open_nodes and src.text.startswith("}", at):
            at, number = _close(src, at, open_nodes, nodes)
            if wrong := sizes.exceeded(nodes[number], number):
                raise src.error(at - 1, wrong)
            if not open_nodes:
                return at, labels
            open_nodes[-1].children.append(number)
        else:
            at, leaf = _leaf(src, at, labels, bool(open_nodes))
            if leaf is None:
                at, opened = _open(src, at, len(nodes), len(open_nodes))
                nodes.append(None)
                open_nodes.append(opened)
            elif not open_nodes:
                raise src.error(
                    start,
                    "expected a model name or options in double "
                    "quotes, found a number"
                    + (_EXCHANGED if _VALUE.match(src.text, src.skip(at)) else ""),
                )
            else:
                open_nodes[-1].children.append(leaf)
        at = src.skip(at)
        if at == len(src.text):
            line, column = src.place(open_nodes[-1].brace)
            raise src.error(
                at,
                "expected '}', found the end of the file: the '{' of "
                f"line {line}, column {column} is never closed",
            )


def _class_names(src, labels):
    matches = [match for match in _CLASS_NAME.finditer(src.text) if int(match[1]) in labels]
    named = [(int(match[1]), match[2].rstrip()) for match in matches]
    if wrong := clash(named):
        raise src.error(
            matches[wrong[0]].start(), f"{wrong[1]}: expected a unique name for each class"
        )
    return dict(named)


def heading_fault(keyword: str, text: str, members: int = 1) -> str | None:
    """Words on what is wrong with the text of the heading `keyword`; None where nothing is.

    `members` is the number of configurations in the file. Of a decoder only the form is looked at
    here: which there are is not known on this floor.
    """
    longest = _LONGEST[keyword]
    if len(text) > longest:
        return f"'# {keyword}:' has {len(text)} characters: expected {longest} at most"
    expected = {
        "options": "training options after '# options:', which begin with - or learner=",
        "decoder": "the name of a decoder after '# decoder:', one word",
    }
    if keyword in expected and not _may_be(keyword, text):
        return f"expected {expected[keyword]}"
    if keyword == "weights":
        return _weights_fault(text, members)
    if keyword == "normalisation":  # names of files may be in another encoding
        fault = name_fault(text)
        return fault and f"expected the name of a file after '# normalisation:', but {fault}"
    if not text.replace("\t", " ").isprintable():
        return f"'# {keyword}:' has characters that cannot be printed"
    return None


def _weights_fault(text, members):
    if members == 1:
        return "'# weights:' is for several configurations, an ensemble, and here is one"
    if shares(text) is None:
        return (
            "expected numbers after '# weights:', one for each configuration, not negative "
            "and not all 0"
        )
    count = len(text.split())
    if count == members:
        return None
    return f"'# weights:' has {count} numbers: expected {members}, one for each configuration"


def _may_be(keyword, text):
    """False for the text of an ordinary comment that happens to begin with a keyword."""
    if keyword == "options":
        return text not in ("", ".") and looks_like_options(text)
    if keyword == "weights":
        return _WEIGHT.match(text) is not None
    if keyword == "normalisation":
        return text != ""
    return len(text.split()) == 1


def _headings(src, members):
    """{keyword: `Heading`} of the comments before the first model; members: how many there are.

    What is nearly one is a comment; before the first model there is a warning.
    """
    headings = {}
    head = src.skip(0)
    for match in _HEADING.finditer(src.text):
        word = match[1]
        text = match[2].strip()
        at = match.start(1)
        stem = word.lower().rstrip("s \t").replace("z", "s")
        keyword = next(one for one in HEADINGS if one.startswith(stem))
        fits = _may_be(keyword, text)
        if word != keyword or not fits:
            if at < head and (fits or word == keyword):
                if fits:
                    way = f"did you mean '# {keyword}:'?"
                else:
                    way = heading_fault(keyword, text, members)
                warn_user(
                    str(src.error(at, f"'{match[0].strip()[:60]}' is taken as a comment: {way}"))
                )
            continue
        if at > head:
            raise src.error(at, f"'# {keyword}:' stands before the first classifier, or nowhere")
        if wrong := heading_fault(keyword, text, members):
            raise src.error(at, wrong)
        if keyword in headings:
            raise src.error(
                at, f"'# {keyword}:' stands twice, first on line {headings[keyword].line}"
            )
        headings[keyword] = Heading(text, *src.place(at))
    return headings


class _Open(NamedTuple):
    """A model whose braces are not closed yet, `brace` the position of the one that is open."""

    number: int
    rows: list
    bare: bool
    at: int
    brace: int
    depth: int
    direct: NodeClassifier | None
    children: list


def _leaf(src, at, labels, in_braces):
    """The class at a place for a branch; -> position, `Leaf` or None where a model begins."""
    match = _WORD.match(src.text, at)
    if not match or not _NUMBER.match(match.group()):
        if not in_braces or _begins_model(src, at):
            return at, None
        end, name, _ = _name(src, at, "a class, a model name")
        return end, _class_leaf(src, at, labels, name)
    text = match.group()
    if len(text) > 10 or int(text) > MAX_LABEL:
        raise src.error(
            at,
            f"class label {text[:12]}... is larger than {MAX_LABEL}"
            if len(text) > 12
            else f"class label {text} is larger than {MAX_LABEL}",
        )
    return match.end(), _class_leaf(src, at, labels, int(text))


def _class_leaf(src, at, labels, label):
    """The `Leaf` of a label or name, which is added to `labels`."""
    if isinstance(label, str) and (fault := name_fault(label)):
        raise src.error(at, f"{label!r} cannot be the name of a class: {fault}")
    first = next(iter(labels), label)
    if type(label) is not type(first):
        raise src.error(
            at,
            f"class '{label}' stands beside class '{first}': expected names of all classes, or "
            "labels of all",
        )
    if label in labels:
        line, column = src.place(labels[label])
        raise src.error(at, f"class {label} is listed twice, first at line {line}, column {column}")
    labels[label] = at
    return Leaf(label, *src.place(at))


def _begins_model(src, at):
    """Return True if a model stands at a place for a branch, False if it is the name of a class.

    A model is options in quotes, or is followed by braces, a code, or positions and a slash.
    """
    if src.text.startswith('"', at):
        end = closing_quote(src.text, at) + 1
        if not end or looks_like_options(src.text[at + 1 : end - 1]):
            return True
    else:
        word = _WORD.match(src.text, at)
        if not word:
            return True
        end = word.end()
    after = src.skip(end)
    word = _WORD.match(src.text, after)
    if word and len(word.group()) == 1 and word.group().isupper():
        after = src.skip(word.end())
        return src.text.startswith(("{", '"'), after)
    while index := _INDEX.match(src.text, after):
        after = src.skip(index.end())
    return src.text.startswith(("{", "/"), after)


def _open(src, at, number, depth):
    if depth >= MAX_DEPTH:
        raise src.error(at, f"nested deeper than {MAX_DEPTH} levels")
    start = at
    at, name, quoted = _name(src, at, "a class, a model name" if depth else "a model name")
    after = src.skip(at)
    if src.text.startswith("{", after):
        row = Row(name, quoted, (0,), (1,), *src.place(start))
        return after + 1, _Open(number, [row], True, start, after, depth, None, [])
    at, direct = _direct(src, start, after, name, quoted)
    if direct is not None:
        return at + 1, _Open(number, [], False, start, at, depth, direct, [])
    rows = []
    first = start
    while True:
        at, left, right = _partition(src, after, name)
        rows.append(Row(name, quoted, left, right, *src.place(start)))
        start = src.skip(at)
        if src.text.startswith("{", start):
            return start + 1, _Open(number, rows, False, first, start, depth, None, [])
        at, name, quoted = _name(src, start, "'{', a model name")
        after = src.skip(at)


def _direct(src, start, at, name, quoted):
    """A multi-class node, its code at `at`; -> position of the opening brace,
    `NodeClassifier` or None."""
    match = _WORD.match(src.text, at)
    if match:
        code = match.group()
    else:
        code = ""
    if len(code) != 1 or not code.isalpha() or not code.isupper():
        return at, None
    behind = src.skip(match.end())
    word = _WORD.match(src.text, behind)
    if word and not _INDEX.match(word.group()):
        return at, None  # a class of that name
    if code not in NODE_LEARNERS:
        known = ", ".join(f"{letter} ({row.title})" for letter, row in NODE_LEARNERS.items())
        raise src.error(at, f"there is no classifier with the code {code} here: expected {known}")
    brace = src.skip(match.end())
    options = None
    training = quoted and looks_like_options(name)
    if src.text.startswith('"', brace) and not training:
        after, options, _ = _name(src, brace, "options")
        brace = src.skip(after)
    if not src.text.startswith("{", brace):
        if training or options is not None:
            required = "'{'"
        else:
            required = "'{' or options in double quotes"
        raise src.error(
            brace, f"expected {required} after the code {code}, found {src.piece_at(brace)}"
        )
    place = src.place(start)
    if options is None and quoted:
        return brace, NodeClassifier(code, name, None, *place)
    return brace, NodeClassifier(code, options or "", name, *place)


def _name(src, at, required):
    """A word or quoted text; -> position, text, quoted.  required: for the error."""
    if src.text.startswith('"', at):
        end = closing_quote(src.text, at)
        if end < 0:
            raise src.error(at, "the opening quote has no closing quote on its line")
        return end + 1, _ESCAPE.sub(r"\1", src.text[at + 1 : end]), True
    match = _WORD.match(src.text, at)
    if not match or _NUMBER.match(match.group()):
        raise src.error(
            at, f"expected {required} or options in double quotes, found {src.piece_at(at)}"
        )
    return match.end(), match.group(), False


def _partition(src, at, name):
    """The two lists of a partition; -> position after ';', left, right."""
    at, left = _branches(src, at)
    if not src.text.startswith("/", at):
        if left:
            required = "'/' or a class position"
        else:
            required = "'{' or a class position"
        raise src.error(
            at, f"expected {required} after the name '{name[:40]}', found {src.piece_at(at)}"
        )
    if not left:
        raise src.error(at, "the left side of the partition is empty")
    at, right = _branches(src, src.skip(at + 1))
    if not src.text.startswith(";", at):
        raise src.error(at, f"expected ';' after the second class list, found {src.piece_at(at)}")
    if not right:
        raise src.error(at, "the right side of the partition is empty")
    seen = {}
    for side, entries in (("left", left), ("right", right)):
        for branch, where in entries:
            if type(branch) is not type(left[0][0]):
                raise src.error(
                    where,
                    f"{_branch_words(branch)} stands beside {_branch_words(left[0][0])}: expected "
                    "positions in the braces, from 0, or names of classes",
                )
            if branch in seen:
                if seen[branch] != side:
                    again = "on both sides"
                else:
                    again = f"twice on the {side} side"
                raise src.error(where, f"{_branch_words(branch)} is {again} of the partition")
            seen[branch] = side
    return at + 1, tuple(branch for branch, _ in left), tuple(branch for branch, _ in right)


def _branch_words(branch):
    if isinstance(branch, str):
        return f"class '{branch}'"
    return f"position {branch}"


def _branches(src, at):
    """One side of a partition; -> position, [(position in the braces or name, its position)]."""
    entries = []
    while at < len(src.text) and src.text[at] not in "/;{}":
        match = _INDEX.match(src.text, at)
        if match is None:
            end, name, _ = _name(src, at, "a class")
            entries.append((name, at))
            at = src.skip(end)
            continue
        if len(match.group()) > 9:
            raise src.error(at, f"position {match.group()[:12]} is too large")
        end = match.end()
        if end < len(src.text) and not (src.text[end].isspace() or src.text[end] in '/;#{}"'):
            raise src.error(
                at,
                f"expected a class position, found {src.piece_at(at)}"
                + (_EXCHANGED if _VALUE.match(src.text, at) else ""),
            )
        entries.append((int(match.group()), at))
        at = src.skip(end)
    return at, entries


def _called_by_position(src, node, nodes):
    """The rows of a node whose braces are closed, with positions in place of names of classes."""
    if all(isinstance(row.left[0], int) for row in node.rows):
        return node.rows
    branch_of = {}
    stack = list(enumerate(node.children))
    while stack:
        branch, child = stack.pop()
        if isinstance(child, Leaf):
            branch_of[child.label] = branch
        else:
            stack += [(branch, below) for below in nodes[child].children]
    return [
        row
        if isinstance(row.left[0], int)
        else changed(
            row,
            left=_positions(src, node, row.left, branch_of),
            right=_positions(src, node, row.right, branch_of),
        )
        for row in node.rows
    ]


def _positions(src, node, side, branch_of):
    """The positions of the branches that hold the classes of one side, {name: branch} of all."""
    for name in side:
        if name not in branch_of:
            if isinstance(next(iter(branch_of)), str):
                known = "the classes " + first_words(sorted(branch_of))
            else:
                known = "labels and no names"
            raise src.error(
                node.at,
                f"there is no class '{name}' in the braces of its partition: they hold {known}",
            )
    positions = dict.fromkeys(branch_of[name] for name in side)
    for name, branch in branch_of.items():
        if branch in positions and name not in side:
            raise src.error(
                node.at,
                f"class '{name}' is in one branch with others of its partition, and not on their "
                "side: expected all classes of a branch on one side",
            )
    return tuple(positions)


def _counted_otherwise(used, children):
    """A hint about positions beyond the branches: counted from 1, or labels."""
    labels = {child.label for child in children if isinstance(child, Leaf)}
    if used == set(range(1, len(children) + 1)) or used == labels:
        return ": positions in these braces count from 0, and are not class labels"
    return ""


def _close(src, at, open_nodes, nodes):
    node = open_nodes.pop()
    count = len(node.children)
    rows = _called_by_position(src, node, nodes)
    if node.bare:
        if count != 2:
            raise src.error(
                at,
                f"expected 2 branches in these braces, found {count}: "
                "a single classifier has a left and a right branch",
            )
    elif node.direct is not None:
        if count < 2:
            raise src.error(at, f"expected at least 2 branches in these braces, found {count}")
    else:
        used = {i for row in rows for i in (*row.left, *row.right)}
        required = max(used) + 1
        if required != count:
            raise src.error(
                at,
                f"expected {required} branches in these braces, as the largest "
                f"position in the partitions is {required - 1}, found {count}"
                + _counted_otherwise(used, node.children),
            )
        missing = next((i for i in range(required) if i not in used), None)
        if missing is not None:
            raise src.error(
                node.at,
                f"position {missing} is missing: it is in no partition of this coding matrix",
            )
    nodes[node.number] = Node(tuple(rows), tuple(node.children), node.bare, node.depth, node.direct)
    return at + 1, node.number
