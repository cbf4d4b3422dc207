"""The suite's own model file: without loss, and nothing but ModelError for any damage."""

import csv
import hashlib
import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hostile_store import bytes_of, models

from agfmc.cli import main_of
from agfmc.control.parse import parse
from agfmc.control.tree import changed as changed_tree
from agfmc.control.write import format_tree
from agfmc.core.errors import DataError, ModelError
from agfmc.models.files import load
from agfmc.models.mbm import MAGIC, read_store, write_store
from agfmc.core.models import MergedModel, Kernel
from agfmc.models.configuration import Configuration
from agfmc.data.normalisation import Normalisation
from agfmc.core.provenance import Provenance
from agfmc.tables.types import ColumnRecipe, TableRecipe

START = struct.Struct("<8sIIQQ32s")
MADE_BY = {"agfmc": "0.1.0"}


TREE = parse('# class 3: b\u00e4r\n# class 7: a "b"\na 0 / 1;\nb 1 / 0;\n{ 3 7}\n')


def model_of(**changes):
    model = MergedModel(
        kernels=(Kernel("rbf", 1 / 3), Kernel("polynomial", 0.1, -2.5, 3)),
        kernel_of=np.array([0, 1], dtype=np.int32),
        sv=np.array([[1 / 3, 2e-300], [5.0, 0.0], [-1.0, 1e17]]),
        group=np.array([0, 0, 1], dtype=np.int32),
        indptr=np.array([0, 2, 4]),
        index=np.array([0, 2, 1, 2], dtype=np.int32),
        coef=np.array([0.1, -0.1, 1 / 7, -5.0]),
        rho=np.array([0.25, -1 / 3]),
        a=np.array([1.5, np.nan]),
        b=np.array([-0.5, np.nan]),
        orientation=np.array([1, -1], dtype=np.int8),
        provenances=(Provenance("0.1", options="-c 1"), Provenance()),
    )
    whole = {name: changes.pop(name) for name in ("tree", "normalisation") if name in changes}
    return Configuration(**{"tree": TREE, **whole}, machines=replace(model, **changes))


NORMALISATION = Normalisation(
    np.array([[0.5, 0], [0, 2], [0, 0]], dtype=np.float32), np.array([1, 2, 3], dtype=np.float32)
)


def written(tmp_path, model):
    path = tmp_path / "m.mbm"
    write_store(str(path), model, MADE_BY)
    return path, path.read_bytes()


def test_equal_models_are_equal_files(tmp_path):
    _, raw = written(tmp_path, model_of())
    model = model_of().machines
    swapped = model_of(
        sv=np.asfortranarray(model.sv),
        index=model.index.astype(np.int64),
        tree=changed_tree(TREE, names=dict(reversed(TREE.names.items()))),
    )
    assert written(tmp_path, swapped)[1] == raw
    assert written(tmp_path, model_of(rho=np.array([0.25, -0.3])))[1] != raw


RECIPE = TableRecipe(
    (ColumnRecipe("gr\u00f6\u00dfe", fill=0.1), ColumnRecipe("colour", ("red",), None, True)),
    "kind",
    tuple("abcdefgh"),
    ("id",),
    None,
    "indicator",
    "t.csv",
)


@pytest.mark.parametrize(
    "whole",
    [{}, {"normalisation": NORMALISATION}, {"tree": parse("a 0 / 1;\n{ 3 7}\nb 1 / 0;\n{ 3 7}\n")}],
)
def test_written_and_read_again(tmp_path, whole):
    path, raw = written(tmp_path, model_of(**whole))
    assert START.unpack_from(raw)[1:3] == (1, 3)
    found = read_store(str(path))
    assert found.recipe is None and format_tree(found.tree) == format_tree(model_of(**whole).tree)
    assert written(tmp_path, found)[1] == raw


def test_a_recipe_is_kept(tmp_path):
    model = replace(model_of(normalisation=NORMALISATION), recipe=RECIPE)
    path, raw = written(tmp_path, model)
    assert read_store(str(path)).recipe == RECIPE
    assert written(tmp_path, read_store(str(path)))[1] == raw
    assert written(tmp_path, replace(model, recipe=None))[1] != raw


