"""Outputs in the place of inputs, names and labels that differ, lost normalisations."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hostile_store import put_together, taken_apart

from agfmc.cli import parser_of
from agfmc.cli.options import FILES
from agfmc.cli.option_types import output_base, output_file
from agfmc.core.errors import UsageError
from agfmc.data.libagf import read_cls, read_con, read_vec
from data_files import write_cls, write_lvq, write_svm, write_vec


@pytest.fixture
def three(folder):
    """A folder with data of three classes, as `trn` and `other`, and a plan."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    for name, shift in (("trn", 0.0), ("other", 5.0)):
        write_vec(f"{name}.vec", rng.normal(size=(90, 3)) + y[:, None] + shift)
        write_cls(f"{name}.cls", y)
    Path("plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    return folder


def test_a_normalisation_of_other_data_is_refused(run, three):
    run("multi_borders", "--uncalibrated", "-n", "plan", "trn", "m", "m.mbc")
    run("multi_borders", "-n", "plan", "other", "o", "o.mbc")
    assert "another normalisation" in run(
        "mbh2mbm", "-a", "o.std", "m.mbc", "m.mbm", status=1
    ).line() and not os.path.exists("m.mbm")
    run("classify_m", "-a", "o.std", "m.mbc", "trn.vec", "out", status=1).line(
        "another normalisation"
    )
    run("mbh2mbm", "-a", "m.std", "m.mbc", "m.mbm")


def test_a_normalisation_of_an_earlier_run_is_refused(run, three):
    run("multi_borders", "--uncalibrated", "-n", "plan", "trn", "m", "m.mbc")
    done = run("multi_borders", "--uncalibrated", "plan", "trn", "m", "m.mbc")
    done.line("m.std exists already, but does not belong")
    assert Path("m.mbc").read_text().startswith("# normalisation: none\n")
    run("mbh2mbm", "--quiet", "m.mbc", "raw.mbm")
    for command, *words in (
        ("mbh2mbm", "m.mbc", "m.mbm"),
        ("classify_m", "m.mbc", "trn.vec", "o"),
        ("classify_m", "raw.mbm", "trn.vec", "o"),
    ):
        run(command, "-a", "m.std", *words, status=1).refused(
            f"{words[0]}:1:3: the models were trained on the points as they were: leave -a out"
        )
    # that of the data is another matter: these points went through it
    run("agf_preprocess", "-n", "trn", "n")
    assert run("multi_borders", "--uncalibrated", "plan", "n", "n", "n.mbc").err == ""
    run("classify_m", "-a", "n.std", "n.mbc", "trn.vec", "o")


def test_a_control_file_names_its_normalisation(run, three):
    os.mkdir("here")
    run("multi_borders", "-n", "plan", "trn", "m", "m.mbc")
    run("multi_borders", "-n", "-a", "here/x.std", "-y", "here", "plan", "trn", "m", "here/m.mbc")
    run("multi_borders", "-n", "plan", "trn", "m", "here/far.mbc")
    given = run("classify_m", "-a", "m.std", "m.mbc", "other.vec", "o")
    for control, name, path in (
        ("m.mbc", "m.std", "m.std"),
        ("here/m.mbc", "x.std", "here/x.std"),
        ("here/far.mbc", "../m.std", "here/../m.std"),
    ):
        assert Path(control).read_text().startswith(f"# normalisation: {name}\n")
        folder = ["-y", "here"] * (name == "x.std")
        found = run("classify_m", *folder, control, "other.vec", "o")
        assert (found.out, found.err) == (given.out, "")
        assert "normalised by the model to 3" in run("mbm_info", *folder, control).out
        for order in (["print_control", "-Q", "convert"], ["order_classes"]):
            assert f"# normalisation: {path}\n" in run(*order, control).out
    for other, named in (("here/far.mbc", True), ("here/m.mbc", False)):
        joined = run("print_control", "-Q", "ensemble", "m.mbc", other).out
        assert joined.startswith("# normalisation: m.std\n") == named
    words = "classify_m", "--uncalibrated", "-a"
    assert (
        run(*words[:2], "-", "other.vec", "o", stdin=Path("m.mbc").read_bytes()).out
        == run(*words, "m.std", "m.mbc", "other.vec", "o").out
    )
    for words in ([], ["-a", "m.std"]):
        run("mbh2mbm", *words, "m.mbc", f"{len(words)}.mbm")
    assert Path("0.mbm").read_bytes() == Path("2.mbm").read_bytes()
    assert "normalisation" not in run("mbm_info", "--print-control", "0.mbm").out
    run("agf_preprocess", "-a", "m.std", "other", "done")
    assert run("classify_m", "-a", "none", "m.mbc", "done.vec", "o").err == ""
    run("mbh2mbm", "m.mbc", "m.std", status=2).refused("out would overwrite control")
    run("multi_borders", "--no-names", "-n", "plan", "trn", "m", "bare.mbc")
    assert "#" not in Path("bare.mbc").read_text()
    run("classify_m", "bare.mbc", "done.vec", "o").line("the points are assumed to be normalised")
    os.replace("m.std", "moved.std")
    for command, *words in (
        ("mbh2mbm", "m.mbc", "x.mbm"),
        ("mbm_info", "m.mbc"),
        ("classify_m", "m.mbc", "other.vec", "o"),
    ):
        run(command, *words, status=1).refused(
            f"{command}: m.mbc:1:3: normalisation 'm.std': there is no such file; -a FILE names"
        )
    assert run("classify_m", "-a", "moved.std", "m.mbc", "other.vec", "o").out == given.out


@pytest.mark.long
def test_a_warning_of_unequal_scales(run, three):
    x = read_vec("trn.vec") * [1, 100, 1]
    write_vec("far.vec", x)
    write_cls("far.cls", read_cls("trn.cls"))
    run("agf_preprocess", "-n", "far", "near")
    words = "far: the standard deviation of feature 1 (from 0) is", "-n normalises"
    for command, *rest in (
        ["multi_borders", "--uncalibrated", "plan", "far", "m", "m.mbc"],
        ["nfold", "-d", "2", "--no-state", "plan", "far"],
        ["print_control", "-Q", "empirical", "far"],
    ):
        run(command, *rest).line(*words)
        others = [["-n"], ["-a", "none"], ["-a", "near.std"], ["-S", "2"]]
        for options in others:
            assert "deviation of" not in run(command, *options, *rest).err
        near = ["near" if word == "far" else word for word in rest]
        assert "deviation of" not in run(command, *near).err
    run("multi_borders", "-0", "plan", "far", "w", "w.mbc").line(*words)
    assert run("multi_borders", "--only", "w-00", "plan", "far", "w", "w.mbc").err == ""


def test_standard_output_is_no_control_file_of_an_earlier_run(three, run):
    for data in ("trn", "other"):
        (three / "-").write_text("precious")
        assert run("multi_borders", "plan", data, "m", "-").out.startswith("m-00 0 / 1;")
        assert (three / "-").read_text() == "precious"


def test_a_control_file_of_replaced_models_goes(run, three):
    options = ("-+", "-s 1 -n 0.3")
    run("multi_borders", *options, "plan", "trn", "m", "m.mbc")
    # the third classifier cannot be trained, and the others are the same as before
    y = read_cls("trn.cls").copy()
    write_cls("few.cls", np.concatenate([y, [1] * 600]))
    x = np.random.default_rng(2).normal(size=(690, 3))
    write_vec("few.vec", x)
    before = Path("m-01").read_text()
    run("multi_borders", *options, "plan", "few", "m", "m.mbc", status=3)
    assert Path("m-01").read_text() != before
    assert not os.path.exists("m.mbc")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "plan, words",
    [
        ('"" K {0 1 2}', "classify_m m.mbc trn.vec m"),
        ('"" L {0 1 2}', "mbh2mbm m.mbc m"),
        ('"" K {0 1 2}', "mbh2mbm m.mbc m.vec"),
        ('"" K {0 1 2}', "mbh2mbm -y here own.mbc here/m.cls"),
        ('"" 0 / 1; "" 1 / 2; {0 1 2}', "mbh2mbm m.mbc ./m-01"),
        ('"" 0 / 1; "" 1 / 2; {0 1 2}', "classify_m -O svm-predict m.mbc trn.vec m-00"),
        (
            '"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}',
            "classify_m --pair-errors e.con -Q radag m.mbc trn.vec e",
        ),
        ('"" 0 / 1; "" 1 / 2; {0 1 2}', "classify_m -a n.cls m.mbc trn.vec n"),
    ],
)
def test_no_model_is_overwritten(run, monkeypatch, plan, words, three):
    Path("plan").write_text(plan)
    more = ("--cv-errors", "e.con") if "radag" in words else ()
    run("multi_borders", *more, "plan", "trn", "m", "m.mbc")
    run("agf_preprocess", "-n", "trn", "n")
    os.replace("n.std", "n.cls")
    if "here" in words:
        os.mkdir("here")
        run("multi_borders", "plan", "trn", "here/m", "own.mbc")
        Path("own.mbc").write_text("m K {0 1 2}")
    monkeypatch.setattr("agfmc.learners.programs.shutil.which", lambda name: name)
    before = {name: Path(name).read_bytes() for name in os.listdir() if os.path.isfile(name)}
    command, *words = words.split()
    run(command, *words, status=2).line("both are the file")
    assert {name: Path(name).read_bytes() for name in before} == before


