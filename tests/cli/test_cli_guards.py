"""What would quietly give a wrong result or destroy a file is refused or told."""

import hashlib
import importlib
import json
import os
import sys

import numpy as np
import pytest

from agfmc.formats.mbm import _START
from agfmc.formats.vectors import read_cls, read_vec, write_cls, write_vec


def call(command, *words):
    return importlib.import_module(f"agfmc.cli.{command}").main([str(word) for word in words])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data of three classes, as `trn` and `other`, and a plan."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    for name, shift in (("trn", 0.0), ("other", 5.0)):
        write_vec(f"{name}.vec", rng.normal(size=(90, 3)) + y[:, None] + shift)
        write_cls(f"{name}.cls", y)
    with open("plan", "w", encoding="ascii") as file:
        file.write('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    return tmp_path


def one_line(capsys):
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    return err


def test_a_normalisation_of_other_data_is_refused(capsys):
    assert call("multi_borders", "-n", "plan", "trn", "m", "m.mbc") == 0
    assert call("multi_borders", "-n", "plan", "other", "o", "o.mbc") == 0
    capsys.readouterr()
    assert call("mbh2mbm", "-a", "o.std", "m.mbc", "m.mbm") == 1
    assert "another normalisation" in one_line(capsys) and not os.path.exists("m.mbm")
    assert call("classify_m", "-a", "o.std", "m.mbc", "trn.vec", "out") == 1
    assert "another normalisation" in one_line(capsys)
    assert call("mbh2mbm", "-a", "m.std", "m.mbc", "m.mbm") == 0


def test_a_normalisation_that_is_not_used_is_told(capsys):
    assert call("multi_borders", "-n", "plan", "trn", "m", "m.mbc") == 0
    assert call("multi_borders", "plan", "trn", "m", "m.mbc") == 0
    assert "m.std is there already, but does not belong" in one_line(capsys)


def test_standard_output_is_no_control_file_of_an_earlier_run(folder, capsys):
    for data in ("trn", "other"):
        (folder / "-").write_text("precious")
        assert call("multi_borders", "plan", data, "m", "-") == 0
        assert capsys.readouterr().out.startswith("m-00 0 / 1;")
        assert (folder / "-").read_text() == "precious"


def test_the_file_of_standard_output_is_no_control_file_of_an_earlier_run(monkeypatch):
    """As by `multi_borders ... /dev/stdout > m.mbc`."""
    for data in ("trn", "other"):
        with open("m.mbc", "w") as opened, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", opened)
            assert call("multi_borders", "plan", data, "m", f"/dev/fd/{opened.fileno()}") == 0
        assert os.path.getsize("m.mbc") > 0 and not os.path.exists("m.mbc (deleted)")


def test_a_control_file_of_replaced_models_goes(capsys):
    options = ("-+", "-s 1 -n 0.3")
    assert call("multi_borders", *options, "plan", "trn", "m", "m.mbc") == 0
    # the third classifier cannot be trained, and the others are the same as before
    y = read_cls("trn.cls").copy()
    write_cls("few.cls", np.concatenate([y, [1] * 600]))
    x = np.random.default_rng(2).normal(size=(690, 3))
    write_vec("few.vec", x)
    before = open("m-01", encoding="ascii").read()
    assert call("multi_borders", *options, "plan", "few", "m", "m.mbc") == 3
    assert open("m-01", encoding="ascii").read() != before
    assert not os.path.exists("m.mbc")


@pytest.mark.parametrize("words", [
    "-M plan text text out.mbc", "plan trn m trn.vec", "plan trn m plan", "-n plan trn m m.std",
    "-a trn.std plan trn m trn.std"])
def test_no_input_is_overwritten(capsys, words):
    with open("text", "w", encoding="ascii") as file:
        file.writelines(f"{i % 3} 1:{i}\n" for i in range(30))
    call("agf_preprocess", "-n", "trn", "x")
    os.rename("x.std", "trn.std")
    plan = '"" {0 "" {1 2}}' if "text" in words else None
    if plan:
        with open("plan", "w", encoding="ascii") as file:
            file.write(plan)
    before = {name: open(name, "rb").read() for name in os.listdir()}
    capsys.readouterr()
    assert call("multi_borders", *words.split()) == 2
    assert " would be " in one_line(capsys)
    assert {name: open(name, "rb").read() for name in os.listdir()} == before


def test_the_truth_is_not_overwritten_by_the_answer(capsys):
    assert call("multi_borders", "plan", "trn", "m", "m.mbc") == 0
    before = open("trn.cls", "rb").read()
    capsys.readouterr()
    assert call("classify_m", "m.mbc", "trn.vec", "trn") == 2
    assert "the labels of trn.vec" in one_line(capsys)
    assert open("trn.cls", "rb").read() == before


@pytest.mark.parametrize("plan, words", [
    ('"" K {0 1 2}', "classify_m m.mbc trn.vec m"), ('"" L {0 1 2}', "mbh2mbm m.mbc m"),
    ('"" K {0 1 2}', "mbh2mbm m.mbc m.vec"), ('"" K {0 1 2}', "mbh2mbm -y here own.mbc here/m.cls"),
    ('"" 0 / 1; "" 1 / 2; {0 1 2}', "mbh2mbm m.mbc ./m-01"),
    ('"" 0 / 1; "" 1 / 2; {0 1 2}', "classify_m -O svm-predict m.mbc trn.vec m-00"),
    ('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}',
     "classify_m --pair-errors e.con -Q radag m.mbc trn.vec e"),
    ('"" 0 / 1; "" 1 / 2; {0 1 2}', "classify_m -a n.cls m.mbc trn.vec n")])
def test_no_model_is_overwritten(capsys, monkeypatch, plan, words):
    with open("plan", "w", encoding="ascii") as file:
        file.write(plan)
    assert call("multi_borders", "--cv-errors", "e.con", "plan", "trn", "m", "m.mbc") == 0 \
        if "radag" in words else call("multi_borders", "plan", "trn", "m", "m.mbc") == 0
    call("agf_preprocess", "-n", "trn", "n")
    os.replace("n.std", "n.cls")
    if "here" in words:
        os.mkdir("here")
        call("multi_borders", "plan", "trn", "here/m", "own.mbc")
        with open("own.mbc", "w", encoding="ascii") as file:
            file.write("m K {0 1 2}")
    monkeypatch.setattr("agfmc.learners.commands.shutil.which", lambda name: name)
    before = {name: open(name, "rb").read() for name in os.listdir() if os.path.isfile(name)}
    capsys.readouterr()
    command, *words = words.split()
    assert call(command, *words) == 2
    assert "would take the place of an input" in one_line(capsys)
    assert {name: open(name, "rb").read() for name in before} == before


def test_what_stands_beside_new_points_is_told(capsys):
    with open("text", "w", encoding="ascii") as file:
        file.write("0.5 1:1\n0.25 1:2\n")
    assert call("svm2agf", "-L", "text", "trn") == 0
    assert "trn.cls was there before" in one_line(capsys)
    assert call("svm2agf", "-L", "text", "new") == 0
    assert capsys.readouterr().err == ""


def test_a_trained_control_file_gives_no_options(capsys):
    assert call("multi_borders", "plan", "trn", "m", "m.mbc") == 0
    assert call("multi_borders", "--only", "m-00", "m.mbc", "trn", "m", "x") == 2
    assert "give the options with -+" in one_line(capsys)


@pytest.mark.parametrize("words, text", [
    ("-G -Q adjacent-ordered trn", "-G is for -Q random"),
    ("-n -Q contingency table", "-n is for -Q empirical"),
    ("-E 5 4", "-E goes with -M"), ("-H 4", "-H goes with -A"),
    ("--names names 4", "holds no name for class 2")])
def test_options_that_would_change_nothing(capsys, words, text):
    with open("names", "w", encoding="ascii") as file:
        file.write("one\ntwo\n")
    assert call("print_control", *words.split()) in (1, 2)
    assert text in one_line(capsys)


def test_labels_below_zero_are_numbered_anew(capsys):
    with open("pm.svm", "w", encoding="ascii") as file:
        file.writelines(f"{'+1' if i % 2 else '-1'} 1:{i}\n" for i in range(8))
    assert call("svm2agf", "-U", "pm.svm", "pm") == 0
    assert read_cls("pm.cls").tolist() == [0, 1] * 4 and not os.path.exists("pm.names")
    np.array([-1, 1] * 4, "<i4").tofile("pm.cls")
    assert call("agf_preprocess", "-U", "pm", "pm2") == 0
    assert read_cls("pm2.cls").tolist() == [0, 1] * 4
    with open("pm.names", "w", encoding="ascii") as file:
        file.write("a\nb\nc\n")  # line 3 is not for label -1
    capsys.readouterr()
    assert call("print_control", "pm") == 1
    assert "labels are whole numbers from 0 where there are names of the classes" in one_line(capsys)
    assert call("agf_preprocess", "--quiet", "-U", "pm", "pm2") == 0
    assert read_cls("pm2.cls").tolist() == [0, 1] * 4 and not os.path.exists("pm2.names")
    assert call("agf_preprocess", "-U", "pm", "pm2") == 0
    assert "label -1 has no name: the class names are left out" in capsys.readouterr().err


def signed(path, words, rows=24):
    """LIBSVM text of as many classes as words; the first feature tells them apart."""
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{words[i % len(words)]} 1:{i % len(words) + i / 97:.6f} 2:{i % 5}\n"
                        for i in range(rows))


