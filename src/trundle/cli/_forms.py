"""How a command gets the answers to the form of a package."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trundle.cli._failures import unmet
from trundle.cli._models import read_object
from trundle.cli._runs import RunOptions, run_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trundle.engine import Limits
    from trundle.forms import Filled, Form, Hidden
    from trundle.packages import Package


_PARAMETER_SECONDS = 60.0
"""How long the parameters of a form may take."""


def filled(
    form: "Form",
    package: "Package",
    others: "Iterable[Package]",
    values: Path | None,
    hidden: "Hidden | None" = None,
) -> "Filled":
    """A form with the answers in a file, or with those of a person at the terminal.

    Args:
        form: the form.
        package: its package.
        others: further packages that its classes use.
        values: the file, as YAML or JSON.
        hidden: gives what takes the place of a password in the model; passwords stay where None.

    Raises:
        CommandExit: there is neither a file nor a terminal.
        FormError: answers are missing or wrong.
        EngineError: the classes of the package cannot give the parameters of the form.
    """
    from trundle.forms import Sources, fill  # noqa: PLC0415

    parameters = parameters_for(form, package, others)
    if values is not None:
        given = read_object(values, "answers")
        return fill(form, given, Sources.random(), parameters, str(values), hidden)
    if not sys.stdin.isatty():
        advice = "name a file with the answers"
        raise unmet("--values", "answers in a file, or a terminal", "neither", advice)
    from trundle.cli._asking import ask  # noqa: PLC0415

    return ask(form, Sources.random(), parameters, hidden)


def without_passwords(
    form: "Form", answers: "Mapping[str, Mapping[str, Any]]"
) -> dict[str, dict[str, Any]]:
    """Answers to a form but for passwords."""
    from trundle.forms import FieldType  # noqa: PLC0415

    found: dict[str, dict[str, Any]] = {}
    for step in form.steps:
        given = answers.get(step.name, {})
        kept = [each.name for each in step.fields if each.type is not FieldType.PASSWORD]
        found[step.name] = {name: given[name] for name in kept if name in given}
    return {name: each for name, each in found.items() if each}


def parameters_for(form: "Form", package: "Package", others: "Iterable[Package]") -> dict[str, Any]:
    """The parameters that the classes of a package give its form.

    Raises:
        EngineError: they cannot be computed.
        FormError: they are no map.
    """
    from trundle.engine import Engine  # noqa: PLC0415
    from trundle.forms import parameters_of  # noqa: PLC0415

    if not form.parameters_source:
        return {}
    known = {(each.name, each.version): each for each in [*others, package]}

    def work(limits: "Limits") -> dict[str, Any]:
        with Engine(known.values(), limits=limits).session() as session:
            return parameters_of(form, package, session)

    return run_code(work, RunOptions(seconds=_PARAMETER_SECONDS))