def test_older_labels_next_to_new_points_give_a_warning(run, three):
    Path("text").write_text("0.5 1:1\n0.25 1:2\n")
    run("svm2agf", "-L", "text", "trn").line("trn.cls existed before")
    assert run("svm2agf", "-L", "text", "new").err == ""


def test_a_trained_control_file_gives_no_options(run, three):
    run("multi_borders", "--uncalibrated", "plan", "trn", "m", "m.mbc")
    done = run("multi_borders", "--only", "m-00", "m.mbc", "trn", "m", "x", status=2)
    done.line("give the options with -+")


def test_labels_below_zero_are_numbered_anew(run, three):
    with open("pm.svm", "w", encoding="ascii") as file:
        file.writelines(f"{'+1' if i % 2 else '-1'} 1:{i}\n" for i in range(8))
    run("svm2agf", "-U", "pm.svm", "pm")
    assert read_cls("pm.cls").tolist() == [0, 1] * 4 and not os.path.exists("pm.names")
    np.array([-1, 1] * 4, "<i4").tofile("pm.cls")
    run("agf_preprocess", "-U", "pm", "pm2")
    assert read_cls("pm2.cls").tolist() == [0, 1] * 4
    Path("pm.names").write_text("a\nb\nc\n")  # line 3 is not for label -1
    done = run("print_control", "pm", status=1)
    done.line("labels are whole numbers from 0 where there are names of the classes")
    run("agf_preprocess", "--quiet", "-U", "pm", "pm2")
    assert read_cls("pm2.cls").tolist() == [0, 1] * 4 and not os.path.exists("pm2.names")
    done = run("agf_preprocess", "-U", "pm", "pm2")
    assert "label -1 has no name: the class names are left out" in done.err


