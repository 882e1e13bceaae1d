"""The step of a named scalar conversion."""

from trundle.evolution._lineage import Lineage
from trundle.evolution._threads import Place
from trundle.evolution.steps import CallScalar, NotNull, Optional, ValueStep
from trundle.schema import Nullable, Scalar


def change_scalar(
    lineage: Lineage, name: str, version: str, source: Place, output: Place
) -> ValueStep:
    """The step by a named conversion from one place to another; null is null where both admit it.

    Args:
        lineage: the type.
        name: the conversion.
        version: the version that a bare group gets, if the configuration gives one.
        source: the place that is read.
        output: the place that is derived.
    """
    admitted = lineage.type(output)
    bare = admitted.inner if isinstance(admitted, Nullable) else admitted
    integer = isinstance(bare, Scalar) and bare.kind == "integer"
    step = CallScalar(name, lineage.path(source)[-1], integer, version)
    if not isinstance(lineage.type(source), Nullable):
        return step
    return Optional(step) if isinstance(admitted, Nullable) else NotNull(step)
