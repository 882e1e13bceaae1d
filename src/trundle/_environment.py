"""The environment of this process, read here alone: settings of Trundle, and where other tools keep theirs."""

import os
from collections.abc import Mapping


def variables() -> Mapping[str, str]:
    """The environment variables, as they are now."""
    return os.environ
