"""Model files that a stranger forged, with right checksums: refused, or used without harm."""

import json
import os
import pty
import random
import resource
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import fuzz_store
import hostile_store as forge
import numpy as np
import pytest

from agfmc.control.parse import MAX_SIDES, parse
from agfmc.control.write import format_tree
from agfmc.decode.front import CodeDecoder
from agfmc.core.errors import AgfmcWarning, ControlError, ModelError
from agfmc.files.opening import read_bytes
from agfmc.kernels.machine import _cut

ESCAPE = "\x1b]0;x\x07\x1b[2K\rall is well\u202e"
MODELS = forge.models()
RAW = {name: forge.bytes_of(model) for name, model in MODELS.items()}


@pytest.fixture(autouse=True)
def strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # numpy's would stand on the terminal
        warnings.simplefilter("ignore", AgfmcWarning)
        yield


def changed(name="pairs", header=None, **arrays):
    """A forged file: header(h) changes the header in place; arrays in place of the true ones.

    The path of an array has `__` for a point; those without are of the machines.
    """
    told, blobs = forge.taken_apart(RAW[name])
    for key, value in arrays.items():
        path = key.replace("__", ".") if "__" in key else f"machines.{key}"
        assert path in blobs
        blobs[path] = value
    if header is not None:
        header(told)
    return forge.put_together(told, blobs)


def refused(raw, words=""):
    with pytest.raises(ModelError) as caught:
        forge.stored("m.mbm", raw)
    assert str(caught.value).startswith("m.mbm: ") and "\n" not in str(caught.value)
    assert words in str(caught.value), str(caught.value)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", MODELS)
def test_honest_models_are_taken(tmp_path, name):
    counts = Counter()
    assert forge.use(changed(name), str(tmp_path / "out"), counts) == "accepted"
    assert counts["answers"] >= 4
    assert not [word for word in counts if word.startswith("own")]


def cut_and_flipped(raw, step=1):
    """The bytes of a file cut and changed everywhere behind its start, sealed anew."""
    for at in range(64, len(raw), step):
        for body in (
            raw[64:at],
            raw[64:at] + bytes([raw[at] ^ 0xFF]) + raw[at + 1 :],
            raw[64:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :],
        ):
            length = forge.START.unpack_from(raw)[3]
            yield forge.sealed(body[:length].ljust(length), body[length:])


def test_every_byte_of_the_start():
    for at in range(64):
        for bits in (1, 0x80, 0xFF):
            raw = bytearray(RAW["code"])
            raw[at] ^= bits
            refused(bytes(raw))
    length = forge.START.unpack_from(RAW["code"])[3]
    text, body = RAW["code"][64 : 64 + length], RAW["code"][64 + length :]
    for lie in (
        0,
        1,
        63,
        64,
        length - 64,
        length + 1,
        length + 64,
        len(RAW["code"]),
        2**63,
        2**64 - 1,
        2**64 - 64,
    ):
        refused(forge.sealed(text, body, length=lie))
        if lie != len(RAW["code"]):
            refused(forge.sealed(text, body, size=lie))
    for major, minor in ((0, 0), (1, 4), (2, 0), (1, 2**32 - 1), (2**32 - 1, 1)):
        refused(forge.sealed(text, body, major=major, minor=minor), "format version")
    refused(forge.sealed(text, body, magic=b"\x89MBM\n\r\x1a\n"))
    forge.stored("m", forge.sealed(text, body))


def flips(name, tmp_path, step):
    ends = Counter(
        forge.use(raw, str(tmp_path / "out"), rng=random.Random(at))
        for at, raw in enumerate(cut_and_flipped(RAW[name], step))
    )
    assert len(ends) == 2


@pytest.mark.long
def test_every_fifth_byte_cut_and_flipped_with_a_new_checksum(tmp_path):
    for name in MODELS:
        flips(name, tmp_path, 5)


def text_of(name="code"):
    length = forge.START.unpack_from(RAW[name])[3]
    return RAW[name][64 : 64 + length].decode().rstrip(), RAW[name][64 + length :]


