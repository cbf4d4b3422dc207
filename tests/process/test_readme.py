"""README's commands, as they stand there."""

import re
import shutil



def test_from_data_to_a_tuned_model(place, root):
    for name, ours in (("trn", "train"), ("tst", "test")):
        for end in (".vec", ".cls"):
            shutil.copy(place / (name + end), place / (ours + end))
    blocks = re.findall(r"^```sh\n(.*?)^```", (root / "README.md").read_text(), re.M | re.S)
    script, = (block for block in blocks if "print_control --best" in block)
    page = place.shell(script).decode()
    assert re.search(r"^accuracy +0\.[89]", page, re.M) and "log loss" in page
    best, tuned = ((place / f"{name}.mbt").read_text() for name in ("best", "tuned"))
    options, decoder = best.splitlines()[:2]
    assert options == "# options: -c 50 -g 0.01" and decoder.startswith("# decoder: ")
    assert tuned.startswith(f"{decoder}\n") and '""' not in tuned
    name = decoder.removeprefix("# decoder: ")
    assert f"decoder           {name}," in place.ok("mbm_info", "tuned.mbm").decode()
    given = ["--tree", name] if name == "full" else ["-Q", name]
    assert (place / "answer.txt").read_bytes() == place.ok(
        "classify_m", *given, "--header", "tuned.mbm", "test.vec", "other")
