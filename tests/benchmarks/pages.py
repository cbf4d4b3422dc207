#!/usr/bin/env python3
"""Pages of models: how large they are, how long it takes to write and to open them.

    python tests/benchmarks/pages.py [--keep FOLDER] [--data FOLDER] [digits|ordered|letter|many]

Digits and the ordered sample are in sample_data; letter (26 classes) is LIBSVM text in FOLDER,
../shared/datasets if not told; `many` is a simulation with 200 classes.  Each page has a
model, held-out answers, a comparison and a search.  The browser is a headless Chromium, driven by
Playwright; screenshots of a phone, a laptop, a dark one and the print stay in FOLDER of --keep.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
WHERE = {"digits": ROOT / "sample_data" / "digits.svm"}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update"]
# name: (scheme of the model, training options, configurations that are compared)
SETS = {"digits": ("one-vs-one", "-c 50 -g 0.01", ("one-vs-one", "one-vs-rest", "adjacent",
                                                   "best-tree")),
        "ordered": ("best-tree", "-c 10 -g 0.005", ("one-vs-one", "one-vs-rest", "adjacent",
                                                    "best-tree")),
        "letter": ("one-vs-one", "learner=nystrom -m 600", ("one-vs-one", "one-vs-rest",
                                                           "empirical")),
        "many": ("hierarchical", "learner=nystrom -m 400", ("one-vs-rest", "hierarchical"))}


def run(folder, command, *words, to=None):
    """A command of this checkout; -> its seconds."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, str(ROOT / "bin" / command), *map(str, words)],
                          cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
                          capture_output=True, check=False)
    if done.returncode not in (0, 3):  # 3: a search that came to its time limit
        sys.exit(f"{command} {' '.join(map(str, words))}: {done.stderr.decode()}")
    if to is not None:
        (folder / to).write_bytes(done.stdout)
    return time.perf_counter() - start


def simulated(folder, k=200, each=40, d=24):
    """LIBSVM text of k normal classes around centres that are themselves in ten groups."""
    generator = np.random.default_rng(1)
    centre = 3 * generator.normal(size=(10, d))[np.arange(k) % 10] + 1.6 * generator.normal(
        size=(k, d))
    y = np.repeat(np.arange(k), each)
    x = centre[y] + generator.normal(size=(len(y), d))
    with open(folder / "many.svm", "w", encoding="utf-8") as file:
        for label, row in zip(y.tolist(), x.tolist()):
            file.write(f"{label} " + " ".join(f"{i}:{value:.4f}" for i, value in
                                              enumerate(row, 1)) + "\n")


def made(folder, name, data):
    """The page of a data set in its folder; -> seconds to write it."""
    scheme, options, compared = SETS[name]
    if name == "ordered":
        for end in (".vec", ".cls"):
            shutil.copy(ROOT / "sample_data" / f"ordered{end}", folder / f"ordered{end}")
        base = "ordered"
    else:
        if name == "many":
            simulated(folder)
        source = folder / "many.svm" if name == "many" else WHERE.get(name, data / f"{name}.svm")
        run(folder, "svm2agf", source, "data")
        base = "data"
    options = ["-+", options]
    run(folder, "print_control", "-Q", scheme, "-n", base, to="control.mbt")
    run(folder, "compare_control", "-n", *options, "--json", "--no-state", "-d", 3, "-j", 2, base,
        *compared, to="comparison.json")
    run(folder, "tune_m", "-n", "--no-state", "-j", 2, "--json", "search.json", "--time-limit", 60,
        *(["-+", options[1]] if "nystrom" in options[1] else []), "--sample", 3000, "control.mbt",
        base, to="tuned.mbt") if name != "many" else None
    run(folder, "nfold", "-n", *options, "--no-state", "-j", 2, "-d", 3, "control.mbt", base,
        "held")
    run(folder, "multi_borders", "-n", *options, "-j", 2, "control.mbt", base, "m", "m.mbc")
    run(folder, "mbh2mbm", "-a", "m.std", "m.mbc", "model.mbm")
    search = ["--search", "search.json"] if (folder / "search.json").exists() else []
    return run(folder, "report_m", "model.mbm", "--answers", "held", "--comparison",
               "comparison.json", *search, "-o", "page.html")


def opened(browser, path, shots):
    """Seconds until the page has loaded; shots: where screenshots go, or None."""
    seconds, looks = [], {"laptop": (1280, "light"), "dark": (1280, "dark"),
                          "phone": (390, "light")}
    for look, (width, scheme) in looks.items():
        context = browser.new_context(viewport={"width": width, "height": 844},
                                      color_scheme=scheme)
        page = context.new_page()
        page.goto(f"file://{path}")
        seconds.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
                       / 1000)
        if shots is not None:
            page.screenshot(path=shots / f"{look}.png", full_page=True)
            if look == "laptop":
                page.pdf(path=shots / "print.pdf", format="A4")
        context.close()
    return min(seconds), max(seconds)


def main():
    """Make the pages, open them, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keep", type=Path, help="folder in which everything stays")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "datasets")
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], default=list(SETS))
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))))
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        print(f"{'page':10s}{'kB':>8s}{'write s':>10s}{'open s':>16s}")
        for name in args.sets:
            folder = (args.keep or Path(temporary)).resolve() / name
            folder.mkdir(parents=True, exist_ok=True)
            seconds = made(folder, name, args.data)
            first, last = opened(browser, folder / "page.html", folder if args.keep else None)
            size = (folder / "page.html").stat().st_size / 1000
            print(f"{name:10s}{size:8.0f}{seconds:10.2f}{first:8.2f}-{last:.2f}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
