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
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        _make(run)
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


FAINT = r"no feature varies by more than [3-6]\.\de-42, .*: multiply the data"
# (command, status): the words, what the line says
ERRORS = {
    ("agf2ascii", 1): [
        ("-M table.csv x", r"there is no table\.csv\.vec: expected the base name"),
        ("nothing", r"nothing\.vec: cannot read"),
        ("short", r"short\.cls: has 35 labels"),
    ],
    ("agf2ascii", 2): [
        ("-M -H trn", r"-M and -H exclude each other"),
        ("--words trn", r"trn\.names"),
    ],
    ("agf_preprocess", 1): [
        ("-n faint x", FAINT),
        ("short x", r"short\.cls: has 35 labels"),
        ("-d 100 trn x", r"cannot be divided into 100"),
        ("trn x 2 / 7", r"class 7 of the partition has no samples"),
        ("-f 0.5 --stratified -n trn nowhere/x y", r"nowhere/x\.vec: cannot write"),
    ],
    ("agf_preprocess", 2): [
        ("trn x.vec", r"give 'x' for x\.vec, x\.cls"),
        ("trn x y", r"found 'y' .*-f"),
        ("-f 0.5 trn x", r"test part"),
        ("-f 0.5 trn x x", r"both are the file"),
        ("-f 1 trn x y", r"between 0 and 1"),
        ("-f 0.5 -d 2 trn x y", r"exclude each other"),
        ("-F trn x 4", r"no feature 4"),
        ("trn x 2 / 2", r"two sides"),
        ("trn x 2 5", r"expected a partition"),
        ("--stratified trn x", r"--stratified needs -f"),
    ],
    ("agf_train", 1): [
        ("table.csv x.mbm", r"table\.csv: no column is named class, label or target"),
        ("nothing x.mbm", r"nothing\.vec: cannot read"),
    ],
    ("agf_train", 2): [
        ("--label y trn x.mbm", r"--label is for tables"),
        ("table.csv x.csv", r"is the order of the operands right"),
    ],
    ("calibrate_m", 1): [
        ("--data nothing all.mbm", r"nothing\.vec: cannot read: No such file"),
        ("--from nothing all.mbm", r"nothing\.truth: cannot read: No such file"),
    ],
    ("calibrate_m", 2): [
        ("all.mbm", "expected points, either --data or --from"),
        ("--data trn --from out all.mbm", "--data and --from exclude each other"),
        ("--data trn -a n.std -o ctl ctl", "--output would overwrite model: "),
        ("--map linear --data trn all.mbm", "'linear' .*'temperature', 'matrix'"),
    ],
    ("classify_m", 1): [
        ("trn.vec all.mbm out", r"found points \(\.vec\): is the order of the op"),
        ("two.svm all.mbm out", r"found a number, as in LIBSVM text \(-M\): is the"),
        ("plan trn.vec out", r"plan:1:1: .*train this control file"),
        ("trn.vec trn.vec out", r"trn\.vec:1:\d+: expected a control file"),
        ("nothing trn.vec out", r"nothing: cannot read"),
        ("dir trn.vec out", r"dir: cannot read: it is a folder"),
        ("empty trn.vec out", r"empty:1:1"),
        ("gone trn.vec out", r"gone:2:1: model 'missing'"),
        ("foreign trn.vec out", r"plan"),
        ("cutctl trn.vec out", r"cut-01"),
        ("cut.mbm trn.vec out", r"cut\.mbm: truncated"),
        ("flip.mbm trn.vec out", r"flip\.mbm: "),
        ("all.mbm empty out", r"empty: .*too short"),
        ("all.mbm norows.vec out", r"norows\.vec: has no rows"),
        ("all.mbm cut.vec out", r"cut\.vec: .*whole rows"),
        ("all.mbm wide.vec out", r"wide\.vec: has 5 features, the model needs 4"),
        ("-M all.mbm nan.svm out", r"nan\.svm:2: .*finite"),
        ("all.mbm inf.vec out", r"inf\.vec: feature 2 .* of row 4 is an infinite"),
        ("-M all.mbm bad.svm out", r"bad\.svm:2: "),
        ("-a n.std n.mbm trn.vec out", r"n\.mbm: holds its own normalisation"),
        ("-a nothing ctl trn.vec out", r"nothing: cannot read"),
        ("all.mbm trn.vec nowhere/out", r"nowhere/out\.cls: cannot write"),
        ("-O false ctl trn.vec out", r"model 'm-00': the command 'false' failed"),
        ("-O true ctl trn.vec out", r"model 'm-00': .*cannot be read|No such file"),
        ("-O true ctl trn out", r"what the command 'true' wrote cannot be read"),
        (
            "command trn.vec out",
            r"command:1:1: the command 'false' would be run here: allow it with --allow-commands",
        ),
        (
            "--allow-commands command trn.vec out",
            r"model 'plan': the command 'false' failed with status 1",
        ),
        (
            "kept/ctl trn.vec out",
            r"ctl:1:1: model 'k-00': cannot read: No such .*; it is found with -y kept$",
        ),
        ("-y kept ctl trn.vec out", r"'kept/m-00': .*; it is in the .*: leave -y out"),
        ("-y dir kept/ctl trn.vec out", r"'dir/k-00': .*; it is found with -y kept$"),
        ("-y kept kept/above trn.vec out", r"'kept/kept/k-00': .*: leave -y out"),
        (
            "kept/direct trn.vec out",
            r"direct:1:1: model 'd\.vec': cannot read: No such .*; it is found with -y kept$",
        ),
        ("gone trn.vec out", r"'missing': .*; -y gives the folder of the models"),
        (
            "-a ctl nctl trn.vec out",
            r"ctl: looks like text, .* a normalisation .*svm-scale -r ctl data`",
        ),
    ],
    ("classify_m", 2): [
        ("--hedaer all.mbm trn.vec out", r"--hedaer; did you mean --header\?"),
        ("--min-class 2 all.mbm trn.vec out", r"arguments: --min-class; did you "),
        ("one-vs-one trn.vec out", r"print_control -Q one-vs-one DATA \| multi_b"),
        ("all.mbm", r"the operand test is missing: expected \{control \| model\} test \["),
        ("-n all.mbm trn.vec out", r": -n; the model knows its normalisation, and it is applied: "),
        ("-S 2 all.mbm trn.vec out", r": -S; the model knows its normalisation"),
        ("-Q 12 all.mbm trn.vec out", r"no decoder '12'"),
        ("--tree up all.mbm trn.vec out", r"recursive"),
        ("--reject 2 all.mbm trn.vec out", r"from 0 to 1"),
        ("--reject 0.5 -Q 3 all.mbm trn.vec out", r"gives probabilities"),
        ("-C all.mbm trn.vec out", r"-C needs -A"),
        ("-K all.mbm trn.vec out", r"-K needs -O"),
        ("-O cat -0 ctl trn.vec out", r"excludes -0 and -Q -1"),
        ("-O cat -c 1 ctl trn.vec out", r"-c is for support vector machines"),
        ("-O no-such ctl trn.vec out", r"'no-such' does not exist or may"),
        ("-u ctl trn.vec out", r"-u needs -a"),
        ("-c 4 ctl trn.vec out", r"4 is out of range"),
        ("-y . all.mbm trn.vec out", r"all\.mbm holds its own"),
        ("- - out", r"cannot both be standard input"),
        ("all.mbm trn.vec out.cls", r"found 'out\.cls': give 'out' for out\.cls, out"),
        ("all.mbm trn.vec dir/out.vec", r"give 'dir/out' for dir/out\.cls"),
        ("all.mbm out trn.vec", r"there is no file out, but trn\.vec exists: expected"),
    ],
    ("cls_comp_stats", 1): [
        ("trn.cls nothing", r"nothing\.cls: cannot read"),
        ("no9.cls trn", r"trn\.cls: has 36 labels, but there are 24 points"),
        ("labels.txt trn", r"labels\.txt: looks like text"),
    ],
    ("cls_comp_stats", 2): [("-q -1 trn.cls trn", r"-1 is out of range")],
    ("compare_control", 1): [
        ("only", r"the fraction 0\.3 of every class leaves no points"),
        ("nothing", r"nothing\.vec: cannot read"),
    ],
    ("compare_control", 2): [
        ("", r"operands are missing: expected train \[control \.\.\.\] \("),
        ("--trials 0 trn", r"out of range"),
    ],
    ("eval_uc", 1): [
        ("trn.cls nothing", r"nothing\.cls: cannot read"),
        ("trn.cls trn plan", r"plan:1: expected a finite number"),
        ("labels.txt trn", r"labels\.txt: looks like text, expected binary labels"),
        ("trn.cls trn labels", r"labels\.txt:1: expected at least 2 probabilities"),
    ],
    ("eval_uc", 2): [
        ("-k 2 trn.cls trn", r"2 classes, but 3 different labels"),
        ("trn.vec trn", r"trn\.vec holds points: expected the true classes"),
        ("-B trn.cls trn", r"needs the probabilities"),
        ("-B -b trn.cls trn", r"give -k"),
        ("--labels 9,5,2 trn.cls trn", r"ascend"),
        ("--labels a trn.cls trn", r"--labels: expected a whole number"),
        ("- trn -", r"cannot both be standard input"),
        ("trn trn", r"trn\.cls holds the answers: expected the true classes before"),
    ],
    ("float_to_class", 1): [
        ("labels.txt x 1 2", r"labels\.txt: looks like text"),
        ("nothing x", r"nothing: cannot read"),
        ("flat.dat x", r"flat\.dat: the least value"),
    ],
    ("float_to_class", 2): [
        ("v.dat x 2 1", r"ascend"),
        ("v.dat x one", r"'one'"),
        ("-g v.dat x 1 2", r"needs -q"),
    ],
    ("lvq2agf", 1): [
        ("two.svm x", r"alone, found '.*' and more; it looks like LIBSVM"),
        ("-H headings x", r"headings:1: the value 'a' .*; a line of headings must be"),
        ("table.csv x", r"table\.csv:1: .* a table with commas"),
        ("bad.lvq x", r"bad\.lvq:3"),
    ],
    ("lvq2agf", 2): [
        ("bad.lvq x.cls", r"give 'x' for x\.vec, x\.cls"),
        ("-C bad.lvq x.vec", r"give 'x' for x\.vec$"),
        ("plan", r"base name"),
    ],
    ("mbh2mbm", 1): [
        ("command x.mbm", r"command:1:1: "),
        ("plan x.mbm", r"plan:1:1: .*train this control file"),
        ("gone x.mbm", r"gone:2:1: model 'missing'"),
        ("ctl nowhere/x.mbm", r"nowhere/x\.mbm: cannot write"),
        ("ctl dir", r"dir: cannot write"),
        ("--names twice.names ctl x.mbm", r"twice\.names:2: "),
        ("-a trn.vec ctl x.mbm", r"the models need 4"),
    ],
    ("mbh2mbm", 2): [
        ("all.mbm ctl", r"overwrite the control file ctl: expected control and then"),
        ("1v1 x.mbm", r"print_control -Q 1v1 DATA \| multi_borders"),
        ("ctl", r"missing: expected control out"),
    ],
    ("mbm_info", 1): [
        ("nothing", r"nothing: cannot read"),
        ("cut.mbm", r"cut\.mbm: truncated"),
        ("plan", r"plan:1:1: "),
    ],
    ("mbm_info", 2): [
        ("--json --control all.mbm", r"exclude each other"),
        ("", r"missing: expected model"),
        ("-y kept all.mbm", r"-y is for the models of a control file"),
    ],
    ("multi_borders", 1): [
        ("plan nothing m2 o", r"nothing\.vec: cannot read: No such file"),
        ("dir trn m2 o", r"dir: cannot read: it is a folder"),
        ("empty trn m2 o", r"empty:1:1: expected a control file, found an empty one"),
        ("plan cut m2 o", r"cut\.vec: .*whole rows of 4 features"),
        ("plan short m2 o", r"short\.cls: has 35 labels, but there are 36"),
        ("plan nan m2 o", r"nan\.vec: feature 2 .* of row 4 is NaN"),
        ("-M plan nan.svm m2 o", r"nan\.svm:2: .*finite"),
        ("-M plan bad.svm m2 o", r"bad\.svm:2: .*ascend"),
        ("-A plan bad.lvq m2 o", r"bad\.lvq:3"),
        ("plan negative m2 o", r"row 1 has label -3"),
        ("two single m2 o", r"two:2:5: class 5 has one sample in single: expected at least 2"),
        ("two trn m2 o", r"two: .*trn hold class 9, .*; `print_control trn` writes"),
        (
            "plan no9 m2 o",
            r"plan:4:7: class 9 has no samples in no9: .*; `print_control no9` writes a control file",
        ),
        ("-M plan two.svm m2 o", r"class 5 .*; `print_control -M two\.svm` writes"),
        (
            "one trn m2 o",
            r"one:2:7: .* positions in these braces count from 0, and are not class labels",
        ),
        ("label trn m2 o", r"label:1:15: .* position .* is 5, found 2: .* labels"),
        ("four trn m2 o", r"four:3:9: class 11 has no samples"),
        ("option trn m2 o", r"option:2:3: unknown training option '-y'"),
        ("value trn m2 o", r"value:1:1: option -c: expected a number, found 'x'"),
        ("grammar trn m2 o", r"grammar:3:1: expected ';'"),
        ("ctl trn m2 o", r"ctl:1:1: .*trained already"),
        ("all.mbm trn m2 o", r"all\.mbm:1:1: expected a control file, found a model"),
        ("m-00 trn m2 o", r"m-00:1:1: .* found a model: print_control .* mbm_info --p"),
        ("plan ctl m2 o", r"ctl: there is no .*; it looks like a control file, not like data$"),
        ("-n plan faint m2 o", FAINT),
        ("-a trn.vec plan trn m2 o", r"trn: the data have 4 features"),
        ("plan trn nowhere/m o", r"nowhere/m-00: cannot write"),
        ("plan trn m2 nowhere/o", r"nowhere/o: cannot write"),
        ("trn m2 o", r"standard input:1:1: expected a control file, found an empty one"),
        ("borders trn m2 o", r"borders:1:1: option -s: 100 .*, and libAGF's class"),
        ("precomputed trn m2 o", r"found '4'; precomputed kernels"),
        ("-M plan - m2 o", r"has no points"),
        ("-- false quoted trn m2 o", r"quoted:1:10: the options '-c \"1' cannot"),
        ("-y nowhere plan trn m2 o", r"nowhere/m2-00: cannot write"),
        ("directk trn m2 o", r"directk:1:1: option -k: 0 is out of range"),
        ("-M plan trn m2 o", r"trn: cannot read: No such file"),
        ("plan wide.svm m2 o", r"class 2 has one sample in wide\.svm: expected"),
    ],
    ("multi_borders", 2): [
        (
            "plan trn m2 m2-01",
            r"a binary model would overwrite control-out: both are the file m2-01; choose another name",
        ),
        ("plan trn m2", r"operands control, train, .* plan is not the base name"),
        ("-+ -c 10 -g .1 plan trn m2 o", r'in quotes: -\+ "-c 10 -g \.1"$'),
        ("--options -w0 2 plan trn m2 o", r'in quotes: --options "-w0 2"$'),
        ("-+ -c plan trn m2 o", r'-c: expected a value .*: "-c 1", in one pair'),
        ("-M -- svm-train -b 1 plan two.svm m2 o", r'in quotes: -- "svm-train -b 1"$'),
        ("-+ -W plan trn m2 o", r"option '-W': .*; libAGF's class borders"),
        ("-c 100 plan trn m2 o", r'; training options are .*-\+ "-c 10" \('),
        ("-normalize plan trn m2 o", r"-normalize; did you mean --normalise\?"),
        ("-h .001 plan trn m2 o", r"there is no option -h; training options are given in -\+"),
        ("--threads 2 plan trn m2 o", r": --threads; did you mean --jobs \(-j\)\?"),
        ("--n-jobs=2 plan trn m2 o", r": --n-jobs=2; did you mean --jobs \(-j\)\?"),
        (
            "trn m2",
            r": the operand control-out is missing: expected \[control\] train model control-out \(",
        ),
        ("trn", r": the operands model, control-out are missing: expected \[control\] train"),
        ("plan trn m2 o more", r"unrecognized arguments: more"),
        ("-j -1 plan trn m2 o", r"-1 is out of range"),
        ("-0 --only m2-00 plan trn m2 o", r"exclude each other"),
        ("--only other plan trn m2 o", r"there is no model 'other'"),
        ("plan - m2 o", r"cannot come from a pipe"),
        ("-M - - m2 o", r"cannot both be standard input"),
        ("-0 plan trn m2 -", r"must be files"),
        ("-K plan trn m2 o", r"-K needs -- COMMAND"),
        ("-^ cat plan trn m2 o", r"-\^ needs -- COMMAND"),
        ("-- no-such-trainer plan trn m2 o", r"'no-such-trainer' does not exist or may"),
        ("-- 'x plan trn m2 o", r"cannot be read: No closing quotation"),
        ("-- cat| plan trn m2 o", r"must end where file names can"),
        ("-- cat -n -u plan trn m2 o", r"-- COMMAND and -u exclude each other"),
        ("plan trn m2 o --", r"option --command: expected a value"),
        ("-u plan trn m2 o", r"-u needs a normalisation"),
        ("-n -u direct trn m2 o", r"-u is for support vectors"),
        ("-M -A plan trn m2 o", r"-M and -A exclude each other"),
    ],
    ("multi_borders", 3): [
        ("-- false plan trn m2 o", r"plan:1:1: 'm2-00': the command 'false' failed with status 1"),
        ("-- true plan trn m2 o", r"the command 'true' wrote no model"),
        ("many trn m2 o", r"many:1:1: 'm2': 37 nearest neighbours need"),
    ],
    ("nfold", 1): [("1v1 trn nowhere/x", r"nowhere/x\.cls: cannot write")],
    ("nfold", 2): [
        ("trn 1v1", r"no file 'trn' but the data trn\.vec, and there is no scheme"),
        ("--label y 1v1 trn", r"--label is for tables, and 'trn' is none"),
        ("1v1 trn x.cls", r"give 'x' for x\.cls, x\.con, x\.truth, x\.txt"),
        ("--report x.txt one-vs-one trn", r"x\.txt: expected a name that ends in \.html"),
        ("--report - one-vs-one trn", r"--report -: expected a name that ends in \.html"),
        ("--report trn.cls one-vs-one trn", r"--report would overwrite train: "),
    ],
    ("order_classes", 1): [("nowhere", r"^order_classes: nowhere: cannot read")],
    ("order_classes", 2): [
        ("1v1", r"print_control -Q 1v1 DATA writes it"),
        ("--adjacent hausdorff ctl", r"--adjacent needs train"),
    ],
    ("print_control", 1): [
        ("plan", r"plan: there is no plan\.cls; it looks like a control file, not like data$"),
        ("-Q 9 directk", r"directk:1:1: a classifier of code K is not binary"),
        ("-Q 9 -y dir plan", r"plan:1:1: .*train this control file"),
    ],
    ("print_control", 2): [
        ("one-vs-one 4", r"print_control -Q one-vs-one N, for N classes, or DATA"),
        ("-Q 9 1v1", r"print_control -Q 1v1 DATA writes one"),
        ("-Q 4 -y dir 4", r"-y is for -Q convert"),
    ],
    ("simulate_decoders", 2): [
        ("nothing", r"unrecognized arguments: nothing"),
        ("--class-count 1", r"--class-count"),
    ],
    ("svm2agf", 1): [
        (
            "table.csv x",
            r"table\.csv:1: .* a table with commas: training .* `table2agf table\.csv base` makes",
        ),
        ("bad.svm x", r"bad\.svm:2: "),
        ("empty x", r"empty: has no points"),
        ("x", r"has no points"),
    ],
    ("svm2agf", 2): [
        ("wide.svm x.vec", r"give 'x' for x\.vec, x\.cls"),
        ("-L wide.svm x.dat", r"give 'x' for x\.vec, x\.dat"),
    ],
    ("svmout2agf", 1): [
        ("nothing x", r"nothing: cannot read"),
        ("empty x", r"empty: holds no results"),
    ],
    ("svmout2agf", 2): [
        ("plan", r"the operand base is missing: expected in base"),
        ("plan x.cls", r"give 'x' for x\.cls, x\.con"),
    ],
    ("table2agf", 1): [("table.csv x", r"table\.csv: no column is named class, label or target")],
    ("tune_m", 1): [],
    ("tune_m", 2): [("--space C=x 1v1 trn", r"space: C: expected")],
    ("validate_probabilities", 1): [
        ("-b trn.cls nothing", r"nothing\.cls: cannot read"),
        ("trn.cls labels", r"labels: cannot read: No such file"),
        ("labels.txt plan", r"labels\.txt: looks like text"),
    ],
    ("validate_probabilities", 2): [("-H - -", r"cannot both be")],
}


