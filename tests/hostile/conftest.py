"""The table of readers stands beside these tests, for them and for the fuzzers run by hand."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
