"""The commands of a page of the site, as they stand there but for the number of parts."""

import re
import shlex
import sys

import pytest


@pytest.mark.long
def test_from_data_to_a_tuned_model(place, root):
    for name, ours, count in (("trn", "train", 45), ("tst", "test", 60)):
        for end, head, size in ((".vec", 4, 16), (".cls", 0, 4)):
            content = (place / (name + end)).read_bytes()
            (place / (ours + end)).write_bytes(content[: head + size * count])
    page = (root / "man/site/docs/tutorials/steps.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S)
    (script,) = (block for block in blocks if "tune_m -n" in block)
    # two parts and not five: each of them is a whole training
    page = place.shell(script.replace("nfold -n", "nfold -d 2 -n")).decode()
    assert re.search(r"^accuracy +0\.[89]", page, re.M) and "log loss" in page
    tuned = (place / "tuned.mbt").read_text()
    assert '""' not in tuned
    assert (place / "answer.txt").read_bytes() == place.ok(
        "classify_m", "--header", "tuned.mbm", "test.vec", "other"
    )


OWN = "man/site/docs/tutorials/own.md"


def test_own_codes_and_decoders_in_python(place, root):
    (place / "sample_data").symlink_to(root / "sample_data")
    blocks = re.findall(r"^```python\n(.*?)^```", (root / OWN).read_text(), re.M | re.S)
    *_, last = "".join(blocks).strip().split("\n")
    script = place / "own.py"
    script.write_text("".join(blocks) + f"print({last})\n")
    loss = float(place.shell(f"{shlex.quote(sys.executable)} own.py"))
    assert loss < 0.1


@pytest.mark.long
def test_own_codes_and_programs_in_the_shell(place, root):
    (place / "sample_data").symlink_to(root / "sample_data")
    blocks = re.findall(r"^```sh\n(.*?)^```", (root / OWN).read_text(), re.M | re.S)
    page = place.shell("set -e\n" + "".join(blocks)).decode()
    accuracies = [float(text) for text in re.findall(r"^accuracy +([0-9.]+)", page, re.M)]
    assert len(accuracies) == 2 and accuracies[0] > 0.95 and accuracies[1] > 0.85
    assert "id,class,r1,r2,r3,r4\n" in page