RELEASED = Path(__file__).parents[2] / "data/models"  # as version 0.2.0 of the suite wrote them


def test_features_that_are_kept_apart_are_stored_without_the_matrix(tmp_path):
    model = model_of(normalisation=NORMALISATION)
    path, raw = written(tmp_path, model)
    stored = json.loads(raw[64 : 64 + START.unpack_from(raw)[3]])["normalisation"]
    assert stored["matrix"] is None and stored["column"]["shape"] == stored["scale"]["shape"] == [2]
    again = read_store(str(path)).normalisation
    assert np.array_equal(again.matrix, NORMALISATION.matrix)
    assert again.digest() == NORMALISATION.digest()
    mixed = Normalisation(np.float32([[0.5, 0], [1, 2], [0, 0]]), NORMALISATION.mean)
    path, raw = written(tmp_path, model_of(normalisation=mixed))
    assert np.array_equal(read_store(str(path)).normalisation.matrix, mixed.matrix)


@pytest.mark.parametrize("name, minor", [("pairs", 0), ("normalised", 0), ("mixed", 1)])
def test_files_of_released_versions_are_read(tmp_path, name, minor):
    raw = (RELEASED / f"{name}-1.{minor}.mbm").read_bytes()
    assert START.unpack_from(raw)[1:3] == (1, minor)
    # all is there: written again, it is the file of the model that they were made of
    write_store(str(tmp_path / "again"), read_store("m", raw), MADE_BY)
    assert (tmp_path / "again").read_bytes() == bytes_of(models()[name])


@pytest.mark.parametrize(
    "name", ["table", "ensemble", "metric", "vector", "structured", "neighbours", "logistic"]
)
def test_models_of_0_3_0_give_their_answers(tmp_path, name):
    """A table with its recipe, calibration and normalisation, be it a learned metric, or the
    calibration a vector, answered as when it was made."""
    folder = RELEASED / "0.3.0"
    written = tmp_path / "answers.csv"
    assert (
        main_of("classify_m")([str(folder / f"{name}.mbm"), str(folder / "new.csv"), str(written)])
        == 0
    )
    found, stored = (
        list(csv.reader(path.read_text().splitlines()))
        for path in (written, folder / f"{name}.csv")
    )
    assert [row[:2] for row in found] == [row[:2] for row in stored] and found[0] == stored[0]
    p, wanted = (
        [[float(cell) for cell in row[2:]] for row in rows[1:]] for rows in (found, stored)
    )
    np.testing.assert_allclose(p, wanted, atol=2e-6)


OLD_LIES = {
    "no arrays": lambda h: h.pop("arrays"),
    "arrays null": lambda h: h.update(arrays=None),
    "an array less": lambda h: h["arrays"].pop("y 0"),
    "an array more": lambda h: h["arrays"].update(zeta={"shape": [1], "offset": 0}),
    "an array less of the machines": lambda h: h["arrays"].pop("rho"),
    "half a normalisation": lambda h: h["arrays"].update(mean=h["arrays"]["rho"]),
    "no names": lambda h: h.pop("names"),
    "a key more": lambda h: h.update(more=1),
    "a later key": lambda h: h.update(machines={}),
    "no kernels": lambda h: h.update(kernels=3),
    "a short kernel": lambda h: h["kernels"].__setitem__(0, ["rbf", 0.1]),
    "an unknown kernel": lambda h: h["kernels"].__setitem__(0, ["cosine", 0.1, 0.0, 0]),
    "nodes of nothing": lambda h: h.update(direct=None),
    "a short node": lambda h: h["direct"][0].pop(),
    "a node less": lambda h: h["direct"].pop(),
    "another code": lambda h: h["direct"][0].__setitem__(0, "L"),
}


@pytest.mark.parametrize("lie", OLD_LIES)
def test_files_of_released_versions_that_lie(lie):
    raw = (RELEASED / "mixed-1.1.mbm").read_bytes()
    with pytest.raises(ModelError, match="^m.mbm: damaged"):
        read_store("m.mbm", changed(raw, OLD_LIES[lie], minor=1))


