"""The data commands in real pipes, as libAGF's scripts have them."""

import os
import subprocess

import pytest


def test_binary_data_through_text_and_back(place):
    place.shell("agf2ascii trn | lvq2agf a; agf2ascii -H trn | lvq2agf -H b;"
                "agf2ascii -M trn | svm2agf c; agf2ascii -C trn | lvq2agf -C > d.vec;"
                "agf2ascii trn | lvq2agf -o > e.vec; agf2ascii trn x.lvq; cmp x.lvq trn.lvq")
    files = place.files()
    assert {files[f"{base}.vec"] for base in "abcde"} == {files["trn.vec"]}
    assert {files[f"{base}.cls"] for base in "abc"} == {files["trn.cls"]}


@pytest.mark.parametrize("command, args, file", [
    ("agf_preprocess", ["-A", "-1", "-n", "-a", "o.std", "trn.lvq"], "o.std"),
    ("agf_preprocess", ["-M", "-1", "-f", "0.5", "trn.svm", "o"], "o"),
    ("float_to_class", ["many.con", "o"], "o"), ("lvq2agf", ["-o", "trn.lvq", "-"], None),
    ("agf_preprocess", ["-P", "trn"], None)])
def test_without_a_reader_no_file_appears(place, command, args, file):
    (place / "many.con").write_bytes(b"\0\0\0\0\0\0\x80\x3f" * 10)
    before = place.files()
    read, write = os.pipe()
    os.close(read)
    done = place.run(command, *args, stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as stream:
            done = place.run(command, *args, stdout=stream)
        assert done.returncode == 1
        assert done.stderr.decode() == f"{command}: standard output: No space left on device\n"
    assert place.files() == before
    place.run(command, *args, stdout=subprocess.DEVNULL)
    assert file is None or file in place.files()
