"""Outputs where nothing can be written, or where something else stands: told before the work."""

import os
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest

QUICK = ("multi_borders", "classify_m", "agf_preprocess", "svmout2agf")
BASES = {  # {scene: word of the command that is the output, and its ending}
    "multi_borders": (-1, ""),
    "multi_borders, program": (-1, ""),
    "mbh2mbm": (-1, ""),
    "mbh2mbm -Z": (-1, ""),
    "mbh2mbm --libsvm": (-1, ""),
    "classify_m": (-1, ".cls"),
    "classify_m, program": (-1, ""),
    "eval_uc": (2, ""),
    "print_control, picture": (2, ""),
    "print_control, normalisation": (3, ""),
    "order_classes": (4, ""),
    "simulate_decoders": (-1, ""),
    "validate_probabilities": (-1, ""),
    "svmout2agf": (-1, ".con"),
    "agf_preprocess": (-1, ".vec"),
    "agf_preprocess, parts": (-1, "-01.cls"),
    "svm2agf": (-1, ".names"),
    "lvq2agf": (-1, ".vec"),
    "agf2ascii": (-1, ""),
    "table2agf": (-1, ".recipe"),
    "agf2ascii, table": (-1, ""),
    "float_to_class": (-1, ""),
    "nfold": (-1, ".truth"),
    "tune_m": (9, ""),
    "compare_control": (6, ""),
    "multi_borders, dry run": (-1, ""),
}


def elsewhere(scene, name):
    """The scene's words with another output, and the file that stands for it."""
    at, end = BASES[scene.name]
    words = scene.argv[1:]
    words = [scene.argv[0], *words]
    extension = Path(words[at]).suffix
    words[at] = name + extension
    return words, name + extension + end


@pytest.fixture(
    params=[pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in BASES]
)
def moved(request, make_scene):
    return make_scene(request.param)


def refused(place, words, *parts, statuses=(1,)):
    """One line, and everything is as it was."""
    before = place.files()
    done = place.call(*words)
    text = done.err
    assert done.status in statuses, text
    last = text.splitlines()[-1]
    for part in (f"{words[0]}: ", *parts):
        assert part in last, text
    after = place.files()
    after.pop("st", None)
    assert after == before
    assert not [name for name in os.listdir(place.folder) if name.startswith(".agfmc")]
    return text


@pytest.mark.few(1)
def test_no_such_folder(moved):
    words, name = elsewhere(moved, "nowhere/new")
    refused(moved.place, words, "nowhere/new")


@pytest.mark.few(2)
def test_a_folder_of_that_name(moved):
    words, name = elsewhere(moved, "new")
    (moved.place / name).mkdir()
    text = refused(moved.place, words, name)
    assert text.count("\n") == 1  # before the work, and its words


@pytest.mark.few(1)
def test_symbolic_links_that_lead_nowhere(moved):
    words, name = elsewhere(moved, "new")
    os.symlink(name, moved.place / name)
    refused(moved.place, words, name)
    (moved.place / name).unlink()
    os.symlink("nowhere/deep", moved.place / name)
    refused(moved.place, words, name)
    assert os.readlink(moved.place / name) == "nowhere/deep"


@pytest.fixture
def ordinary(monkeypatch):
    """Commands run without the privileges of root."""
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and there is no setpriv")
        return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    return []


def run_as(prefix, place, words):
    import sys

    from_bin = Path(__file__).resolve().parents[3] / "bin" / words[0]
    return subprocess.run(
        [*prefix, sys.executable, str(from_bin), *words[1:]],
        cwd=place.folder,
        env=place.env,
        capture_output=True,
        timeout=120,
    )


@pytest.mark.few(2)
def test_a_folder_that_may_not_be_written(moved, ordinary):
    place = moved.place
    before = place.files()
    words, name = elsewhere(moved, "locked/new")
    locked = place / "locked"
    locked.mkdir()
    (place / name).write_bytes(b"old")
    locked.chmod(0o555)
    done = run_as(ordinary, place, words)
    locked.chmod(0o755)
    text = done.stderr.decode()
    assert done.returncode == 1, text
    last = text.splitlines()[-1]
    assert "locked/new" in last and "Permission denied" in last, text
    assert (place / name).read_bytes() == b"old"
    assert os.listdir(locked) == [os.path.basename(name)]
    after = place.files()
    after.pop("st", None)
    assert after == before


@pytest.mark.few(2)
def test_a_file_that_may_not_be_written(moved, ordinary):
    words, name = elsewhere(moved, "new")
    place = moved.place
    (place / name).write_bytes(b"old")
    (place / name).chmod(0o444)
    done = run_as(ordinary, place, words)
    assert done.returncode == 1, done.stderr
    assert f"{name}: cannot write: Permission denied" in done.stderr.decode()
    assert (place / name).read_bytes() == b"old"