def listing():
    return {
        name: os.stat(name).st_mtime_ns if os.path.isfile(name) else None
        for name in sorted(os.listdir())
    }


@pytest.mark.parametrize("command, status", ERRORS)
def test_one_line_and_nothing_written(made, monkeypatch, run, command, status):
    monkeypatch.chdir(made)
    before = listing()
    notes = re.compile(".* is taken for .*\n|.* is LIBSVM text, and read as with -M\n")
    for words, text in ERRORS[command, status]:
        done = run(command, *words.split(), status=status)
        usage, found, last = done.err.rpartition(f"{command}: operands are missing: ")
        if usage:  # it stands above where there are no operands
            assert usage.startswith(f"usage: {command} "), usage
            done = done._replace(err=found + last)
        err = done._replace(err=notes.sub("", done.err)).refused()
        assert re.search(text, err), (words, err)
        assert listing() == before, words


def test_table_covers_every_command():
    commands = {path.name for path in (Path(__file__).resolve().parents[2] / "bin").iterdir()}
    assert commands == {command for command, _ in ERRORS}


def test_existing_outputs_survive_an_error(made, monkeypatch, run):
    monkeypatch.chdir(made)
    before = Path("all.mbm").read_bytes(), Path("trn.cls").read_bytes()
    run("mbh2mbm", "gone", "all.mbm", status=1)
    run("classify_m", "all.mbm", "inf.vec", "trn", status=1)
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
    err = run("multi_borders", "--uncalibrated", "plan", "few", "m", "ctl").line("has 3 samples")
    assert err.startswith("multi_borders: warning: ")
    assert run("multi_borders", "--quiet", "plan", "few", "m", "ctl").err == ""


