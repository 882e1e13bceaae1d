"""Asks at the terminal what a form asks: step by step, again where an answer does not fit."""

import getpass
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trundle.cli._printing import harmless, say
from trundle.errors import Finding, expectation, shown

if TYPE_CHECKING:
    from trundle.forms import Field, Filled, Filling, Form, Hidden, Sources, Step

_YES = ("y", "yes", "true", "on")
_NO = ("n", "no", "false", "off")
_BACK, _NONE = "<", "-"
"""Answers that mean something at every question."""
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
    say(
        "Return takes what stands in brackets, `<` goes back to the question before, Ctrl-C leaves."
    )
    try:
        _Asking(filling).run()
    except KeyboardInterrupt:
        say("\nleft; nothing was changed")
        raise
    if hidden is not None:
        filling.hide(hidden)
    return Filled(filling.answers, filling.model())


class _Back(Exception):  # noqa: N818 - never leaves this module
    """The person wants to go back to the question before."""


class _Asking:
    """Asks for the fields of a form; what was answered once is the default where it is asked again."""

    def __init__(self, filling: "Filling") -> None:
        self._filling = filling
        self._given: dict[tuple[str, str], Any] = {}
        self._asked: dict[str, list[int]] = {}

    def run(self) -> None:
        """Asks until all steps are answered.

        Raises:
            FormError: the form cannot be computed.
        """
        steps = self._filling.form.steps
        at, from_behind = 0, False
        while at < len(steps):
            say(f"Step {at + 1} of {len(steps)}: {steps[at].name}")
            before = [i for i, each in enumerate(steps[:at]) if self._asked[each.name]]
            if self._step(steps[at], from_behind=from_behind, is_first=not before):
                at, from_behind = at + 1, False
            else:
                at, from_behind = before[-1], True

    def _step(self, step: "Step", *, from_behind: bool, is_first: bool) -> bool:
        """Asks for the fields of a step; false if the person goes back behind it."""
        from trundle.forms import FormError  # noqa: PLC0415

        asked = self._asked[step.name] = self._asked.get(step.name, []) if from_behind else []
        at = self._again(step, asked.pop() if asked else 0)
        while True:
            while at < len(step.fields):
                try:
                    if self._field(step, at):
                        asked.append(at)
                    at += 1
                except _Back:
                    if not asked and not is_first:
                        return False
                    if not asked:
                        say("  this is the first question")
                    at = self._again(step, asked.pop() if asked else at)
            findings = self._filling.close(step)
            if not findings:
                return True
            if not asked:
                raise FormError(findings)
            _complain(findings)
            asked.clear()
            at = self._again(step, 0)

    def _again(self, step: "Step", until: int) -> int:
        """Begins a step anew, with the answers to the fields before one of them."""
        self._filling.begin(step)
        for definition in step.fields[:until]:
            field = self._filling.field(definition)
            value = self._given.get((step.name, field.name), field.initial)
            self._filling.take(step, field, value)
        return until

    def _field(self, step: "Step", at: int) -> bool:
        """Gets the answer to a field; false if people are not asked for it.

        Raises:
            _Back: the person wants to go back.
            FormError: the form cannot be computed.
        """
        from trundle.forms import FormError, default_of  # noqa: PLC0415

        field = self._filling.field(step.fields[at])
        if field.hidden:
            if findings := self._filling.take(step, field, field.initial):
                raise FormError(findings)
            return False
        _describe(field)
        key = (step.name, field.name)
        while True:
            default = self._given.get(key, default_of(field))
            value = _answer(field, default, is_again=key in self._given)
            findings = self._filling.take(step, field, value)
            if not findings:
                self._given[key] = value
                return True
            if value == self._given.get(key):
                self._given.pop(key, None)  # It fits no more, so Return shall not give it again.
            _complain(findings)


def _complain(findings: list[Finding]) -> None:
    for each in findings:
        say(f"  {each.message}")


def _describe(field: "Field") -> None:
    for text in (field.description, field.help_text):
        if text:
            say(f"  {' '.join(text.split())}")
    for number, each in enumerate(field.choices, 1):
        say(f"  {number}) {each.title}")


def _answer(field: "Field", default: Any, *, is_again: bool) -> Any:
    """The value that a person gives; None for none.

    Args:
        field: the field.
        default: what an empty line stands for.
        is_again: whether that is what the person answered before.

    Raises:
        _Back: the person wants to go back.
    """
    from trundle.forms import FieldType, default_of  # noqa: PLC0415

    if field.type is FieldType.PASSWORD:
        return _password(field, default, is_again=is_again)
    can_be_none = not field.required and default_of(field) is not None
    hint = "" if default is None else f" [{_spelled(field, default)}]"
    optional = "" if field.required else " (optional)"
    if field.type is FieldType.BOOLEAN:
        hint, optional = (" [Y/n]" if default is True else " [y/N]"), ""
        can_be_none = False
    elif can_be_none:
        optional = f" (`{_NONE}` for none)"
    while True:
        text = _line(f"{field.label}{hint}{optional}: ")
        word = text.strip()
        if word == _BACK:
            raise _Back
        if not word:
            return default
        for chosen in _chosen(field, word):
            return chosen
        if word == _NONE and can_be_none:
            return None
        if not field.choices:
            return _READERS.get(field.type.value, _as_written)(field, text)
        say(f"  {expectation(_offered(field), shown(word))}")


def _offered(field: "Field") -> str:
    """The choices of a field, as a person can give them."""
    titles = ", ".join(shown(each.title) for each in field.choices[:12])
    count = len(field.choices)
    return f"a number from 1 to {count}, or one of {titles}" if count > 1 else f"1, or {titles}"


def _line(prompt: str) -> str:
    sys.stderr.write(harmless(prompt))
    sys.stderr.flush()
    text = sys.stdin.readline()
    if not text:
        raise KeyboardInterrupt
    return text.rstrip("\r\n")


def _password(field: "Field", default: Any, *, is_again: bool) -> Any:
    hint = " [as before]" if is_again and default else ""
    while True:
        prompt = f"{field.label}{hint}{' (optional)' if not field.required else ''}: "
        first = _unseen(prompt)
        if first == _BACK:
            raise _Back
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


def _chosen(field: "Field", word: str) -> Iterator[Any]:
    """The values that a word may mean of those that a field offers: by its number, its value or its title."""
    for each in field.choices:
        if word in (str(each.value), each.title):
            yield each.value
    if word.isdecimal() and 0 < int(word[:6]) <= len(field.choices):
        yield field.choices[int(word) - 1].value


def _network(_: "Field", text: str) -> Any:
    parts = [each.strip() or None for each in text.split("/")]
    return [*parts, None][:_NETWORK_PARTS] if len(parts) <= _NETWORK_PARTS else text


def _as_written(_: "Field", text: str) -> Any:
    return text


_READERS: dict[str, Callable[["Field", str], Any]] = {
    "boolean": _switch,
    "floatingip": _switch,
    "integer": _integer,
    "network": _network,
}
