"""Completions of bash, zsh and fish: `python -m man.completions FOLDER`.

One file for each command and shell, made by shtab from the command's parser, below FOLDER: the
places below share/ where the shells look for them.  The build of a wheel makes them
(`build_backend.py`), and setup.cfg installs them.
"""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
from pathlib import Path
from string import Template

from agfmc.cli.options import FILES, Parser
from agfmc.cli.run import run_command
from agfmc.designs.schemes import SCHEMES
from agfmc.control.learners import LEARNERS
from agfmc.control.tree import TREE_DECODERS
from agfmc.decode.methods import METHODS
from agfmc.core.errors import UsageError
from agfmc.core.kernels import TUNED_KERNELS

from .generate import commands

__all__ = [
    "complete",
    "FREE",
    "FREE_OPERANDS",
    "get_parser",
    "main",
    "SHELLS",
    "values_of",
    "write_completions",
]

PROG = "python -m man.completions"
# The file of a command below share/, by shell.
SHELLS = {
    "bash": "bash-completion/completions/{}",
    "zsh": "zsh/site-functions/_{}",
    "fish": "fish/vendor_completions.d/{}.fish",
}

_DECODERS = tuple(method.name for method in METHODS)
_TREES = tuple(name for name in TREE_DECODERS if name not in _DECODERS)
_NAMES = tuple(scheme.name for scheme in SCHEMES)
_WORKERS = ("threads", "processes", "dask:")
_BY = ("log-loss", "brier", "accuracy", "uncertainty", "error", "cost:")
_TRAINING = tuple(f"learner={name}" for name in LEARNERS if len(name) > 1)
_FILE, _FOLDER = "file", "folder"

# What stands after an option, by the name of its value: files, folders, words, or one of both
# in a list with commas.  The choices that a parser has come first.
_VALUES = {
    **dict.fromkeys(FILES, (_FILE,)),
    "FOLDER": (_FOLDER,),
    "PATH": (_FOLDER,),
    "METHOD": _DECODERS,
    "DECODER": _DECODERS + _TREES,
    "DECODER,...": _DECODERS + _TREES,
    "TYPE": _NAMES,
    "SCHEME": _NAMES,
    "KERNEL,...": TUNED_KERNELS,
    "WHERE": _WORKERS,
    "SCORE": _BY,
    "POLICY": ("error", "mean", "median", "indicator", "value:"),
}
# Values that are written freely: numbers, names of columns and classes, commands.
FREE = frozenset(
    """
    C CODE COLUMN COLUMN,... COMMAND D E FRACTION GROUP:RANGE K K,K,... L L,L,...
    LEARNER,... LO:HI LO:HI[:STEP] M M|auto MB MISSING N NAME NAME,... P P,P,... PARTS Q Q,Q,... R
    ROUNDS BINS T TEXT TIME VALUE VALUE,... W WEIGHTS WORD,... OPTIONS ORDER,...""".split()
)
# Options whose values the parser calls by a wider name.
_OPTIONS = {
    "--against": (_FILE, *_NAMES),
    "--class-weight": ("balanced", _FILE),
    "--command": ("multi_borders",),
    "--weights": ("none", _FILE),
    "--options": _TRAINING,
    "--max-error": (),
}
# Operands are files, but for numbers, and those that may be the name of a scheme.
FREE_OPERANDS = frozenset([("float_to_class", "numbers"), ("print_control", "nrow")])
_SCHEMES_TOO = frozenset(
    [
        ("compare_control", "control"),
        ("nfold", "control"),
        ("tune_m", "control"),
        ("order_classes", "control"),
    ]
)

# A word that is typed may begin with a quote and hold \\; readline quotes the names that it gets.
_BASH = {
    _FILE: '  local name=${1#[\\"\\\']}\n  compgen -f -- "${name//\\\\/}"\n',
    _FOLDER: '  local name=${1#[\\"\\\']}\n  compgen -d -- "${name//\\\\/}"\n',
}
# readline ends a word at = and :, which are a part of --option=value and one-vs-one:inverse.
_BASH_WORDS = Template("""

_agfmc_$prog() {
  local rest=$$COMP_LINE current=$${COMP_WORDS[COMP_CWORD]} before=" " word head i at=0
  local -a words=()
  for ((i = 0; i < $${#COMP_WORDS[@]}; i++)); do
    word=$${COMP_WORDS[i]}
    head=$${rest%%[![:space:]]*}
    rest=$${rest#"$$head"}
    rest=$${rest#"$$word"}
    if [[ -z $$head && $$i -gt 0 && ( $$word == [=:]* || $$before == [=:]* ) ]]; then
      words[$${#words[@]}-1]+=$$word
    else
      words+=("$$word")
    fi
    [[ $$i -eq $$COMP_CWORD ]] && at=$$(($${#words[@]} - 1))
    before=$$word
  done
  [[ $$current == [=:] ]] && current=
  word=$${words[at]-}
  if [[ $$word == --*=* ]]; then
    words=("$${words[@]:0:at}" "$${word%%=*}" "$${word#*=}")
    word=$${word#*=}
    at=$$((at + 1))
  fi
  local -a COMP_WORDS=("$${words[@]}")
  local COMP_CWORD=$$at
  _shtab_$prog
  COMPREPLY=("$${COMPREPLY[@]#"$${word%"$$current"}"}")
}

complete -o bashdefault -F _agfmc_$prog $prog
""")


def write_completions(folder):
    """Write the files of all commands and shells below `folder`.

    Raises ImportError where there is no shtab that knows the three shells.
    """
    for shell, place in SHELLS.items():
        for command in commands():
            path = Path(folder) / place.format(command)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(complete(command, shell), encoding="utf-8")


