"""Memory for kernel values."""

import pytest

from agfmc.core import memory
from agfmc.core.errors import UsageError


def test_the_environment_decides(monkeypatch):
    monkeypatch.setenv(memory.KERNEL_MEMORY, "7")
    assert memory.kernel_memory() == memory.kernel_memory(here=False) == 7
    monkeypatch.setenv(memory.KERNEL_MEMORY, "-7")
    with pytest.raises(UsageError, match="AGFMC_KERNEL_MEMORY: expected a whole number of MiB"):
        memory.kernel_memory()


@pytest.mark.parametrize(
    "free, limit, expected", [(8000, 99999, 2000), (8000, 1200, 600), (400, 99999, 512)]
)
def test_else_a_quarter_of_what_is_free_here(monkeypatch, tmp_path, free, limit, expected):
    monkeypatch.delenv(memory.KERNEL_MEMORY, raising=False)
    (tmp_path / "meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable: {free * 1024} kB\n")
    monkeypatch.setattr(memory, "_FREE", str(tmp_path / "meminfo"))
    monkeypatch.setattr(memory, "memory_limit", lambda: limit << 20)
    assert memory._share_of_free.__wrapped__() == expected
    assert memory.kernel_memory(here=False) == 512
