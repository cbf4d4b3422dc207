"""The schemes of print_control: their option, and control files that are joined to ensembles."""

import argparse

from ..core.errors import UsageError
from ..designs.schemes import PARAMETERS, read_scheme, SCHEMES
from .data_options import NORMALISATION
from .option_types import whole_number
from .options import is_trained, Joined

# parameters of schemes that have libAGF's letter or operand, too
LETTERS = {"rows": "nrow", "strict": "-G", "reduced": "-Y"}


def add_scheme(group):
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


def scheme_settings(args, scheme):
    """The parameters of the `Scheme` of -Q, of its text and of libAGF's letters."""
    if args.type is None:
        settings = {}
    else:
        settings = read_scheme(args.type, args.seed)[1]
    for name, option in LETTERS.items():
        if args.given(option) and name in scheme.options:
            if name in settings:
                raise UsageError(f"{option} and the parameter {name} exclude each other")
            settings[name] = getattr(args, "nrow" if option == "nrow" else name)
    scheme.settings(settings)
    return settings


class Operands(argparse.Action):
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


def joined_controls(args):
    """The ensemble of the control files that are the operands."""
    from ..control.build import joined
    from ..designs.drawn import with_average
    from ..models.control_files import read_control

    message = "is for new configurations: the control files that are joined keep theirs"
    args.refuse((*LETTERS.values(), *NORMALISATION, "--options"), message)
    settings = read_scheme(args.type)[1]
    average = settings.pop("average", None)
    for name in settings:
        raise UsageError(f"the parameter {name} {message}")
    if (args.source, *args.controls).count("-") > 1:
        raise UsageError("- is standard input, which can be read once")
    trees = [read_control(name) for name in (args.source, *args.controls)]
    trained = is_trained(trees[0])
    for tree in trees:
        if trained:
            tree.require_names()
        else:
            tree.require_options()
    return with_average(average, joined(trees))
