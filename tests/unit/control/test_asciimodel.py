"""libAGF's ASCII model: by hand, against the reference, bit for bit; broken ones are refused."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.models.merge import regroup
from agfmc.control.build import from_rows, rename
from agfmc.control.parse import parse
from agfmc.control.tree import changed
from agfmc.core.errors import ModelError
from agfmc.models.libagf import format_ascii_model, is_ascii_model, read_ascii_model
from agfmc.data.libagf import read_vec
from agfmc.kernels.machine import Machine
from agfmc.core.models import MergedModel, Kernel
from agfmc.models.configuration import Configuration
from agfmc.data.normalisation import Normalisation
from agfmc.core.provenance import Provenance
from own_warnings import own_warnings, texts_of

# f_0 = 2 x1 - x2 - 0.5 and f_1 = -3 (x1 + x2) - 1, as (1, 0), (0, 1), (1, 1) are the support
# vectors
LINEAR = """SVM
m-00 0 / 1 2;
m-01 0 1 / 2;
{
  0
  1
  7
}
linear

3 2
0 1~
1 0~
1 1~
m-00
2
0.5 0.25~
 -1 2 0.5~
 0 1
m-01
1
-1.5 0~
 -3 1~
 2
""".replace("~", " ")
KERNELS = [
    Kernel("linear"),
    Kernel("polynomial", 0.3, 1 / 3, 3),
    Kernel("rbf", 0.1),
    Kernel("sigmoid", 1e-3, -0.7),
]


def configuration(text, path="model"):
    return read_ascii_model(path, text.encode("utf-8", "surrogateescape"))


def read(text, path="model"):
    return configuration(text, path).machines


def written(model, tree=None, **more):
    return "".join(format_ascii_model(Configuration(tree or TREE, model, **more)))


def rewritten(text):
    return "".join(format_ascii_model(configuration(text)))


def values(model, x):
    return Machine(model, range(len(model.rho))).decision_values(np.asarray(x, dtype=float))


TREE = rename(
    from_rows([((0,), (1,)), ((0,), (2,)), ((1,), (2,))], (4, 0, 9)), ["m-00", "dir/m-01", "m-02"]
)


def random_model(kernel=KERNELS[2], s=40, d=3):
    """Three classes one-vs-one; numbers of every size."""
    rng = np.random.default_rng(5)
    index = [np.sort(rng.choice(s, n, replace=False)) for n in (20, 0, s)]
    model = MergedModel(
        (kernel,),
        np.zeros(3, np.int32),
        rng.normal(size=(s, d)) * 10.0 ** rng.integers(-9, 2, (s, d)),
        np.zeros(s, np.int32),
        np.array([0, 20, 20, 20 + s]),
        np.concatenate(index).astype(np.int32),
        rng.normal(size=20 + s),
        rng.normal(size=3) / 3,
        np.array([-1.1, 0.0, 1e-7 / 3]),
        rng.normal(size=3) * 1e30,
        np.array([-1, 1, 1], np.int8),
        (Provenance(),) * 3,
    )
    return regroup(model, TREE.sides(), TREE.classes)


def test_a_model_by_hand():
    model = read(LINEAR)
    np.testing.assert_array_equal(
        values(model, [[0, 0], [1, 2], [-3, 0.5]]), [[-0.5, -1], [-0.5, -10], [-7, 6.5]]
    )
    assert model.a.tolist() == [0.5, -1.5] and model.b.tolist() == [0.25, 0.0]
    assert model.orientation.tolist() == [1, -1]
    assert configuration(LINEAR).tree.sides() == [((0,), (1, 7)), ((0, 1), (7,))]
    assert model.kernels == (Kernel("linear"),) and not model.any_width
    assert model.sv.tolist() == [[0, 1], [1, 0], [1, 1]]


def test_it_is_written_as_it_was_read():
    lines = [line.rstrip() for line in LINEAR.splitlines()]
    assert [line.rstrip() for line in rewritten(LINEAR).splitlines()] == lines


@pytest.mark.parametrize(
    "text, kernel",
    [
        ("radial\n 0.1\n", Kernel("rbf", 0.1)),
        ("sigmoid\n 0.1 -2\n", Kernel("sigmoid", 0.1, -2.0)),
        ("polynomial\n 0.1 -2 3\n", Kernel("polynomial", 0.1, -2.0, 3)),
    ],
)
def test_kernels(text, kernel):
    text = LINEAR.replace("linear\n\n", text)
    model = read(text)
    assert model.kernels == (kernel,)
    assert [w.split() for w in rewritten(text).splitlines()] == [
        w.split() for w in text.splitlines()
    ]


def test_groups_follow_the_signs_of_the_coefficients():
    model = random_model()
    sides, classes = TREE.sides(), [0, 4, 9]
    assert (np.diff(model.group) >= 0).all() and len(np.unique(model.group)) > 2
    for i, (left, right) in enumerate(sides):
        part = slice(model.indptr[i], model.indptr[i + 1])
        for coef, index in zip(model.coef[part], model.index[part]):
            group = model.group[index]
            if group < 3:
                wanted = right if coef * model.orientation[i] > 0 else left
                assert classes[group] in wanted


def test_a_support_vector_listed_twice_is_added_up():
    text = broken("2\n0.5 0.25 \n -1 2 0.5 \n 0 1\n", "4\n0.5 0.25 \n 2 -1 3 -2 0.5 \n 1 0 2 1\n")
    model = read(text)
    part = slice(model.indptr[0], model.indptr[1])
    assert model.index[part].tolist() == [1, 0, 2] and model.coef[part].tolist() == [0, -1, 3]


def test_what_else_may_be_in_the_file():
    wanted = read(LINEAR)
    for text in (
        LINEAR.replace("\n", "\r\n"),
        LINEAR + "\n \n",
        "  SVM\n" + LINEAR[4:],
        LINEAR.replace("{\n  0\n  1\n  7\n}", "{ 0 1 7} "),
        LINEAR.replace("m-00", "radial"),
        LINEAR.replace("1 1 \n", " 1.0\t+1e0\n"),
    ):
        model = read(text)
        assert is_ascii_model(text.encode())
        assert model.sv.tobytes() == wanted.sv.tobytes() and model.coef.tolist() == [-1, 2, -3]


def test_other_files_are_told_apart():
    for text in (
        "SVM {0 1}",
        "SVM\n{ 0 1 }\n",
        "SVM\n0 / 1; {0 1}",
        "SVMs\n a {0 1}",
        "",
        "svm_type c_svc\n",
    ):
        assert not is_ascii_model(text.encode())
    assert is_ascii_model(b"SVM\n1v1-00 0 / 1;") and is_ascii_model(b"SVM\r\nm\n{0 1}\n")


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "name", ["m_1v1", "m_1vR", "m_adj", "m_ortho", "m_hier_lsq", "m_emp_lsq", "m_hier", "m_emp"]
)
def test_reference_models(segment, name):
    """f and r as recomputed in double precision, written with nine digits."""
    path = segment / "models" / f"{name}.mbaio"
    given = read_ascii_model(str(path))
    model, tree = given.machines, given.tree
    f = np.loadtxt(segment / f"{name}_f64.txt")
    last_digit = 10.0 ** (np.floor(np.log10(np.abs(f))) - 8)
    x = read_vec(segment / "tst.vec")
    for each in (model, regroup(model, tree.sides(), tree.classes), read(written(model, tree))):
        found = values(each, x)
        assert (np.abs(found - f) <= 0.51 * last_digit + 1e-11).all()
        r = np.tanh(each.a * found + each.b)
        np.testing.assert_allclose(r, np.loadtxt(segment / f"{name}_r64.txt"), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["m_1v1", "m_adj", "m_ortho", "m_emp_lsq", "m_hier"])
def test_reference_models_are_written_as_they_were(segment, name):
    text = (segment / "models" / f"{name}.mbaio").read_text()
    model = read(text)
    ours, theirs = rewritten(text).splitlines(), text.splitlines()
    assert len(ours) == len(theirs)
    at, kernel = len(theirs) - 5 * len(model.rho), theirs.index("radial")
    assert ours[: kernel + 1] == theirs[: kernel + 1]
    for one, other in zip(ours[kernel + 1 : at], theirs[kernel + 1 : at]):
        assert [*map(float, one.split())] == [*map(float, other.split())]
    for i in range(at, len(theirs), 5):  # libAGF lists some support vectors twice
        assert ours[i] == theirs[i]
        assert [*map(float, ours[i + 2].split())] == [*map(float, theirs[i + 2].split())]
        told = []
        for lines in (ours, theirs):
            *coef, rho = map(float, lines[i + 3].split())
            index = [int(word) for word in lines[i + 4].split()]
            assert len(coef) == len(index) == int(lines[i + 1])
            told.append((list(dict.fromkeys(index)), np.bincount(index, weights=coef), rho))
        assert told[0][0] == told[1][0] and told[0][2] == told[1][2]
        np.testing.assert_allclose(told[0][1], told[1][1], rtol=1e-15)


def broken(old, new):
    assert LINEAR.count(old) == 1, old
    return LINEAR.replace(old, new)


CASES = {
    "empty": ("", "model:1: expected the line 'SVM'"),
    "another word": (broken("SVM", "KNN"), "model:1: expected the line 'SVM'"),
    "no control": ("SVM\nlinear\n\n0 1\n", "model:2:"),
    "control": (broken("0 / 1 2;", "0 / 1 2"), "model:3:10: expected ';'"),
    "control label": (broken("  7\n", "  1\n"), "model:7:3: class 1 is listed twice"),
    "never closed": (broken("}\n", ""), "model:8:1: expected"),
    "options": (LINEAR.replace("m-00 0", '"-c 1" 0', 1), "model:2:1: expected the name"),
    "behind the brace": (
        broken("}\n", "} x\n"),
        ":8: expected the end of the line after '}', found 'x'",
    ),
    "kernel": (broken("linear", "rbf"), ":9: expected a kernel, linear, polynomial, radial"),
    "parameter missing": (
        broken("linear\n\n", "radial\n\n"),
        ":10: expected 1 parameters, found 0",
    ),
    "parameters too many": (
        broken("linear\n\n", "linear\n1\n"),
        ":10: expected 0 parameters, found 1",
    ),
    "gamma": (
        broken("linear\n\n", "radial\n -1\n"),
        ":10: a parameter of the kernel is out of range",
    ),
    "degree": (broken("linear\n\n", "polynomial\n1 1 2.5\n"), ":10: a parameter of the kernel"),
    "degree large": (
        broken("linear\n\n", "polynomial\n1 1 1e9\n"),
        ":10: a parameter of the kernel",
    ),
    "sizes": (broken("3 2\n", "3\n"), ":11: expected 2 sizes, found 1"),
    "size": (broken("3 2\n", "2.5 2\n"), ":11: expected sizes from 0"),
    "size negative": (broken("3 2\n", "-3 2\n"), ":11: expected sizes from 0"),
    "size word": (broken("3 2\n", "3 x\n"), ":11: expected a finite number, found 'x'"),
    "size enormous": (
        broken("3 2\n", "2000000000 2000000000\n"),
        ":11: expected 2000000000 support",
    ),
    "features enormous": (
        broken("3 2\n", "3 2000000000\n"),
        ":12: expected 2000000000 values, found 2",
    ),
    "no features": (broken("3 2\n", "3 0\n"), ":11: expected at least one feature"),
    "size beyond": (broken("3 2\n", "3 " + "9" * 400 + "\n"), ":11:"),
    "value missing": (broken("1 1 \n", "1 \n"), ":14: expected 2 values, found 1"),
    "value too many": (broken("1 1 \n", "1 1 1\n"), ":14: expected 2 values, found 3"),
    "row blank": (broken("1 0 \n", "\n"), ":13: expected 2 values, found 0"),
    "value word": (broken("1 0 \n", "1 O \n"), ":13: expected a finite number, found 'O'"),
    "value NaN": (broken("1 0 \n", "1 nan \n"), ":13: expected a finite number, found 'nan'"),
    "value infinite": (
        broken("1 0 \n", "1 1e999 \n"),
        ":13: expected a finite number, found '1e999'",
    ),
    "value glued": (broken("1 0 \n", "1-2 0 \n"), ":13: expected a finite number, found '1-2'"),
    "byte": (broken("1 0 \n", "1 \udcff \n"), ":13: expected a finite number"),
    "nul": (broken("1 0 \n", "1 \0 \n"), ":13: expected a finite number"),
    "other name": (broken("m-00\n", "m-02\n"), ":15: expected the classifier 'm-00'"),
    "count": (broken("m-01\n1\n", "m-01\n2\n"), ":23: expected 3 coefficients and rho, found 2"),
    "count negative": (
        broken("m-01\n1\n", "m-01\n-1\n"),
        ":21: expected number of coefficients from 0",
    ),
    "count enormous": (broken("m-01\n1\n", "m-01\n1e9\n"), ":23: expected 1000000001 coefficients"),
    "b missing": (broken("0.5 0.25", "0.5"), ":17: expected 2 values a and b, found 1"),
    "a NaN": (broken("0.5 0.25", "nan 0.25"), ":17: expected a finite number, found 'nan'"),
    "rho infinite": (broken("-1 2 0.5", "-1 2 inf"), ":18: expected a finite number, found 'inf'"),
    "index beyond": (
        broken(" 0 1\n", " 0 3\n"),
        ":19: expected numbers of support vectors from 0 to 2",
    ),
    "index negative": (
        broken(" 0 1\n", " 0 -1\n"),
        ":19: expected numbers of support vectors from 0",
    ),
    "index fraction": (broken(" 0 1\n", " 0 0.5\n"), ":19: expected numbers of support vectors"),
    "index missing": (
        broken(" 0 1\n", " 0\n"),
        ":19: expected 2 numbers of support vectors, found 1",
    ),
    "classifier missing": (
        LINEAR[: LINEAR.index("m-01\n1")],
        ":19: truncated: expected the classifier",
    ),
    "more": (LINEAR + "m-02\n", ":25: expected the end of the file"),
    "line end": (LINEAR[:-1], ":24: truncated: the last line is not complete"),
    "direct": (
        "SVM\n" + 'm K "-k 3" {0 1}' + LINEAR[LINEAR.index("\nlinear") :],
        "model:2:1: a classifier of code K is no support vector machine",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_broken_files(case):
    text, words = CASES[case]
    with pytest.raises(ModelError) as caught:
        read(text)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message and len(message) < 250


def test_every_prefix_is_refused():
    for stop in range(len(LINEAR)):
        with pytest.raises(ModelError):
            read(LINEAR[:stop])


def refusal(model, tree=None, **more):
    with pytest.raises(ModelError) as caught:
        written(model, tree, **more)
    return str(caught.value)


def test_what_the_format_cannot_hold():
    model = random_model()
    assert "normalisation" in refusal(
        model, normalisation=Normalisation(np.eye(3, dtype=np.float32), np.zeros(3, np.float32))
    )
    assert "one kernel" in refusal(replace(model, kernels=(KERNELS[0], KERNELS[2])))
    assert "dir/m-01 does not hold" in refusal(replace(model, a=np.array([1, np.nan, 1])))
    assert "not a classifier of code K" in refusal(
        model, parse('a 0/1; b 0/2; c 1/2; {0 1 n K "-k 3" {2 3}}')
    )
    assert "feature" in refusal(replace(model, sv=np.zeros((40, 0))))


@pytest.mark.parametrize(
    "name", ["my m", "#1", "m{", '"', "12", "1m", "./m7", "../m", "_u", "-m", "Ünï", "mï", ""]
)
def test_names_that_libagf_may_not_read(name):
    """They are changed in both places, and the numbers stay."""
    model = random_model()
    tree = rename(TREE, ["a", name, "b"])
    with own_warnings() as told:
        text = written(model, tree)
    (warning,) = texts_of(told)
    assert (
        "classifiers are called m-00 to m-02" in warning and f"the model name '{name}'" in warning
    )
    assert text == written(model).replace("dir/m-01", "m-01")


@pytest.mark.parametrize("name", ["m", "Z9", "/a/b.c", "dir/m_1-01.00", "m.n0007-00"])
def test_names_that_libagf_reads(name, warned):
    model = random_model()
    text = written(model, rename(TREE, ["a", name, "b"]))
    assert text.count(f"\n{name} 0 / 2;\n") == text.count(f"\n{name}\n") == 1 and not warned


def test_class_names_are_left_out():
    model = random_model()
    text = written(model, changed(TREE, names={4: "four"}))
    assert text == written(model) and "#" not in text
