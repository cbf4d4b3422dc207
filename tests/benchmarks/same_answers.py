"""Two checkouts compared: the same command lines, byte by byte the same files and output.

    python tests/benchmarks/same_answers.py OLD NEW [--part PART] [--keep FOLDER] [--messages]

OLD and NEW are checkouts of this project.  Each runs the lines below in a folder of its own,
which begins with OLD's sample data and NEW's golden models of libAGF, and with OLD's version
number, which stands in every model.  After each line standard output, the exit status and all files
that are new or changed are compared.  Messages on standard error may differ: they are shown
with --messages.  `--part features` runs only the lines about tables, weights, costs, landmarks,
searches, sets, calibration and pages.  The exit status is 1 where anything differs; against a
release without calibration, that `EXPECTED` does not list.

Where only one of them can calibrate probabilities, it is told not to: the decoders' own answers
are compared.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# Lines as they are typed.  What a line makes, later lines use.
LINES = """
svm2agf digits.svm digits
svm2agf -U digits.svm relabelled
svm2agf < digits.svm piped
agf2ascii digits
agf2ascii -M -n digits digits.txt
agf2ascii -H -C digits
agf_preprocess --stratified -f 0.3 digits train test
agf_preprocess -n -f 0.3 -z --seed 3 ordered otrain otest
agf_preprocess -S 5 -n ordered svd
agf_preprocess -F digits few 20 21 28 29 36 37
agf_preprocess -d 3 -z ordered part
agf_preprocess ordered joined 0 1 2 / 3 4 / 5 6 7
agf_preprocess -n -a train.std train scaled
lvq2agf -H digits.lvq lvq
lvq2agf -H -C digits.nolabel nolabel
float_to_class -q 4 values.dat values.cls
float_to_class values.dat thresholds.cls 0.2 0.5
print_control -Q one-vs-one 10 > 1v1.mbt
print_control -Q one-vs-one 8 > pairs.mbt
print_control -Q one-vs-rest 10 > 1vr.mbt
print_control -Q tree 10 > tree.mbt
print_control -Q orthogonal 10 > orthogonal.mbt
print_control -Q adjacent -P 8 > adjacent.mbt
print_control -Q tree-code 8
print_control -Q 7 -G --seed 5 8 12
print_control -Q "random draws=50" 8 12 > random.mbt
print_control -Q exhaustive 5
print_control -Q orthogonal-special --seed 2 8 6
print_control -Q 16 10
print_control -Q empirical -n train > empirical.mbt
print_control -Q "empirical metric=mean-deviation linkage=average" train
print_control -Q adjacent-ordered train
print_control -Q convert tree.mbt
print_control --report=-.dot tree.mbt
print_control -Q one-vs-one -M digits.svm
multi_borders -n -j 2 -+ "-c 50 -g 0.01" 1v1.mbt train m m.mbc
multi_borders -n --platt loo -+ "-c 50 -g 0.01" 1vr.mbt train r r.mbc
multi_borders -n -+ "-c 50 -g 0.01" empirical.mbt train e e.mbc
multi_borders -n -a poly.std -+ "-c 50 -g 0.01 -t 1 -d 2" adjacent.mbt otrain y y.mbc
multi_borders -j 2 -+ "-c 10 -g 0.005" adjacent.mbt otrain a a.mbc
multi_borders -+ "-c 10 -g 0.005" random.mbt otrain c c.mbc
multi_borders -M -+ "-c 10 -g 0.0005" tree.mbt digits.svm t t.mbc
multi_borders -+ "-c 10 -g 0.005" nested.mbt otrain n n.mbc
multi_borders direct.mbt otrain d d.mbc
multi_borders -+ "learner=logistic -c 1" adjacent.mbt otrain l l.mbc
multi_borders -+ "learner=linear -c 1" adjacent.mbt otrain q q.mbc
multi_borders -0 -n -+ "-c 50 -g 0.01" 1v1.mbt train z z.mbc
multi_borders --only a-03 -+ "-c 20 -g 0.005" adjacent.mbt otrain a x.mbc
multi_borders -n --cv-errors errors -+ "-c 50 -g 0.01" 1v1.mbt train v v.mbc
multi_borders -M -j processes:2 -+ "-c 10 -g 0.0005" tree.mbt digits.svm p p.mbc
multi_borders no-such-file.mbt train m m.mbc
order_classes --errors errors v.mbc > ordered.mbc
order_classes --priors .3,.1,.2,.4 --error-rate .1 four.mbt
order_classes --adjacent mean-deviation adjacent.mbt otrain
mbh2mbm -a m.std m.mbc digits.mbm
mbh2mbm e.mbc tree.mbm
mbh2mbm n.mbc nested.mbm
mbh2mbm d.mbc direct.mbm
mbh2mbm -Z a.mbc adjacent.mbaio
mbh2mbm -Z adjacent.mbaio adjacent.mbm
multi_borders -+ "-c 10 -g 0.005" pairs.mbt otrain o o.mbc
mbh2mbm --libsvm o.mbc pairs.model
mbh2mbm pairs.model pairs.mbm
mbm_info digits.mbm
mbm_info --json nested.mbm
mbm_info --print-control tree.mbm
classify_m --header digits.mbm test.vec answer > answer.txt
classify_m -j 2 digits.mbm - piped-answer < test.vec
classify_m -Q wu-lin-weng -a m.std m.mbc test.vec wlw
classify_m -Q ddag --count -a m.std ordered.mbc test.vec ddag
classify_m -Q poll --opponents 5 --finalists 3 --seed 4 digits.mbm test.vec poll
classify_m -Q adag digits.mbm test.vec adag
classify_m -Q -1 digits.mbm test.vec differences
classify_m -0 digits.mbm test.vec raw
classify_m -Q vote digits.mbm test.vec vote
classify_m -Q loss:hinge a.mbc otest.vec hinge
classify_m -Q argmax -a r.std r.mbc test.vec argmax
classify_m --tree full -a e.std e.mbc test.vec full
classify_m --tree path -a e.std e.mbc test.vec path
classify_m -a e.std e.mbc test.vec descent
classify_m nested.mbm otest.vec nested
classify_m -Q 2 nested.mbm otest.vec nested2
classify_m direct.mbm otest.vec direct
classify_m -Q 5 c.mbc otest.vec unconstrained
classify_m -Q 6 c.mbc otest.vec renormalised
classify_m -Q 7 c.mbc otest.vec zadrozny
classify_m -Q zadrozny-kl c.mbc otest.vec kl
classify_m l.mbc otest.vec logistic
classify_m --priors .5,.1,.1,.05,.05,.05,.05,.05,.02,.03 digits.mbm test.vec priors
classify_m -M t.mbc digits.svm text
classify_m --reject 0.9 digits.mbm test.vec reject
classify_m digits.mbm otest.vec wrong
eval_uc test.cls answer answer.txt
eval_uc --json test.cls answer answer.txt
eval_uc -b -B -k 10 test.cls answer
eval_uc --priors .5,.1,.1,.05,.05,.05,.05,.05,.02,.03 test.cls answer answer.txt
cls_comp_stats test.cls answer
cls_comp_stats -b test.cls answer
classify_m digits.mbm test.vec plain > plain.txt
validate_probabilities -H test.cls plain.txt sums.txt
validate_probabilities -H -B test.cls plain.txt
svmout2agf predicted.txt predicted
nfold -n -d 3 --seed 1 --no-state -+ "-c 50 -g 0.01" one-vs-one few held
nfold --seed 1 --json --no-state -f 0.3 --trials 2 adjacent otrain
compare_control --no-state --report=-.csv --trials 2 -+ "-c 10 -g 0.005" otrain \
one-vs-one adjacent:least-squares,vote | cut -d, -f1-3,10-
tune_m --no-state --by accuracy --space "C=0:4:4 gamma=-8:-6:2" --refine 0 -d 3 adjacent otrain
simulate_decoders --class-count 4,8 --rounds 200 --seed 7
simulate_decoders --class-count 4 --rounds 100 --report=-.csv
"""
GOLDEN = """
classify_m -Z segment/models/{code}.mbaio segment/tst.vec g
classify_m -Z -Q 7 segment/models/{code}.mbaio segment/tst.vec g7
classify_m -y segment/models segment/models/{code}.mbc segment/tst.vec gm
mbh2mbm -y segment/models segment/models/{code}.mbc {code}.mbm
"""
# Tables, weights, costs, landmarks, searches, sets, pages: what needs few points to be tried.
FEATURES = """
agf_preprocess --stratified -f 0.7 --seed 2 ordered rest small
table2agf --label species --id id --ignore comments,year -E median penguins.csv pen
table2agf --recipe pen.recipe penguins-2009.csv pen9
multi_borders --label species --id id --ignore comments,year -+ "-c 10 -g 0.1" \
one-vs-one penguins.csv w w.mbc
mbh2mbm w.mbc w.mbm
mbm_info w.mbm
mbm_info --json w.mbc.recipe
classify_m w.mbm penguins-2009.csv w.csv
classify_m --all-columns w.mbm penguins-2009.csv w.jsonl
classify_m --all-columns w.mbm penguins-2009.csv w.parquet
classify_m -Q vote w.mbm - < penguins-2009.csv
eval_uc --truth species --predicted class w.jsonl
eval_uc --json --intervals 50 --truth species w.parquet
eval_uc --data penguins-2009.csv --truth species --id id --report=-.csv w.csv
multi_borders --label species --ignore id,comments,year,class,p:Adelie,p:Chinstrap,p:Gentoo \
-+ "-c 10 -g 0.1" tree w.parquet wp wp.mbc
multi_borders -n --weight weights.txt -+ "-c 10 -g 0.1" one-vs-rest pen ww ww.mbc
multi_borders -n --class-weight balanced --platt loo -+ "-c 10 -g 0.1" one-vs-one pen wb wb.mbc
multi_borders -n --class-weight 0=2,2=.5 --weight weights.txt -+ "learner=linear" one-vs-one pen \
wl wl.mbc
multi_borders --weight year --label species --ignore id,comments -+ "learner=logistic" \
one-vs-one penguins.csv wy wy.mbc
classify_m --header ww.mbc pen9.vec ww9 > ww9.txt
classify_m wb.mbc pen9.vec wb9
classify_m --priors .5,.2,.3 wl.mbc pen9.vec wl9
classify_m --costs costs.csv --decisions wb.mbc pen9.vec wb9c
classify_m --costs costs.csv w.mbm penguins-2009.csv wc.csv
eval_uc --json --costs costs.csv --class-weight balanced --top-accuracy 2 pen9.cls ww9 ww9.txt
eval_uc --ordered --by-class --costs costs.csv pen9.cls ww9 ww9.txt
multi_borders -n -+ "learner=nystrom -m 40 -g 0.1 -l 0.01" one-vs-one pen ny ny.mbc
multi_borders -n --weight weights.txt -+ "learner=nystrom -m 40 -g 0.05" \
one-vs-rest pen nw nw.mbc
classify_m ny.mbc pen9.vec ny9
print_control -Q empirical -n small > empirical.mbt
print_control -Q "random draws=3" -G small 8 > code.mbt
print_control -Q "random-tree kind=data-balanced" small
print_control -Q "ensemble members=3 average=geometric" --seed 4 small > ensemble.mbt
multi_borders -n -+ "-c 10 -g 0.05" empirical.mbt small bt bt.mbc
multi_borders -n -+ "-c 10 -g 0.05" code.mbt small bc bc.mbc
multi_borders -n --member-weights held-out -+ "-c 10 -g 0.05" ensemble.mbt small en en.mbc
classify_m en.mbc ordered.vec en
classify_m --uncalibrated bc.mbc ordered.vec bc
classify_m --header --tree full bt.mbc ordered.vec bt > bt.txt
classify_m --stop 0.8 bt.mbc ordered.vec stopped > stopped.txt
classify_m --top 3 bt.mbc ordered.vec top > top.txt
classify_m --coverage 0.9 --by-class bc.mbc ordered.vec cover > cover.txt
classify_m --p-values --set-score aps bc.mbc ordered.vec pvalues
classify_m --max-error 0.2 --confidence 0.9 bc.mbc ordered.vec sure
eval_uc --sets cover.sets ordered.cls cover
eval_uc --json --sets stopped.sets --control bt.mbc ordered.cls bt bt.txt
calibrate_m --json -o bc2.mbc --data rest bc.mbc
calibrate_m --tree full --map matrix --folds 3 -o bt.mbm --data rest bt.mbc
calibrate_m --map temperature --data penguins-2009.csv --label species --class-weight balanced \
-o w2.mbm w.mbm
mbm_info bc2.mbc
compare_control --no-state --json --trials 1 -d 3 -+ "-c 10 -g 0.1" --costs costs.csv --by cost \
pen one-vs-one tree:recursive,full > compared.json
compare_control --no-state --report=-.md -d loo -n -+ "learner=nystrom -m 40 -g 0.1" pen \
one-vs-one one-vs-rest | cut -d"|" -f2-6,8-
tune_m --no-state --report tuned.json --report tuned.csv --space "C=0:4:4 gamma=-6:-2:4" \
--refine 0 -d 3 -n one-vs-one pen > tuned.mbt
tune_m --no-state --search full --report raced.json -+ "learner=nystrom -m 40" -d loo \
one-vs-one pen
nfold --no-state --report nfold.html -n -d 3 -+ "-c 10 -g 0.1" one-vs-one \
pen
eval_uc --truth species --predicted class --model w.mbm --report page.html w.jsonl
mbm_info --report model.html bt.mbc
agf_train --label species --id id --ignore comments,year -E median --time-limit 0 --seed 2 \
--report trained.html penguins.csv trained.mbm
agf_train --class-weight balanced -j 1 pen again.mbm
classify_m trained.mbm penguins-2009.csv trained.csv
agf_train small no-such-folder/model.mbm
classify_m --weight x bt.mbc ordered.vec wrong
multi_borders --ignore year one-vs-one pen x x.mbc
eval_uc --truth species ordered.cls cover
"""
CODES = ("m_1v1", "m_1vR", "m_adj", "m_ortho", "m_hier_lsq", "m_emp_lsq", "m_hier", "m_emp")
PARTS = "libagf", "features", "golden"
# {command: (what of its answers may differ, why)}
EXPECTED = {
    "float_to_class": (
        ("values.names only in the new", "thresholds.names only in the new"),
        "the limits of the classes are their names",
    ),
    "mbm_info": (("standard output",), "calibrations and decoders are shown"),
    "eval_uc": (("standard output",), "more scores, and intervals"),
    "nfold": (("standard output",), "more scores"),
    "compare_control": (("standard output",), "more scores"),
}
# What turns the calibration off, where it is on.
UNCALIBRATED = {
    "multi_borders": "--uncalibrated",
    **dict.fromkeys(
        ("classify_m", "nfold", "compare_control", "tune_m"),
        "--uncalibrated",
    ),
}
# Times of one run are no answers; neither are the pictures, styles and scripts of a page.
TIMES = re.compile(
    r"(training|classification), seconds [^\n]*|"
    r'"\w+_s": \{[^}]*\}|"seconds": [\d.e-]+'
)
PICTURES = re.compile(r"<(svg|style|script)\b.*?</\1>", re.DOTALL)


def lines(part=None):
    """The command lines of one part, or of all."""
    golden = "".join(GOLDEN.format(code=code) for code in CODES)
    texts = dict(zip(PARTS, (LINES, FEATURES, golden)))
    return [
        line
        for name, text in texts.items()
        if part in (None, name)
        for line in text.splitlines()
        if line
    ]


def prepare(folder, tree, golden):
    """Fill `folder` with data for the lines, the same for both checkouts."""
    sample = tree / "sample_data"
    for name in ("digits.svm", "ordered.vec", "ordered.cls", "penguins.csv", "penguins-2009.csv"):
        shutil.copy(sample / name, folder)
    shutil.unpack_archive(golden, folder)
    rows = [line.split() for line in (sample / "digits.svm").read_text().splitlines()[:200]]
    dense = [
        (row[0], [dict(w.split(":") for w in row[1:]).get(str(i), "0") for i in range(1, 65)])
        for row in rows
    ]
    (folder / "digits.lvq").write_text("".join(f"{' '.join(x)} {y}\n" for y, x in dense))
    (folder / "digits.nolabel").write_text("".join(f"{' '.join(x)}\n" for _, x in dense))
    (folder / "values.dat").write_bytes(
        struct.pack("<500f", *((i * 37 % 101) / 101 for i in range(500)))
    )
    (folder / "four.mbt").write_text(
        '"" 0 / 1;\n"" 0 / 2;\n"" 0 / 3;\n"" 1 / 2;\n"" 1 / 3;\n"" 2 / 3;\n{ 0 1 2 3 }\n'
    )
    (folder / "nested.mbt").write_text(
        '"" {\n  "" { 0 1 }\n  "" 0 / 1 2;\n  "." 0 1 / 2 3;\n'
        '  "-c 5" 0 2 / 1 3;\n  { 5 3 4 "" { 2 "" { 6 7 } } }\n}\n'
    )
    (folder / "direct.mbt").write_text('"" { "-k 5" K { 0 1 2 } "" L { 3 4 5 6 7 } }\n')
    (folder / "weights.txt").write_text("".join(f"{1 + i % 3}\n" for i in range(224)))
    (folder / "costs.csv").write_text(",0,1,2,-\n0,0,1,5,0.5\n1,2,0,1,0.5\n2,1,3,0,0.5\n")
    (folder / "predicted.txt").write_text("labels 0 1 2\n1 0.2 0.5 0.3\n2 0.125 0.25 0.625\n")


def with_version_of(old, new, folder):
    """A copy of the checkout `new` with the version number of `old`."""
    copy = folder / "new"
    shutil.copytree(new, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "build"))
    version = next(
        path
        for path in (old / "agfmc" / "core" / "version.py", old / "agfmc" / "_version.py")
        if path.exists()
    )
    shutil.copy(version, copy / "agfmc" / "core" / "version.py")
    return copy


def programs(tree, folder):
    """A folder of programs for the PATH: the commands of the checkout, run by this Python."""
    for command in sorted((tree / "bin").iterdir()):
        wrapper = folder / command.name
        wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{command}" "$@"\n')
        wrapper.chmod(0o755)
    return folder


def options_of(tree, bin_folder):
    """The part of `UNCALIBRATED` that the checkout has."""
    env = {**os.environ, "PYTHONPATH": str(tree)}
    pages = {
        start: "".join(
            subprocess.run(  # older ones show all options with --help
                [bin_folder / start.split()[0], option],
                env=env,
                text=True,
                check=False,
                capture_output=True,
            ).stdout
            for option in ("--help", "--help-all")
        )
        for start in UNCALIBRATED
    }
    return {start: option for start, option in UNCALIBRATED.items() if option in pages[start]}


def without_times(value):
    """Plain data of JSON in which all measured times are 0."""
    if isinstance(value, list):
        return [without_times(item) for item in value]
    if isinstance(value, dict):
        return {
            key: 0
            if key == "seconds" or key.endswith("_s") and not isinstance(item, dict)
            else dict.fromkeys(item, 0)
            if key.endswith("_s")
            else without_times(item)
            for key, item in value.items()
        }
    return value


def digest(path):
    """What is compared of one file: its bytes, or the text of a page.

    Times in a JSON file become 0 in the file, too: later lines make a page of it.
    """
    data = path.read_bytes()
    if path.suffix == ".json":
        try:
            data = json.dumps(without_times(json.loads(data)), indent=1).encode()
        except ValueError:
            return "no JSON"
        path.write_bytes(data)
    elif path.suffix == ".html":
        data = PICTURES.sub("", data.decode("utf-8")).encode()
    return hashlib.sha256(data).hexdigest()


def run(line, tree, bin_folder, folder, more=()):
    """(status, standard output, messages, {file: digest}) of one line.

    more: {beginning of a line: an option that such lines get here alone}.
    """
    for start, option in more.items():
        if line.startswith(f"{start} "):
            line = f"{start} {option}{line[len(start) :]}"
    env = {
        **os.environ,
        "PYTHONPATH": str(tree),
        "XDG_CACHE_HOME": str(folder / ".cache"),
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env=env,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=1800,
    )
    files = {
        path.relative_to(folder).as_posix(): digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.relative_to(folder).parts[0].startswith((".cache", "segment"))
    }
    out = TIMES.sub("TIME", done.stdout.decode("utf-8", "replace")).replace(str(tree), ".")
    for option in more.values():  # printed commands hold it
        out = out.replace(f" {option}", "")
    return done.returncode, out, done.stderr.decode("utf-8", "replace"), files


def differences(old, new):
    """What is not the same in two results of `run`."""
    if old[0] != new[0]:
        yield f"exit status {old[0]}, now {new[0]}"
    if old[1] != new[1]:
        yield "standard output"
    for name in sorted(old[3].keys() | new[3].keys()):
        if old[3].get(name) != new[3].get(name):
            yield (
                name
                if name in old[3] and name in new[3]
                else f"{name} only in the {'old' if name in old[3] else 'new'}"
            )


def main(argv=None):
    """Run the comparison; -> exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--keep", type=Path, help="a new folder where the files stay")
    parser.add_argument("--messages", action="store_true", help="show messages that differ")
    parser.add_argument(
        "--separate",
        action="store_true",
        help="each side goes on with its own files, where formats have changed",
    )
    parser.add_argument("--part", choices=PARTS, help="run only these lines")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch if args.keep is None else args.keep).resolve()
        old = args.old.resolve()
        new = with_version_of(old, args.new.resolve(), Path(scratch).resolve())
        sides = []
        for name, tree in (("a", old), ("b", new)):
            folder, commands = base / name / "work", base / name / "bin"
            folder.mkdir(parents=True)
            commands.mkdir()
            prepare(folder, old, new / "tests" / "data" / "golden" / "segment.tar.xz")
            sides.append((tree, programs(tree, commands), folder))
        has = [options_of(*side[:2]) for side in sides]
        sides = [
            (*side, {start: option for start, option in own.items() if start not in other})
            for side, own, other in zip(sides, has, has[::-1])
        ]
        return compare(
            lines(args.part),
            sides,
            args.messages,
            EXPECTED if has[0] != has[1] else {},
            args.separate,
        )


