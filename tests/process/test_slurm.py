"""A configuration trained as a job array by the sample script: by Slurm itself, on this machine,
and by hand, without it."""

import json
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "scancel")
PATH = os.pathsep.join((os.environ["PATH"], "/usr/sbin", "/sbin"))
PATIENCE = 90


def missing():
    """Why it cannot be tried here, or ""."""
    for program in PROGRAMS:
        if shutil.which(program, path=PATH) is None:
            return f"there is no {program}"
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    if "munge" not in (user.pw_name for user in pwd.getpwall()):
        return "there is no user munge"
    return ""


def for_real(test):
    """A test that needs Slurm."""
    return pytest.mark.slurm(pytest.mark.skipif(bool(missing()), reason=missing())(test))


class Slurm:
    """munged, slurmctld and slurmd with everything in one folder; one node of two cores."""

    def __init__(self, folder):
        self.folder = folder
        self.config = folder / "slurm.conf"
        self._daemons = []

    def start(self):
        munge = self.folder / "munge"
        munge.mkdir()
        (munge / "key").write_bytes(secrets.token_bytes(128))
        (munge / "key").chmod(0o400)
        munge.chmod(0o755)
        for path in (munge, munge / "key"):
            shutil.chown(path, "munge", "munge")
        self._daemon(
            "munged",
            "-F",
            "--force",
            f"--key-file={munge}/key",
            f"--socket={munge}/socket",
            f"--pid-file={munge}/pid",
            f"--log-file={munge}/log",
            f"--seed-file={munge}/seed",
            user="munge",
            group="munge",
            extra_groups=[],
        )
        wait_for((munge / "socket").exists, self)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        self.config.write_text(f"""\
ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={munge}/socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1
MaxArraySize=3
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        self._daemon("slurmctld", "-D", "-i", "-f", self.config)
        self._daemon("slurmd", "-D", "-f", self.config, "-N", host)
        wait_for(lambda: b" idle " in self.ask("sinfo", "-h", "-o", " %t "), self)

    @property
    def env(self):
        return {**os.environ, "SLURM_CONF": str(self.config), "PATH": PATH}

    def _daemon(self, *words, **more):
        with open(self.folder / f"{words[0]}.out", "wb") as out:
            self._daemons.append(
                subprocess.Popen(
                    list(map(str, words)),
                    cwd="/",
                    env=self.env,
                    stdout=out,
                    stderr=out,
                    stdin=subprocess.DEVNULL,
                    **more,
                )
            )

    def alive(self):
        return all(daemon.poll() is None for daemon in self._daemons)

    def ask(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, timeout=PATIENCE).stdout

    def finish(self):
        """Until no job is left in the queue."""
        wait_for(lambda: not self.ask("squeue", "-h", "-t", "PD,R,CG"), self)

    def stop(self):
        """End all daemons, and all jobs first."""
        if self.config.exists() and self.alive():
            self.ask("scancel", "--user=root", "--full")
            try:
                self.finish()
            except AssertionError:
                pass
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in reversed(self._daemons):
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(condition, slurm):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert slurm.alive() and time.monotonic() < end, "".join(
            path.read_text(errors="replace")[-2000:]
            for pattern in ("*.out", "*.log", "munge/log")
            for path in sorted(slurm.folder.glob(pattern))
        )
        time.sleep(0.1)


@pytest.fixture(scope="module")
def slurm():
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))  # munge's user must get there
    folder.chmod(0o755)
    running = Slurm(folder)
    try:
        running.start()
        yield running
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def two(place, slurm, root):
    """Two folders, for a plain run and for Slurm with the script; their names have a blank."""
    places = []
    for name in ("plain run", "job array"):
        (place / name).mkdir()
        places.append(place.at(place / name))
    _, there = places
    there.env["SLURM_CONF"] = slurm.env["SLURM_CONF"]
    shutil.copy(root / "sample_data" / "job_array.sbatch", there / "job array.sh")
    shutil.copy(root / "sample_data" / "tune_array.sbatch", there / "tune array.sh")
    return places


def models(folder, ends=("ctl", ".mbm", ".std")):
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and (path.name.startswith("m m-") or path.name.endswith(ends))
    }


def logs(place):
    return "".join(path.read_text() for path in place.folder.glob("slurm-*.out"))


@for_real
def test_job_array(two, slurm):
    """One against one of three classes is as many commands as tasks; -n, and blanks in names."""
    plain, there = two
    words = "-n -+ '-c 3' ../plan ../trn 'm m' 'the ctl'"
    plain.shell(f"multi_borders {words}; mbh2mbm -a 'm m.std' 'the ctl' 'm m.mbm'")
    said = there.shell(f"sh 'job array.sh' {words}")
    assert b"(3 tasks), then " in said
    slurm.finish()
    assert (there / "m m.mbm").exists(), logs(there)
    assert models(plain.folder) == models(there.folder) and len(models(plain.folder)) == 6


@for_real
def test_several_commands_a_task_and_a_failure(two, slurm):
    """Three classes as six classifiers on two tasks; one fails, and all is done once more."""
    plain, there = two
    plan = "".join(
        f'"" {row};\n' for row in ("0 / 1 2", "1 / 0 2", "2 / 0 1", "0 1 / 2", "0 / 1", "1 / 2")
    )
    (plain / "../six").write_text(plan + "{2 5 9}\n")
    words = "../six ../trn 'm m' 'the ctl'"
    plain.shell(f"multi_borders {words}; mbh2mbm 'the ctl' 'm m.mbm'")
    (there / "m m-03").symlink_to("gone/model")  # to a folder that is not there
    assert b"(2 tasks), then " in there.shell(f"TASKS=2 sh 'job array.sh' {words}")
    slurm.finish()
    assert not (there / "m m.mbm").exists()
    assert len(models(there.folder, ())) == 5 and "m m-03" in logs(there)
    (there / "m m-03").unlink()
    before = {path.name: path.stat().st_mtime_ns for path in there.folder.glob("m m-0*")}
    there.shell(f"TASKS=2 sh 'job array.sh' {words}")
    slurm.finish()
    assert models(plain.folder) == models(there.folder) and len(models(plain.folder)) == 8
    assert {name: (there / name).stat().st_mtime_ns for name in before} == before


SEARCH = "-n --space C=0:2:2 --space gamma=-2:0:2 --refine 0 -d 2 one-vs-one"


@for_real
def test_tuned_by_a_job_array(two, slurm):
    """One task is killed while it works; what it had done is not done again."""
    plain, there = two
    plain.shell(f"tune_m --no-state {SEARCH} ../trn >tuned.mbc")
    said = there.shell(f"TASKS=3 sh 'tune array.sh' {SEARCH} ../trn 'the tuned.mbc'").decode()
    assert "(3 tasks), then " in said
    number = said.split()[1]
    wait_for(lambda: list(there.folder.glob("the tuned.mbc.state/*")), slurm)
    slurm.ask("scancel", "--signal=KILL", f"{number}_0")
    slurm.finish()
    assert (there / "the tuned.mbc").read_bytes() == (plain / "tuned.mbc").read_bytes(), logs(there)
    assert "reused" in logs(there)


SHELLS = [shell for shell in ("sh", "bash") if shutil.which(shell)]


@pytest.fixture(params=SHELLS)
def script(request, place, root):
    """Call a script by hand in a folder; -> CompletedProcess."""

    def call(*words, name="job_array", **env):
        return subprocess.run(
            [request.param, root / "sample_data" / f"{name}.sbatch", *words],
            cwd=place.folder,
            env={**place.env, **env},
            capture_output=True,
            timeout=PATIENCE,
        )

    return call


@pytest.mark.parametrize(
    "words, env, message",
    [
        (
            "",
            {},
            "expected CONTROL TRAIN MODEL CONTROL-OUT, found 0 words: "
            "sh job_array.sbatch [OPTIONS] CONTROL TRAIN MODEL CONTROL-OUT",
        ),
        (
            "plan trn m",
            {},
            "expected CONTROL TRAIN MODEL CONTROL-OUT, found 3 words: "
            "sh job_array.sbatch [OPTIONS] CONTROL TRAIN MODEL CONTROL-OUT",
        ),
        *(
            (
                "plan trn m ctl",
                {"TASKS": tasks},
                f"TASKS is '{tasks}': expected a whole number from 1, "
                "such as TASKS=20 sh job_array.sbatch ...",
            )
            for tasks in ("0", "-1", "2.5", "many", "08", "1" * 10)
        ),
        ("--task list", {}, "expected --task LIST N, found 1 words after --task"),
        ("--task list 0", {}, "--task: '0' tasks: expected a whole number from 1"),
        (
            "--task list 2",
            {},
            "SLURM_ARRAY_TASK_ID is '': expected the number of a task of a job array, "
            "from 0; by hand, SLURM_ARRAY_TASK_ID=0 sh SCRIPT --task list 2",
        ),
        (
            "--task list 2",
            {"SLURM_ARRAY_TASK_ID": "x"},
            "SLURM_ARRAY_TASK_ID is 'x': expected the "
            "number of a task of a job array, from 0; by hand, SLURM_ARRAY_TASK_ID=0 sh SCRIPT "
            "--task list 2",
        ),
        (
            "--task gone 2",
            {"SLURM_ARRAY_TASK_ID": "0"},
            "there is no list of commands 'gone' that can be "
            "read: submit CONTROL TRAIN MODEL CONTROL-OUT again, which writes it",
        ),
        (
            "--task list 2",
            {"SLURM_ARRAY_TASK_ID": "2"},
            "there is nothing for task 2 of 0 to 1: 'list' "
            "has 2 commands; submit CONTROL TRAIN MODEL CONTROL-OUT again",
        ),
        (
            "--task list 3",
            {"SLURM_ARRAY_TASK_ID": "2"},
            "there is nothing for task 2 of 0 to 2: 'list' "
            "has 2 commands; submit CONTROL TRAIN MODEL CONTROL-OUT again",
        ),
        ("--merge list", {}, "expected --merge LIST CONTROL-OUT OUT, found 1 words after --merge"),
        (
            "--merge gone ctl m.mbm",
            {},
            "there is no list of commands 'gone' that can be read: submit "
            "CONTROL TRAIN MODEL CONTROL-OUT again, which writes it",
        ),
        (
            "--merge none ctl m.mbm",
            {},
            "'none' has no commands: submit CONTROL TRAIN MODEL CONTROL-OUT again",
        ),
    ],
)
def test_wrong_arguments_of_the_job_array(script, place, root, words, env, message):
    (place / "list").write_text("echo 1 >>done\necho 2 >>done\n")
    (place / "none").write_text("")
    done = script(*words.split(), **env)
    message = message.replace("SCRIPT", str(root / "sample_data" / "job_array.sbatch"))
    assert (done.returncode, done.stdout, done.stderr.decode()) == (
        2,
        b"",
        f"job_array.sbatch: {message}\n",
    )
    assert not (place / "done").exists()


@pytest.fixture
def submitting(place):
    """The PATH with programs in the place of Slurm's, which write `submitted`."""
    programs = place / "programs"
    programs.mkdir()
    for name, text in (
        ("scontrol", "echo MaxArraySize = 1001"),
        ("sbatch", 'echo "$@" >>submitted; echo 7'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    return f"{programs}{os.pathsep}{place.env['PATH']}"


@pytest.mark.long
def test_by_hand(script, place, submitting):
    """The tasks and the merging of the script, which a program in place of sbatch writes down."""
    done = script("-n", "plan", "trn", "m", "ctl", "TASKS", PATH=submitting)
    assert done.returncode == 2 and b"unrecognized arguments" in done.stderr
    assert not list(place.folder.glob("*.jobs*"))
    done = script("-n", "plan", "trn", "m", "ctl", TASKS="2", PATH=submitting)
    assert done.stdout == b"array 7 (2 tasks), then 7: m.mbm\n", done.stderr.decode()
    array, merge = (place / "submitted").read_text().splitlines()
    assert array.startswith("--parsable --array=0-1 ") and array.endswith(" --task m.jobs 2")
    again = "--merge m.jobs ctl m.mbm -n plan trn m ctl"
    assert "--dependency=afterok:7 " in merge and merge.endswith(f" {again}")
    for words, task in (("--task m.jobs 2", "0"), ("--task m.jobs 2", "1"), (again, "")):
        done = script(*words.split(), SLURM_ARRAY_TASK_ID=task)
        assert done.returncode == 0, done.stderr.decode()
    assert b"kept from an earlier run: 3 of 3" in done.stderr
    names = sorted(path.name for path in place.folder.glob("m-0*"))
    assert names == ["m-00", "m-01", "m-02"]
    merged = (place / "m.mbm").read_bytes()
    place.ok("multi_borders", "--retrain", "-n", "plan", "trn", "m", "ctl")
    place.ok("mbh2mbm", "-a", "m.std", "ctl", "whole.mbm")
    assert merged == (place / "whole.mbm").read_bytes()
    assert json.loads(place.ok("mbm_info", "--json", "m.mbm"))["calibration"]
    # nothing is trained again, and what cannot be calibrated is merged all the same
    for words, passed in (
        ("--retrain -n plan trn m ctl", "-n plan trn m ctl"),
        ("--uncalibrated plan trn m ctl", ""),
        ("--cv-errors e plan trn m ctl", ""),
        ("-M -- cp plan trn.svm m ctl", ""),
    ):
        assert script(*words.split(), PATH=submitting).returncode == 0
        assert (
            (place / "submitted")
            .read_text()
            .splitlines()[-1]
            .endswith(f" --merge m.jobs ctl m.mbm {passed}".rstrip())
        )
    place.ok("multi_borders", "--retrain", "-n", "plan", "trn", "m", "ctl")
    done = script(*"--merge m.jobs ctl m.mbm -n - trn m ctl".split())
    assert done.returncode == 0 and b"merged without a calibration" in done.stderr


@pytest.mark.long
def test_shared_landmarks_by_hand(script, place, submitting):
    """The array trains the others, and the second job those that share landmarks; where all do, they
    are one task."""
    for path in place.folder.glob("m-0*"):
        path.unlink()
    (place / "mixed").write_text(
        '"learner=nystrom -m 20" 0 / 1 2; "" 0 / 1; "learner=nystrom -m 9" 1 / 2; {2 5 9}'
    )
    words = ("-n", "--uncalibrated", "mixed", "trn", "m", "ctl")
    done = script(*words, PATH=submitting)
    assert done.stdout == b"array 7 (1 tasks), then 7: m.mbm\n", done.stderr.decode()
    task = script("--task", "m.jobs", "1", SLURM_ARRAY_TASK_ID="0")
    assert task.returncode == 0 and (place / "m-01").exists(), task.stderr.decode()
    assert not (place / "m-00").exists()
    merge = (place / "submitted").read_text().splitlines()[1]
    done = script(*merge[merge.index("--merge") :].split())
    assert done.returncode == 0, done.stderr.decode()
    merged = (place / "m.mbm").read_bytes()
    place.ok("multi_borders", "--retrain", *words)
    place.ok("mbh2mbm", "-a", "m.std", "ctl", "whole.mbm")
    assert merged == (place / "whole.mbm").read_bytes()
    (place / "m.jobs.last").write_text("exit 3\n")
    assert script("--merge", "m.jobs", "ctl", "m.mbm").returncode == 3
    done = script("-+", "learner=nystrom -m 20", *words[:2], "plan", *words[3:], PATH=submitting)
    assert done.stdout == b"array 7 (1 tasks), then 7: m.mbm\n", done.stderr.decode()
    assert not (place / "m.jobs.last").exists()
    task = script("--task", "m.jobs", "1", SLURM_ARRAY_TASK_ID="0")
    assert task.returncode == 0, task.stderr.decode()
    assert script("--merge", "m.jobs", "ctl", "m.mbm").returncode == 0


@pytest.mark.parametrize(
    "words, env, message",
    [
        (
            "plan trn",
            {},
            "expected CONTROL TRAIN OUT, found 2 words: TASKS=N sh tune_array.sbatch "
            "[OPTIONS] CONTROL TRAIN OUT",
        ),
        (
            "plan trn out",
            {"TASKS": "08"},
            "TASKS is '08': expected a whole number from 1, such as "
            "TASKS=20 sh tune_array.sbatch ...",
        ),
        ("--state st plan trn out", {}, "--state: the state is the folder OUT.state"),
        ("- trn out", {}, "CONTROL and TRAIN must be files: the tasks have no standard input"),
        ("plan trn -q", {}, "expected CONTROL TRAIN OUT at the end, found '-q'"),
        *(
            (
                "plan trn " + out,
                {},
                f"OUT '{out}' would overwrite '{read}', which the search reads: "
                "expected another name",
            )
            for out, read in (
                ("trn", "trn"),
                ("trn.vec", "trn.vec"),
                ("trn.cls", "trn.cls"),
                ("plan", "plan"),
                ("./trn.vec", "trn.vec"),
                ("../{folder}/plan", "plan"),
            )
        ),
    ],
)
def test_wrong_arguments_of_the_search(script, place, words, env, message):
    words, message = (text.replace("{folder}", place.folder.name) for text in (words, message))
    before = place.files()
    done = script(*words.split(), name="tune_array", **env)
    assert place.files() == before
    assert (done.returncode, done.stdout, done.stderr.decode()) == (
        2,
        b"",
        f"tune_array.sbatch: {message}\n",
    )


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "words, status, message",
    [
        ("plan nothing out", 1, "tune_m: nothing"),
        ("--time-limit 1:00 plan nothing out", 1, "tune_m: nothing"),
        ("-- plan nothing out", 1, "tune_m: nothing"),
        ("--no-such plan trn out", 2, "tune_m: "),
    ],
)
def test_wrong_operands_of_the_search(script, place, submitting, words, status, message):
    done = script(*words.split(), name="tune_array", PATH=submitting)
    assert (done.returncode, done.stdout) == (status, b"") and not (place / "submitted").exists()
    assert done.stderr.decode().startswith(message) and done.stderr.count(b"\n") <= 2


def test_usage_of_the_search_and_no_slurm(script, place):
    done = script("--help", name="tune_array")
    assert done.returncode == 0 and b"TASKS=N sh tune_array.sbatch [OPTIONS] CONTROL" in done.stdout
    (place / "bare").mkdir()
    for name in ("sh", "bash", "dash", "tune_m"):
        if found := shutil.which(name, path=place.env["PATH"]):
            (place / "bare" / name).symlink_to(found)
    done = script("plan", "trn", "out", name="tune_array", PATH=str(place / "bare"))
    assert done.returncode == 1 and b"Slurm is not here" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.long
def test_search_by_hand(script, place, submitting):
    """Two tasks at the same time, one of which is killed, and the last job."""
    words = [*SEARCH.split(), "trn"]
    done = script(*words, "out", name="tune_array", TASKS="2", PATH=submitting)
    assert done.stdout == b"array 7 (2 tasks), then 7: out\n", done.stderr.decode()
    array, last = (place / "submitted").read_text().splitlines()
    passed = " ".join(words)
    assert array.startswith("--parsable --array=0-1 ") and array.endswith(f" --task out {passed}")
    assert "--dependency=afterany:7 " in last and last.endswith(f" --last out {passed}")
    (place / "submitted").unlink()
    script("--task", "out", *words, name="tune_array")
    assert not (place / "out").exists()
    done = script("--last", "out", *words, name="tune_array")
    assert done.returncode == 0 and b"tune_m: reused " in done.stderr, done.stderr.decode()
    assert (place / "out").read_bytes() == place.ok("tune_m", "--no-state", *words)
    done = script("--last", "none", "--time-limit", "0", *words, name="tune_array")
    assert done.returncode == 3 and not list(place.folder.glob("none")), done.stderr.decode()