@pytest.mark.parametrize("words", [("+1", "-1"), ("2.50", "0.5", "15e-1"), ("1", "-2", "-10")])
def test_numbers_that_are_no_labels_are_names_from_text_to_scores(capsys, words):
    names = [f"{value:g}" for value in sorted(map(float, words))]
    told = f"signed.svm: labels {', '.join(names)} are taken as names of the classes 0, 1"
    signed("signed.svm", words)
    assert call("print_control", "-M", "signed.svm") == 0
    plan, err = capsys.readouterr()
    head = "".join(f"# class {i}: {name}\n" for i, name in enumerate(names))
    assert plan.startswith(head) and err.count("\n") == 1 and told in err
    with open("plan", "w", encoding="ascii") as file:
        file.write(plan)
    assert call("multi_borders", "-M", "plan", "signed.svm", "m", "m.mbc") == 0
    assert told in one_line(capsys)
    with open("m.mbc", encoding="ascii") as file:
        assert file.read().startswith(head)
    assert call("svm2agf", "signed.svm", "trn") == 0
    assert told in one_line(capsys)
    with open("trn.names", encoding="ascii") as file:
        assert file.read().split() == names
    signed("one.svm", words[:1])  # a class alone has its number all the same
    assert call("svm2agf", "--names", "trn.names", "one.svm", "one") == 0
    assert set(read_cls("one.cls").tolist()) == {len(words) - 1}
    assert call("classify_m", "-M", "m.mbc", "signed.svm", "answer") == 0
    capsys.readouterr()
    assert call("eval_uc", "-b", "-H", "trn.cls", "answer") == 0
    assert float(capsys.readouterr().out.split()[0]) == 1
    for command in ("compare_control -f .5 signed.svm plan", "nfold -d 3 plan signed.svm"):
        assert call(*command.split(), "-M") == 0
        assert capsys.readouterr().err.count("signed.svm: labels") == 1