def signed(path, words, rows=24):
    """LIBSVM text of as many classes as words; the first feature tells them apart."""
    with open(path, "w", encoding="ascii") as file:
        file.writelines(
            f"{words[i % len(words)]} 1:{i % len(words) + i / 97:.6f} 2:{i % 5}\n"
            for i in range(rows)
        )


@pytest.mark.few(1)
@pytest.mark.parametrize("words", [("+1", "-1"), ("2.50", "0.5", "15e-1"), ("1", "-2", "-10")])
def test_numbers_that_are_no_labels_are_names_from_text_to_scores(run, words, three):
    names = [f"{value:g}" for value in sorted(map(float, words))]
    told = f"signed.svm: labels {', '.join(names)} are taken as names of the classes 0, 1"
    signed("signed.svm", words)
    _, plan, err = run("print_control", "-M", "signed.svm")
    head = "".join(f"# class {i}: {name}\n" for i, name in enumerate(names))
    assert plan.startswith(head) and err.count("\n") == 1 and told in err
    Path("plan").write_text(plan)
    assert (
        told
        in run("multi_borders", "--uncalibrated", "-M", "plan", "signed.svm", "m", "m.mbc").line()
    )
    assert Path("m.mbc").read_text().startswith(head)
    assert told in run("svm2agf", "signed.svm", "trn").line()
    assert Path("trn.names").read_text().split() == names
    signed("one.svm", words[:1])  # a class alone has its number all the same
    run("svm2agf", "--names", "trn.names", "one.svm", "one")
    assert set(read_cls("one.cls").tolist()) == {len(words) - 1}
    run("classify_m", "-M", "m.mbc", "signed.svm", "answer")
    assert float(run("eval_uc", "-b", "-H", "trn.cls", "answer").out.split()[0]) == 1
    for command in ("compare_control -f .5 signed.svm plan", "nfold -d 3 plan signed.svm"):
        assert run(*command.split(), "-M").err.count("signed.svm: labels") == 1


def test_binary_labels_below_zero_are_names(run, three):
    x, y = read_vec("trn.vec"), read_cls("trn.cls")
    labels = np.where(y == y.max(), -1, 1)
    write_vec("pm.vec", x)
    write_cls("pm.cls", labels)
    _, out, err = run("print_control", "pm")
    assert out.startswith("# class 0: -1\n# class 1: 1\n") and "pm: labels -1, 1 are taken" in err
    run("agf_preprocess", "pm", "named")
    assert read_cls("named.cls").tolist() == (labels > 0).astype(int).tolist()
    assert Path("named.names").read_text() == "-1\n1\n"
    run("agf2ascii", "--words", "-M", "named", "words.svm")
    with open("words.svm", encoding="ascii") as file:
        assert [line.split()[0] for line in file] == [str(label) for label in labels]
    write_cls("answer.cls", labels > 0)
    assert run("eval_uc", "-b", "-H", "-k", "2", "pm.cls", "answer").out.split()[0] == "1.0000"
    Path("three").write_text("-1\n0\n1\n")
    write_cls("answer.cls", np.where(labels > 0, 2, 0))
    assert (
        run("eval_uc", "-b", "-H", "--names", "three", "pm.cls", "answer").out.split()[0]
        == "1.0000"
    )
    for more in ((), ("-k", "3")):
        done = run("eval_uc", "-b", *more, "pm.cls", "answer", status=1)
        done.line("pm.cls: has label -1, and the numbers")


def test_lvq_text_is_numbered_as_in_training(run, three):
    Path("trn.lvq").write_text("1\n1 cat\n2 dog\n3 owl\n")
    Path("test.lvq").write_text("1\n3 owl\n")
    run("lvq2agf", "trn.lvq", "words")
    run("lvq2agf", "--names", "words.names", "test.lvq", "test")
    assert read_cls("test.cls").tolist() == [2]
    run("lvq2agf", "--names", "words.names", "test.lvq", "words")
    with open("test.lvq", "a") as file:
        file.write("4 yak\n")
    done = run("lvq2agf", "--names", "words.names", "test.lvq", "test", status=1)
    done.line("test.lvq:3: the label 'yak' is not among")