def test_truncated_at_every_byte(tmp_path):
    path, raw = written(tmp_path, model_of(normalisation=NORMALISATION))
    for size in range(len(raw)):
        with pytest.raises(ModelError):
            read_store(str(path), raw[:size])
    with pytest.raises(ModelError, match="damaged"):
        read_store(str(path), raw + b"\0")


def test_every_byte_flipped(tmp_path):
    path, raw = written(tmp_path, model_of())
    for at in range(len(raw)):
        damaged = bytearray(raw)
        damaged[at] ^= (0x01, 0x80, 0xFF)[at % 3]
        with pytest.raises(ModelError) as caught:
            read_store(str(path), bytes(damaged))
        assert caught.value.file == str(path)


@pytest.mark.parametrize(
    "raw, words",
    [
        (b"", "expected a model file (.mbm), found an empty file"),
        (b"SVM\n", "found another kind of file"),
        (b"PK\x03\x04" + bytes(100), "another kind of file"),
        (MAGIC, "truncated: the file ends after 8 bytes"),
        (MAGIC + bytes(56), "format version 0.0"),
    ],
)
def test_foreign_files(raw, words):
    with pytest.raises(ModelError) as caught:
        read_store("m.mbm", raw)
    assert words in str(caught.value) and str(caught.value).startswith("m.mbm: ")


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match="cannot read"):
        read_store(str(tmp_path / "none.mbm"))


def sealed(raw, *, header=None, body=None, major=1, minor=3):
    """The bytes with another header or body, and a checksum that agrees."""
    _, _, _, length, _, _ = START.unpack_from(raw)
    text = raw[64 : 64 + length] if header is None else header
    rest = raw[64 + length :] if body is None else body
    start = START.pack(MAGIC, major, minor, len(text), 64 + len(text) + len(rest), bytes(32))[:32]
    digest = hashlib.sha256(start + text + rest).digest()
    return start + digest + text + rest


def changed(raw, change, minor=3):
    """The bytes with a header that `change` has altered in place."""
    _, _, _, length, _, _ = START.unpack_from(raw)
    header = json.loads(raw[64 : 64 + length])
    change(header)
    text = json.dumps(header).encode()
    return sealed(raw, header=text + b" " * (-len(text) % 64), minor=minor)


def test_future_version(tmp_path):
    _, raw = written(tmp_path, model_of())
    assert format_tree(read_store("m", sealed(raw)).tree) == format_tree(TREE)
    with pytest.raises(ModelError, match=r"format version 2\.3, this program reads 1\.0 to 1\.3"):
        read_store("m", sealed(raw, major=2))


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 5000,
        b"{}",
    ],
    ids=range(8),
)
def test_headers_that_are_no_headers(tmp_path, text):
    _, raw = written(tmp_path, model_of())
    with pytest.raises(ModelError):
        read_store("m", sealed(raw, header=text))


