"""Lets these tests spell small evolutions as those of the laws do."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "laws"))
