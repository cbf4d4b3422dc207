"""Broken files through the commands: status 1, one line with the file's name, nothing written."""

import os
import sys
from pathlib import Path

import hostile_readers as right
import numpy as np
import pytest
from hostile_checks import guarded, outcome
from hostile_mutations import damaged

READERS = right.readers()
VARIANTS = 3  # broken files for each line below

PLAN = b'"" 0 / 1;\n"" 0 / 2;\n"" 1 / 2;\n{ 0 1 2}\n'
TRAINED = b"a 0 / 1;\nb 0 / 2;\nc 1 / 2;\n{\n0\n1\n2\n}\n"
SVM_MODEL = right.readers()["svm model"].seeds[0]
DATA = np.repeat(np.arange(3), 8)
POINTS = np.round(np.random.default_rng(4).normal(size=(24, 3)) + DATA[:, None], 3)
LOGISTIC = b"agfmc logistic 1\nclasses 2\nfeatures 3\nridge 1.0\npoints 9\n1 2 3 4\n-1 0 .5 1\n"
# kind of file, its name, a reader of it, commands that read it
LINES = [
    ("plan", "control", ["print_control -Q 9 BAD", "multi_borders BAD trn out/m out/c",
                         "nfold BAD trn out/n", "tune_m BAD trn", "order_classes BAD",
                         "compare_control trn BAD"]),
    ("trained", "control", ["classify_m BAD tst.vec out/o", "mbh2mbm BAD out/o", "mbm_info BAD",
                            "print_control --dot -Q 9 BAD"]),
    ("a", "svm model", ["classify_m trained tst.vec out/o", "mbh2mbm trained out/o",
                        "mbm_info trained", "classify_m -M trained tst.svm out/o"]),
    ("multiclass", "svm multiclass", ["classify_m BAD tst.vec out/o", "mbh2mbm BAD out/o",
                                      "mbm_info --json BAD", "mbh2mbm -Z BAD out/o"]),
    ("ascii", "ascii model", ["classify_m BAD tst.vec out/o", "mbh2mbm BAD out/o", "mbm_info BAD",
                              "mbh2mbm --libsvm BAD out/o"]),
    ("l", "logistic model", ["classify_m logistic tst.vec out/o", "mbh2mbm logistic out/o",
                             "mbm_info logistic"]),
    ("trn.vec", "vec", ["multi_borders plan trn out/m out/c", "agf2ascii trn out/o",
                        "agf_preprocess -n trn out/o", "nfold plan trn out/n",
                        "print_control -Q 3 trn", "order_classes --path plan trn",
                        "tune_m plan trn", "compare_control trn"]),
    ("trn.cls", "cls negative", ["agf2ascii trn out/o"]),
    ("trn.cls", "cls", ["multi_borders plan trn out/m out/c",
                        "agf_preprocess trn out/o", "print_control -Q 0 trn",
                        "eval_uc trn.cls result", "cls_comp_stats trn.cls result"]),
    ("tst.vec", "vec", ["classify_m trained tst.vec out/o", "classify_m -Q 0 ascii tst.vec out/o"]),
    ("result.cls", "cls negative", ["eval_uc trn.cls result", "cls_comp_stats trn.cls result",
                           "validate_probabilities -b trn.cls result"]),
    ("result.con", "dat", ["eval_uc -k 3 trn.cls result",
                             "validate_probabilities -b trn.cls result"]),
    ("values.dat", "dat", ["float_to_class BAD out/o", "float_to_class -M BAD"]),
    ("trn.std", "std", ["multi_borders -a BAD plan trn out/m out/c",
                        "classify_m -a BAD trained tst.vec out/o",
                        "mbh2mbm -a BAD trained out/o", "agf_preprocess -a BAD trn out/o"]),
    ("trn.svm", "svm text", ["multi_borders -M plan BAD out/m out/c", "svm2agf BAD out/o",
                             "print_control -M -Q 3 BAD", "nfold -M plan BAD out/n",
                             "agf_preprocess -M -n BAD out/o", "svm2agf -U BAD out/o"]),
    ("tst.svm", "svm text to classify", ["classify_m -M trained BAD out/o"]),
    ("trn.lvq", "lvq", ["multi_borders -A plan BAD out/m out/c", "lvq2agf BAD out/o",
                        "print_control -A -Q 3 BAD", "nfold -A plan BAD out/n"]),
    ("tst.lvq", "lvq in chunks", ["classify_m -A trained BAD out/o"]),
    ("trn.names", "names", ["multi_borders plan trn out/m out/c", "print_control -Q 0 trn",
                            "print_control --names BAD 3", "agf2ascii --words trn out/o"]),
    ("printed", "probabilities", ["eval_uc trn.cls result BAD"]),
    ("pairs", "pair errors", ["order_classes --errors BAD plan",
                              "classify_m -Q radag --pair-errors BAD trained tst.vec out/o"]),
    ("table", "confusions", ["print_control -Q contingency BAD",
                             "print_control -Q adjacent-ordered BAD"]),
    ("predicted", "svm-predict", ["svmout2agf BAD out/o"])]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder in which all these commands end well; and "out", an empty one."""
    folder = tmp_path_factory.mktemp("right")
    from agfmc.formats.lvq import write_lvq
    from agfmc.formats.libsvm_data import write_svm
    from agfmc.formats.vectors import con_bytes, write_cls, write_vec

    (folder / "out").mkdir()
    base = str(folder)
    for name in ("trn", "tst"):
        write_vec(f"{base}/{name}.vec", POINTS)
        write_svm(f"{base}/{name}.svm", POINTS, DATA)
        write_lvq(f"{base}/{name}.lvq", POINTS, DATA)
    write_cls(f"{base}/trn.cls", DATA)
    write_cls(f"{base}/result.cls", DATA)
    Path(f"{base}/result.con").write_bytes(con_bytes(np.linspace(0, 1, 24)))
    rows = np.full((24, 3), 0.25)
    rows[np.arange(24), DATA] = 0.5
    made = {
        "plan": PLAN, "trained": TRAINED, "a": SVM_MODEL, "b": SVM_MODEL, "c": SVM_MODEL,
        "multiclass": right.MULTICLASS, "l": LOGISTIC,
        "logistic": b"l L \"\" {0 1}", "values.dat": right.CON,
        "trn.std": np.int32(4).tobytes() + np.eye(3, 4, dtype="<f4").tobytes(),
        "trn.names": "ant\nb\u00e4r\ncat\n".encode(), "pairs": right.PAIRS, "table": right.JSON,
        "predicted": READERS["svm-predict"].seeds[0],
        "ascii": right.ASCII.replace(b"3 2\n-1 0\n0 1\n2 2.5", b"3 3\n-1 0 0\n0 1 0\n2 2.5 0"),
        "printed": b"labels 0 1 2\n" + right.probability_text.format_points(rows, DATA)}
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return folder


CASES = [(name, reader, line) for name, reader, lines in LINES for line in lines]


@pytest.mark.parametrize("name, reader, line", CASES,
                         ids=[f"{name}, {line}" for name, _, line in CASES])
@pytest.mark.parametrize("count", [VARIANTS, pytest.param(100, marks=pytest.mark.long)])
def test_a_broken_file(name, reader, line, count, place, monkeypatch, run):
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "argv", ["test"])
    command, *words = line.replace("BAD", name).split()
    good = Path(name).read_bytes()
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    broken = variants(READERS[reader], name, good, count)
    assert len(broken) >= min(count, 2)
    try:
        for what, data in broken:
            Path(name).write_bytes(data)
            done = run(command, "--quiet", *words, status=None)
            told = what, data[:200], done
            assert done.status == 1 and name.rpartition(".")[0] in done.line(), told
            assert "Traceback" not in done.err and "internal error" not in done.err, told
            assert done.err[:-1].isprintable() and len(done.err) < 2300, told
            Path(name).write_bytes(good)
            after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
            assert after == before, (what, sorted(set(after) ^ set(before)))
    finally:
        Path(name).write_bytes(good)
        for path in Path("out").iterdir():
            os.unlink(path)


def variants(reader, name, good, count):
    """Some broken files which the reader refuses, spread over all that are made."""
    chosen, path = [], f"bad{os.path.splitext(name)[1]}"
    everything = list(damaged(good[:4000], reader.text))
    step = max(1, len(everything) // (count + 2) - 1)
    with guarded():
        for start in range(step):
            for what, data in everything[start::step]:
                Path(path).write_bytes(data)
                if outcome(reader, path, data) == "refused":
                    chosen.append((what, data))
                if len(chosen) == count:
                    os.unlink(path)
                    return chosen
            if start == 20:
                break
    os.unlink(path)
    return chosen


@pytest.mark.parametrize("line", sorted({line for *_, line in CASES}))
def test_these_commands_end_well_with_good_files(line, place, monkeypatch, run):
    monkeypatch.chdir(place)
    name = next(name for name, _, other in CASES if other == line)
    command, *words = line.replace("BAD", name).split()
    try:
        run(command, "--quiet", *words)
    finally:
        for path in Path("out").iterdir():
            os.unlink(path)