LIES = {
    "one key more": lambda h: h.update(more=1),
    "one key less": lambda h: h.pop("control"),
    "arrays a list": lambda h: h.update(machines=[]),
    "arrays null": lambda h: h.update(machines=None),
    "array missing": lambda h: h["machines"].pop("rho"),
    "array unknown": lambda h: h["machines"].update(zeta={"shape": [1], "offset": 0}),
    "only half a normalisation": lambda h: h.update(
        normalisation={"matrix": {"shape": [2, 2], "offset": 0}}
    ),
    "foreign normalisation": lambda h: h.update(
        normalisation={
            "matrix": {"shape": [1, 1], "offset": 0},
            "mean": {"shape": [1], "offset": 64},
        }
    ),
    "entry a list": lambda h: h["machines"].update(rho=[2, 0]),
    "entry with a type": lambda h: h["machines"]["rho"].update(dtype="|O"),
    "shape huge": lambda h: h["machines"]["sv"].update(shape=[2**40, 2**40]),
    "shape enormous": lambda h: h["machines"]["sv"].update(shape=[2**70, 1]),
    "shape just too large": lambda h: h["machines"]["kernel_of"].update(shape=[17]),
    "shape negative": lambda h: h["machines"]["sv"].update(shape=[-3, -2]),
    "shape a fraction": lambda h: h["machines"]["rho"].update(shape=[2.0]),
    "shape true": lambda h: h["machines"]["rho"].update(shape=[True]),
    "shape a word": lambda h: h["machines"]["rho"].update(shape="2"),
    "shape nested": lambda h: h["machines"]["rho"].update(shape=[[2]]),
    "shape null": lambda h: h["machines"]["rho"].update(shape=None),
    "too many dimensions": lambda h: h["machines"]["rho"].update(shape=[2, 1]),
    "too few dimensions": lambda h: h["machines"]["sv"].update(shape=[6]),
    "offset negative": lambda h: h["machines"]["rho"].update(offset=-64),
    "offset huge": lambda h: h["machines"]["rho"].update(offset=2**40),
    "offset unaligned": lambda h: h["machines"]["rho"].update(offset=8),
    "offset null": lambda h: h["machines"]["rho"].update(offset=None),
    "overlapping": lambda h: h["machines"]["rho"].update(offset=h["machines"]["a"]["offset"]),
    "other sizes": lambda h: h["machines"]["rho"].update(shape=[1]),
    "no classifiers": lambda h: (
        [
            h["machines"][name].update(shape=[n])
            for name, n in (
                ("rho", 0),
                ("a", 0),
                ("b", 0),
                ("orientation", 0),
                ("kernel_of", 0),
                ("indptr", 1),
                ("index", 0),
                ("coef", 0),
            )
        ]
        and h["machines"].update(provenances=[])
    ),
    "fewer groups": lambda h: h["machines"]["group"].update(shape=[2]),
    "fewer support vectors": lambda h: h["machines"]["sv"].update(shape=[2, 2]),
    "settings missing": lambda h: h["machines"].update(provenances=["only one"]),
    "settings not text": lambda h: h["machines"].update(provenances=[1, 2]),
    "settings a word": lambda h: h["machines"].update(provenances="ab"),
    "control a number": lambda h: h.update(control=3),
    "width a number": lambda h: h["machines"].update(any_width=1),
    "made by nobody": lambda h: h.update(made_by=None),
    "no kernels": lambda h: h["machines"].update(kernels=[]),
    "kernels a word": lambda h: h["machines"].update(kernels="rbf"),
    "kernel unknown": lambda h: h["machines"]["kernels"][0].update(
        kind="cosine", gamma=0.1, coef0=0.0, degree=0
    ),
    "kernel short": lambda h: h["machines"]["kernels"][0].pop("degree"),
    "kernel NaN": lambda h: h["machines"]["kernels"][0].update(
        kind="rbf", gamma=float("nan"), coef0=0.0, degree=0
    ),
    "kernel infinite": lambda h: h["machines"]["kernels"][0].update(
        kind="rbf", gamma=float("inf"), coef0=0.0, degree=0
    ),
    "kernel of text": lambda h: h["machines"]["kernels"][0].update(
        kind="rbf", gamma="0.1", coef0=0.0, degree=0
    ),
    "kernel of an enormous number": lambda h: h["machines"]["kernels"][0].update(
        kind="rbf", gamma=10**400, coef0=0, degree=0
    ),
    "degree negative": lambda h: h["machines"]["kernels"][1].update(
        kind="polynomial", gamma=0.1, coef0=0.0, degree=-1
    ),
    "degree huge": lambda h: h["machines"]["kernels"][1].update(
        kind="polynomial", gamma=0.1, coef0=0.0, degree=10**6
    ),
    "degree a fraction": lambda h: h["machines"]["kernels"][1].update(
        kind="polynomial", gamma=0.1, coef0=0.0, degree=2.5
    ),
    "one kernel of two": lambda h: h["machines"]["kernels"].pop(),
}


@pytest.mark.parametrize("lie", LIES)
def test_lying_headers_with_a_good_checksum(tmp_path, lie):
    _, raw = written(tmp_path, model_of())
    with pytest.raises(ModelError) as caught:
        read_store("m.mbm", changed(raw, LIES[lie]))
    assert str(caught.value).startswith("m.mbm: ") and "\n" not in str(caught.value)


