"""Modules of a generated package that are imported when one of their functions is first called."""

import importlib
from typing import Any

from trundle.runtime._first_use import FIRST_USE


class DeferredModule:
    """Stands for a module until one of its names is used, as `importlib.import_module(name, package)` names it.

    Modules of conversions call each other in circles, through all versions of a package. Imported at once, each would be imported
    within the one before it, deeper than Python's recursion limit allows where there are some hundred.
    """

    def __init__(self, name: str, package: str) -> None:
        self.__name = name
        self.__package = package

    def __getattr__(self, name: str) -> Any:
        # Tools that ask a module for `__file__` and the like import nothing.
        if name.startswith("__"):
            raise AttributeError(name)
        with FIRST_USE:
            found = getattr(importlib.import_module(self.__name, self.__package), name)
        setattr(self, name, found)
        return found