def test_binary_labels_below_zero_are_names(capsys):
    x, y = read_vec("trn.vec"), read_cls("trn.cls")
    labels = np.where(y == y.max(), -1, 1)
    write_vec("pm.vec", x)
    write_cls("pm.cls", labels)
    assert call("print_control", "pm") == 0
    out, err = capsys.readouterr()
    assert out.startswith("# class 0: -1\n# class 1: 1\n") and "pm: labels -1, 1 are taken" in err
    assert call("agf_preprocess", "pm", "named") == 0
    assert read_cls("named.cls").tolist() == (labels > 0).astype(int).tolist()
    with open("named.names", encoding="ascii") as file:
        assert file.read() == "-1\n1\n"
    assert call("agf2ascii", "--words", "-M", "named", "words.svm") == 0
    with open("words.svm", encoding="ascii") as file:
        assert [line.split()[0] for line in file] == [str(label) for label in labels]
    write_cls("answer.cls", labels > 0)
    capsys.readouterr()
    assert call("eval_uc", "-b", "-H", "-k", "2", "pm.cls", "answer") == 0
    assert capsys.readouterr().out.split()[0] == "1.0000"
    with open("three", "w", encoding="ascii") as file:
        file.write("-1\n0\n1\n")
    write_cls("answer.cls", np.where(labels > 0, 2, 0))
    assert call("eval_uc", "-b", "-H", "--names", "three", "pm.cls", "answer") == 0
    assert capsys.readouterr().out.split()[0] == "1.0000"
    for more in ((), ("-k", "3")):
        assert call("eval_uc", "-b", *more, "pm.cls", "answer") == 1
        assert "pm.cls: has label -1, and nothing tells" in one_line(capsys)


