"""Files whose numbers or lengths ask for memory or time, read in a process of bounded memory.

Run by test_hostile_readers.py; prints a line of JSON for each case: name, bytes of the file,
peak of memory, what came of it.

    python tests/hostile/hostile_sizes.py [thousandth of a megabyte, default 1000]
"""

import functools
import json
import resource
import signal
import sys
import tempfile
import tracemalloc
from pathlib import Path

from agfmc.core.errors import AgfmcError
from agfmc.calibration import file
from agfmc.data import class_names, confusions, libagf as vectors, libsvm, lvq, printed, reading
from agfmc.models import control_files, libagf, libsvm as libsvm_model
from agfmc.learners import logistic
from agfmc.data.types import InputFormat

ROOM = 3 << 29  # bytes of address space beyond what the process has at its start
PATIENCE = 60  # seconds: a guard against hanging, no measurement
K = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
M = 1000 * K


def svm_model(total, lines, classes=2, rho=1):
    head = (
        f"svm_type c_svc\nkernel_type linear\nnr_class {classes}\ntotal_sv {total}\n"
        f"rho{' 0' * rho}\nlabel {' '.join(map(str, range(classes)))}\n"
        f"nr_sv {total}{' 0' * (classes - 1)}\nSV\n"
    )
    return head.encode() + lines


def ascii_model(sizes, count="1"):
    return (f"SVM\na\n{{\n0\n1\n}}\nlinear\n\n{sizes}\n1 2\na\n{count}\n1 0\n 1 0\n 0\n").encode()


def all_of(read, path, *args, **more):
    return sum(1 for _ in read(path, *args, **more))


def piped(read, path):
    with open(path, "rb") as stdin:
        return read("-", stdin=stdin)


def training(**more):
    return functools.partial(reading.read_training, **more)


def a_calibration(classes, rest):
    head = (
        b'{"format": "agfmc calibration", "version": 1, "model": "0123456789abcdef", '
        b'"classes": [' + classes + b'], "source": "a", "counts": [' + classes + b"], "
    )
    return file.read_calibration, head + rest


NONE = b'"decoders": {}, "learned": '
POINTS = (
    b'"decoders": {"direct": {"map": {"kind": "none", "weights": null, "intercept": null, '
    b'"floor": 0}, "points": %s}}, "learned": null}'
)