def test_names_of_older_data_are_pointed_out(monkeypatch, run, tmp_path):
    monkeypatch.chdir(tmp_path)
    write("w.svm", "pine 1:1\nmoss 1:2\n")
    write("n.svm", "0 1:1\n1 1:2\n")
    assert run("svm2agf", "w.svm", "a").err == ""
    assert run("svm2agf", "n.svm", "a").err.startswith("svm2agf: warning: a.names existed before")


@pytest.mark.few(6)
@pytest.mark.parametrize("method", ["-1", *"01234567", "zadrozny-kl", "0 --header", "0 -0"])
def test_every_method_from_either_kind_of_model(made, monkeypatch, run, method, tmp_path):
    monkeypatch.chdir(made)
    answers = []
    for model in ("ctl", "all.mbm"):
        _, out, err = run("classify_m", "-Q", *method.split(), model, "trn.vec", tmp_path / "out")
        answers.append(
            (out, err, (tmp_path / "out.cls").read_bytes(), (tmp_path / "out.con").read_bytes())
        )
    assert answers[0] == answers[1]
    lines = [line for line in answers[0][1].splitlines() if "is not calibrated" not in line]
    if method == "4":
        assert lines[0].startswith("classify_m: warning: the decoder orthogonal is for strict")
    else:
        assert not lines
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
    lines = run(
        "multi_borders", *options, "-+", "-s 1 -n 0.9", "plan", "few", "m", "ctl", status=3
    ).err.splitlines()
    assert sorted(line.split("'")[0] for line in lines[:2]) == [
        "multi_borders: plan:2:1: ",
        "multi_borders: plan:3:1: ",
    ]
    assert lines[2].startswith("multi_borders: 2 of 3 binary classifiers could not be trained")
    assert len(lines) == 3
    assert sorted(os.listdir()) == ["ctl", "few.cls", "few.vec", "m-00", "plan"]
    assert Path("ctl").read_text() == "old"