def test_priors_from_labels_below_zero(run, three):
    signed("signed.svm", ("+1", "-1"))
    Path("plan").write_text(run("print_control", "-M", "signed.svm").out)
    run("multi_borders", "-M", "plan", "signed.svm", "m", "m.mbc")
    write_cls("half.cls", [-1, 1])
    write_cls("three.cls", [-1, 0, 1])
    run("classify_m", "-M", "--priors", "half.cls", "m.mbc", "signed.svm", "o")
    done = run("classify_m", "-M", "--priors", "three.cls", "m.mbc", "signed.svm", "o", status=1)
    done.line("three.cls: has label -1, and the numbers")


def test_relabelling_needs_labels(run, three):
    assert "-U needs labels" in run(
        "agf_preprocess", "-C", "-U", "trn", "x", status=2
    ).line() and not os.path.exists("x.vec")


def test_thresholds_may_be_negative_and_have_exponents(run, three):
    np.array([-1, -0.05, 0.05, 1], "<f4").tofile("v.dat")
    run("float_to_class", "v.dat", "v.cls", "-1e-1", "0", "1e-1")
    assert read_cls("v.cls").tolist() == [0, 1, 2, 3]


def test_absent_values_need_a_known_number_of_features(run, three):
    run("multi_borders", "--uncalibrated", "plan", "trn", "m", "m.mbc")
    for name in ("m-00", "m-01", "m-02"):  # as another trainer would write them
        text = Path(name).read_text(encoding="ascii")
        Path(name).write_text(text[: text.index("# agfmc")])
    Path("t.svm").write_text("0 1:1\n1 1:1 2:2 3:3 70:1\n" * 3000)
    run("classify_m", "-M", "-E", "3", "m.mbc", "t.svm", "out", status=2).line("number of features")
    answers = []
    for jobs in (1, 2, 2, 2):
        answers.append(run("classify_m", "-j", jobs, "-M", "m.mbc", "t.svm", "out").out)
    assert len(set(answers)) == 1 and len(set(answers[0].splitlines())) == 2


@pytest.mark.parametrize(
    "form, words",
    [
        ((), "classify_m will need it"),
        (("-Z",), "which this format cannot record"),
        (("--libsvm",), "which svm-predict does not check"),
    ],
)
def test_models_that_leave_their_normalisation_behind(run, form, words, three):
    run("multi_borders", "--uncalibrated", "--no-names", "-n", "plan", "trn", "m", "m.mbc")
    assert run("mbh2mbm", "--quiet", *form, "m.mbc", "x").err == ""
    first, _ = run("mbh2mbm", *form, "m.mbc", "x").err.splitlines()
    assert "m.mbc: trained on normalised points" in first and words in first
    for given in () if form else ("m.std", "none"):
        assert "warning" not in run("mbh2mbm", "-a", given, "m.mbc", "x").err


def test_a_libsvm_model_keeps_the_settings_of_its_models(run, three):
    run("multi_borders", "--uncalibrated", "-n", "plan", "trn", "m", "m.mbc")
    run("agf_preprocess", "-n", "other", "strange")
    run("mbh2mbm", "--quiet", "--libsvm", "m.mbc", "m.model")
    run("mbh2mbm", "-a", "m.std", "m.model", "m.mbm")
    told = {}
    for model in ("m.mbc", "m.model", "m.mbm"):
        info = json.loads(run("mbm_info", "--json", model).out)
        told[model] = info["samples"], [one["made_by"] for one in info["binary_models"]]
    assert told["m.mbc"] == told["m.model"] == told["m.mbm"]
    assert told["m.mbc"][1][0]["normalised"] and told["m.mbc"][0]
    done = run("mbh2mbm", "-a", "strange.std", "m.model", "x", status=1)
    done.line("trained with another normalisation")
    done = run("classify_m", "m.model", "trn.vec", "x")
    assert "m.model: trained on normalised points" in done.err


