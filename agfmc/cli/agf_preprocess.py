"""agf_preprocess: select, relabel, split and normalise training data."""

from __future__ import annotations

from ..errors import UsageError
from .messages import report
from .options import Parser, add_normalisation, add_seed, whole_number
from .run import run_command

__all__ = ["get_parser", "main"]

PROG = "agf_preprocess"


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        PROG,
        "Make data ready for training: partition and relabel the classes, select features, "
        "shuffle, split into training and test data, normalise, in this order. Statistics come "
        "from the training part alone.",
        usage="%(prog)s [-n] [-a FILE] [-S N] [-F] [-z] [-U] [-C] [-f FRACTION [--stratified] | "
              "-d PARTS] [--seed N] input output [test] [feature ... | left ... / right ...]")
    parser.add_argument("input", help="base name of the .vec and .cls files to be read")
    parser.add_argument("output", help="base name of the files to be written; with -f, of the "
                                       "training part, and with -d, output-00, output-01, ...")
    parser.add_argument("rest", nargs="*", default=[], metavar="test | feature | partition",
                        help="with -f first the base name of the test part; then, with -F, the "
                             "features to keep, counted from 0, or else a partition of classes, "
                             "`0 1 / 2`, that become classes 0 and 1 while others are left out")
    group = parser.add_argument_group("selection")
    group.add_argument("-F", "--features", action="store_true",
                       help="keep only the features listed, in the order listed")
    group.add_argument("-U", "--relabel", action="store_true",
                       help="number the classes 0 to k-1 in ascending order of their labels")
    group.add_argument("-C", "--no-labels", action="store_true",
                       help="the input has no labels: input.cls is not read")
    group = parser.add_argument_group("splitting")
    group.add_argument("-z", "--shuffle", action="store_true", help="put the rows in random order")
    group.add_argument("-f", "--fraction", type=float, metavar="FRACTION",
                       help="put the last FRACTION of the rows into the test part")
    group.add_argument("--stratified", action="store_true",
                       help="with -f: the FRACTION of every class, drawn at random")
    group.add_argument("-d", "--parts", type=whole_number(2, 100_000), metavar="PARTS",
                       help="divide the rows into PARTS equal parts")
    add_seed(group)
    add_normalisation(parser)
    return parser.finish()


def execute(args):
    """Sort the operands out, then follow the recipe."""
    from ..flow.preprocess import Recipe, preprocess

    rest = list(args.rest)
    test = None
    if args.fraction is not None:
        if args.parts is not None:
            raise UsageError("-f and -d exclude each other")
        if not rest:
            raise UsageError("with -f, expected the base name of the test part after output")
        test = rest.pop(0)
        if test == args.output:
            raise UsageError("the training part and the test part cannot have one name")
    elif args.stratified:
        raise UsageError("--stratified goes with -f")
    features = partition = None
    if args.features:
        features = tuple(_whole(word, "a feature's number") for word in rest)
        if not features:
            raise UsageError("with -F, expected the features to keep, counted from 0")
    elif rest:
        partition = _partition(rest)
    fitted = args.normalise or args.svd is not None
    recipe = Recipe(
        partition=partition, compact=args.relabel, features=features, shuffle=args.shuffle,
        fraction=args.fraction, stratified=args.stratified, parts=args.parts,
        scale=args.normalise, nsv=args.svd, norm_in=None if fitted else args.norm_file,
        norm_out=args.norm_file if fitted else None, labels=not args.no_labels, seed=args.seed)
    written = preprocess(recipe, args.input, args.output, test)
    report(args, PROG, ", ".join(f"{base}: {rows} rows" for base, rows in written.items()))


def _partition(words):
    if words.count("/") != 1:
        raise UsageError(f"expected a partition of classes such as `0 1 / 2`, found "
                         f"'{' '.join(words)[:40]}' (features are selected with -F)")
    at = words.index("/")
    left, right = (tuple(_whole(word, "a class label") for word in side)
                   for side in (words[:at], words[at + 1:]))
    if not left or not right:
        raise UsageError("a side of the partition is empty")
    both = set(left) & set(right)
    if both:
        raise UsageError(f"class {min(both)} stands on both sides of the partition")
    return left, right


def _whole(word, what):
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        raise UsageError(f"expected {what}, found '{word}'")
    return int(word)


def main(argv=None):
    """Run the command; -> exit status."""
    return run_command(get_parser(), execute, argv)
