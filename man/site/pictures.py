"""The pictures of the site, made by the commands that its pages show."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_COMMANDS = re.compile(r"^```sh\n([^`]*)^```\n+!\[[^]]*\]\(pictures/(\S+\.svg)\)", re.M)
_EXAMPLE = re.compile(r"^```\n([^`]*)^```\n+!\[[^]]*\]\(\.\./pictures/(\S+\.svg)\)", re.M)


def drawn_pictures(docs):
    """List the pictures of the gallery and of the guide to the control language.

    Parameters
    ----------
    docs : Path
        Where the pages are.

    Returns
    -------
    list of (str, str, str)
        Commands, the name of the picture that they write, and the control file that they read. A
        picture of the gallery has the commands above it, one of the guide the control file.
    """
    gallery = (docs / "gallery.md").read_text(encoding="utf-8")
    guide = (docs / "guide" / "control.md").read_text(encoding="utf-8")
    pictures = [(script, name, "") for script, name in _COMMANDS.findall(gallery)]
    for control, name in _EXAMPLE.findall(guide):
        pictures.append((f"print_control --report {name} example.mbt", name, control))
    return pictures


def draw_pictures(docs, folder):
    """Draw all of `drawn_pictures` in `folder`; `subprocess.CalledProcessError` if one fails."""
    for script, name, control in drawn_pictures(docs):
        _draw_picture(folder / name, script, control)


def _draw_picture(picture, script, control):
    """Run commands in a folder that has `sample_data` and `example.mbt`; keep the picture."""
    commands = f"{ROOT / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": commands, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        (place / "sample_data").symlink_to(ROOT / "sample_data")
        (place / "example.mbt").write_text(control, encoding="utf-8")
        subprocess.run(
            ["sh", "-ec", script], cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL
        )
        picture.write_bytes((place / picture.name).read_bytes())