# name: (reader, file): numbers that lie
LIES = {
    "total_sv": (libsvm_model.read_svm_model, svm_model(2 * 10**9, b"1 1:1\n")),
    "nr_class": (
        libsvm_model.read_svm_multiclass,
        svm_model(1, b"1 1:1\n").replace(b"nr_class 2", b"nr_class 1000000000"),
    ),
    "many classes": (libsvm_model.read_svm_multiclass, svm_model(0, b"", 4000, 10)),
    "wide support vectors": (
        libsvm_model.read_svm_model,
        svm_model(9000, b"1 16777216:1\n" * 9000),
    ),
    "wide in a comment": (
        libsvm_model.read_svm_model,
        svm_model(9000, b"1 1:1\n" * 9000 + b"# agfmc features 16777216\n"),
    ),
    "wide, for many classifiers": (
        libsvm_model.read_svm_multiclass,
        svm_model(6, b"1 " * 199 + b"1000000:1\n" + (b"1 " * 199 + b"1:1\n") * 5, 200, 19900),
    ),
    "feature of a support vector": (libsvm_model.read_svm_model, svm_model(1, b"1 2000000000:1\n")),
    "degree": (
        libsvm_model.read_svm_model,
        svm_model(1, b"1 1:1\n").replace(
            b"linear", b"polynomial\ngamma 1\ncoef0 0\ndegree 2000000000"
        ),
    ),
    "dense text": (libsvm.read_svm, b"1 1:1 999999999:1\n" * 50),
    "dense text, ten digits": (libsvm.read_svm, b"1 1:1 2000000000:1\n"),
    "dense text in chunks": (
        functools.partial(all_of, libsvm.iter_svm),
        b"1 1:1 999999999:1\n" * 50,
    ),
    "sparse text": (training(form=InputFormat("svm"), sparse=True), b"1 1:1 999999999:1\n" * 900),
    "labels of wide text": (
        functools.partial(reading.read_labels, form=InputFormat("svm")),
        b"1 1:1 999999999:1\n2 1:1\n",
    ),
    "lvq header": (lvq.read_lvq, b"999999999\n1 2 3\n"),
    "lvq header, ten digits": (lvq.read_lvq, b"1000000000\n1 2 3\n"),
    "vec": (vectors.read_vec, b"\xff\xff\xff\x7f" + bytes(12)),
    "vec from a pipe": (
        functools.partial(piped, vectors.read_vec),
        b"\xff\xff\xff\x7f" + bytes(12),
    ),
    "vec from a pipe, in chunks": (
        lambda path: piped(functools.partial(all_of, vectors.VecReader), path),
        b"\x00\x00\x00\x04" + bytes(12),
    ),
    "std": (vectors.read_std, b"\xff\xff\xff\x7f" + bytes(12)),
    "position": (control_files.read_control, b"m 0 / 999999999; {0 1}"),
    "position, ten digits": (control_files.read_control, b"m 0 / 9999999999; {0 1}"),
    "label": (control_files.read_control, b"m {0 " + b"9" * 5000 + b"}"),
    "ascii vectors": (libagf.read_ascii_model, ascii_model("2000000000 2")),
    "ascii features": (libagf.read_ascii_model, ascii_model("1 2000000000")),
    "ascii no vectors": (libagf.read_ascii_model, ascii_model("0 2000000000")),
    "ascii coefficients": (libagf.read_ascii_model, ascii_model("1 2", "2000000000")),
    "logistic classes": (
        logistic.read_logistic_model,
        b"agfmc logistic 1\nclasses 999999999999\nfeatures 2\nridge 1\npoints 1\n",
    ),
    "logistic features": (
        logistic.read_logistic_model,
        b"agfmc logistic 1\nclasses 2\nfeatures 999999999999\nridge 1\npoints 1\n1 2\n1 2\n",
    ),
    "pairs": (
        confusions.read_pair_errors,
        b"".join(b"%d %d 1 0 1 0\n" % (2 * i, 2 * i + 1) for i in range(2000)),
    ),
    "pairs, counts": (confusions.read_pair_errors, b"0 1 99999999999999999999 0 1 0\n"),
    "confusions": (
        confusions.read_confusions,
        b'{"labels": [0, 1], "contingency": [[1e400, 1], [1, 999999999999999999999999]]}',
    ),
    "calibration points": a_calibration(b"0, 1", POINTS % (b"[" * 10**5)),
    "calibration points of text": a_calibration(
        b"0, 1", POINTS % (b'{"label": ["' + b"a" * 10**4 + b'"' + b', ""' * 10**4 + b"]}")
    ),
    "calibrated classes": a_calibration(b"0, 1, 999999999999", NONE + b"null}"),
    "calibrated counts": a_calibration(b"0, 99999999999999999999", NONE + b"null}"),
    "a learned decoder of text": a_calibration(
        b"0, 1",
        NONE
        + (
            b'{"intercept": [0, 0], "weights": [["'
            + b"a" * 10**4
            + b'"], ['
            + b"1, " * 10**4
            + b"1]]}}"
        ),
    ),
    "held-out values": (
        lambda path: libsvm_model.held_out_values(Path(path).read_bytes(), path),
        b"SV\n# agfmc held out 999999999999 AACAPw==\n",
    ),
    "classes of predictions": (printed.read_svm_output, b"labels 1 2147483648\n1 1 0\n"),
}