@pytest.mark.parametrize("factor, faint", [(1e-42, True), (1e-30, False), (0, False)])
def test_values_too_small_for_any_kernel_give_a_warning(run, factor, faint, three):
    write_vec("small.vec", factor * np.random.default_rng(1).normal(size=(90, 3)))
    write_cls("small.cls", np.repeat([0, 1, 2], 30))
    run("agf2ascii", "-M", "small", "small.svm")
    for words in ((), ("-M",)):
        data = "small.svm" if words else "small"
        done = run(
            "multi_borders", "--uncalibrated", "--retrain", *words, "plan", data, "m", "m.mbc"
        )
        assert done.err == (
            f"multi_borders: warning: {data}: no value is larger than 1.2e-38: with the usual "
            "options the kernel hardly varies; multiply the data by a power of ten\n"
            if faint
            else ""
        )


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "lines, words",
    [
        (
            "# class 0: b\n# class 1: a\n",
            "class 0 has two names, 'b' and 'a': its names of classes and",
        ),
        ("# class 1: c\n", "class 1 has two names, 'c' and 'b'"),
        ("# class 1: b\n# class 2: b\n", "2:1: two classes, 1 and 2, have the same name, 'b'"),
        ("# class 1: b\n# class 1: d\n", "2:1: class 1 has two names, 'b' and 'd'"),
        ("# class 1: b\n# class 0: a\n", ""),
    ],
)
def test_names_that_are_not_those_of_the_data(three, run, lines, words):
    (three / "trn.names").write_text("a\nb\nc\n")
    run("agf2ascii", "-M", "--words", "trn", "trn.svm")
    (three / "named").write_text(lines + (three / "plan").read_text())
    for command, *options in (
        ("multi_borders", "named", "trn", "m", "m.mbc"),
        ("multi_borders", "-M", "named", "trn.svm", "m", "m.mbc"),
        ("compare_control", "--trials", 2, "trn", "named"),
        ("order_classes", "--adjacent", "mean-deviation", "named", "trn"),
        ("order_classes", "named", "trn"),
        ("nfold", "-d", 2, "named", "trn", "out"),
    ):
        err = run(command, "--quiet", *options, status=1 if words else 0).err
        assert f"{command}: named:" in err and words in err if words else not err, command
    assert not words or not os.path.exists("m.mbc")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "lines, words",
    [
        ("# class 1: a", "two classes, 0 and 1, have the same name, 'a'"),
        ("# class 0: b", "class 0 has two names, 'a' and 'b'"),
    ],
)
def test_two_names_for_one_class_or_one_for_two_are_in_no_model(three, run, lines, words):
    run("multi_borders", "--uncalibrated", "plan", "trn", "m", "m.mbc")
    run("mbh2mbm", "-Z", "m.mbc", "m.mbaio")
    lines = f"# class 0: a\n{lines}\n"
    text = (three / "m.mbaio").read_text()
    (three / "m.mbaio").write_text(text.replace("SVM\n", f"SVM\n{lines}", 1))
    run("mbh2mbm", "m.mbc", "m.mbm")
    header, arrays = taken_apart((three / "m.mbm").read_bytes())
    header["control"] = lines + header["control"]
    (three / "m.mbm").write_bytes(put_together(header, arrays))
    (three / "m.mbc").write_text(lines + (three / "m.mbc").read_text())
    for name in ("m.mbaio", "m.mbm", "m.mbc"):
        for command, *options in (
            ("mbm_info", name),
            ("classify_m", name, "trn.vec", "out"),
            ("mbh2mbm", name, "x"),
        ):
            run(command, *options, status=1).line(words)


def test_a_logistic_model_that_wants_normalised_points(run, three):
    Path("plan").write_text('"" L {0 1 2}')
    run("multi_borders", "--no-names", "-n", "plan", "trn", "m", "m.mbc")
    assert run("classify_m", "-a", "m.std", "m.mbc", "other.vec", "x").err == ""
    done = run("classify_m", "m.mbc", "other.vec", "x")
    done.line("m.mbc: trained on normalised points")


