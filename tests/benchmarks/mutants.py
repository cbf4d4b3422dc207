"""What a layer of tests sees: a comparison, operator or constant of a module is changed at a time.

python tests/benchmarks/mutants.py agfmc/decode/costs.py [-k 20] [-s SEED] -- tests/unit/decode

What stands behind -- are words for pytest.  The changes that these tests do not notice are printed
with their lines; with --long they are tried once more by all tests, the long ones too.  Each change
is made in a process that is forked from this one, so that numpy and pytest are loaded once; it does
not reach the processes that a test starts.
"""

import argparse
import ast
import contextlib
import importlib.machinery
import io
import os
import random
import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OTHER = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.USub: ast.UAdd,
    ast.LShift: ast.RShift,
    ast.MatMult: ast.Mult,
}
SECONDS = 300


def places(tree):
    """(node, field, index or None, new value) of each change."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
            yield node, "ops", 0, OTHER[type(node.ops[0])]()
        elif (
            isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.AugAssign))
            and type(node.op) in OTHER
        ):
            yield node, "op", None, OTHER[type(node.op)]()
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            value = node.value
            yield (
                node,
                "value",
                None,
                (
                    not value
                    if isinstance(value, bool)
                    else value + 1
                    if isinstance(value, int)
                    else 2 * value + 1e-3
                ),
            )


def mutants(source, number, seed):
    """(line, what, code) of so many changes, drawn at random."""
    count = sum(1 for _ in places(ast.parse(source)))
    for chosen in sorted(random.Random(seed).sample(range(count), min(number, count))):
        tree = ast.parse(source)
        node, field, index, value = list(places(tree))[chosen]
        before = ast.unparse(node)
        if index is None:
            setattr(node, field, value)
        else:
            getattr(node, field)[index] = value
        yield node.lineno, f"{before}  ->  {ast.unparse(node)}", tree


def notice(path, tree, words, seconds=SECONDS):
    """Do the tests fail, or never end, where the module at `path` is this one?"""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    signal.alarm(seconds)
    usual = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        if self.path == str(path):
            return compile(tree, self.path, "exec")
        return usual(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = pytest.main(["-x", "-q", "-n0", "-p", "no:cacheprovider", *words])
    os._exit(int(status) != 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="+", type=Path)
    parser.add_argument("-k", type=int, default=20, help="number of changes in each module")
    parser.add_argument("-s", type=int, default=1, help="seed of their choice")
    parser.add_argument("--long", action="store_true", help="try the long tests, too")
    words = sys.argv[sys.argv.index("--") + 1 :]
    args = parser.parse_args(sys.argv[1 : sys.argv.index("--")])
    sys.path.insert(0, str(ROOT))
    for name in ("numpy", "scipy.optimize", "scipy.sparse", "hypothesis.extra.numpy"):
        importlib.import_module(name)
    for path in (path.resolve() for path in args.modules):
        source, seen, number = path.read_text(encoding="utf-8"), 0, 0
        if notice(path, ast.parse(source), words):
            sys.exit(f"{path}: the tests fail without any change")
        for line, what, tree in mutants(source, args.k, args.s):
            number += 1
            if notice(path, tree, words):
                seen += 1
                continue
            later = args.long and notice(path, tree, ["-m", "", *words], 0)
            print(
                f"{path.relative_to(ROOT)}:{line}: {what}{'  (a long test sees it)' * later}",
                flush=True,
            )
        print(f"{path.relative_to(ROOT)}: {seen} of {number} are noticed", flush=True)


if __name__ == "__main__":
    main()