# name: (reader, file of some megabytes): what takes no more than in proportion
LARGE = {
    "control of braces": (control_files.read_control, b"{" * (4 * M)),
    "control of models": (control_files.read_control, b"a{" * (2 * M)),
    "control of quotes": (control_files.read_control, b'"' * (4 * M)),
    "control of escapes": (control_files.read_control, b'"' + b'\\"' * (2 * M)),
    "control, a long name": (control_files.read_control, b'"' + b"a" * (4 * M) + b'" {0 1}'),
    "control of comments": (control_files.read_control, b"#\n" * (2 * M) + b"a{0 1}"),
    "control of blank comments": (control_files.read_control, b"# \n\n " * M + b"a{0 1}"),
    "control of class names": (
        control_files.read_control,
        b"# class 1: a\n" * (300 * K) + b"a{0 1}",
    ),
    "control of headings": (control_files.read_control, b"# decoder: a\n" * (300 * K) + b"a{0 1}"),
    "control, a long heading": (
        control_files.read_control,
        b"# options: -" + b"c" * (4 * M) + b"\na{0 1}",
    ),
    "control, blanks for a class name": (
        control_files.read_control,
        b"# class 1:" + b" " * (4 * M) + b"\na{0 1}",
    ),
    "control of partitions": (control_files.read_control, b"a 0 / 1;\n" * (100 * K) + b"{0 1}"),
    "control of classes": (
        control_files.read_control,
        b"a K {" + b"\n".join(b"%d" % i for i in range(200 * K)) + b"}",
    ),
    "control of positions": (
        control_files.read_control,
        b"a " + b" ".join(b"%d" % i for i in range(200 * K)) + b" / 999999; {0 1}",
    ),
    "names": (class_names.read_names, b"\n".join(b"n%d" % i for i in range(300 * K))),
    "one name": (class_names.read_names, (b"a" * (2 * M) + b"\n") * 2),
    "words": (libsvm.read_svm, b"".join(b"w%x 1:1\n" % i for i in range(200 * K))),
    "a long word": (libsvm.read_svm, b"a" * (2 * M) + b" 1:1\n" + b"1 1:1\n" * (200 * K)),
    "a long word passed over": (
        functools.partial(all_of, libsvm.iter_svm),
        b"a" * M + b" 1:1\n" + b"1 1:1\n" * (200 * K),
    ),
    "a long label": (libsvm.read_svm, b"0" * M + b"1 1:1\n" + b"1 1:1\n" * (200 * K)),
    "a long value": (libsvm.read_svm, b"1 1:0." + b"3" * (2 * M) + b"\n" + b"1 1:1\n" * (100 * K)),
    "a long line": (libsvm.read_svm, b"1" + b"".join(b" %d:1" % i for i in range(1, 300 * K))),
    "a long line that is wrong": (libsvm.read_svm, b"1" + b" a" * (2 * M)),
    "labels alone": (libsvm.read_svm, b"1\n" * (2 * M)),
    "blank lines": (libsvm.read_svm, b"\n" * (4 * M)),
    "blanks": (libsvm.read_svm, b" " * (4 * M)),
    "comments": (libsvm.read_svm, b"#\n" * (2 * M)),
    "wider and wider": (libsvm.read_svm, b"".join(b"1 %d:1\n" % i for i in range(1, 1 + K))),
    "lvq, a long word": (lvq.read_lvq, b"1\n1 " + b"a" * (2 * M) + b"\n" + b"1 1\n" * (200 * K)),
    "lvq, a long word passed over": (
        functools.partial(all_of, lvq.iter_lvq),
        b"1\n1 " + b"a" * M + b"\n" + b"1 1\n" * (200 * K),
    ),
    "classifiers": (libsvm_model.read_svm_multiclass, svm_model(0, b"", 300, 44850)),
    "support vectors": (libsvm_model.read_svm_model, svm_model(200 * K, b"1 1:1\n" * (200 * K))),
    "a long support vector": (
        libsvm_model.read_svm_model,
        svm_model(1, b"1" + b"".join(b" %d:1" % i for i in range(1, 300 * K)) + b"\n"),
    ),
    "a number of many digits": (
        libsvm_model.read_svm_model,
        svm_model(1, b"1" * (2 * M) + b" 1:1\n"),
    ),
    "rho of many digits": (
        libsvm_model.read_svm_model,
        svm_model(1, b"1 1:1\n").replace(b"rho 0", b"rho 0." + b"7" * (2 * M)),
    ),
    "label of many digits": (
        libsvm_model.read_svm_model,
        svm_model(1, b"1 1:1\n").replace(b"label 0 1", b"label 0 " + b"0" * (2 * M) + b"1"),
    ),
    "ascii model of quotes": (libagf.read_ascii_model, b'SVM\n"' + b'\\"' * (2 * M) + b"\n"),
    "ascii model of braces": (libagf.read_ascii_model, b"SVM\n" + b"a{" * (2 * M) + b"\n"),
    "ascii model of comments": (libagf.read_ascii_model, b"SVM\n" + b"#\n" * (2 * M)),
    "ascii model of kernels": (libagf.read_ascii_model, b"SVM\n" + b"linear \t" * M + b"\n"),
    "ascii model of blanks": (libagf.read_ascii_model, b"SVM\n" + b" \t" * (2 * M) + b"\n"),
    "logistic weights": (
        logistic.read_logistic_model,
        b"agfmc logistic 1\nclasses 2\nfeatures %d\nridge 1\npoints 1\n" % (500 * K - 1)
        + (b"1 " * (500 * K) + b"\n") * 2,
    ),
    "logistic blanks": (
        logistic.read_logistic_model,
        b"agfmc logistic 1\nclasses 2\nfeatures 999999\nridge 1\npoints 1\n"
        + (b" " * (2 * M) + b"\n") * 2,
    ),
    "probabilities": (printed.read_probabilities, b"0.5 0.5 1\n" * (300 * K)),
    "a long line of probabilities": (printed.read_probabilities, b"0 " * (2 * M)),
    "blank lines of probabilities": (printed.read_probabilities, b"\n" * (3 * M)),
    "pairs again": (confusions.read_pair_errors, b"0 1 1 0 1 0\n" * (200 * K)),
    "many labels of pairs": (
        confusions.read_pair_errors,
        b"".join(b"%d %d 1 0 1 0\n" % (2 * i, 2 * i + 1) for i in range(100 * K)),
    ),
    "a word of pairs": (confusions.read_pair_errors, b"a" * (4 * M) + b" 1 2 3 4\n"),
    "json of brackets": (confusions.read_confusions, b'{"a":' + b"[" * (2 * M)),
    "json of lists": (confusions.read_confusions, b'{"a":[' + b"[]," * M + b"1]}"),
    "json of digits": (confusions.read_confusions, b'{"labels":[' + b"1" * (4 * M) + b"]}"),
    "json of labels": (confusions.read_confusions, b'{"labels":[' + b"1," * M + b"1]}"),
    "json, a long text": (confusions.read_confusions, b'{"labels":["' + b"a" * (4 * M) + b'"]}'),
    "many calibration points": a_calibration(
        b"0, 1", POINTS % (b'{"label": [0' + b", 1" * (300 * K) + b"]}")
    ),
    "many held-out values": (
        lambda path: libsvm_model.held_out_values(Path(path).read_bytes(), path),
        b"SV\n# agfmc held out %d " % (3 * M // 4) + b"AAAA" * M + b"\n",
    ),
    "predicted classes": (printed.read_svm_output, b"1\n" * (500 * K)),
    "labels of predictions": (
        printed.read_svm_output,
        b"labels " + b" ".join(b"%d" % i for i in range(200 * K)) + b"\n1 2\n",
    ),
}


def bell(number, frame):
    raise TimeoutError(f"takes more than {PATIENCE} s")


def main():
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    signal.signal(signal.SIGALRM, bell)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/input"
        for name, (read, data) in {**LIES, **LARGE}.items():
            Path(path).write_bytes(data)
            tracemalloc.start()
            signal.alarm(PATIENCE)
            try:
                read(path)
                ending = "result"
            except AgfmcError as error:
                ending = f"refused: {error}".replace(path, "FILE")
            except BaseException as error:
                ending = f"{type(error).__name__}: {error}"[:300]
            signal.alarm(0)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(json.dumps([name, len(data), peak, ending]), flush=True)


if __name__ == "__main__":
    main()