def test_lvq_text_is_numbered_as_in_training(capsys):
    with open("trn.lvq", "w") as file:
        file.write("1\n1 cat\n2 dog\n3 owl\n")
    with open("test.lvq", "w") as file:
        file.write("1\n3 owl\n")
    assert call("lvq2agf", "trn.lvq", "words") == 0
    assert call("lvq2agf", "--names", "words.names", "test.lvq", "test") == 0
    assert read_cls("test.cls").tolist() == [2]
    assert call("lvq2agf", "--names", "words.names", "test.lvq", "words") == 0  # as they are
    with open("test.lvq", "a") as file:
        file.write("4 yak\n")
    assert call("lvq2agf", "--names", "words.names", "test.lvq", "test") == 1
    assert "test.lvq:3: the label 'yak' is not among" in one_line(capsys)


def test_priors_from_labels_below_zero(capsys):
    signed("signed.svm", ("+1", "-1"))
    assert call("print_control", "-M", "signed.svm") == 0
    with open("plan", "w", encoding="ascii") as file:
        file.write(capsys.readouterr().out)
    assert call("multi_borders", "-M", "plan", "signed.svm", "m", "m.mbc") == 0
    write_cls("half.cls", [-1, 1])
    write_cls("three.cls", [-1, 0, 1])
    assert call("classify_m", "-M", "--priors", "half.cls", "m.mbc", "signed.svm", "o") == 0
    capsys.readouterr()
    assert call("classify_m", "-M", "--priors", "three.cls", "m.mbc", "signed.svm", "o") == 1
    assert "three.cls: has label -1, and nothing tells" in one_line(capsys)


def test_relabelling_needs_labels(capsys):
    assert call("agf_preprocess", "-C", "-U", "trn", "x") == 2
    assert "-U needs labels" in one_line(capsys) and not os.path.exists("x.vec")


def test_svm2agf_with_the_base_forgotten_does_not_wait(capsys):
    with open("some.svm", "w", encoding="ascii") as file:
        file.write("0 1:1\n")
    assert call("svm2agf", "some.svm") == 2
    assert "after 'some.svm'" in one_line(capsys)


def test_thresholds_may_be_negative_and_have_exponents(capsys):
    np.array([-1, -.05, .05, 1], "<f4").tofile("v.dat")
    assert call("float_to_class", "v.dat", "v.cls", "-1e-1", "0", "1e-1") == 0
    assert read_cls("v.cls").tolist() == [0, 1, 2, 3]