BAD_NUMBERS = {
    "sv NaN": {"sv": np.array([[np.nan, 0], [1, 2], [3, 4]])},
    "coef infinite": {"coef": np.array([0.1, np.inf, 1, 1])},
    "rho NaN": {"rho": np.array([np.nan, 0])},
    "a infinite": {"a": np.array([np.inf, 0])},
    "b infinite": {"b": np.array([-np.inf, 0])},
    "only a": {"a": np.array([1.0, 2.0])},
    "index negative": {"index": np.array([0, -1, 1, 2])},
    "index beyond": {"index": np.array([0, 3, 1, 2])},
    "kernel beyond": {"kernel_of": np.array([0, 2])},
    "kernel negative": {"kernel_of": np.array([0, -1])},
    "indptr descends": {"indptr": np.array([0, 5, 4])},
    "indptr starts late": {"indptr": np.array([1, 2, 4])},
    "indptr ends early": {"indptr": np.array([0, 2, 3])},
    "indptr ends late": {"indptr": np.array([0, 2, 5])},
    "indptr wraps round": {
        "indptr": np.array([0, 2**63 - 1, -2, 4]),
        "rho": np.zeros(3),
        "a": np.zeros(3),
        "b": np.zeros(3),
        "orientation": np.ones(3),
        "kernel_of": np.zeros(3),
        "provenances": (Provenance(),) * 3,
        "tree": parse("a 0 / 1; b 1 / 0; c 0 / 1; {3 7}"),
    },
    "group descends": {"group": np.array([1, 0, 1])},
    "group wraps round": {"group": np.array([2**31 - 1, -(2**31), 0])},
    "orientation 0": {"orientation": np.array([0, 1])},
    "normalisation NaN": {
        "normalisation": Normalisation(NORMALISATION.matrix, np.array([1, np.nan, 2]))
    },
    "normalisation infinite": {
        "normalisation": Normalisation(np.full((3, 2), np.inf, np.float32), NORMALISATION.mean)
    },
    "scale infinite": {
        "normalisation": Normalisation(np.float32([[np.inf, 0], [0, 1], [0, 0]]), np.zeros(3))
    },
    "normalisation of other width": {
        "normalisation": Normalisation(np.ones((3, 3), np.float32), np.ones(3, np.float32))
    },
    "normalisation of other mean": {
        "normalisation": Normalisation(np.ones((3, 2), np.float32), np.ones(2, np.float32))
    },
    "column of no feature": {
        "normalisation": Normalisation.of_scales(np.array([0, 3]), np.ones(2), np.ones(3))
    },
    "column before the first": {
        "normalisation": Normalisation.of_scales(np.array([0, -1]), np.ones(2), np.ones(3))
    },
    "column of zeros": {
        "normalisation": Normalisation.of_scales(np.array([0, 1]), np.array([1, 0]), np.ones(3))
    },
    "columns without factors": {
        "normalisation": Normalisation.of_scales(np.array([0, 1]), np.ones(1), np.ones(3))
    },
}


@pytest.mark.parametrize("case", BAD_NUMBERS)
def test_lying_numbers_with_a_good_checksum(unchecked, tmp_path, case):
    path, _ = written(tmp_path, model_of(**BAD_NUMBERS[case]))
    with pytest.raises(ModelError, match="^.*m.mbm: damaged or not made by this suite: "):
        read_store(str(path))


@pytest.mark.parametrize(
    "control, words",
    [
        ("a 0 / 1;\n{ 3 7}\n", "the control tree has 1 classifiers, the model 2"),
        ("a 0 / 1;\nb 1 / 0;\n{ 3 3}\n", "class 3 is listed twice"),
        ("", "found an empty one"),
        ("\ud800", "damaged"),
        ("a\0b", "binary data"),
        ('"" 0 / 1;\n"" 1 / 0;\n{ 3 7}', "expected the name of a trained model"),
    ],
)
def test_control_text_that_does_not_fit(tmp_path, control, words):
    path, raw = written(tmp_path, model_of())
    path.write_bytes(changed(raw, lambda header: header.update(control=control)))
    with pytest.raises(ModelError) as caught:
        load(str(path))
    assert words in str(caught.value) and str(caught.value).startswith(f"{path}: ")