def complete(command, shell):
    """The text of the completions of a command for a shell, one of `SHELLS`."""
    import shtab

    if shell not in shtab.SUPPORTED_SHELLS:
        raise ImportError(f"shtab {shtab.__version__} does not know {shell}")
    return _complete(importlib.import_module(f"agfmc.cli.{command}").get_parser(), shell)


def _complete(parser, shell):
    """The completions for a parser, which is changed."""
    import shtab

    operands = [action for action in parser._actions if not action.option_strings]
    if operands and operands[-1].nargs != "*":
        # a number after --learn-metric, which may have none, is counted as an operand
        parser.add_argument("more", nargs="*", help="file")
    for action in parser._actions:
        _prepare(parser, action, shell)
    text = shtab.complete(parser, shell)
    if shell == "bash":
        text += _BASH_WORDS.substitute(prog=parser.prog)
    elif shell == "zsh":  # shtab takes one more operand where there may be many, and subcommands
        text = text.replace('\n  "(*)::', '\n  "*:')
        text = text.replace("_defaults_added=0", "_defaults_added=1")
    return text.rstrip("\n") + "\n"


def values_of(command, action):
    """The values of an operand or an option: words, "file" and "folder".

    () for what is written freely, None where neither table knows the name of the value.
    """
    if not action.option_strings:
        known = (command, action.dest)
        return () if known in FREE_OPERANDS else (_FILE, *(_NAMES if known in _SCHEMES_TOO else ()))
    if action.choices:
        return tuple(map(str, action.choices))
    for name in action.option_strings:
        if name in _OPTIONS:
            return _OPTIONS[name]
    metavar = action.metavar or action.dest.upper()
    return () if metavar in FREE else _VALUES.get(metavar)


def _prepare(parser, action, shell):
    """Change an action of a parser that is not used again into what shtab takes as it is."""
    action.help = _description(parser, action).replace("%", "%%")
    if action.nargs == 0:
        pass
    elif action.option_strings and action.nargs == "?":
        action.nargs = 0  # what follows is its value only if it is a number: most often it is not
    else:
        values = values_of(parser.prog, action)
        metavar = action.metavar or action.dest
        action.choices, action.metavar = None, re.sub(r"[^\w.,|-]+", " ", metavar).strip()
        if values:
            action.complete = _completer(
                f"_agfmc_{parser.prog}_{action.dest}", values, metavar.endswith(",...")
            )
    if shell == "zsh":  # where + and ^ mean something else; their long names remain
        action.option_strings = [name for name in action.option_strings if name not in ("-+", "-^")]


def _description(parser, action):
    """The beginning of the help, in characters that no shell reads as its own."""
    text = (action.help or "") % {**vars(action), "prog": parser.prog}
    text = re.split(r"[;(\n]|\. ", text, maxsplit=1)[0].replace('"', "'")
    text = re.sub(r"[^\w\s.,:'/+=|-]", "", text).strip()
    return textwrap.shorten(text, 70, placeholder=" ...").rstrip(":")


def _completer(name, values, is_list):
    """shtab's table of a function for each shell, for words, files and folders."""
    words = [value for value in values if value not in _BASH]
    if len(words) < len(values):
        name += "_files"  # by which shtab tells bash that these are names of files
    return {
        "bash": name,
        "zsh": name,
        "fish": _fish(values, words, is_list),
        "preamble": {
            "bash": _bash(name, values, words, is_list),
            "zsh": _zsh(name, values, words, is_list),
        },
    }


def _bash(name, values, words, is_list):
    lines = [_BASH[value] for value in values if value in _BASH]
    if words and is_list:
        lines += [
            "  local head=\n",
            "  [[ $1 == *,* ]] && head=${1%,*},\n",
            f'  compgen -P "$head" -W "{" ".join(words)}" -- "${{1##*,}}"\n',
        ]
    elif words:
        lines.append(f'  compgen -W "{" ".join(words)}" -- "$1"\n')
    return f"{name}() {{\n{''.join(lines)}}}\n"


def _zsh(name, values, words, is_list):
    if is_list:
        body = f"_sequence compadd - {' '.join(words)}"
    else:
        kinds = [
            f"'{value}s:{value}:_files{' -/' * (value == _FOLDER)}'"
            for value in values
            if value in _BASH
        ]
        if words:
            kinds.append("'words:value:compadd -a words'")
        body = f"local -a words=({' '.join(words)})\n  _alternative {' '.join(kinds)}"
    return f"{name}() {{\n  {body}\n}}\n"


def _fish(values, words, is_list):
    # --option=value is one word, of which the value is completed
    word = "(string replace -r -- '^--[^=]*=' '' (commandline -ct))"
    pieces = {
        _FILE: f"(__fish_complete_path {word})",
        _FOLDER: f"(__fish_complete_directories {word})",
    }
    found = [pieces[value] for value in values if value in pieces]
    if words:
        found.append(f"(__fish_append , {' '.join(words)})" if is_list else " ".join(words))
    return " ".join(found)


def get_parser():
    """The parser of this program."""
    parser = Parser(PROG, "Make the completions of all commands for bash, zsh and fish.")
    parser.add("folder", "the folder that becomes share/")
    return parser.finish()


def execute(args):
    """Write the files."""
    try:
        write_completions(args.folder)
    except ImportError as error:
        raise UsageError(f"completions need shtab 1.13 or newer: {error}") from None


def main(argv=None):
    """Run the program; -> exit status."""
    return run_command(get_parser(), execute, argv)


if __name__ == "__main__":
    sys.exit(main())
