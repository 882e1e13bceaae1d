"""Findings of several files, raised as one."""

from collections.abc import Sequence

from trundle.schema._model import SchemaError


class SchemaErrors(SchemaError):  # noqa: N818 - several errors
    """Several schemas that cannot be read; `file`, `pointer` and `reason` are those of the first."""

    def __init__(self, errors: Sequence[SchemaError]) -> None:
        first = errors[0]
        super().__init__(first.file, first.pointer, first.reason)
        self._errors = tuple(errors)
        self.findings = tuple(one for each in errors for one in each.findings)

    @property
    def errors(self) -> tuple[SchemaError, ...]:
        """The errors that this one consists of, one for each place."""
        return self._errors

    def __str__(self) -> str:
        return "\n".join(str(each) for each in self.errors)


class UnsatisfiableError(SchemaError):
    """A schema that contradicts itself, so that no value fits it."""


def raise_all(errors: Sequence[SchemaError]) -> None:
    """Raises what was found: nothing, the one error, or all of them together."""
    found = (one for each in errors for one in each.errors)
    distinct = list({str(each): each for each in found}.values())
    if len(distinct) == 1:
        raise distinct[0]
    if distinct:
        raise SchemaErrors(distinct)
