"""The environment of this process, read here alone: settings of Trundle, and where other tools keep theirs."""

import os
from collections.abc import Mapping


def variables() -> Mapping[str, str]:
    """The environment variables, as they are now."""
    return os.environ


def set_variable(name: str, value: str) -> None:
    """Sets an environment variable, for libraries that take settings in no other way and for programs that are started."""
    os.environ[name] = value
