"""Every command that writes, in a folder with older good files; and what may be there after harm.

SCENES: {name: (words of the command, outputs to be replaced)}.  Other outputs are new.
"""

import hashlib
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DRIVER = Path(__file__).with_name("driver.py")
ROOT = Path(__file__).resolve().parents[3]
PYTHON = shlex.quote(sys.executable)
TRAINER = """import sys
data, model = sys.argv[-2:]
open(model, "w").write(str(len(open(data).read())))
"""
PREDICTOR = """import sys
points, model, output = sys.argv[-3:]
open(output, "w").write("0\\n1\\n" * (len(open(points).readlines()) // 2))
"""
MODELS = ("m-00", "m-01", "m-02", "m.std", "ctl")
SCENES = {
    "print_control, picture": ("print_control --report p.svg 5", "p.svg"),
    "print_control, normalisation": ("print_control -n -a p.std -Q 3 trn", "p.std"),
    "multi_borders": ("multi_borders -n plan trn m ctl", "models"),
    "multi_borders, everything": (
        "multi_borders -n --retrain -j 2 --cv-errors pe.txt plan trn m ctl",
        "models pe.txt",
    ),
    "multi_borders, time limit": ("multi_borders -n --time-limit 9:00 plan trn m ctl", "models"),
    "multi_borders, processes": (
        "multi_borders -j processes:2 -n plan trn m ctl",
        "models",
    ),
    "multi_borders, direct": ("multi_borders -M direct trn.svm d dctl", "d.vec d.cls d.00 dctl"),
    "multi_borders, dry run": ("multi_borders -0 -n plan trn z zctl", "z.std zctl"),
    "multi_borders, program": (
        f"multi_borders -M -- '{PYTHON} train.py' plan trn.svm e ectl",
        "e-00 ectl",
    ),
    "multi_borders, two programs": (
        f"multi_borders -M -n -j 2 -^ cat -- '{PYTHON} train.py' plan trn.svm e ectl",
        "e-00 ectl",
    ),
    "mbh2mbm": ("mbh2mbm -a m.std ctl x.mbm", "x.mbm"),
    "mbh2mbm -Z": ("mbh2mbm -Z ctl x.asc", "x.asc"),
    "mbh2mbm --libsvm": ("mbh2mbm --libsvm ctl x.svm", "x.svm"),
    "classify_m": ("classify_m model.mbm tst.vec out", "out.cls out.con"),
    "classify_m, threads": ("classify_m -j 2 model.mbm tst.vec out", "out.cls out.con"),
    "classify_m, program": (
        f"classify_m -M -j 2 -O '{PYTHON} predict.py' ctl tst.svm answer",
        "answer",
    ),
    "eval_uc": ("eval_uc --report e.svg tst.cls out", "e.svg"),
    "compare_control": (
        "compare_control --trials 2 --state st --report c.svg trn one-vs-one tree",
        "c.svg",
    ),
    "compare_control, automatic": ("compare_control --trials 2 trn one-vs-one tree", ""),
    "nfold": ("nfold -d 3 --state st --report c.svg plan trn nf", "c.svg nf.cls nf.truth"),
    "tune_m": (
        "tune_m --space C=0:2:2 --space gamma=-2:0:2 --refine 0 --state st --report j.json "
        "--report v.csv --report t.svg plan trn",
        "j.json v.csv t.svg",
    ),
    "order_classes": ("order_classes --adjacent mean-deviation -n -a o.std plan trn", "o.std"),
    "simulate_decoders": (
        "simulate_decoders --class-count 4,6 --rounds 20 --report s.svg",
        "s.svg",
    ),
    "validate_probabilities": ("validate_probabilities -H from0.cls probs curves", "curves"),
    "svmout2agf": ("svmout2agf answers so", "so.cls so.con"),
    "agf_preprocess": (
        "agf_preprocess -n -z -f 0.3 trn pa pb",
        "pa.vec pa.cls pb.vec pb.cls pa.std",
    ),
    "agf_preprocess, parts": ("agf_preprocess -d 3 trn pd", "pd-00.vec pd-00.cls pd-02.cls"),
    "svm2agf": ("svm2agf trn-words.svm w", "w.vec w.cls w.names"),
    "lvq2agf": ("lvq2agf trn.lvq w", "w.vec w.cls"),
    "table2agf": ("table2agf -E median t.csv w", "w.vec w.cls w.names w.recipe"),
    "agf2ascii": ("agf2ascii -M trn a.txt", "a.txt"),
    "agf2ascii, table": ("agf2ascii trn a.csv.gz", "a.csv.gz"),
    "float_to_class": ("float_to_class trn.dat f.cls", "f.cls f.names"),
}
QUICK = ("mbh2mbm", "multi_borders", "multi_borders, program", "classify_m", "agf_preprocess")
TRYING = ("compare_control", "nfold", "tune_m")  # results tell seconds