def test_a_folder_of_everybody(make_scene):
    """Sticky, as /tmp: the file of another user may be written there, but not replaced."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can make files of another user")
    scene = make_scene("classify_m")
    place = scene.place
    folder = place / "all"
    folder.mkdir()
    folder.chmod(0o1777)
    os.chown(folder, 65534, 65534)
    for name, owner in (("o.cls", 0), ("o.con", 65534)):
        (folder / name).write_bytes(b"old")
        (folder / name).chmod(0o666)
        os.chown(folder / name, owner, owner)
    done = run_as(
        ["setpriv", "--bounding-set=-all", "--inh-caps=-all"],
        place,
        ["classify_m", "model.mbm", "tst.vec", "all/o"],
    )
    assert done.returncode == 1
    assert b"all/o.con: cannot write: Operation not permitted" in done.stderr
    assert sorted(os.listdir(folder)) == ["o.cls", "o.con"]
    assert (folder / "o.con").read_bytes() == b"old"


def test_an_unchangeable_file(make_scene):
    scene = make_scene("mbh2mbm")
    target = scene.place / "x.mbm"
    for flag in "ia":
        if (
            shutil.which("chattr") is None
            or subprocess.run(["chattr", f"+{flag}", str(target)], capture_output=True).returncode
        ):
            pytest.skip("files cannot be made unchangeable here")
        try:
            refused(scene.place, scene.argv, "x.mbm: cannot write: ")
        finally:
            subprocess.run(["chattr", f"-{flag}", str(target)], check=True)


def test_a_link_to_another_file_system(make_scene):
    if not os.path.isdir("/dev/shm") or not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no /dev/shm")
    scene = make_scene("mbh2mbm")
    target = Path("/dev/shm") / f"agfmc-test-{os.getpid()}"
    target.write_bytes(b"old")
    try:
        (scene.place / "x.mbm").unlink()
        (scene.place / "x.mbm").symlink_to(target)
        scene.place.ok(*scene.argv)
        assert (scene.place / "x.mbm").is_symlink()
        assert target.read_bytes() == (scene.place / "model.mbm").read_bytes()
    finally:
        target.unlink()


def test_links_of_all_kinds(make_scene):
    scene = make_scene("mbh2mbm")
    place = scene.place
    (place / "x.mbm").unlink()
    (place / "x.mbm").symlink_to("later")  # which is not there yet
    place.ok(*scene.argv)
    assert (place / "x.mbm").is_symlink()
    wanted = (place / "later").read_bytes()
    assert wanted == (place / "model.mbm").read_bytes()
    # another name of the same file keeps what it had
    (place / "later").write_bytes(b"old")
    os.link(place / "later", place / "other")
    place.ok(*scene.argv)
    assert (place / "later").read_bytes() == wanted and (place / "other").read_bytes() == b"old"


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["new.mbm/", "folder/", "model.mbm/"])
def test_a_name_that_ends_as_of_a_folder(make_scene, name):
    scene = make_scene("mbh2mbm")
    (scene.place / "folder").mkdir()
    refused(scene.place, [*scene.argv[:-1], name], f"{name}: cannot write: ")
    assert not (scene.place / "new.mbm").exists()


def test_a_reader_of_a_fifo_that_leaves(make_scene):
    scene = make_scene("agf2ascii")
    place = scene.place
    os.mkfifo(place / "fifo")
    x = (place / "trn.vec").read_bytes()
    (place / "long.vec").write_bytes(x + x[4:] * 500)
    (place / "long.cls").write_bytes((place / "trn.cls").read_bytes() * 501)
    with place.start("agf2ascii", "-M", "long", "fifo") as process:
        with open(place / "fifo", "rb") as file:
            assert file.read(10)
        err = process.stderr.read()
        assert process.wait(60) == 141
    assert err == b"" and stat.S_ISFIFO((place / "fifo").stat().st_mode)


@pytest.mark.few(1)
@pytest.mark.parametrize("replaced", [False, True])
def test_a_folder_that_goes_while_the_work_runs(make_scene, replaced):
    """Removed, or replaced by a file: an error in one line, and no traceback."""
    scene = make_scene("classify_m")
    place = scene.place
    (place / "there").mkdir()
    with place.start(
        "classify_m",
        "model.mbm",
        "-",
        "there/out",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as process:
        process.stdin.write((place / "tst.vec").read_bytes())
        process.stdin.flush()
        end = time.monotonic() + 60
        while len(list((place / "there").iterdir())) < 2:  # one for each output
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.01)
        shutil.rmtree(place / "there")
        if replaced:
            (place / "there").write_bytes(b"a file")
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.startswith(b"classify_m: there/out.cls: cannot write: ") and err.count(b"\n") == 1


def test_an_output_that_becomes_a_folder(make_scene):
    """While the work runs; the other file, of the same answers, stays as it was."""
    scene = make_scene("classify_m")
    place = scene.place
    before = (place / "out.cls").read_bytes()
    (place / "out.con").unlink()
    with place.start(
        "classify_m", "model.mbm", "-", "out", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        process.stdin.write((place / "tst.vec").read_bytes())
        process.stdin.flush()
        end = time.monotonic() + 60
        while len(list(place.folder.glob(".agfmc-*"))) < 2:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.01)
        (place / "out.con").mkdir()
        (place / "out.con" / "something").write_bytes(b"kept")
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert b"out.con: cannot write: Is a directory" in err and err.count(b"\n") == 1
    assert (place / "out.cls").read_bytes() == before
    assert (place / "out.con" / "something").read_bytes() == b"kept"
    assert not list(place.folder.glob(".agfmc-*"))