def test_absent_values_need_a_known_number_of_features(capsys):
    assert call("multi_borders", "plan", "trn", "m", "m.mbc") == 0
    for name in ("m-00", "m-01", "m-02"):  # as another trainer would write them
        text = open(name, encoding="ascii").read()
        with open(name, "w", encoding="ascii") as file:
            file.write(text[:text.index("# agfmc")])
    with open("t.svm", "w", encoding="ascii") as file:
        file.write("0 1:1\n1 1:1 2:2 3:3 70:1\n" * 3000)
    capsys.readouterr()
    assert call("classify_m", "-M", "-E", "3", "m.mbc", "t.svm", "out") == 2
    assert "number of features" in one_line(capsys)
    answers = []
    for jobs in (1, 2, 2, 2):
        assert call("classify_m", "-j", jobs, "-M", "m.mbc", "t.svm", "out") == 0
        answers.append(capsys.readouterr().out)
    assert len(set(answers)) == 1 and len(set(answers[0].splitlines())) == 2


@pytest.mark.parametrize("form, words", [((), "classify_m will need it"),
                                         (("-Z",), "which this format cannot tell"),
                                         (("--libsvm",), "which svm-predict cannot tell")])
def test_models_that_leave_their_normalisation_behind(capsys, form, words):
    assert call("multi_borders", "-n", "plan", "trn", "m", "m.mbc") == 0
    capsys.readouterr()
    assert call("mbh2mbm", "--quiet", *form, "m.mbc", "x") == 0
    assert capsys.readouterr().err == ""
    assert call("mbh2mbm", *form, "m.mbc", "x") == 0
    first, _ = capsys.readouterr().err.splitlines()
    assert "m.mbc: trained on normalised points" in first and words in first
    if not form:
        assert call("mbh2mbm", "-a", "m.std", "m.mbc", "x") == 0
        assert "warning" not in capsys.readouterr().err


def test_a_libsvm_model_tells_what_its_models_told(capsys):
    assert call("multi_borders", "-n", "plan", "trn", "m", "m.mbc") == 0
    assert call("agf_preprocess", "-n", "other", "strange") == 0
    assert call("mbh2mbm", "--quiet", "--libsvm", "m.mbc", "m.model") == 0
    assert call("mbh2mbm", "-a", "m.std", "m.model", "m.mbm") == 0
    told = {}
    for model in ("m.mbc", "m.model", "m.mbm"):
        capsys.readouterr()
        assert call("mbm_info", "--json", model) == 0
        info = json.loads(capsys.readouterr().out)
        told[model] = info["samples"], [one["made_by"] for one in info["binary_models"]]
    assert told["m.mbc"] == told["m.model"] == told["m.mbm"]
    assert "; normalised " in told["m.mbc"][1][0] and told["m.mbc"][0]
    assert call("mbh2mbm", "-a", "strange.std", "m.model", "x") == 1
    assert "trained with another normalisation" in one_line(capsys)
    assert call("classify_m", "m.model", "trn.vec", "x") == 0
    assert "m.model: trained on normalised points" in capsys.readouterr().err


@pytest.mark.parametrize("factor, faint", [(1e-42, True), (1e-30, False), (0, False)])
def test_values_too_small_for_any_kernel_are_told(capsys, factor, faint):
    write_vec("small.vec", factor * np.random.default_rng(1).normal(size=(90, 3)))
    write_cls("small.cls", np.repeat([0, 1, 2], 30))
    assert call("agf2ascii", "-M", "small", "small.svm") == 0
    for words in ((), ("-M",)):
        data = "small.svm" if words else "small"
        capsys.readouterr()
        assert call("multi_borders", "--retrain", *words, "plan", data, "m", "m.mbc") == 0
        assert capsys.readouterr().err == (
            f"multi_borders: warning: {data}: no value is larger than 1.2e-38: with the usual "
            "options the kernel tells no points apart; multiply the data by a power of ten\n"
            if faint else "")


