"""A kernel that LIBSVM does not have, from training to the page."""

import numpy as np
import pytest

from data_files import write_cls, write_vec


@pytest.fixture(autouse=True)
def folder(folder):
    for name, n, seed in (("trn", 240, 1), ("tst", 120, 2)):
        x = np.random.default_rng(seed).uniform(-1, 1, size=(n, 4)).astype(np.float32)
        write_vec(f"{name}.vec", x)
        write_cls(f"{name}.cls", (x[:, 0] > 0.2) + 2 * (x[:, 1] > -0.3))
    return folder


def test_from_training_to_the_page(folder, run):
    pytest.importorskip("jinja2")
    run(
        "multi_borders",
        "-n",
        "-j",
        2,
        "--platt",
        "loo",
        "-+",
        "-t laplacian -g 0.5 -c 8",
        "one-vs-one",
        "trn",
        "m",
        "m.mbc",
    )
    run(
        "multi_borders",
        "-n",
        "-+",
        "-t laplacian -g 0.5 -c 8",
        "--platt",
        "loo",
        "one-vs-one",
        "trn",
        "n",
        "n.mbc",
    )
    first, second = ((folder / f"{name}-00").read_bytes() for name in "mn")
    assert first == second and b"kernel_type laplacian\ngamma 0.5\n" in first
    run("mbh2mbm", "m.mbc", "m.mbm")
    assert "laplacian gamma 0.5" in run("mbm_info", "m.mbm").out
    run("classify_m", "m.mbm", "tst.vec", "out.csv")
    run("classify_m", "m.mbc", "tst.vec", "again.csv")
    assert (folder / "out.csv").read_bytes() == (folder / "again.csv").read_bytes()
    assert (
        np.mean(
            np.loadtxt("out.csv", delimiter=",", skiprows=1, usecols=1)
            == np.fromfile("tst.cls", "<i4")
        )
        > 0.85
    )
    run("mbm_info", "m.mbm", "--report", "m.html")
    assert "laplacian" in (folder / "m.html").read_text()
    for form in ("--libsvm", "-Z"):
        run("mbh2mbm", form, "m.mbc", "other", status=1).refused(
            "do not have the laplacian kernel of this model: a .mbm file can hold it"
        )
    assert not (folder / "other").exists()