JSON = {
    "a key twice": lambda t: t.replace('"control":', '"recipe":null,"control":', 1),
    "a key twice, inside": lambda t: t.replace('"offset":', '"offset":0,"offset":', 1),
    "a key twice, spelt otherwise": lambda t: t.replace(
        '"control":', '"contro\\u006c":"","control":', 1
    ),
    "NaN": lambda t: t.replace("0.5", "NaN", 1),
    "infinity": lambda t: t.replace("0.5", "1e999", 1),
    "an enormous number": lambda t: t.replace("0.5", "9" * 10**6, 1),
    "minus infinity": lambda t: t.replace("0.5", "-Infinity", 1),
    "deep": lambda t: t.replace('"made_by":{', '"made_by":' + '{"a":' * 10**5, 1),
    "deep lists": lambda t: t.replace('"provenances":[', '"provenances":' + "[" * 10**6, 1),
    "very many keys": lambda t: t.replace(
        '"made_by":{', '"made_by":{' + "".join(f'"{i}":{i},' for i in range(200_000)), 1
    ),
    "text behind it": lambda t: t + "{}",
    "text before it": lambda t: "x" + t,
    "a mark": lambda t: "\ufeff" + t,
    "half a pair": lambda t: t.replace("0 1 / 2", "\\ud800", 1),
    "a control character": lambda t: t.replace("0 1 / 2", "\n", 1),
    "not UTF-8": lambda t: t.replace("0 1 / 2", "\udcff", 1),
}


@pytest.mark.few(12)
@pytest.mark.parametrize("case", JSON)
def test_json(case):
    text, body = text_of()
    lie = JSON[case](text)
    assert lie != text
    refused(forge.sealed(lie.encode("utf-8", "surrogateescape"), body))