@pytest.mark.parametrize("lines, words", [
    ("# class 0: b\n# class 1: a\n", "class 0 has two names, 'b' and 'a': its '# class' lines and"),
    ("# class 1: c\n", "class 1 has two names, 'c' and 'b'"),
    ("# class 1: b\n# class 2: b\n", "2:1: two classes, 1 and 2, have the same name, 'b'"),
    ("# class 1: b\n# class 1: d\n", "2:1: class 1 has two names, 'b' and 'd'"),
    ("# class 1: b\n# class 0: a\n", ""),
])
def test_names_that_are_not_those_of_the_data(folder, capsys, lines, words):
    (folder / "trn.names").write_text("a\nb\nc\n")
    assert call("agf2ascii", "-M", "--words", "trn", "trn.svm") == 0
    (folder / "named").write_text(lines + (folder / "plan").read_text())
    for command, *options in (("multi_borders", "named", "trn", "m", "m.mbc"),
                              ("multi_borders", "-M", "named", "trn.svm", "m", "m.mbc"),
                              ("compare_control", "--trials", 2, "trn", "named"),
                              ("order_classes", "--path", "named", "trn"),
                              ("order_classes", "named", "trn"),
                              ("nfold", "-d", 2, "named", "trn", "out")):
        capsys.readouterr()
        assert (call(command, "--quiet", *options) == 0) == (words == "")
        err = capsys.readouterr().err
        assert f"{command}: named:" in err and words in err if words else not err, command
    assert not words or not os.path.exists("m.mbc")


def forge(path, change):
    """Change the header of a .mbm file, and seal it with a right checksum."""
    raw = path.read_bytes()
    magic, major, minor, length, _, _ = _START.unpack_from(raw)
    header = json.loads(raw[_START.size:_START.size + length])
    change(header)
    text = json.dumps(header).encode()
    body = text + b" " * (-len(text) % 64) + raw[_START.size + length:]
    start = _START.pack(magic, major, minor, len(text) + -len(text) % 64, _START.size + len(body),
                        bytes(32))[:32]
    path.write_bytes(start + hashlib.sha256(start + body).digest() + body)


@pytest.mark.parametrize("lines, words", [
    ("# class 1: a", "two classes, 0 and 1, have the same name, 'a'"),
    ("# class 0: b", "class 0 has two names, 'a' and 'b'"),
])
def test_two_names_for_one_class_or_one_for_two_are_in_no_model(folder, capsys, lines, words):
    assert call("multi_borders", "plan", "trn", "m", "m.mbc") == 0
    assert call("mbh2mbm", "-Z", "m.mbc", "m.mbaio") == 0
    lines = f"# class 0: a\n{lines}\n"
    text = (folder / "m.mbaio").read_text()
    (folder / "m.mbaio").write_text(text.replace("SVM\n", f"SVM\n{lines}", 1))
    assert call("mbh2mbm", "m.mbc", "m.mbm") == 0
    forge(folder / "m.mbm", lambda header: header.update(control=lines + header["control"],
                                                         names={"0": "a", "1": "a"}))
    (folder / "m.mbc").write_text(lines + (folder / "m.mbc").read_text())
    for name in ("m.mbaio", "m.mbm", "m.mbc"):
        for command, *options in (("mbm_info", name), ("classify_m", name, "trn.vec", "out"),
                                  ("mbh2mbm", name, "x")):
            capsys.readouterr()
            assert call(command, *options) == 1
            assert words in one_line(capsys)


def test_a_logistic_model_that_wants_normalised_points(capsys):
    with open("plan", "w", encoding="ascii") as file:
        file.write('"" L {0 1 2}')
    assert call("multi_borders", "-n", "plan", "trn", "m", "m.mbc") == 0
    capsys.readouterr()
    assert call("classify_m", "-a", "m.std", "m.mbc", "other.vec", "x") == 0
    assert capsys.readouterr().err == ""
    assert call("classify_m", "m.mbc", "other.vec", "x") == 0
    assert "m.mbc: trained on normalised points" in one_line(capsys)
