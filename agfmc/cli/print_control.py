"""print_control: write the control file of a scheme."""

import argparse
import os
from dataclasses import dataclass

from ..core.errors import UsageError
from ..designs.schemes import DEFAULT, PARAMETERS, read_scheme, SCHEMES
from ..files.kinds import is_table
from ..training.request import PointsRequest
from .data_options import (
    add_normalisation,
    add_training_kind,
    input_format,
    NORMALISATION,
    points_request,
    WEIGHTS,
)
from .hints import refuse_scheme
from .messages import report
from .option_types import whole_number
from .options import add_seed, Joined, Parser
from .reports import add_report, PICTURES, Reports, reports_of

# parameters of schemes that have libAGF's letter or operand, too
_LETTERS = {"rows": "nrow", "strict": "-G", "reduced": "-Y"}
_TAKEN_BY_ALL = ("-G", "-Y", "-n", "-S", "-a")  # of libAGF
_IS_FOR = {  # what the scheme of an option has
    **{option: name for name, option in _LETTERS.items()},
    **dict.fromkeys(NORMALISATION, "data"),
    "-y": "control",
}


def get_parser():
    """The command's argument parser; loads nothing heavy."""
    parser = Parser(
        "print_control",
        "Write a training control file to standard output: the "
        "partitions of the classes that a multi-class classifier consists of.",
        operands="{n | data | control | confusions} [nrow | control ...]",
    )
    parser.add(
        "source",
        "the number of classes, labelled 0 to n-1; or training data with the "
        "labels (a table, base name of .vec and .cls files, LIBSVM text, LVQ with -A); "
        "or, for -Q 9, a control file; or, for -Q contingency and -Q adjacent-ordered, "
        "confusions of classes, from eval_uc --json or multi_borders --cv-errors (- is "
        "standard input)",
        metavar="{n | data | control | confusions}",
    )
    parser.add(
        "nrow",
        "the parameter rows of a scheme (default of random codes 4 ceil(n/4)); for "
        "-Q ensemble of control files, the other files",
        nargs="*",
        action=_Operands,
    )
    parser.set_defaults(controls=())
    group = parser.group("scheme")
    _add_scheme(group)
    group.add("-G, --strict", "random codes without 0: every classifier separates all classes")
    group.add(
        "-Y, --reduced",
        "orthogonal codes with one row fewer: normalise the Hadamard "
        "matrix and omit its constant row",
    )
    group.add(
        "-P, --print-matrix",
        "also print the coding matrix on standard error, columns in ascending order of the labels",
    )
    add_seed(group)
    group.add(
        "-+, --options TEXT",
        'training options to write into the quotes (default none: "")',
        default="",
    )
    group.add("-y, --path FOLDER", "with -Q 9: folder to put before the names of the models")
    group.add(
        "--names FILE", "class names, line i for label i, copied as comments", excludes="--no-names"
    )
    group.add(
        "--by-name",
        "write the names of the classes in place of labels and positions",
        excludes="--no-names",
    )
    group.add(
        "--no-names",
        "omit the class names and all else in the head of the control file, "
        "which libAGF cannot read",
    )
    group = parser.group("pictures")
    add_report(
        group,
        "of the tree, with the distances if it is designed from them, or of the coding matrix",
        *PICTURES,
        ".dot",
    )
    add_training_kind(parser, "data")
    add_normalisation(parser)
    parser.file_names = {"source": "design"}
    return parser.finish()


def _add_scheme(group):
    """The option -Q."""
    schemes = "\n".join(
        f"{scheme.heading}: {scheme.summary}" + f" ({scheme.parameters})" * bool(scheme.parameters)
        for scheme in SCHEMES
    )
    parameters = "\n".join(
        f"{name}: {parameter.meaning} ({parameter.range})" for name, parameter in PARAMETERS.items()
    )
    group.add(
        "-Q, --type SCHEME",
        "the scheme, by number or name, and its parameters, as in "
        f'-Q "empirical linkage=average":\n{schemes}\nparameters:\n{parameters}',
        action=Joined,
    )


class _Operands(argparse.Action):
    """The operands after the first: `nrow`, one whole number, else `controls`, files."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Read the operands."""
        rows = len(values) == 1 and values[0].isascii() and values[0].isdigit()
        try:
            if rows:
                namespace.nrow = whole_number(1)(values[0])
            else:
                namespace.nrow = None
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None
        if rows:
            namespace.controls = ()
        else:
            namespace.controls = tuple(values)


@dataclass(frozen=True)
class _Request:
    """A control file to be written.

    Attributes
    ----------
    source : number of classes, data, control file or confusions
    scheme : `Scheme`, None for a control file as it is
    settings : its parameters
    points : `PointsRequest` of training data, None for all else
    of_points : given options that are for training data
    controls : further control files that become one ensemble with the source
    path : folder of the names of models, or None
    options : training options of the classifiers
    head : the control file has names of classes, or those of the file `names`
    by_name : names of classes stand in place of labels
    print_matrix : the coding matrix is printed
    reports : `Reports`
    """

    source: str
    scheme: object
    settings: dict
    points: PointsRequest | None
    of_points: list
    controls: tuple
    path: str | None
    options: str
    head: bool
    names: str | None
    by_name: bool
    print_matrix: bool
    reports: Reports

    @property
    def of_number(self):
        """True if the source is a number of classes."""
        is_file = self.points is not None or self.controls or self.scheme is None
        return not is_file and "control" not in self.scheme.made_of