@pytest.fixture
def formats(folder):
    """A folder with data of three classes in all formats, a plan, and answers in text."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    x = rng.normal(size=(90, 3)) + y[:, None]
    write_vec("trn.vec", x)
    write_cls("trn.cls", y)
    write_svm("t.svm", x, y)
    write_lvq("t.lvq", x, y)
    (folder / "plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    (folder / "p.txt").write_text("".join(f".5 .3 .2 {label}\n" for label in y))
    (folder / "r.svg").write_text("1 .5 .2\n")
    for name in ("y.vec", "y.cls", "y.names"):
        shutil.copy("t.lvq", name)
    for name in ("part-01.vec", "part-01.cls"):
        shutil.copy(f"trn{name[-4:]}", name)
    os.symlink("trn.vec", "link.con")
    os.symlink("trn.vec", "half.vec")
    return folder


def contents():
    return {name: Path(name).read_bytes() for name in os.listdir() if os.path.isfile(name)}


def refused(run, words, text="both are the file"):
    """Status 2 and one line with the text, and every file is as it was."""
    before = contents()
    assert text in run(*words.split(), status=2).err.splitlines()[-1]
    assert contents() == before


@pytest.mark.parametrize(
    "words",
    [
        "agf_preprocess -f .3 trn trn b",
        "agf_preprocess -f .3 trn a trn",
        "agf_preprocess trn ./trn 0 / 1",
        "agf_preprocess -d 2 part-01 part",
        "agf_preprocess -n -a trn.vec trn x",
        "agf_preprocess -z trn half",
        "agf_preprocess -a trn.cls part-01 trn",
        "agf_preprocess -M -f .5 t.svm t.svm u",
        "agf_preprocess -A t.lvq t.lvq 0 / 1",
        "agf_preprocess -M -n -a t.svm t.svm u",
        "agf2ascii trn trn.cls",
        "agf2ascii -M trn ./trn.vec",
        "agf2ascii -C trn.vec trn.vec",
        "lvq2agf y.vec y",
        "lvq2agf y.cls y",
        "lvq2agf -o y.vec y",
        "svm2agf y.names y",
        "svm2agf --names trn.cls t.svm trn",
        "svm2agf -U --names y.names t.svm y",
        "validate_probabilities -H trn.cls p.txt trn.cls",
        "validate_probabilities -H trn.cls p.txt p.txt",
        "validate_probabilities -b trn.cls part-01 part-01.cls",
        "order_classes --adjacent mean-deviation -n -a trn.cls plan trn",
        "order_classes --adjacent mean-deviation -n -a plan plan trn",
        "simulate_decoders --similarity r.svg --report r.svg",
    ],
)
def test_no_output_takes_the_place_of_an_input(run, words, formats):
    refused(run, words)


@pytest.mark.parametrize(
    "words",
    [
        "agf_preprocess -n -a x.vec trn x",
        "agf_preprocess -f .5 trn x ./x",
        "agf_preprocess -n -a trn.vec trn trn",
        "agf_preprocess -M -n -f .5 t.svm x x.std",
        "agf_preprocess -M -1 -n -a - t.svm",
    ],
)
def test_no_two_outputs_have_one_name(run, words, formats):
    refused(run, words, "cannot both be standard output" if "-1" in words else "both are the file ")


@pytest.mark.parametrize(
    "words, what",
    [
        ("-n -a trn.cls plan trn m m.mbc", "--norm-file would overwrite train: "),
        (
            "-n -a plan plan trn m m.mbc",
            "--norm-file would overwrite control: both are the file plan;",
        ),
        ("-M -n -a t.svm plan t.svm m m.mbc", "--norm-file would overwrite train: "),
        ("-n -a m.mbc plan trn m m.mbc", "control-out would overwrite the normalisation: "),
        ("--only m-01 -n -a trn.cls plan trn m x", "--norm-file would overwrite train: "),
        ("plan trn m trn.vec", "control-out would overwrite train: "),
        ("plan trn m plan", "control-out would overwrite control: "),
        ("-n plan trn m m.std", "control-out would overwrite the normalisation: "),
        ("-a trn.std plan trn m trn.std", "control-out would overwrite --norm-file: "),
        ("-M tree t.svm t.svm out.mbc", "a binary model would overwrite train: "),
        ("--cv-errors trn.cls plan trn m m.mbc", "--cv-errors would overwrite train: "),
        ("--cv-errors plan plan trn m m.mbc", "--cv-errors would overwrite control: "),
        ("--cv-errors ./m.mbc plan trn m m.mbc", "--cv-errors would overwrite control-out: "),
        ("--cv-errors m-01 plan trn m m.mbc", "a binary model would overwrite --cv-errors: "),
        ("--cv-errors e -n -a e plan trn m m.mbc", "--norm-file would overwrite --cv-errors: "),
    ],
)
def test_no_output_of_the_training_takes_another_place(run, formats, words, what):
    (formats / "tree").write_text('"" {0 "" {1 2}}')
    run("agf_preprocess", "-n", "trn", "x")
    os.rename("x.std", "trn.std")
    refused(run, f"multi_borders {words}", what)


def test_a_normalisation_is_written_again(run, formats):
    for _ in range(2):
        run("multi_borders", "-n", "-a", "n.std", "--cv-errors", "e", "plan", "trn", "m", "m.mbc")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "words",
    [
        "--priors new.cls m.mbc trn.vec new",
        "m.mbc trn.vec link",
        "--priors .2,.2,.6 --trained-priors new.cls m.mbc trn.vec new",
    ],
)
def test_no_answer_takes_the_place_of_an_input(run, words, formats):
    run("multi_borders", "--uncalibrated", "plan", "trn", "m", "m.mbc")
    os.link("trn.cls", "new.cls")
    refused(run, f"classify_m {words}")
    refused(run, "classify_m m.mbc trn.vec trn", "both are the file trn.cls")


def test_answers_may_have_the_base_name_of_points_without_labels(run, formats):
    run("multi_borders", "--uncalibrated", "plan", "trn", "m", "m.mbc")
    os.link("trn.vec", "new.vec")
    points = Path("new.vec").read_bytes()
    run("classify_m", "m.mbc", "new.vec", "new")
    assert len(read_cls("new.cls")) == 90 and Path("new.vec").read_bytes() == points
    run("classify_m", "m.mbc", "t.svm", "t.svm")  # whose labels are in the text
    assert len(read_cls("t.svm.cls")) == 90
    before = Path("new.cls").read_bytes()
    os.remove("new.cls")
    run("classify_m", "m.mbc", "new.vec", "new")  # ratings alone
    assert Path("new.cls").read_bytes() == before
    run("classify_m", "-Q", "vote", "m.mbc", "new.vec", "new")  # earlier answers, not labels
    os.remove("new.con")  # these may be labels as well: nothing tells
    refused(run, "classify_m m.mbc new.vec new", "both are the file new.cls; choose another name")


def test_points_without_data(run, formats):
    run("multi_borders", "plan", "trn", "m", "m.mbc")
    x = read_vec("trn.vec").copy()
    expected = run("classify_m", "m.mbc", "trn.vec", "all").out.splitlines()
    classes, ratings = read_cls("all.cls"), read_con("all.con")
    x[4, 1] = x[7] = np.nan
    x[80, 0] = -9999
    empty = np.isin(np.arange(90), [4, 7, 80])
    with open("holes.vec", "wb") as file:
        file.write(np.int32(x.shape[1]).tobytes() + x.astype("<f4").tobytes())
    for more in (), ("-j", "2"), ("--coverage", ".9"), ("--top", "2"):
        words = "--no-data=-9999", *more, "m.mbc", "holes.vec"
        done = run("classify_m", *words, "o")
        warning = "holes.vec: 3 of 90 points have no data: they have no answer, class -1\n"
        assert done.err.startswith(f"classify_m: warning: {warning}")
        assert read_cls("o.cls", negative=True).tolist() == np.where(empty, -1, classes).tolist()
        np.testing.assert_array_equal(read_con("o.con"), np.where(empty, 0, ratings))
        table = run("classify_m", *words, "-").out.splitlines()
        for row in range(90):
            assert table[row + 1].startswith(f"{row + 1},{'' if empty[row] else classes[row]},")
    lines = run("classify_m", "--no-data=-9999", "m.mbc", "holes.vec", "o").out.splitlines()
    for line, other, nothing in zip(lines, expected, empty, strict=True):
        assert line.split() == (["nan"] * 3 + ["-1"] if nothing else other.split())
    Path("printed").write_text("\n".join(lines) + "\n")
    scored = run("eval_uc", "trn.cls", "o", "printed")
    scored.line("printed: 3 of 90 points have no data: they count as rejected, with equal")
    assert "\nrejected          3\n" in scored.out
    assert "2 of 90 points have no data" in run("classify_m", "m.mbc", "holes.vec", "o").err
    run("classify_m", "-M", "--no-data", "1", "m.mbc", "t.svm", "o", status=2).refused(
        "--no-data is for .vec files"
    )


@pytest.mark.parametrize(
    "words",
    [
        "agf_preprocess -B trn trn",
        "agf_preprocess -n ./trn trn",
        "agf_preprocess -M -z t.svm t.svm",
        "agf_preprocess -A -B t.lvq ./t.lvq",
    ],
)
def test_a_whole_conversion_may_be_in_place(run, words, formats):
    *_, name = words.split()
    run(*words.split())
    if name == "trn":
        assert len(read_vec("trn.vec")) == len(read_cls("trn.cls")) == 90
    else:
        assert len(Path(name).read_text().splitlines()) == 90 + name.endswith("lvq")


def test_text_may_have_the_name_of_a_file_that_is_not_written(run, formats):
    os.rename("t.svm", "u.dat")
    run("svm2agf", "u.dat", "u")
    run("lvq2agf", "-o", "y.cls", "y")
    assert Path("y.cls").read_text().splitlines(keepends=True)[0] == "3\n"


def test_names_may_be_those_of_the_output(run, formats):
    Path("w.svm").write_text("b 1:1\na 1:2\n")
    Path("w.names").write_text("c\nb\na\n")
    run("svm2agf", "--names", "w.names", "w.svm", "w")
    assert Path("w.names").read_text() == "c\nb\na\n" and read_cls("w.cls").tolist() == [1, 2]


def answers(run, model, names):
    """What classify_m says about points with such names."""
    Path("trn.names").write_text(names)
    return run("classify_m", model, "trn.vec", "x").err


def test_class_names_that_differ_give_a_warning(run, formats):
    with open("plan", "r+") as file:
        text = file.read()
        file.seek(0)
        file.write("# class 0: cat\n# class 1: dog\n# class 2: owl\n" + text)
    run("multi_borders", "--uncalibrated", "plan", "trn", "m", "m.mbc")
    run("mbh2mbm", "m.mbc", "m.mbm")
    for model in ("m.mbc", "m.mbm"):
        told = answers(run, model, "dog\nowl\n")
        assert told.count("\n") == 1 and "--names of svm2agf and lvq2agf" in told
        assert f"trn.names: class 0 is 'dog', in {model} 'cat' (and 1 more):" in told
        assert "class 1 is 'ape', in" in answers(run, model, "cat\nape\nowl\nyak\n")
        for names in ("cat\ndog\nowl\n", "cat\n", "cat\ndog\nowl\nyak\n"):
            assert answers(run, model, names) == ""
    assert answers(run, "m.mbm", "cat\n\nowl\n") == ""  # no names, but points all the same
    os.unlink("trn.names")
    Path("plan").write_text(text)
    run("multi_borders", "--uncalibrated", "plan", "trn", "m", "m.mbc")
    assert answers(run, "m.mbc", "dog\nowl\n") == ""


@pytest.mark.parametrize(
    "text, words, problem",
    [
        ("# c\n0 1:1\n\n1 1:1e300\n", "svm2agf in b", "in:4: a value is too large"),
        ("0 1:1\n1 1:3 2:-3.41e38 # x\n", "svm2agf -U in b", "in:2: a value is too large"),
        ("0 1:1\n1e39 1:1\n", "svm2agf -L in b", "in:2: a value is too large"),
        ("\n1\n\n1e300 0\n", "lvq2agf in b", "in:4: a value is too large"),
    ],
)
def test_what_binary_files_cannot_hold_is_refused_with_its_line(run, text, words, problem, formats):
    Path("in").write_text(text)
    err = run(*words.split(), status=1).err
    assert err.count("\n") == 1 and problem in err and not os.path.exists("b.vec")


def test_the_largest_float32_has_a_place(run, formats):
    limit = float(np.finfo(np.float32).max)
    Path("in").write_text(f"0 1:{limit!r}\n1 1:{-limit!r}\n")
    run("svm2agf", "in", "b")
    assert read_vec("b.vec").ravel().tolist() == [limit, -limit]


@pytest.mark.parametrize("words", [["mbh2mbm", "m.mbc", "-"], ["mbh2mbm", "m.mbc", ""]])
def test_standard_output_is_no_name_of_files(run, words, formats):
    before = sorted(os.listdir())
    assert "expected " in run(*words, status=2).err and sorted(os.listdir()) == before


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words, status",
    [
        (["--max-error", "1e-308"], 0),
        (["--max-error", "5e-324"], 0),
        (["--max-error", "1e-9"], 0),
        (["--max-error", ".9", "--confidence", "1e-308"], 0),
        (["--max-error", ".1", "--confidence", ".9999999999999999"], 0),
        (["--coverage", "1e-308"], 0),
        (["--coverage", ".9999999999999999"], 0),
        (["--reject", "5e-324"], 0),
        (["--priors", "1e308,1,1"], 2),
        (["--priors", "1e308,1e308,1"], 2),
        (["--priors", "1e-308,1,1"], 2),
        (["--priors", "2e-320,1e-320,0"], 0),
    ],
)
def test_extreme_numbers(run, words, status, three):
    run("multi_borders", "plan", "trn", "m", "c")
    run("mbh2mbm", "c", "m.mbm")
    done = run("classify_m", *words, "m.mbm", "trn.vec", "out", status=status)
    assert "internal" not in done.err and "encountered" not in done.err, done.err
    if words[0] == "--priors":
        run("classify_m", "m.mbm", "trn.vec", "out")
        done = run("eval_uc", *words, "trn.cls", "out", status=status)
        assert "encountered" not in done.err, done.err


def test_long_names_are_shortened_in_warnings_and_errors(run, three):
    name = "x" * 3000
    Path("t.csv").write_text(f"{name},b,kind\n1,2,u\n1,3,v\n1,5,u\n1,1,v\n")
    err = run("table2agf", "t.csv", "t", "--label", "kind").err
    assert f"'{name[:150]}" in err and f"...{name[:59]}' (constant)" in err, err
    assert max(map(len, err.splitlines())) < 600
    err = run("table2agf", "t.csv", "t", "--label", name + "y", status=1).line("...")
    assert len(err) < 1500


COMMANDS = sorted(path.name for path in (Path(__file__).resolve().parents[2] / "bin").iterdir())


def file_names(parser):
    """{option or operand: is it an output} of those of a parser that take a file."""
    fits = any(action.dest == "normalise" for action in parser._actions)
    return {
        (action.option_strings or [action.dest])[-1]: action.type is output_file
        or action.dest == "norm_file"
        and fits
        for action in parser._actions
        if action.type is output_file
        or action.metavar in FILES
        or not action.option_strings
        and action.type is None
        and action.nargs in (None, "?")
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_no_output_option_of_any_command_names_another_of_its_files(command, folder):
    """Each output with each other file of the command: by one name, a path, and links."""
    parser = parser_of(command)
    parser._check_given = lambda args: None
    names, needed = (
        file_names(parser),
        [
            action.dest
            for action in parser._actions
            if not action.option_strings and action.nargs != "*"
        ],
    )
    Path("here").write_text("1")
    os.symlink("here", "link")
    os.link("here", "hard")

    def words(**given):
        for name in needed:
            yield given.get(name, "other" if name != "nrow" else "3")
        for name, value in given.items():
            if name not in needed:
                yield f"{name}={value}"
            if name == "--norm-file" and names[name]:
                yield "--normalise"

    pairs = [
        (name, other)
        for name, written in names.items()
        for other in names
        if written and name != other
    ]
    for name, other in pairs:
        for path in "here", "./here", "link", "hard":
            with pytest.raises(UsageError, match=": both are the file ") as caught:
                parser.parse_args([*words(**{name: path, other: "here"})])
            assert {name.replace("_", "-"), other.replace("_", "-")} <= set(
                re.split("[ :]", str(caught.value))
            )
        for path in "/dev/null", "new" if not names[other] else "/dev/null":
            parser.parse_args([*words(**{name: path, other: path})])
    # other outputs begin with an operand, and have tests of their own
    assert (
        pairs
        or any(action.type is output_base for action in parser._actions)
        or command in ("cls_comp_stats", "simulate_decoders")
    )


@pytest.mark.parametrize(
    "words, kept",
    [
        ("nfold --state h.txt -d 2 one-vs-rest trn h", "h.txt"),
        ("tune_m --state z.json --json ./z.json one-vs-one trn", "z.json"),
        ("compare_control --state z.html --report z.html trn", "z.html"),
    ],
)
def test_results_that_are_stored_are_no_other_output(run, formats, words, kept):
    Path(kept).write_bytes(b"agfmc results 1\n")
    refused(run, words, "would overwrite")
