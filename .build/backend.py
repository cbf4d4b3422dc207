"""Setuptools, after one look: LIBSVM is compiled at installation, so is there a compiler?

libsvm-official comes as source for most systems.  Without a C++ compiler its
build would fail late and at length; this says so first, in one sentence.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_wheel,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable",
    "get_requires_for_build_sdist", "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable", "prepare_metadata_for_build_wheel",
]

_COMPILERS = ("c++", "g++", "clang++", "cl")


def _libsvm_is_installed():
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    folders.add(str(Path(sys.prefix) / "Lib" / "site-packages"))
    return any((Path(folder) / "libsvm").is_dir() for folder in folders)


def _libsvm_has_a_wheel():
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                       "--only-binary", ":all:", "--dest", folder, "libsvm-official"]
            return subprocess.run(command, env=environment, capture_output=True,
                                  timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _look():
    compiler = os.environ.get("CXX", "").split()[:1]
    if any(shutil.which(name) for name in (*compiler, *_COMPILERS)):
        return
    if _libsvm_is_installed() or _libsvm_has_a_wheel():
        return
    raise SystemExit(
        "agfmc needs libsvm-official, which is compiled at installation, and no C++ compiler "
        "was found: install one first (Debian, Ubuntu: apt install g++; Fedora: dnf install "
        "gcc-c++; macOS: xcode-select --install), then repeat this command.")


def build_sdist(sdist_directory, config_settings=None):
    """The source distribution, with everything that is needed to build, test and document it."""
    manifest = Path("MANIFEST.in")
    manifest.write_text("graft .build\ngraft bin\ngraft man\ngraft sample_data\ngraft tests\n"
                        "global-exclude *.py[co]\n", encoding="ascii")
    try:
        return build_meta.build_sdist(sdist_directory, config_settings)
    finally:
        manifest.unlink()


def get_requires_for_build_wheel(config_settings=None):
    _look()
    return build_meta.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    _look()
    return build_meta.get_requires_for_build_editable(config_settings)