def test_other_encodings():
    text, body = text_of()
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-32-be"):
        raw = text.encode(encoding)
        refused(forge.sealed(raw + " ".encode(encoding)[-2:] * (-len(raw) % 64 // 2), body))


def lie(**changes):
    return lambda header: header.update(changes)


def machines(**changes):
    return lambda header: header["machines"].update(changes)


def node(**changes):
    return lambda header: header["node_classifiers"][0].update(changes)


def kernel(kind="rbf", gamma=0.5, coef0=0.0, degree=0):
    return machines(kernels=[{"kind": kind, "gamma": gamma, "coef0": coef0, "degree": degree}] * 3)


HEADERS = {
    "settings of two lines": ("pairs", machines(provenances=["a\nb", "", ""]), "line"),
    "settings that a terminal obeys": ("pairs", machines(provenances=[ESCAPE, "", ""]), "line"),
    "a version that a terminal obeys": ("pairs", lie(made_by={"agfmc": ESCAPE}), ""),
    "a program that a terminal obeys": ("pairs", lie(made_by={ESCAPE: "1"}), ""),
    "versions that are lists": ("pairs", lie(made_by={"agfmc": [[]]}), ""),
    "gamma below 0": ("pairs", kernel(gamma=-0.5), "kernel"),
    "gamma true": ("pairs", kernel(gamma=True), "kernel"),
    "too many neighbours": ("K", node(k=6), "neighbours"),
    "other neighbours": ("K", node(k=3), "control text"),
    "neighbours true": ("K", node(k=True), ""),
    "another folder of a direct one": ("K", node(name="z/a"), None),
    "another number of branches": ("L", node(branches=4), ""),
    "another code in the text": ("K", lie(control='a L "" { 0 1 2 }'), "control text"),
    "a command in the text": ("K", lie(control='a G "touch /tmp/x" { 0 1 2 }'), "control text"),
    "a command among the direct ones": ("K", node(code="G"), ""),
    "options that are none": ("K", lie(control='a K "-z 2" { 0 1 2 }'), "control text"),
    "options of letters": ("K", lie(control='a K "-k two" { 0 1 2 }'), "control text"),
    "no direct one in the text": ("K", lie(control="a { 0 1 }"), ""),
    "another code": (
        "K",
        lambda h: (node(code="L")(h), h.update(control='a L "" { 0 1 2 }')),
        "node is invalid",
    ),
    "no points": ("K", node(points=None), "node is invalid"),
    "no labels": ("K", node(y=None), "node is invalid"),
    "another number of scores": ("T", node(branches=4), "control text"),
    "no trees": ("T", node(forest=None), "node is invalid"),
    "an unknown code": ("T", node(code="Z"), "expected one of K, L, T"),
    "trees of another code": (
        "T",
        lambda h: (node(code="L")(h), h.update(control='a L "" { 0 1 2 }')),
        "node is invalid",
    ),
    "weights without need": ("L", node(w={"shape": [0], "offset": 0}), "node is invalid"),
    "one class fewer": ("code", lie(control="a 0 1 / 2;b 0 2 / 1;c 2 / 0 1;{ 0 1 2}"), None),
}


def recipe(**changes):
    return lambda header: header["recipe"].update(changes)


def recipe_column(at, **changes):
    return lambda header: header["recipe"]["columns"][at].update(changes)


WORDS = [str(number) for number in range(20_000)]
ONE = {"name": "x", "categories": None, "fill": None, "indicator": False}
HEADERS |= {
    f"a recipe with {what}": ("table", change, words)
    for what, change, words in (
        ("a list for it", lie(recipe=[]), "recipe: expected an object"),
        ("one field less", lambda h: h["recipe"].pop("ids"), "recipe.ids: this key is missing"),
        ("one field more", recipe(format="x"), "recipe.format: there is no such key"),
        ("no columns", recipe(columns=[]), "columns"),
        ("one column", recipe(columns=ONE), "columns"),
        ("an empty column", recipe(columns=[{}]), "columns[0].name: this key is missing"),
        ("text for columns", recipe(columns="ab"), "columns"),
        ("a number for its label", recipe(label=3), "expected"),
        ("no label", recipe(label=None), "expected"),
        ("a word for its classes", recipe(classes="c" * 10), "expected"),
        ("a number for a class", recipe(classes=[*WORDS[:9], 9]), "expected"),
        ("a number for its weight", recipe(weight=1), "expected"),
        ("text for its ids", recipe(ids="id"), "expected"),
        ("no source", recipe(source=None), "expected"),
        ("half a pair", recipe(source="\ud800"), "expected"),
        ("NUL", recipe(label="a\0"), "expected"),
        ("another policy", recipe(missing="zero"), "unknown way"),
        ("too few classes", recipe(classes=WORDS[:9]), "9 classes, and there is a class 9"),
        ("a class twice", recipe(classes=[*WORDS[:9], "0"]), "twice"),
        ("a label that is a column", recipe(label="size"), "two parts"),
        ("a label that is an id", recipe(label="id"), "two parts"),
        ("an id twice", recipe(ids=["i", "i"]), "two parts"),
        ("fewer features", recipe(columns=[ONE]), "makes 1 features, the classifiers need 2"),
        ("more features", recipe_column(0, indicator=True), "makes 3 features"),
        ("a number for an indicator", recipe_column(0, indicator=0), "column"),
        ("a number for a name", recipe_column(0, name=7), "column"),
        ("true for a number", recipe_column(0, fill=True), "column"),
        ("a number for a word", recipe_column(1, fill=1), "column"),
        ("no words", recipe_column(1, categories=[]), "column"),
        ("a number among the words", recipe_column(1, categories=["b\u00e4r", 1]), "column"),
        ("a word twice", recipe_column(1, categories=["b\u00e4r"] * 2), "column"),
        (
            "very many features",
            recipe(columns=[{**ONE, "name": str(n), "categories": WORDS} for n in range(3)]),
            "makes 60000 features",
        ),
        (
            "names that would fill the memory",
            recipe_column(1, name="n" * 50_000, categories=WORDS, fill=None),
            "too long",
        ),
    )
}


@pytest.mark.parametrize("case", HEADERS)
def test_headers(case):
    name, change, words = HEADERS[case]
    raw = changed(name, change)
    if words is None:  # not to be known, and no harm
        forge.stored("m.mbm", raw)
    else:
        refused(raw, words)


one = np.ones
ARRAYS = {
    "a support vector twice": ("pairs", {"index": [0, 2, 2, 0, 1, 2, 0, 1, 2]}, "twice"),
    "twice, apart": ("pairs", {"index": [2, 0, 2, 0, 1, 2, 0, 1, 2]}, "twice"),
    "in another order": ("pairs", {"index": [2, 0, 1, 0, 1, 2, 0, 1, 2]}, None),
    "a class that is not there": ("pairs", {"group": [0, 0, 0, 1, 2, 4]}, "class"),
    "a class below 0": ("pairs", {"group": [-1, 0, 0, 1, 2, 3]}, "group"),
    "unknown classes": ("pairs", {"group": [3] * 6}, None),
    "no points": (
        "K",
        {"node_classifiers__0__points": np.zeros((0, 2)), "node_classifiers__0__y": np.zeros(0)},
        "neighbours",
    ),
    "a branch that is not there": ("K", {"node_classifiers__0__y": [0, 1, 2, 3, 0]}, "neighbours"),
    "a branch below 0": ("K", {"node_classifiers__0__y": [0, 1, 2, -1, 0]}, "neighbours"),
    "points of no features": ("K", {"node_classifiers__0__points": np.zeros((5, 0))}, "size"),
    "infinite points": ("K", {"node_classifiers__0__points": np.full((5, 2), np.inf)}, "finite"),
    "NaN weights": ("L", {"node_classifiers__0__weights": np.full((3, 3), np.nan)}, "finite"),
    "weights of nothing": ("L", {"node_classifiers__0__weights": np.zeros((3, 0))}, "size"),
    "fewer weights": ("L", {"node_classifiers__0__weights": np.zeros((2, 3))}, "weights"),
    "a score without trees": (
        "T",
        {"node_classifiers__0__forest__starts": [0, 2, 2, 4]},
        "trees of a multi-class node",
    ),
    "a score fewer": (
        "T",
        {"node_classifiers__0__forest__starts": [0, 2, 4]},
        "trees of a multi-class node",
    ),
    "a tree that comes back": (
        "T",
        {"node_classifiers__0__forest__left": [0] * 20},
        "no trees",
    ),
    "a feature that is not there": (
        "T",
        {"node_classifiers__0__forest__feature": [2] * 20},
        "feature",
    ),
    "a leaf of NaN": ("T", {"node_classifiers__0__forest__value": [np.nan] * 20}, "finite"),
    "a factor of a normalisation for no feature": (
        "normalised",
        {"normalisation__column": [0, 3]},
        "no feature",
    ),
    "a factor of a normalisation too few": (
        "normalised",
        {"normalisation__scale": [1.0]},
        "",
    ),
    "a normalisation of nothing": (
        "projected",
        {"normalisation__matrix": np.zeros((0, 2)), "normalisation__mean": np.zeros(0)},
        "features",
    ),
    "half the probabilities": ("pairs", {"a": [np.nan] * 3}, "half"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_arrays(case):
    name, arrays, words = ARRAYS[case]
    arrays = {key: np.asarray(value) for key, value in arrays.items()}
    if words is None:
        forge.stored("m.mbm", changed(name, **arrays))
    else:
        refused(changed(name, **arrays), words)


def test_bytes_that_serve_two_arrays():
    header, arrays = forge.taken_apart(RAW["pairs"])
    raw = forge.put_together(header, arrays)
    told = json.loads(raw[64 : 64 + forge.START.unpack_from(raw)[3]])
    body = raw[64 + forge.START.unpack_from(raw)[3] :]
    for one_, other in (("a", "b"), ("rho", "a"), ("coef", "rho"), ("sv", "rho")):
        forged = json.loads(json.dumps(told))
        forged["machines"][one_]["offset"] = told["machines"][other]["offset"]
        refused(forge.sealed(json.dumps(forged), body), "share")


@pytest.mark.long
def test_numbers_far_too_large(tmp_path):
    for name, model in MODELS.items():
        for field in ("sv", "coef", "rho", "a", "b"):
            for number in (1e308, -1e200):
                value = np.asarray(getattr(model.machines, field))
                if value.size:
                    forge.use(
                        changed(name, **{field: np.full(value.shape, number)}),
                        str(tmp_path / "out"),
                        rng=random.Random(1),
                    )


@pytest.mark.parametrize("name", ["pairs", "tree", "mixed"])
def test_classifiers_without_support_vectors_have_values(tmp_path, name):
    m = len(MODELS[name].machines.rho)
    raw = changed(name, indptr=np.zeros(m + 1), index=np.zeros(0), coef=np.zeros(0))
    assert forge.use(raw, str(tmp_path / "out")) == "accepted"


def test_points_of_no_features(tmp_path):
    raw = changed(
        "votes",
        lambda h: h["machines"]["kernels"][0].update(kind="linear"),
        sv=np.zeros((6, 0)),
        kernel_of=np.zeros(3),
    )
    assert forge.use(raw, str(tmp_path / "out")) == "accepted"


@pytest.mark.long
def test_fuzz_for_minutes():
    for seed in range(2):
        fuzz_store.at_random(60, 100 + seed)


# What is shown on a terminal.


@pytest.fixture
def shown(tmp_path):
    """A model whose texts hold what a terminal would obey."""
    control = (
        f'# class 3: {ESCAPE[:-1]}x\n"{ESCAPE} a" 0 / 1;\n"b\x9b2J" 0 / 2;\n'
        '"c\u2028d" 1 / 2;\n{ 3 7 9}\n'
    )
    path = tmp_path / "m.mbm"
    path.write_bytes(changed("pairs", lie(control=control)))
    return path


def test_nothing_is_forged_on_a_terminal(shown, run):
    for words in (
        ("mbm_info", shown),
        ("mbm_info", "--json", shown),
        ("print_control", "--report=-.dot", shown.with_name("plain")),
    ):
        shown.with_name("plain").write_text(parse_text(shown))
        out = run(*words).out
        forge.check_visible(out)
        assert len(out) > 100


def parse_text(path):
    return format_tree(forge.stored("m", path.read_bytes()).tree)


def test_control_text_on_a_terminal(shown, root):
    command = [sys.executable, "-c", RUN, "mbm_info", "--print-control", str(shown)]
    piped = subprocess.run(command, cwd=root, capture_output=True, timeout=60)
    plain = piped.stdout.decode()
    assert "\x1b]0;x" in plain and '"-c 1" 0 / 1;' in plain  # as it is, where it goes on to a file
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=root, stdout=theirs) as process:
        os.close(theirs)
        printed = b""
        try:
            while piece := os.read(ours, 4096):
                printed += piece
        except OSError:  # how a terminal tells its end
            pass
        os.close(ours)
    assert process.returncode == 0
    text = printed.decode().replace("\r\n", "\n")
    forge.check_visible(text)
    assert "\\x1b]0;x" in text and text.count("\n") == plain.count("\n")


# Bombs: a small file, an address space of one gigabyte, and a time.


def pairs_in_a_row(k):
    return "".join(f"m 0 / {i};\n" for i in range(1, k)) + "{" + " ".join(map(str, range(k))) + "}"


def deep_and_wide(depth, k):
    return (
        "".join(f"m {{ {i + k} " for i in range(depth))
        + 'K K "" {'
        + " ".join(map(str, range(k)))
        + "}"
        + "}" * depth
    )


CONTROLS = {  # of a megabyte or so, standing for gigabytes
    "a wide matrix": lambda: pairs_in_a_row(30_000),
    "deep above wide": lambda: deep_and_wide(9_000, 100_000),
    "many rows on a branch": lambda: (
        "m 0 / 1;\n" * 1000 + '{ K K "" {' + " ".join(map(str, range(100_000))) + "} 100000 }"
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("case", CONTROLS)
def test_control_texts_that_stand_for_too_much(case):
    with pytest.raises(ControlError, match=r"up to here .* at most"):
        parse(CONTROLS[case]())


@pytest.mark.long
def test_large_honest_control_texts_are_read():
    assert len(parse(pairs_in_a_row(3000)).rows) == 2999
    chain = "".join(f"m {{ {i} " for i in range(4_999)) + "4999" + "}" * 4_999
    assert sum(len(a) + len(b) for a, b in parse(chain).sides()) < MAX_SIDES


def test_dense_systems_have_a_limit():
    wide = np.zeros((2, 2049), dtype=np.int8)
    wide[0], wide[0, 0], wide[1, 0], wide[1, 1] = 1, -1, 1, -1
    for method in (
        "least-squares",
        "inverse",
        "unconstrained",
        "renormalised",
        "zadrozny",
        "zadrozny-kl",
    ):
        with pytest.raises(ModelError, match="too large for this decoder"):
            CodeDecoder(wide, method)
    assert CodeDecoder(wide, "vote")(np.ones((1, 2)))[0].shape == (1, 2049)


def test_cutting_many_small_groups_takes_no_square():
    """The union of a large set with each of many small ones was made for nothing."""
    m, s = 30_000, 20_000
    at = np.concatenate([np.zeros(m, dtype=np.int64), np.arange(1, s)])
    which = np.concatenate([np.arange(m), np.arange(1, s) % m])
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    pieces = list(_cut(np.arange(s), at, which, 3))
    assert pieces[0][0] == 0 and pieces[-1][1] == s
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - start < 10


def forged_control(text, name="K"):
    return changed(name, lie(control=text))


def wide_code(k):
    """A .mbm with one dense row for k classes."""
    header, arrays = forge.taken_apart(RAW["code"])
    cut = {"indptr": np.array([0, 3]), "index": np.array([0, 1, 2]), "coef": np.ones(3)}
    cut.update({name: np.ones(1) for name in ("rho", "a", "b", "orientation")})
    cut["kernel_of"], cut["group"] = np.zeros(1), np.zeros(6)
    header["machines"].update(provenances=[""])
    cut = {f"machines.{name}": array for name, array in cut.items()}
    header.update(
        control="m 0 / "
        + " ".join(map(str, range(1, k)))
        + ";\n{"
        + " ".join(map(str, range(k)))
        + "}"
    )
    return forge.put_together(header, {**arrays, **cut})


def claimed_width(d):
    """No support vectors, and d features that only a shape tells of."""
    return changed(
        "votes",
        sv=np.zeros((0, d)),
        group=np.zeros(0),
        indptr=np.zeros(4),
        index=np.zeros(0),
        coef=np.zeros(0),
    )


def shared_points(count):
    """Multi-class nodes by the thousand that all point to the same megabyte."""
    header, arrays = forge.taken_apart(RAW["K"])
    points = np.zeros((100_000, 2), "<f4").tobytes()
    y = np.zeros(100_000, "<i4").tobytes()
    entry = {
        **header["node_classifiers"][0],
        "points": {"offset": 0, "shape": [100_000, 2]},
        "y": {"offset": 800_000, "shape": [100_000]},
    }
    at = 1_200_064
    body = points + y + bytes(64)
    for path, entry_ in forge.entries(header):
        if path.startswith("machines."):
            entry_["offset"] = at
            blob = arrays[path] + bytes(-len(arrays[path]) % 64)
            body, at = body + blob, at + len(blob)
    header["node_classifiers"] = [{**entry, "name": f"a{i}", "branches": 2} for i in range(count)]
    header["control"] = (
        "".join(f'a{i} K "-k 2" {{ {i} ' for i in range(count)) + f"{count}" + "}" * count
    )
    return forge.sealed(json.dumps(header), body)


def degree(n):
    return changed("pairs", kernel("polynomial", 1e200, 1e200, n))


BOMBS = {
    "a wide matrix": (lambda: forged_control(pairs_in_a_row(30_000)), 1),
    "deep above wide": (lambda: forged_control(deep_and_wide(9_000, 100_000)), 1),
    "one row for many classes": (lambda: wide_code(50_000), 1),
    "a claimed width": (lambda: claimed_width(2**27), 1),
    "a width of 2^30": (lambda: claimed_width(2**30), 1),
    "shared points": (lambda: shared_points(5000), 1),
    "degree 1000": (lambda: degree(1000), 1),
    "very many keys": (lambda: forge.sealed(JSON["very many keys"](text_of()[0]), text_of()[1]), 1),
    "honest": (lambda: RAW["pairs"], 0),
}
CHILD = """
import importlib, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
status = importlib.import_module("agfmc.cli").main_of(sys.argv[1])(sys.argv[2:])
with open("/proc/self/status") as file:
    most = next(line.split()[1] for line in file if line.startswith("VmHWM"))
print(status, int(most) >> 10, file=sys.stderr)
"""


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="tells the memory")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.long if number % 3 else ())
        for number, case in enumerate(BOMBS)
    ],
)
def test_bombs(tmp_path, root, case):
    make, wanted = BOMBS[case]
    raw = make()
    assert len(raw) < 32 << 20
    (tmp_path / "m.mbm").write_bytes(raw)
    (tmp_path / "t.svm").write_text("0 1:1 2:2\n1 1:3\n")
    env = {**os.environ, "PYTHONPATH": str(root), "OPENBLAS_NUM_THREADS": "1"}
    for words in (
        ["mbm_info", "m.mbm"],
        ["mbh2mbm", "m.mbm", "n.mbm"],
        ["classify_m", "-M", "-j", "1", "m.mbm", "t.svm", "out"],
        ["classify_m", "-M", "-j", "1", "-Q", "vote", "m.mbm", "t.svm", "out"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", CHILD, *words],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
        )
        *message, last = done.stderr.splitlines()
        status, megabytes = map(int, last.split())
        assert status in (0, 1), done.stderr
        assert "internal" not in done.stderr and "Traceback" not in done.stderr
        if status:
            assert len(message) == 1 and message[0].startswith(f"{words[0]}: "), done.stderr
            assert "not enough memory" not in message[0]
        assert megabytes < 500, last
        if words[0] == "classify_m" and "vote" not in words:
            assert status == wanted, done.stderr


# Names inside control files.


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    os.mkdir("folder")
    os.symlink("loop", "loop")
    os.symlink("/dev/zero", "zero")
    Path("empty").touch()
    Path("junk").write_bytes(bytes(1000))
    x = np.zeros((3, 2), "<f4")
    Path("t.vec").write_bytes(np.int32(2).tobytes() + x.tobytes())
    return tmp_path


RUN = """
import importlib, sys
sys.exit(importlib.import_module("agfmc.cli").main_of(sys.argv[1])(sys.argv[2:]))
"""
NAMED = [
    "../../../../../../../../etc/passwd",
    "/etc/passwd",
    "/dev/stdin",
    "/dev/zero",
    "/dev/random",
    "/dev/tty",
    "/dev/full",
    "fifo",
    "folder",
    "loop",
    "zero",
    "empty",
    "junk",
    "ctl",
    "-",
    "--",
    "-Q",
    "/proc/kmsg",
    "/proc/self/mem",
    "/proc/self/fd/0",
    "nothing",
    "folder/../fifo",
    "t.vec",
    "x" * 5000,
    "a\udcffb",
    "/",
    "~",
]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMED, ids=lambda name: ascii(name[:30]))
@pytest.mark.parametrize(
    "form",
    [
        "{} {{ 0 1 }}",
        *(pytest.param(f'{{}} {code} "" {{{{ 0 1 }}}}', marks=pytest.mark.long) for code in "KL"),
    ],
    ids="SKL",
)
def test_names_in_control_files(here, name, form, root):
    Path("ctl").write_text(form.format(name), encoding="utf-8", errors="surrogateescape")
    read, write = os.pipe()  # a standard input that never ends
    try:
        for words in (
            (["classify_m", "ctl", "t.vec", "out"], ["mbm_info", "ctl"], ["mbh2mbm", "ctl", "out"])
            if name in ("-", "fifo", "/dev/stdin")
            else (["mbh2mbm", "ctl", "out"],)
        ):
            done = subprocess.run(
                [sys.executable, "-c", RUN, *words],
                stdin=read,
                timeout=60,
                capture_output=True,
                env={**os.environ, "PYTHONPATH": str(root)},
            )
            assert done.returncode == 1, done.stderr
            assert done.stderr.startswith(words[0].encode() + b": ")
            assert done.stderr.count(b"\n") == 1 and b"internal" not in done.stderr
            assert b"Traceback" not in done.stderr
    finally:
        os.close(read)
        os.close(write)
    assert not os.path.exists("out")


@pytest.mark.parametrize("name", ["fifo", "/dev/zero", "-", "folder/x"])
def test_names_for_programs_of_the_users(run, here, name, root):
    """Those that --allow-commands and -O run get no endless file either."""
    Path("ctl").write_text(f'{name} G "cat" {{ 0 1 }}')
    run("classify_m", "--allow-commands", "ctl", "t.vec", "out", status=1)
    Path("ctl").write_text(f"{name} {{ 0 1 }}")
    run("classify_m", "-O", "cat", "ctl", "t.vec", "out", status=1)
    assert not os.path.exists("out.cls")


def test_a_pipe_may_be_named_on_the_command_line(here, run):
    raw, child = RAW["pairs"], os.fork()
    if child == 0:
        Path("fifo").write_bytes(raw)
        os._exit(0)
    done = run("mbm_info", "fifo")
    os.waitpid(child, 0)
    assert "one binary" not in done.out
    assert read_bytes("t.vec") == Path("t.vec").read_bytes()


def _calibration(change):
    return lambda header: change(header["calibration"])


def _map(decoder="least-squares", **changes):
    return _calibration(lambda c: c["decoders"][decoder]["map"].update(changes))


CALIBRATIONS = {
    "no kind": _map(kind="isotonic"),
    "a floor of 1": _map(floor=1.0),
    "a floor below 0": _map(floor=-0.1),
    "a floor of text": _map(floor="0"),
    "a floor that is true": _map(floor=True),
    "a map without arrays": _map("inverse", kind="vector"),
    "a map with arrays": _map(kind="none"),
    "a map of other arrays": _map(kind="vector"),
    "a decoder of no name": _calibration(
        lambda c: c["decoders"].update({"In Verse": c["decoders"]["inverse"]})
    ),
    "another digest": _calibration(lambda c: c.update(model="0123456789abcdef")),
    "no digest": _calibration(lambda c: c.update(model="")),
    "other classes": _calibration(lambda c: c.update(classes=[3, 7, 10])),
    "fewer classes": _calibration(lambda c: c.update(classes=[3, 7])),
    "a negative count": _calibration(lambda c: c.update(counts=[3, 3, -3])),
    "fewer counts": _calibration(lambda c: c.update(counts=[3, 3])),
    "a source of two lines": _calibration(lambda c: c.update(source="a\nb")),
    "learned or not": _calibration(lambda c: c.update(learned=True)),
    "another key": _calibration(lambda c: c.update(more=1)),
    "no calibration": lambda header: header.pop("calibration"),
}


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_calibrations_that_are_wrong(name):
    refused(changed("calibrated pairs", CALIBRATIONS[name]))


TEMPERATURE, MATRIX, POINTS = "least-squares map", "full inverse map", "least-squares points"


@pytest.mark.parametrize(
    "part, name, value, words",
    [
        (TEMPERATURE, "weights", np.array(0.0), "not above 0"),
        (TEMPERATURE, "weights", np.array(-1.0), "above 0"),
        (TEMPERATURE, "weights", np.array(np.nan), "not finite"),
        (TEMPERATURE, "weights", np.array(1e200), "too large"),
        (TEMPERATURE, "intercept", np.ones(3), "has an intercept"),
        (TEMPERATURE, "intercept", np.zeros(2), "number of c"),
        ("recursive least-squares map", "weights", np.ones(3), "does not fit"),
        (MATRIX, "weights", np.ones((3, 2)), "not fit"),
        (POINTS, "label", np.full(9, 4), "none of the classes"),
        (POINTS, "label", np.full(8, 3), "one number"),
        (POINTS, "right", np.ones(10), "one number"),
        (POINTS, "p_true", np.full(9, 1.01), "not in [0, 1]"),
        (POINTS, "p_largest", np.full(9, np.nan), "not in"),
        (POINTS, "cumulative", np.full(9, -0.01), "not in [0, 1]"),
        ("recursive least-squares points", "left", np.full(9, 1.01), "not in [0, 1]"),
        ("recursive least-squares points", "left", np.ones(8), "one number"),
    ],
)
def test_calibrations_with_arrays_that_are_wrong(part, name, value, words):
    decoder, _, part = part.rpartition(" ")
    path = f"calibration__decoders__{decoder}__{part}__{name}"
    refused(changed("calibrated pairs", **{path: value}), words)


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("weights", np.ones((2, 3)), "does not fit"),
        ("weights", np.ones((3, 2)), "other classifiers"),
        ("weights", np.full((3, 3), np.inf), "not finite"),
        ("intercept", np.ones(2), "does not fit"),
        ("intercept", np.full(3, np.nan), "not finite"),
    ],
)
def test_learned_decoders_that_are_wrong(name, value, words):
    refused(changed("calibrated pairs", **{f"calibration__learned__{name}": value}), words)
