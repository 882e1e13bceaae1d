"""Asks at the terminal what a form asks: step by step, again where an answer does not fit."""

import getpass
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from trundle.cli._printing import harmless, say
from trundle.errors import Finding

if TYPE_CHECKING:
    from trundle.forms import Field, Filled, Filling, Form, Hidden, Sources, Step

_YES = ("y", "yes", "true", "on")
_NO = ("n", "no", "false", "off")
_NETWORK_PARTS = 2


def ask(
    form: "Form",
    sources: "Sources",
    parameters: Mapping[str, Any],
    hidden: "Hidden | None" = None,
) -> "Filled":
    """A form with the answers of a person at the terminal; questions go to standard error.

    Args:
        form: the form.
        sources: where new ids and names come from.
        parameters: what the classes of the package give.
        hidden: gives what takes the place of a password in the model; passwords stay where None.

    Raises:
        FormError: the form cannot be computed.
        KeyboardInterrupt: the person does not want to go on.
    """
    from trundle.forms import Filled, Filling  # noqa: PLC0415

    filling = Filling(form, sources, parameters)
    for number, step in enumerate(form.steps, 1):
        say(f"Step {number} of {len(form.steps)}: {step.name}")
        while True:
            if _answered(filling, step):
                break
    if hidden is not None:
        filling.hide(hidden)
    return Filled(filling.answers, filling.model())


def _answered(filling: "Filling", step: "Step") -> bool:
    """Asks for all fields of a step; false if the answers do not fit together."""
    from trundle.forms import FormError  # noqa: PLC0415

    filling.begin(step)
    asked = False
    for definition in step.fields:
        field = filling.field(definition)
        if field.hidden:
            if findings := filling.take(step, field, field.initial):
                raise FormError(findings)
            continue
        asked = True
        _describe(field)
        while findings := filling.take(step, field, _answer(field)):
            _complain(findings)
    findings = filling.close(step)
    if findings and not asked:
        raise FormError(findings)
    _complain(findings)
    return not findings


def _complain(findings: list[Finding]) -> None:
    for each in findings:
        say(f"  {each.message}")


def _describe(field: "Field") -> None:
    for text in (field.description, field.help_text):
        if text:
            say(f"  {' '.join(text.split())}")
    for number, each in enumerate(field.choices, 1):
        say(f"  {number}) {each.title}")


def _answer(field: "Field") -> Any:
    """The value that a person gives; None for none."""
    from trundle.forms import FieldType, default_of  # noqa: PLC0415

    default = default_of(field)
    if field.type is FieldType.PASSWORD:
        return _password(field, default)
    hint = "" if default is None else f" [{_spelled(field, default)}]"
    optional = "" if field.required or hint else " (optional)"
    if field.type is FieldType.BOOLEAN:
        hint, optional = (" [Y/n]" if default is True else " [y/N]"), ""
    text = _line(f"{field.label}{hint}{optional}: ")
    if not text.strip():
        return default
    return _READERS.get(field.type.value, _as_written)(field, text)


def _line(prompt: str) -> str:
    sys.stderr.write(harmless(prompt))
    sys.stderr.flush()
    text = sys.stdin.readline()
    if not text:
        raise KeyboardInterrupt
    return text.rstrip("\r\n")


def _password(field: "Field", default: Any) -> Any:
    while True:
        prompt = f"{field.label}{' (optional)' if not field.required else ''}: "
        first = _unseen(prompt)
        if not first:
            return default
        if not field.confirm_input:
            return first
        if _unseen(f"{field.label}, once more: ") == first:
            return first
        say("  the two are not equal")


def _unseen(prompt: str) -> str:
    try:
        return getpass.getpass(harmless(prompt), sys.stderr)
    except EOFError:
        raise KeyboardInterrupt from None


def _spelled(field: "Field", value: Any) -> str:
    for each in field.choices:
        if each.value == value:
            return each.title
    if isinstance(value, list):
        return ", ".join(str(each) for each in value if each is not None)
    return str(value)


def _integer(_: "Field", text: str) -> Any:
    try:
        return int(text.strip())
    except ValueError:
        return text


def _switch(_: "Field", text: str) -> Any:
    word = text.strip().lower()
    return True if word in _YES else False if word in _NO else text


def _choice(field: "Field", text: str) -> Any:
    """The value of a choice, which may be given by its number, its value or its title."""
    word = text.strip()
    for each in field.choices:
        if word in (str(each.value), each.title):
            return each.value
    if word.isdecimal() and 0 < int(word[:6]) <= len(field.choices):
        return field.choices[int(word) - 1].value
    return text


def _network(_: "Field", text: str) -> Any:
    parts = [each.strip() or None for each in text.split("/")]
    return [*parts, None][:_NETWORK_PARTS] if len(parts) <= _NETWORK_PARTS else text


def _as_written(_: "Field", text: str) -> Any:
    return text


_READERS: dict[str, Callable[["Field", str], Any]] = {
    "boolean": _switch,
    "choice": _choice,
    "floatingip": _switch,
    "integer": _integer,
    "network": _network,
}