def compare(todo, sides, messages, expected, separate):
    """Run all lines on both sides and print what differs; -> exit status.

    expected: rows of `EXPECTED`;  separate: later lines do not begin with the old side's files.
    """
    bad = same = 0
    reported = {}  # with separate files, each difference once
    for line in todo:
        old, new = (run(line, *side) for side in sides)
        found = [
            text
            for text in differences(old, new)
            if not separate
            or reported.get(text) != (pair := (old[3].get(text), new[3].get(text)))
            or pair == (None, None)
        ]
        reported |= {text: (old[3].get(text), new[3].get(text)) for text in found}
        may_differ, reason = expected.get(line.split()[0], ((), ""))
        verdict = (
            "same" if not found else "expected" if set(found) <= set(may_differ) else "DIFFERS"
        )
        bad += verdict == "DIFFERS"
        same += verdict == "same"
        print(f"{verdict:8} {old[0]:3} {line}", flush=True)
        for text in found:
            print(f"             {text}")
        if verdict == "expected":
            print(f"             {reason}")
        if messages and old[2] != new[2]:
            print("        old: " + old[2].strip().replace("\n", "\n             "))
            print("        new: " + new[2].strip().replace("\n", "\n             "))
        for (_, _, source, _), (_, _, target, _) in [] if separate else [sides]:
            for name in old[3].keys() | new[3].keys():
                if old[3].get(name) == new[3].get(name):
                    continue
                if name in old[3]:
                    shutil.copy(source / name, target / name)
                else:
                    (target / name).unlink()
    print(f"{len(todo)} lines: {same} the same, {len(todo) - same - bad} expected, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