def execute(args):
    """Make a request of the options, and design, draw and print a control tree."""
    reports = reports_of(args)
    if args.controls and (args.type is None or "members" not in read_scheme(args.type)[0].options):
        raise UsageError(
            f"unrecognized operands: {' '.join(args.controls[1:])}"
            if len(args.controls) > 1
            else "argument nrow: expected a whole number, "
            f"found '{args.controls[0]}'; -Q ensemble joins control files"
        )
    scheme = _scheme_of(args)
    _refuse_idle(args, scheme)
    points = None
    if args.controls:
        settings = _settings_of_joined(args)
    else:
        form = input_format(args, args.source)
        made_of = scheme.made_of if scheme is not None else ("control",)
        joins = "sizes" in made_of and "members" in scheme.options
        if joins and _is_file(args) and not os.path.exists(f"{args.source}.cls"):
            raise UsageError(
                f"-Q {scheme.name} joins two control files or more: found one, {args.source}"
            )
        settings = _settings_of(args, scheme)
        if not _is_number(args.source) and "control" not in made_of:
            points = points_request(args, args.source, form)
    request = args.request(
        _Request,
        scheme=scheme,
        settings=settings,
        points=points,
        of_points=args.given(*NORMALISATION, "--min-class", *WEIGHTS),
        head=not args.no_names,
        reports=reports,
    )
    from .work.print_control import run

    run(request)


def _settings_of(args, scheme):
    """The parameters of the `Scheme` of -Q, of its text and of libAGF's letters."""
    if scheme is None:
        return {}
    settings = {}
    if args.type is not None:
        settings = read_scheme(args.type, args.seed)[1]
    for name, option in _LETTERS.items():
        if args.given(option) and name in scheme.options:
            if name in settings:
                raise UsageError(f"{option} and the parameter {name} exclude each other")
            settings[name] = getattr(args, "nrow" if option == "nrow" else name)
    scheme.settings(settings)
    return settings


def _settings_of_joined(args):
    """The parameters for control files that are joined: an average, or nothing."""
    message = "is for new configurations: the control files that are joined keep theirs"
    args.refuse((*_LETTERS.values(), *NORMALISATION, "--options"), message)
    settings = read_scheme(args.type)[1]
    for name in settings:
        if name != "average":
            raise UsageError(f"the parameter {name} {message}")
    if (args.source, *args.controls).count("-") > 1:
        raise UsageError("- is standard input, which can be read once")
    return settings


def _refuse_idle(args, scheme):
    """UsageError for an option that would change nothing. A letter of libAGF, which takes it with
    all schemes, is only reported with its schemes."""
    if scheme is None:
        name = "a control file that is shown"
    else:
        name = scheme.name
    if scheme is None:
        made_of = ("control",)
    else:
        made_of = scheme.made_of
    for option in args.given(*_IS_FOR):
        suited = [s for s in SCHEMES if _IS_FOR[option] in (*s.options, *s.made_of)]
        if scheme in suited:
            continue
        *first, last = (s.name for s in suited)
        text = f"{option} is for -Q {', '.join(first)}{' and ' * bool(first)}{last}"
        if option not in _TAKEN_BY_ALL or scheme is None or scheme.number is None:
            raise UsageError(f"{text}, not for {name}")
        report(f"{text}, and changes nothing in {name}")
    if not {"classes", "data"}.intersection(made_of) or _is_number(args.source):
        args.refuse(["--min-class"], "is for training data, whose samples it counts")
        args.refuse(WEIGHTS, "is for the samples of training data")
    if args.options and "control" in made_of:
        raise UsageError(
            "--options is for a new control file; one that is "
            f"{'shown' if scheme is None else 'converted'} keeps its own"
        )
    if made_of == ("confusions",) and (args.svm or args.lvq):
        raise UsageError(f"-M and -A are for training data: -Q {name} takes a contingency table")


def _scheme_of(args):
    """The requested `Scheme`; None where a control file is shown as it is. That is without
    -Q, with --report, where the operand is standard input or a file of exactly that name."""
    if args.type is not None:
        return read_scheme(args.type)[0]
    if not _is_number(args.source) and not os.path.exists(f"{args.source}.cls"):
        refuse_scheme(args.source, "N, for N classes, or DATA")
    if args.report and (
        args.source == "-" and not (args.svm or args.lvq or args.table) or _is_file(args)
    ):
        return None
    return DEFAULT


def _is_file(args):
    """Return True if the operand can be a control file: no text of data, no folder, no number."""
    return (
        not (args.svm or args.lvq or args.table or _is_number(args.source))
        and not is_table(args.source)
        and os.path.exists(args.source)
        and not os.path.isdir(args.source)
    )


def _is_number(text):
    """Return True if the operand is a number of classes."""
    return text.isascii() and text.isdigit()
