"""Options in place of the parameters that messages of the library name.

The library writes a parameter as Python does, `min_class` or `min_class=5`; on the way to standard
error it becomes --min-class, or --min-class 5.
"""

import re
import shlex

_OF_TABLES = "table2agf agf_train"
_OF_NEW_ROWS = "calibrate_m classify_m eval_uc mbh2mbm mbm_info"  # where it is that of training

# {parameter, or parameter=value: (option, commands)}. Where the running command is none of these,
# the first of them is said before the option. A parameter that is not here is the option of the
# same name with dashes, if the running command has that.
PARAMETERS = {
    "again": ("--again", "tune_m"),
    "all_columns": ("--all-columns", "classify_m"),
    "allow_commands": ("--allow-commands", ""),
    "bins": ("-q", ""),
    "blanks": ("--blanks", _OF_TABLES),
    "brief": ("-b", "eval_uc"),
    "calibrated=False": ("--uncalibrated", ""),
    "calibration=0": ("--uncalibrated", ""),
    "categorical": ("--categorical", _OF_TABLES),
    "class_count": ("-k", "eval_uc"),
    "classes": ("--classes", _OF_TABLES),
    "compact": ("-U", ""),
    "cv_errors": ("--cv-errors", "multi_borders"),
    "data": ("--data", "calibrate_m eval_uc mbh2mbm"),
    "decimal": ("--decimal", _OF_TABLES),
    "decoders": ("--decoder", "multi_borders"),
    "delimiter": ("--delimiter", _OF_TABLES),
    "encoding": ("--encoding", _OF_TABLES),
    "dry_run": ("-0", ""),
    "fold_case": ("--fold-case", _OF_TABLES),
    "features=True": ("--features", "mbh2mbm"),
    "foreign": ("-O", ""),
    "geometric": ("-g", ""),
    "group": ("--group", ""),
    "header": ("--header", "classify_m"),
    "header=False": ("--no-header", _OF_TABLES),
    "ids": ("--id", ""),
    "ignored": ("--ignore", ""),
    "irrelevant": ("--cv-irrelevant", "multi_borders"),
    "json": ("--json", "eval_uc"),
    "keep": ("-K", ""),
    "kind=lvq": ("-A", ""),
    "kind=svm": ("-M", ""),
    "label": ("--label", ""),
    "labels": ("--labels", "eval_uc"),
    "labels=False": ("-C", ""),
    "method": ("-Q", ""),
    "min_class": ("--min-class", ""),
    "min_words": ("--min-words", _OF_TABLES),
    "missing": ("--missing", f"{_OF_TABLES} {_OF_NEW_ROWS}"),
    "models_in": ("-y", ""),
    "names": ("--names", "eval_uc"),
    "no_header": ("-H", ""),
    "normalisation": ("-a", ""),
    "normalise": ("-n", ""),
    "options": ("-+", ""),
    "ordinates": ("-L", ""),
    "parts": ("-d", ""),
    "predictor": ("-O", ""),
    "print_control": ("--print-control", "mbm_info"),
    "quotes=False": ("--no-quotes", _OF_TABLES),
    "raw": ("-0", ""),
    "shuffle": ("-z", ""),
    "sigmoid": ("-c", ""),
    "sort": ("-B", ""),
    "stop": ("--stop", "classify_m"),
    "svd": ("-S", ""),
    "top": ("--top", "classify_m"),
    "tree": ("--tree", "classify_m"),
    "uncalibrated": ("--uncalibrated", ""),
    "unnormalised": ("-u", ""),
    "weight": ("--weight", ""),
}
# Text between quotes is the user's, as the name of a column, and what is a part of a file's name.
_QUOTED_OR_NAMED = r"""(?<!\w)(['"]).*?\1(?!\w)|(?<![\w/.])`([a-z_]+)(?:=([^`]*))?`(?![/.]\w)"""


def with_options(text, command, options):
    """A message with options in place of parameters; `command` runs, and has these `options`."""
    if "`" not in text:
        return text

    def option_of(match):
        name, value = match[2], match[3]
        if name is None:
            return match[0]
        if value is not None:
            value = value.strip('"')
        row = PARAMETERS.get(f"{name}={value}")
        if row is not None:
            value = None
        else:
            row = PARAMETERS.get(name)
        if row is not None:
            option, commands = row
            if commands and command not in commands.split():
                option = f"{commands.split()[0]} {option}"
        else:
            option = f"--{name.replace('_', '-')}"
            if option not in options:
                return match[0]
        if value is None:
            return option
        return f"{option} {shlex.quote(value)}"

    return re.sub(_QUOTED_OR_NAMED, option_of, text)