@pytest.fixture(scope="session")
def stage(trained, tmp_path_factory):
    """A `Place` with data, models of an earlier run with another seed, and what else is read."""
    here = trained.at(tmp_path_factory.mktemp("stage") / "folder")
    shutil.copytree(trained.folder, here.folder)
    for words in (
        "multi_borders -n --seed 5 plan trn m ctl",
        "mbh2mbm -a m.std ctl model.mbm",
        "classify_m -Q 3 model.mbm tst.vec out",
        "agf2ascii trn t.csv",
    ):
        here.ok(*words.split())
    here.shell("sed -i '9s/,[^,]*,/,NA,/' t.csv")
    (here / "direct").write_text('"-k 3" K { "" L { 2 9 } 5 }\n')
    (here / "train.py").write_text(TRAINER)
    (here / "predict.py").write_text(PREDICTOR)
    rng = np.random.default_rng(3)
    p = rng.dirichlet([1, 1, 1], 60)
    lines = [" ".join(map(repr, row)) for row in p.tolist()]
    winners = p.argmax(axis=1).tolist()
    (here / "probs").write_text("".join(f"{line} {i}\n" for line, i in zip(lines, winners)))
    (here / "answers").write_text(
        "labels 2 5 9\n" + "".join(f"{(2, 5, 9)[i]} {line}\n" for line, i in zip(lines, winners))
    )
    truth = np.fromfile(here / "tst.cls", "<i4")
    (here / "from0.cls").write_bytes(np.searchsorted([2, 5, 9], truth).astype("<i4").tobytes())
    (here / "trn.dat").write_bytes(rng.normal(size=90).astype("<f4").tobytes())
    return here


class Scene:
    """A command and a folder for it.

    argv: its words;  outputs: the files that it replaces;  trying: results tell seconds.
    """

    def __init__(self, name, stage, folder):
        text, outputs = SCENES[name]
        self.name = name
        self.argv = shlex.split(text)
        self.trying = self.argv[0] in TRYING
        self.outputs = outputs.replace("models", " ".join(MODELS)).split()
        self.place = stage.at(folder)
        shutil.copytree(stage.folder, folder)
        if "ectl" in self.outputs or "dctl" in self.outputs or "zctl" in self.outputs:
            self.argv = [word.replace("train.py", str(folder / "train.py")) for word in self.argv]
        self.argv = [word.replace(" predict.py", f" {folder / 'predict.py'}") for word in self.argv]
        for output in self.outputs:
            if output not in MODELS and not (folder / output).exists():
                (folder / output).write_bytes(f"an older {output}\n".encode())
        self.before = digests(folder)

    def copy(self, folder):
        """The folder as it was at the beginning, elsewhere; -> `Place`."""
        shutil.copytree(self.place.folder, folder)
        place = self.place.at(folder)
        place.env["XDG_CACHE_HOME"] = str(folder / ".cache")
        return place

    def drive(self, faults, work, **more):
        """The driver's reports of these faults."""
        work.mkdir(exist_ok=True)
        spec = work / "spec.json"
        spec.write_text(
            json.dumps(
                {
                    "root": str(ROOT),
                    "template": str(self.place.folder),
                    "work": str(work),
                    "argv": self.argv,
                    "faults": faults,
                    **more,
                }
            )
        )
        env = {**self.place.env, "XDG_CACHE_HOME": str(work / "here" / ".cache")}
        done = subprocess.run(
            [sys.executable, str(DRIVER), str(spec)], env=env, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        return json.loads(done.stdout)

    def state(self, name):
        """Is this a file of unfinished work, which is another one each time?"""
        return name.startswith(("st/", ".cache")) or self.trying and (name == "c.svg")

    def wrong(self, files, new, killed=False):
        """Sentences on what must not be so with files {name: digest}, where new is all well."""
        found = []
        for name, digest in files.items():
            if any(part.startswith((".agfmc-", "agfmc-")) for part in name.split("/")):
                if not killed:
                    found.append(f"{name} is left behind")
            elif not self.state(name) and digest not in (self.before.get(name), new.get(name)):
                found.append(f"{name} is neither the old one nor complete")
        for name in self.before:
            if name not in files and (
                name not in self.outputs or not killed and name not in ("ctl", "ectl", "dctl")
            ):
                found.append(f"{name} is gone")
        models = [name for name in new if name in self.outputs and "-0" in name]
        control = {"ctl", "ectl"} & set(self.outputs) & set(files)
        if control and models:
            sides = [
                all(files.get(name) == of.get(name) for name in models) for of in (self.before, new)
            ]
            if not any(sides):
                found.append("a control file of models of two runs")
        return found

    def complete(self, files, new):
        """Are these files those of the undisturbed run?"""
        files, new = (
            {
                name: digest
                for name, digest in some.items()
                if not self.state(name) and not name.startswith((".agfmc-", "agfmc-"))
            }
            for some in (files, new)
        )
        return files == new


def digests(folder):
    """{name: digest} of all files below a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha1(path.read_bytes()).hexdigest()
        for path in Path(folder).rglob("*")
        if path.is_file() and not path.is_symlink()
    }


@pytest.fixture
def make_scene(stage, tmp_path):
    return lambda name: Scene(name, stage, tmp_path / "scene")


@pytest.fixture(params=SCENES)
def scene(request, make_scene):
    """Each of all scenes."""
    return make_scene(request.param)


@pytest.fixture(params=QUICK)
def quick_scene(request, make_scene):
    """Each of a few."""
    return make_scene(request.param)
