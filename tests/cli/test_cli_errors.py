"""Whatever is wrong: one line that begins with the command's name, its status, nothing written."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest


def save(base, x, labels=None):
    x = np.asarray(x, dtype="<f4")
    Path(f"{base}.vec").write_bytes(np.int32(x.shape[1]).tobytes() + x.tobytes())
    if labels is not None:
        np.asarray(labels, dtype="<i4").tofile(f"{base}.cls")


def write(path, text):
    Path(path).write_text(text)


def cut(source, target, size):
    with open(source, "rb") as file, open(target, "wb") as out:
        out.write(file.read()[:size])


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    """A folder with a trained configuration and everything that can be wrong about one."""
    folder = tmp_path_factory.mktemp("made")
    here = os.getcwd()
    os.chdir(folder)
    try:
        _make(run)
    finally:
        os.chdir(here)
    return folder


def _make(run):
    rng = np.random.default_rng(5)
    labels = np.repeat([2, 5, 9], 12)
    x = np.round(8 * (rng.normal(size=(36, 4)) + labels[:, None])) / 8
    save("trn", x, labels)
    write("plan", '"" 0 / 1;\n"" 0 / 2;\n"" 1 / 2;\n{ 2 5 9}\n')
    run("multi_borders", "plan", "trn", "m", "ctl")
    run("multi_borders", "-n", "plan", "trn", "n", "nctl")
    run("mbh2mbm", "--quiet", "ctl", "all.mbm")
    run("mbh2mbm", "--quiet", "-a", "n.std", "nctl", "n.mbm")
    save("wide", np.hstack([x, x[:, :1]]), labels)
    write("wide.svm", "2 5:1\n")
    write("two.svm", "2 1:1\n2 1:2\n3 1:1\n3 1:3\n")
    for name, value in (("nan", np.nan), ("inf", np.inf)):
        bad = x.copy()
        bad[3, 2] = value
        save(name, bad, labels)
    write("nan.svm", "2 1:1\n5 1:nan\n")
    save("single", x[:13], labels[:13])
    save("no9", x[:24], labels[:24])
    save("short", x, labels[:-1])
    save("negative", x, labels - 5)
    write("negative.names", "a\nb\nc\n")
    save("same", np.ones((36, 4)), labels)
    save("faint", 1e-42 * np.random.default_rng(5).normal(size=(36, 4)), labels)
    os.mkdir("dir.vec"), os.mkdir("dir")
    for name in ("empty.vec", "empty.cls", "empty"):
        write(name, "")
    save("norows", np.empty((0, 4)), [])
    cut("trn.vec", "cut.vec", 101)
    shutil.copy("trn.cls", "cut.cls")
    cut("all.mbm", "cut.mbm", 700)
    with open("all.mbm", "rb") as file, open("flip.mbm", "wb") as out:
        raw = bytearray(file.read())
        raw[len(raw) // 2] ^= 1
        out.write(raw)
    write("option", '"" 0 / 1;\n  "-c 1 -y 3" 0 / 2;\n"" 1 / 2;\n{ 2 5 9}\n')
    write("borders", '"-s 100 -t .1" 0 / 1; "" 0 / 2; "" 1 / 2; { 2 5 9}\n')
    write("precomputed", '"-t 4" 0 / 1;\n"" 0 1 / 2;\n{2 5 9}\n')
    write("only.svm", "2 1:1\n3 1:2\n")
    write("headings", "a b class\n1 2 0\n3 4 1\n")
    write("value", '"-c x" 0 1 / 2; "" 0 / 1; { 2 5 9}\n')
    write("grammar", '"" 0 / 1;\n"" 0 / 2\n{ 2 5 9}\n')
    write("one", '"" 1 / 2; "" 1 / 3; "" 2 / 3;\n{2 5 9}\n')
    write("label", '"" 2 / 5; {2 5}\n"" 0 / 1;\n')
    write("two", '"" 0 / 1;\n{ 2 5}\n')
    write("four", '"" 0 1 / 2 3;\n"" 0 2 / 1 3;\n{ 2 5 9 11}\n')
    text = Path("ctl").read_text()
    write("gone", text.replace("m-01", "missing"))
    write("foreign", text.replace("m-01", "plan"))
    write("cutctl", text.replace("m-01", "cut-01"))
    cut("m-01", "cut-01", 300)
    write("bad.svm", "2 1:1\n5 2:1 1:3\n")
    write("bad.lvq", "2\n1 2 0\n1 x 0\n")
    write("twice.names", "a\na\n")
    write("quoted", '"" 0 / 1;"-c \\"1" 0 / 2;"" 1 / 2;{ 2 5 9}\n')
    write("direct", '"-k 3" K {2 5 9}\n')
    write("directk", '"-k 0" K {2 5 9}\n')
    write("many", '"-k 37" K {2 5 9}\n')
    write("command", 'plan G "false" {2 5 9}\n')
    os.mkdir("kept")
    run("multi_borders", "-y", "kept", "plan", "trn", "k", "kept/ctl")
    run("multi_borders", "-y", "kept", "direct", "trn", "d", "kept/direct")
    write("kept/above", Path("kept/ctl").read_text().replace("k-0", "kept/k-0"))
    write("labels.txt", "2\n5\n9\n5\n")
    for end in ("csv", "txt"):
        write(f"table.{end}", "a,b,kind\n1.5,2,x\n2.5,3,y\n")
    np.arange(5, dtype="<f4").tofile("v.dat")
    np.full(5, 2, dtype="<f4").tofile("flat.dat")


ERRORS = [
    # command, words, status, what the line says
    ("multi_borders", "plan nothing m2 o", 1, r"nothing\.vec: cannot read: No such file"),
    ("multi_borders", "nothing trn m2 o", 1, r"nothing: cannot read: No such file"),
    ("multi_borders", "plan dir m2 o", 1, r"dir\.vec: cannot read: it is a folder"),
    ("multi_borders", "dir trn m2 o", 1, r"dir: cannot read: it is a folder"),
    ("multi_borders", "plan empty m2 o", 1, r"empty\.vec: .*too short"),
    ("multi_borders", "empty trn m2 o", 1,
     r"empty:1:1: expected a control file, found an empty one"),
    ("multi_borders", "plan norows m2 o", 1, r"norows\.vec: has no rows"),
    ("multi_borders", "plan cut m2 o", 1, r"cut\.vec: .*whole rows of 4 features"),
    ("multi_borders", "plan short m2 o", 1, r"short\.cls: has 35 labels, but there are 36"),
    ("multi_borders", "plan nan m2 o", 1, r"nan\.vec: row 3, feature 2 .* NaN"),
    ("multi_borders", "plan inf m2 o", 1, r"inf\.vec: row 3, feature 2 .* infinite"),
    ("multi_borders", "-M plan nan.svm m2 o", 1, r"nan\.svm:2: .*finite"),
    ("multi_borders", "-M plan bad.svm m2 o", 1, r"bad\.svm:2: .*ascend"),
    ("multi_borders", "-A plan bad.lvq m2 o", 1, r"bad\.lvq:3"),
    ("multi_borders", "plan negative m2 o", 1, r"row 0 \(from 0\) has label -3"),
    ("multi_borders", "two single m2 o", 1,
     r"two:2:5: class 5 has one sample in single: expected at least 2"),
    ("multi_borders", "two trn m2 o", 1,
     r"two: .*trn hold class 9, .*; `print_control trn` writes"),
    ("multi_borders", "plan no9 m2 o", 1,
     r"plan:4:7: class 9 has no samples in no9: .*; `print_control no9` writes a control file"),
    ("multi_borders", "-M plan two.svm m2 o", 1, r"class 5 .*; `print_control -M two\.svm` writes"),
    ("multi_borders", "one trn m2 o", 1,
     r"one:2:7: .* positions in these braces count from 0, and are not class labels"),
    ("multi_borders", "label trn m2 o", 1, r"label:1:15: .* position .* is 5, found 2: .* labels"),
    ("multi_borders", "four trn m2 o", 1, r"four:3:9: class 11 has no samples"),
    ("multi_borders", "option trn m2 o", 1, r"option:2:3: unknown training option '-y'"),
    ("multi_borders", "value trn m2 o", 1, r"value:1:1: option -c: expected a number, found 'x'"),
    ("multi_borders", "grammar trn m2 o", 1, r"grammar:3:1: expected ';'"),
    ("multi_borders", "ctl trn m2 o", 1, r"ctl:1:1: .*trained already"),
    ("multi_borders", "all.mbm trn m2 o", 1,
     r"all\.mbm:1:1: expected a control file, found a model"),
    ("multi_borders", "m-00 trn m2 o", 1,
     r"m-00:1:1: .* found a model: print_control .* mbm_info --c"),
    ("multi_borders", "trn plan m2 o", 1, r"trn: cannot read: No such file"),
    ("multi_borders", "plan ctl m2 o", 1,
     r"ctl: there is no .*; it looks like a control file, not like data$"),
    ("print_control", "plan", 1,
     r"plan: there is no plan\.cls; it looks like a control file, not like data$"),
    ("nfold", "trn 1v1", 2, r"no file 'trn' but the data trn\.vec, and there is no scheme"),
    ("classify_m", "-Q 1v1 all.mbm trn.vec out", 2, r"no decoder '1v1' \(1v1 is a scheme of pri"),
    ("mbh2mbm", "all.mbm ctl", 2, r"overwrite the control file ctl: expected control and then"),
    ("multi_borders", "-n plan same m2 o", 1, r"same: every feature is constant"),
    *((command, words, 1, r"no feature varies by more than [3-6]\.\de-42, .*: multiply the data")
      for command, words in (("multi_borders", "-n plan faint m2 o"),
                             ("agf_preprocess", "-n faint x"))),
    ("multi_borders", "-a trn.vec plan trn m2 o", 1, r"trn: the data have 4 features"),
    ("multi_borders", "-a nothing plan trn m2 o", 1, r"nothing: cannot read"),
    ("multi_borders", "plan trn nowhere/m o", 1, r"nowhere/m-00: cannot write"),
    ("multi_borders", "plan trn m2 nowhere/o", 1, r"nowhere/o: cannot write"),
    ("multi_borders", "plan trn m2 m2-01", 2,
     r"a binary model would overwrite control-out: both are the file m2-01; choose another name"),
    ("multi_borders", "trn m2 o", 1,
     r"standard input:1:1: expected a control file, found an empty one"),
    ("multi_borders", "plan trn m2", 2, r"operands control, train, .* plan is not the base name"),
    ("multi_borders", "-+ -c 10 -g .1 plan trn m2 o", 2, r'in quotes: -\+ "-c 10 -g \.1"$'),
    ("multi_borders", "--options -w0 2 plan trn m2 o", 2, r'in quotes: --options "-w0 2"$'),
    ("nfold", "-+ -c 10 1v1 trn", 2, r'in quotes: -\+ "-c 10"$'),
    ("multi_borders", "-+ -c plan trn m2 o", 2, r'-c: expected a value .*: "-c 1", in one pair'),
    ("multi_borders", "-M -- svm-train -b 1 plan two.svm m2 o", 2,
     r'in quotes: -- "svm-train -b 1"$'),
    ("multi_borders", "borders trn m2 o", 1, r"borders:1:1: option -s: 100 .*, and libAGF's class"),
    ("multi_borders", "-+ -W plan trn m2 o", 2, r"option '-W': .*; libAGF's class borders"),
    ("multi_borders", "-c 100 plan trn m2 o", 2, r'; training options are .*-\+ "-c 10" \('),
    ("multi_borders", "precomputed trn m2 o", 1, r"found '4'; precomputed kernels"),
    ("lvq2agf", "-H headings x", 1, r"headings:1: the value 'a' .*; a line of headings must be"),
    ("multi_borders", "-normalize plan trn m2 o", 2, r"-normalize; did you mean --normalise\?"),
    ("classify_m", "trn.vec all.mbm out", 1, r"found points \(\.vec\): is the order of the op"),
    ("classify_m", "two.svm all.mbm out", 1, r"found a number, as in LIBSVM text \(-M\): is the"),
    ("print_control", "one-vs-one 4", 2, r"print_control -Q one-vs-one N, for N classes, or DATA"),
    ("compare_control", "only", 1, r"the fraction 0\.3 of every class leaves no points"),
    ("lvq2agf", "two.svm x", 1, r"alone, found '.*' and more; it looks like LIBSVM"),
    ("compare_control", "", 2, r"operands are missing: expected train \[control \.\.\.\] \("),
    ("multi_borders", "-h", 2, r"there is no option -h; did you mean --help\?"),
    ("classify_m", "--hedaer all.mbm trn.vec out", 2, r"--hedaer; did you mean --header\?"),
    ("classify_m", "--min-class 2 all.mbm trn.vec out", 2, r"arguments: --min-class; did you "),
    ("calibrate_m", "all.mbm", 2, "expected points, either --data or --from"),
    ("calibrate_m", "--data trn --from out all.mbm", 2, "--data and --from exclude each other"),
    ("calibrate_m", "--data trn -a n.std -o ctl ctl", 2, "--output would overwrite model: "),
    ("calibrate_m", "--data nothing all.mbm", 1, r"nothing\.vec: cannot read: No such file"),
    ("calibrate_m", "--from nothing all.mbm", 1, r"nothing\.truth: cannot read: No such file"),
    ("calibrate_m", "--map linear --data trn all.mbm", 2, "'linear' .*'temperature', 'vector'"),
    ("calibrate_m", "--data trn cut.mbm", 1, r"cut\.mbm"),
    ("classify_m", "one-vs-one trn.vec out", 2, r"print_control -Q one-vs-one DATA \| multi_b"),
    ("print_control", "-Q 9 1v1", 2, r"print_control -Q 1v1 DATA writes one"),
    ("order_classes", "1v1", 2, r"print_control -Q 1v1 DATA writes it"),
    ("mbh2mbm", "1v1 x.mbm", 2, r"print_control -Q 1v1 DATA \| multi_borders"),
    ("multi_borders", "trn m2", 2,
     r": operands are missing: expected \[control\] train model control-out \(try"),
    ("multi_borders", "plan trn m2 o more", 2, r"unrecognized arguments: more"),
    ("multi_borders", "-Z plan trn m2 o", 2, r"unrecognized arguments: -Z"),
    ("multi_borders", "--frob plan trn m2 o", 2, r"unrecognized arguments: --frob"),
    ("multi_borders", "-+ -y plan trn m2 o", 2, r"unknown training option '-y'"),
    ("multi_borders", "-j -1 plan trn m2 o", 2, r"-1 is out of range"),
    ("multi_borders", "-0 --only m2-00 plan trn m2 o", 2, r"exclude each other"),
    ("multi_borders", "--only other plan trn m2 o", 2, r"there is no model 'other'"),
    ("multi_borders", "plan - m2 o", 2, r"cannot come from a pipe"),
    ("multi_borders", "-M - - m2 o", 2, r"cannot both be standard input"),
    ("multi_borders", "-0 -M plan - m2 o", 2, r"must be files"),
    ("multi_borders", "-0 plan trn m2 -", 2, r"must be files"),
    ("multi_borders", "-M plan - m2 o", 1, r"has no points"),
    ("multi_borders", "-K plan trn m2 o", 2, r"-K needs -- COMMAND"),
    ("multi_borders", "-^ cat plan trn m2 o", 2, r"-\^ needs -- COMMAND"),
    ("multi_borders", "-- no-such-trainer plan trn m2 o", 2,
     r"'no-such-trainer' does not exist or may"),
    ("multi_borders", "-- 'x plan trn m2 o", 2, r"cannot be read: No closing quotation"),
    ("multi_borders", "-- cat| plan trn m2 o", 2, r"must end where file names can"),
    ("multi_borders", "-- cat -^ no-such plan trn m2 o", 2, r"'no-such' does not exist or may"),
    ("multi_borders", "-- cat -n -u plan trn m2 o", 2, r"-- COMMAND and -u exclude each other"),
    ("multi_borders", "-- false quoted trn m2 o", 1, r"quoted:1:10: the options '-c \"1' cannot"),
    ("multi_borders", "-- false plan trn m2 o", 3,
     r"plan:1:1: 'm2-00': the command 'false' failed with status 1"),
    ("multi_borders", "-- true plan trn m2 o", 3, r"the command 'true' wrote no model"),
    ("multi_borders", "plan trn m2 o --", 2, r"option --command: expected a value"),
    ("multi_borders", "-u plan trn m2 o", 2, r"-u needs a normalisation"),
    ("multi_borders", "-n -u direct trn m2 o", 2, r"-u is for support vectors"),
    ("multi_borders", "-y nowhere plan trn m2 o", 1, r"nowhere/m2-00: cannot write"),
    ("multi_borders", "directk trn m2 o", 1, r"directk:1:1: option -k: 0 is out of range"),
    ("multi_borders", "many trn m2 o", 3, r"many:1:1: 'm2': 37 nearest neighbours need"),
    ("multi_borders", "-M -A plan trn m2 o", 2, r"-M and -A exclude each other"),
    ("classify_m", "plan trn.vec out", 1, r"plan:1:1: .*train this control file"),
    ("classify_m", "trn.vec trn.vec out", 1, r"trn\.vec:1:\d+: expected a control file"),
    ("classify_m", "nothing trn.vec out", 1, r"nothing: cannot read"),
    ("classify_m", "dir trn.vec out", 1, r"dir: cannot read: it is a folder"),
    ("classify_m", "empty trn.vec out", 1, r"empty:1:1"),
    ("classify_m", "gone trn.vec out", 1, r"gone:2:1: model 'missing'"),
    ("classify_m", "foreign trn.vec out", 1, r"plan"),
    ("classify_m", "cutctl trn.vec out", 1, r"cut-01"),
    ("classify_m", "cut.mbm trn.vec out", 1, r"cut\.mbm: truncated"),
    ("classify_m", "flip.mbm trn.vec out", 1, r"flip\.mbm: "),
    ("classify_m", "all.mbm nothing out", 1, r"nothing: cannot read"),
    ("classify_m", "all.mbm dir out", 1, r"dir: cannot read: it is a folder"),
    ("classify_m", "all.mbm empty out", 1, r"empty: .*too short"),
    ("classify_m", "all.mbm norows.vec out", 1, r"norows\.vec: has no rows"),
    ("classify_m", "all.mbm cut.vec out", 1, r"cut\.vec: .*whole rows"),
    ("classify_m", "all.mbm wide.vec out", 1, r"wide\.vec: has 5 features, the model needs 4"),
    ("classify_m", "ctl wide.vec out", 1, r"wide\.vec: has 5 features, the model needs 4"),
    ("classify_m", "n.mbm wide.vec out", 1, r"wide\.vec: has 5 features, the model needs 4"),
    ("classify_m", "-M all.mbm wide.svm out", 1, r"wide\.svm:1: .*5"),
    ("classify_m", "all.mbm nan.vec out", 1, r"nan\.vec: row 3, feature 2 .* NaN"),
    ("classify_m", "all.mbm inf.vec out", 1, r"inf\.vec: row 3, feature 2"),
    ("classify_m", "-M all.mbm bad.svm out", 1, r"bad\.svm:2: "),
    ("classify_m", "-a n.std n.mbm trn.vec out", 1, r"n\.mbm: holds its own normalisation"),
    ("classify_m", "-a nothing ctl trn.vec out", 1, r"nothing: cannot read"),
    ("classify_m", "all.mbm trn.vec nowhere/out", 1, r"nowhere/out\.cls: cannot write"),
    ("classify_m", "all.mbm", 2,
     r"missing: expected \{control \| model\} test \[table \| output\] \("),
    ("classify_m", "all.mbm trn.vec out more", 2, r"unrecognized arguments: more"),
    ("classify_m", "-Q 12 all.mbm trn.vec out", 2, r"no decoder '12'"),
    ("classify_m", "-Q -2 all.mbm trn.vec out", 2, r"no decoder '-2'"),
    ("classify_m", "--tree up all.mbm trn.vec out", 2, r"recursive"),
    ("classify_m", "--reject 2 all.mbm trn.vec out", 2, r"from 0 to 1"),
    ("classify_m", "--reject 0.5 -Q 3 all.mbm trn.vec out", 2, r"gives probabilities"),
    ("classify_m", "-C all.mbm trn.vec out", 2, r"-C needs -A"),
    ("classify_m", "-K all.mbm trn.vec out", 2, r"-K needs -O"),
    ("classify_m", "-O cat -0 ctl trn.vec out", 2, r"excludes -0 and -Q -1"),
    ("classify_m", "-O cat -Q -1 ctl trn.vec out", 2, r"excludes -0 and -Q -1"),
    ("classify_m", "-O cat -c 1 ctl trn.vec out", 2, r"-c is for support vector machines"),
    ("classify_m", "-O cat -a n.std -u ctl trn.vec out", 2, r"-u is for support vector mach"),
    ("classify_m", "-O no-such ctl trn.vec out", 2, r"'no-such' does not exist or may"),
    ("classify_m", "-O cat all.mbm trn.vec out", 1, r"all\.mbm:1:\d+: expected a control file"),
    ("classify_m", "-O cat gone trn.vec out", 1, r"gone:2:1: model 'missing'"),
    ("classify_m", "-O false ctl trn.vec out", 1, r"model 'm-00': the command 'false' failed"),
    ("classify_m", "-O true ctl trn.vec out", 1, r"model 'm-00': .*cannot be read|No such file"),
    ("classify_m", "-O true ctl trn out", 1, r"what the command 'true' wrote cannot be read"),
    ("classify_m", "-O cat -M -A ctl trn out", 2, r"-M and -A exclude each other"),
    ("classify_m", "-u ctl trn.vec out", 2, r"-u needs -a"),
    ("classify_m", "-c 4 ctl trn.vec out", 2, r"4 is out of range"),
    ("classify_m", "-y . all.mbm trn.vec out", 2, r"all\.mbm holds its own"),
    ("classify_m", "command trn.vec out", 1,
     r"command:1:1: the command 'false' would be run here: allow it with --allow-commands"),
    ("classify_m", "--allow-commands command trn.vec out", 1,
     r"model 'plan': the command 'false' failed with status 1"),
    ("mbh2mbm", "command x.mbm", 1, r"command:1:1: "),
    ("print_control", "-Q 9 directk", 1, r"directk:1:1: a classifier of code K is not binary"),
    ("print_control", "-Q 9 -y dir plan", 1, r"plan:1:1: .*train this control file"),
    ("print_control", "-Q 4 -y dir 4", 2, r"-y is for -Q convert"),
    ("cls_comp_stats", "trn.cls nothing", 1, r"nothing\.cls: cannot read"),
    ("cls_comp_stats", "no9.cls trn", 1, r"trn\.cls: has 36 labels, but there are 24 points"),
    ("cls_comp_stats", "-q -1 trn.cls trn", 2, r"-1 is out of range"),
    ("compare_control", "nothing", 1, r"nothing\.vec: cannot read"),
    ("compare_control", "trn nothing", 2, r"no file 'nothing'"),
    ("compare_control", "trn ctl", 1, r"ctl:1:1: "),
    ("compare_control", "--trials 0 trn", 2, r"out of range"),
    ("nfold", "--label y 1v1 trn", 2, r"--label is for tables: .*, or --table; found 'trn'"),
    ("nfold", "1v1 nothing", 1, r"nothing\.vec: cannot read"),
    ("nfold", "nothing trn", 2, r"no file 'nothing'"),
    ("nfold", "1v1 trn nowhere/x", 1, r"nowhere/x\.cls: cannot write"),
    ("tune_m", "1v1 nothing", 1, r"nothing\.vec: cannot read"),
    ("tune_m", "nothing trn", 2, r"no file 'nothing'"),
    ("tune_m", "--log2c x 1v1 trn", 2, r"log2c"),
    ("agf_train", "--label y trn x.mbm", 2, r"--label is for tables"),
    ("order_classes", "nowhere", 1, r"^order_classes: nowhere: cannot read"),
    ("order_classes", "--path ctl", 2, r"--path"),
    ("simulate_decoders", "nothing", 2, r"unrecognized arguments: nothing"),
    ("simulate_decoders", "--classes 1", 2, r"--classes"),
    ("svmout2agf", "nothing x", 1, r"nothing: cannot read"),
    ("svmout2agf", "empty x", 1, r"empty: holds no results"),
    ("svmout2agf", "plan", 2, r"missing: expected in base"),
    ("validate_probabilities", "-H trn.cls plan", 1, r"plan:1: "),
    ("validate_probabilities", "-b trn.cls nothing", 1, r"nothing\.cls: cannot read"),
    ("validate_probabilities", "-H - -", 2, r"cannot both be"),
    ("classify_m", "- - out", 2, r"cannot both be standard input"),
    ("mbh2mbm", "plan x.mbm", 1, r"plan:1:1: .*train this control file"),
    ("mbh2mbm", "trn.vec x.mbm", 1, r"trn\.vec:1:\d+: expected a control file"),
    ("mbh2mbm", "-y . all.mbm x.mbm", 2, r"all\.mbm holds its own"),
    ("mbh2mbm", "-Z --libsvm all.mbm x", 2, r"exclude each other"),
    ("mbh2mbm", "-Z -a n.std all.mbm x", 2, r"-Z and -a exclude .*: that format has no place"),
    ("mbh2mbm", "gone x.mbm", 1, r"gone:2:1: model 'missing'"),
    ("mbh2mbm", "cutctl x.mbm", 1, r"cut-01"),
    ("mbh2mbm", "ctl nowhere/x.mbm", 1, r"nowhere/x\.mbm: cannot write"),
    ("mbh2mbm", "ctl dir", 1, r"dir: cannot write"),
    ("mbh2mbm", "--names twice.names ctl x.mbm", 1, r"twice\.names:2: "),
    ("mbh2mbm", "-a trn.vec ctl x.mbm", 1, r"the models need 4"),
    ("mbh2mbm", "ctl", 2, r"missing: expected control out"),
    ("mbm_info", "nothing", 1, r"nothing: cannot read"),
    ("mbm_info", "cut.mbm", 1, r"cut\.mbm: truncated"),
    ("mbm_info", "flip.mbm", 1, r"flip\.mbm: "),
    ("mbm_info", "plan", 1, r"plan:1:1: "),
    ("mbm_info", "--json --control all.mbm", 2, r"exclude each other"),
    ("mbm_info", "", 2, r"missing: expected model"),
    ("eval_uc", "trn.cls nothing", 1, r"nothing\.cls: cannot read"),
    ("eval_uc", "nothing trn", 1, r"nothing: cannot read"),
    ("eval_uc", "no9.cls trn", 1, r"trn\.cls: has 36 labels, but there are 24 points"),
    ("eval_uc", "trn.cls trn plan", 1, r"plan:1: expected a finite number"),
    ("eval_uc", "-k 2 trn.cls trn", 2, r"2 classes, but 3 different labels"),
    ("eval_uc", "-B trn.cls trn", 2, r"needs the probabilities"),
    ("eval_uc", "-B -b trn.cls trn", 2, r"give -k"),
    ("eval_uc", "--labels 9,5,2 trn.cls trn", 2, r"ascend"),
    ("eval_uc", "--labels a trn.cls trn", 2, r"--labels: expected a whole number"),
    ("eval_uc", "- trn -", 2, r"cannot both be standard input"),
    ("eval_uc", "labels.txt trn", 1, r"labels\.txt: looks like text, expected binary labels"),
    ("multi_borders", "-M plan trn m2 o", 1, r"trn: cannot read: No such file"),
    ("multi_borders", "-A plan trn m2 o", 1, r"trn: cannot read: No such file"),
    ("eval_uc", "trn.cls trn labels", 1, r"labels\.txt:1: expected at least 2 probabilities"),
    ("eval_uc", "trn trn", 2, r"trn\.cls holds the answers: expected the true classes before"),
    ("cls_comp_stats", "labels.txt trn", 1, r"labels\.txt: looks like text"),
    ("validate_probabilities", "trn.cls labels", 1, r"labels: cannot read: No such file"),
    ("validate_probabilities", "labels.txt plan", 1, r"labels\.txt: looks like text"),
    ("float_to_class", "labels.txt x 1 2", 1, r"labels\.txt: looks like text"),
    ("classify_m", "all.mbm trn.vec out.cls", 2, r"found 'out\.cls': give 'out' for out\.cls, out"),
    ("classify_m", "all.mbm trn.vec out.con", 2, r"give 'out' for out\.cls, out\.con"),
    ("classify_m", "all.mbm trn.vec dir/out.vec", 2, r"give 'dir/out' for dir/out\.cls"),
    ("classify_m", "all.mbm out trn.vec", 2,
     r"there is no file out, but trn\.vec exists: expected"),
    ("svm2agf", "wide.svm x.vec", 2, r"give 'x' for x\.vec, x\.cls"),
    ("svm2agf", "-L wide.svm x.dat", 2, r"give 'x' for x\.vec, x\.dat"),
    ("lvq2agf", "bad.lvq x.cls", 2, r"give 'x' for x\.vec, x\.cls"),
    ("lvq2agf", "-C bad.lvq x.vec", 2, r"give 'x' for x\.vec$"),
    ("svmout2agf", "plan x.cls", 2, r"give 'x' for x\.cls, x\.con"),
    ("nfold", "1v1 trn x.cls", 2, r"give 'x' for x\.cls, x\.con, x\.truth, x\.txt"),
    ("nfold", "1v1 trn x.txt", 2, r"give 'x'"),
    ("agf_preprocess", "trn x.vec", 2, r"give 'x' for x\.vec, x\.cls"),
    ("agf_preprocess", "-f 0.3 trn x y.cls", 2, r"give 'y'"),
    ("agf_preprocess", "trn x y", 2, r"found 'y' .*-f"),
    ("eval_uc", "-k 2 trn.cls trn.cls", 2, r"2 classes, but 3 different labels"),
    ("cls_comp_stats", "trn.cls plan", 1, r"plan\.cls: cannot read: No such file"),
    ("classify_m", "kept/ctl trn.vec out", 1,
     r"ctl:1:1: model 'k-00': cannot read: No such .*; it is found with -y kept$"),
    ("classify_m", "-y kept ctl trn.vec out", 1, r"'kept/m-00': .*; it is in the .*: leave -y out"),
    ("classify_m", "-y dir kept/ctl trn.vec out", 1, r"'dir/k-00': .*; it is found with -y kept$"),
    ("classify_m", "-y kept kept/above trn.vec out", 1, r"'kept/kept/k-00': .*: leave -y out"),
    ("classify_m", "kept/direct trn.vec out", 1,
     r"direct:1:1: model 'd\.vec': cannot read: No such .*; it is found with -y kept$"),
    ("classify_m", "-O cat kept/ctl trn.vec out", 1, r"no such file; it is found with -y kept$"),
    ("classify_m", "gone trn.vec out", 1, r"'missing': .*; -y gives the folder of the models"),
    ("mbh2mbm", "kept/ctl x.mbm", 1, r"; it is found with -y kept$"),
    ("mbm_info", "kept/ctl", 1, r"; it is found with -y kept$"),
    ("mbm_info", "-y kept all.mbm", 2, r"-y is for the models of a control file"),
    ("classify_m", "all wide out", 1, r"wide\.vec: has 5 features, the model needs 4"),
    ("classify_m", "all.mbm wide.svm out", 1, r"wide\.svm:1: there is a feature 5, but the model"),
    ("classify_m", "-a ctl nctl trn.vec out", 1,
     r"ctl: looks like text, .* a normalisation .*svm-scale -r ctl data`"),
    ("classify_m", "-M all.mbm table.csv out", 1, r"table\.csv:1: .* a table with commas"),
    ("classify_m", "-A all.mbm table.csv out", 1, r"table\.csv:1: .* a table with commas"),
    ("multi_borders", "plan table.txt m2 o", 1,
     r"table\.txt: there is no table\.txt\.vec; .* a table with commas: .* with --table"),
    ("multi_borders", "plan table m2 o", 1,
     r"table\.csv: no column is named class, label or target"),
    ("multi_borders", "-M plan table.csv m2 o", 1, r"table\.csv:1: .* without -M and -A, and "),
    ("multi_borders", "table.csv plan m2 o", 1, r"table\.csv:1:1: .*found a table: is the order"),
    ("classify_m", "table.csv trn.vec out", 1, r"table\.csv:1:1: .*found a table: is the order"),
    ("table2agf", "table.csv x", 1, r"table\.csv: no column is named class, label or target"),
    ("agf_train", "table.csv x.mbm", 1, r"table\.csv: no column is named class, label or target"),
    ("agf_train", "nothing x.mbm", 1, r"nothing\.cls: cannot read"),
    ("agf_train", "table.csv x.csv", 2, r"is the order of the operands right"),
    ("multi_borders", "plan wide.svm m2 o", 1, r"class 2 has one sample in wide\.svm: expected"),
    ("svm2agf", "table.csv x", 1,
     r"table\.csv:1: .* a table with commas: training .* `table2agf table\.csv base --label COL"),
    ("lvq2agf", "table.csv x", 1, r"table\.csv:1: .* a table with commas"),
    ("lvq2agf", "wide.svm x", 1, r"wide\.svm:1: .* looks like LIBSVM text"),
    ("agf2ascii", "-M table.csv x", 1, r"there is no table\.csv\.vec: expected the base name"),
    ("eval_uc", "trn.vec trn", 1, r"has 36 labels, but there are 145 points"),
    ("svm2agf", "bad.svm x", 1, r"bad\.svm:2: "),
    ("svm2agf", "empty x", 1, r"empty: has no points"),
    ("svm2agf", "x", 1, r"has no points"),
    ("svm2agf", "dir x", 1, r"dir: cannot read: it is a folder"),
    ("svm2agf", "wide.svm nowhere/x", 1, r"nowhere/x\.vec: cannot write"),
    ("lvq2agf", "bad.lvq x", 1, r"bad\.lvq:3"),
    ("lvq2agf", "plan", 2, r"base name"),
    ("agf2ascii", "nothing", 1, r"nothing\.vec: cannot read"),
    ("agf2ascii", "short", 1, r"short\.cls: has 35 labels"),
    ("agf2ascii", "-M -H trn", 2, r"-M and -H exclude each other"),
    ("agf2ascii", "--words trn", 2, r"trn\.names"),
    ("agf_preprocess", "short x", 1, r"short\.cls: has 35 labels"),
    ("agf_preprocess", "-f 0.5 trn x", 2, r"test part"),
    ("agf_preprocess", "-f 0.5 trn x x", 2, r"both are the file"),
    ("agf_preprocess", "-f 1 trn x y", 2, r"between 0 and 1"),
    ("agf_preprocess", "-f nan trn x y", 2, r"between 0 and 1"),
    ("agf_preprocess", "-f 0.5 -d 2 trn x y", 2, r"exclude each other"),
    ("agf_preprocess", "-d 100 trn x", 1, r"cannot be divided into 100"),
    ("agf_preprocess", "-F trn x 4", 2, r"no feature 4"),
    ("agf_preprocess", "trn x 2 / 7", 1, r"class 7 of the partition has no samples"),
    ("agf_preprocess", "trn x 2 / 2", 2, r"two sides"),
    ("agf_preprocess", "trn x 2 5", 2, r"expected a partition"),
    ("agf_preprocess", "--stratified trn x", 2, r"--stratified needs -f"),
    ("agf_preprocess", "-n same x", 1, r"same: every feature is constant"),
    ("agf_preprocess", "-f 0.5 --stratified -n trn nowhere/x y", 1,
     r"nowhere/x\.vec: cannot write"), ("float_to_class", "nothing x", 1, r"nothing: cannot read"),
    ("float_to_class", "flat.dat x", 1, r"flat\.dat: the least value"),
    ("float_to_class", "v.dat x 2 1", 2, r"ascend"),
    ("float_to_class", "v.dat x one", 2, r"'one'"),
    ("float_to_class", "-g v.dat x 1 2", 2, r"needs -q"),
    ("report_m", "-o x.html", 2, r"there is nothing to show: expected a model, --answers, "),
    ("report_m", "all.mbm -o x.pdf", 2, r"-o x\.pdf: expected a name that ends in \.html"),
    ("report_m", "all.mbm -o nowhere/x.html", 1, r"nowhere/x\.html: cannot write"),
    ("report_m", "nothing -o x.html", 1, r"nothing: cannot read"),
    ("report_m", "all.mbm --truth trn.cls -o x.html", 2, r"--truth needs --answers"),
    ("report_m", "--answers trn.cls -o x.html", 2, r"--truth is missing: .* nfold writes trn\.tr"),
    ("report_m", "--answers trn -o x.html", 2, r"--truth is missing: .* nfold writes trn\.truth"),
    ("report_m", "--answers nope -o x.html", 2, r"which is not there; nor is nope\.cls, the answ"),
    ("report_m", "--answers trn --truth trn.vec -o x.html", 1, r"has 36 labels, but there are"),
    ("report_m", "--answers table.csv -o x.html", 1, r"there is no column 'class' of answ"),
    ("report_m", "--comparison bad.svm -o x.html", 1, r"bad\.svm:1: expected JSON, as compare_"),
    ("report_m", "--search plan -o x.html", 1, r"plan:1: expected JSON, as tune_m --json"),
    ("report_m", "--card trn.vec all.mbm -o x.html", 1, r"trn\.vec:\d+: expected a card in Mark"),
    ("report_m", "--multiqc x.json --search plan -o x.html", 2, r"x\.json: .* ends in _mqc\.json"),
    ("report_m", "--multiqc x_mqc.json all.mbm -o x.html", 2, r"--multiqc shows scores: expected"),
    ("report_m", "all.mbm -o all.mbm", 2, r"--output would overwrite model: "),
    ("nfold", "--report x.txt one-vs-one trn", 2, r"x\.txt: expected a name that ends in \.html"),
    ("nfold", "--report - one-vs-one trn", 2, r"--report is a file: standard output has the"),
    ("nfold", "--card plan one-vs-one trn", 2, r"--card is for the page: --report FILE writes"),
    ("nfold", "--report trn.cls one-vs-one trn", 2, r"--report would overwrite train: "),
    ("nfold", "--multiqc x.json one-vs-one trn", 2, r"expected a name that ends in _mqc\.json")]


def listing():
    return {name: os.stat(name).st_mtime_ns if os.path.isfile(name) else None
            for name in sorted(os.listdir())}


@pytest.mark.parametrize("command, words, status, text", ERRORS,
                         ids=[f"{command} {words}" for command, words, *_ in ERRORS])
def test_one_line_and_nothing_written(made, monkeypatch, run, command, words, status, text):
    monkeypatch.chdir(made)
    before = listing()
    done = run(command, *words.split(), status=status)
    usage, found, last = done.err.rpartition(f"{command}: operands are missing: ")
    if usage:  # it stands above where there are no operands
        assert usage.startswith(f"usage: {command} "), usage
        done = done._replace(err=found + last)
    notes = re.compile(".* is taken for .*\n|.* is LIBSVM text, and read as with -M\n")
    err = done._replace(err=notes.sub("", done.err)).refused()
    assert re.search(text, err), err
    assert listing() == before


def test_table_covers_every_command():
    commands = {path.name for path in (Path(__file__).resolve().parents[2] / "bin").iterdir()}
    assert commands == {command for command, *_ in ERRORS}


def test_existing_outputs_survive_an_error(made, monkeypatch, run):
    monkeypatch.chdir(made)
    before = Path("all.mbm").read_bytes(), Path("trn.cls").read_bytes()
    run("mbh2mbm", "gone", "all.mbm", status=1)
    run("classify_m", "all.mbm", "nan.vec", "trn", status=1)
    assert (Path("all.mbm").read_bytes(), Path("trn.cls").read_bytes()) == before


def test_debug_shows_the_place(run, made, monkeypatch):
    monkeypatch.chdir(made)
    from agfmc.core.errors import DataError
    with pytest.raises(DataError):
        run("mbm_info", "--debug", "nothing")


def test_few_samples_warn_and_train(made, monkeypatch, run, tmp_path):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    save("few", rng.normal(size=(23, 3)), [1] * 20 + [3] * 3)
    write("plan", '"" 0 / 1;\n{ 1 3}\n')
    err = run("multi_borders", "--no-calibration", "plan", "few", "m", "ctl").line("has 3 samples")
    assert err.startswith("multi_borders: warning: ")
    assert run("multi_borders", "--quiet", "plan", "few", "m", "ctl").err == ""


def test_names_of_older_data_are_pointed_out(monkeypatch, run, tmp_path):
    monkeypatch.chdir(tmp_path)
    write("w.svm", "pine 1:1\nmoss 1:2\n")
    write("n.svm", "0 1:1\n1 1:2\n")
    assert run("svm2agf", "w.svm", "a").err == ""
    assert run("svm2agf", "n.svm", "a").err.startswith("svm2agf: warning: a.names existed before")


@pytest.mark.parametrize("method", ["-1", *"01234567", "zadrozny-kl", "0 --header", "0 -0"])
def test_every_method_from_either_kind_of_model(made, monkeypatch, run, method, tmp_path):
    monkeypatch.chdir(made)
    answers = []
    for model in ("ctl", "all.mbm"):
        _, out, err = run("classify_m", "-Q", *method.split(), model, "trn.vec", tmp_path / "out")
        answers.append((out, err, (tmp_path / "out.cls").read_bytes(),
                        (tmp_path / "out.con").read_bytes()))
    assert answers[0] == answers[1]
    warned = "classify_m: warning: the decoder orthogonal is for strict codes"
    assert answers[0][1].startswith(warned) if method == "4" else answers[0][1] == ""
    assert answers[0][0].count("\n") == 36 + ("--header" in method)
    assert np.mean(np.frombuffer(answers[0][2], "<i4") == np.repeat([2, 5, 9], 12)) > 0.8


@pytest.mark.parametrize("options", [[], ["--quiet"], ["-j", "2"]], ids=str)
def test_jobs_that_fail_leave_the_others(monkeypatch, run, tmp_path, options):
    monkeypatch.chdir(tmp_path)
    labels = np.repeat([0, 1, 2], [40, 40, 8])
    save("few", np.random.default_rng(1).normal(size=(88, 3)) + labels[:, None], labels)
    write("plan", '"" 0 / 1;\n"" 0 / 2;\n"" 1 / 2;\n{ 0 1 2}\n')
    write("ctl", "old")
    # nu may not exceed twice the share of the smaller side
    lines = run("multi_borders", *options, "-+", "-s 1 -n 0.9", "plan", "few", "m", "ctl",
                status=3).err.splitlines()
    assert sorted(line.split("'")[0] for line in lines[:2]) == [
        "multi_borders: plan:2:1: ", "multi_borders: plan:3:1: "]
    assert lines[2].startswith("multi_borders: 2 of 3 binary classifiers could not be trained")
    assert len(lines) == 3
    assert sorted(os.listdir()) == ["ctl", "few.cls", "few.vec", "m-00", "plan"]
    assert Path("ctl").read_text() == "old"
