"""What the first class file that is read waits for, read before."""

from trundle.engine._declared import core_class
from trundle.engine.contracts import Where, compile_contract
from trundle.engine.expressions import Expression, Format

_FORMATS = (Format(1, 0), Format(1, 4))
"""One of each language of contracts."""


def prepare_classes() -> None:
    """Reads the grammar of expressions, the languages of contracts and the classes that come with Trundle; a process does so once."""
    for each in _FORMATS:
        compile_contract(Expression("$"), format_=each, where=Where("", ""))
    core_class("io.murano.Object")
