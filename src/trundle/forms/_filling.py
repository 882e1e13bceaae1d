"""Fills a form: takes answers step by step, and gives the object model that they describe."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from trundle.engine.expressions import Expression, Mapped
from trundle.errors import Finding, Place, did_you_mean, shown
from trundle.forms._answers import answer, is_empty
from trundle.forms._errors import FormCode, FormError
from trundle.forms._evaluation import Evaluation, Sources
from trundle.forms._findings import text_of
from trundle.forms._model import (
    NAME_FIELD,
    NAME_STEP,
    Definition,
    Field,
    FieldType,
    Form,
    Step,
)
from trundle.forms._plain_models import plain_model
from trundle.forms._settling import settled

Hidden: TypeAlias = Callable[[str, str, str], str]
"""Gives what takes the place of a password: of the names of its step and field, and of itself."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A form with answers.

    Attributes:
        answers: the answers with defaults, by step and field.
        model: the object model that they describe.
    """

    answers: dict[str, dict[str, Any]]
    model: dict[str, Any]


class Filling:
    """A form that is being filled.

    Its steps are answered in order: each field with `take`, and after them `close`.

    Args:
        form: the form.
        sources: where new ids and names come from.
        parameters: what the method gives that the form names under `ParametersSource`.
        where: what messages call the answers.

    Raises:
        FormError: a parameter cannot be computed.
    """

    def __init__(
        self,
        form: Form,
        sources: Sources,
        parameters: Mapping[str, Any] | None = None,
        where: str = "",
    ) -> None:
        self.form = form
        self._where = where
        self._evaluation = Evaluation(form, sources, parameters)

    @property
    def answers(self) -> dict[str, dict[str, Any]]:
        """The answers so far, by step and field."""
        return {name: dict(each) for name, each in self._evaluation.answers.items()}

    def begin(self, step: Step) -> None:
        """Begins a step anew."""
        self._evaluation.answers[step.name] = {}

    def field(self, definition: Definition) -> Field:
        """A field with the attributes that the answers so far give it.

        Raises:
            FormError: an attribute cannot be computed, or is not what it ought to be.
        """
        return settled(definition, self._evaluation.value)

    def take(self, step: Step, field: Field, value: Any) -> list[Finding]:
        """Takes the answer to a field; None for none.

        Returns:
            Everything that is wrong with it; then it is not kept.
        """
        place = self._place(step.name, field.name)
        taken, findings = answer(field, value, self._evaluation, place)
        self._evaluation.answers[step.name][field.name] = None if findings else taken
        return findings

    def close(self, step: Step) -> list[Finding]:
        """What the answers to a step do not fulfil together."""
        found: list[Finding] = []
        for check in step.checks:
            assert isinstance(check.rule, Expression)
            try:
                is_met = self._evaluation.holds_for_all(check.rule)
            except FormError as error:
                found += error.findings
                continue
            if not is_met:
                expected = f"answers for which {check.rule} is true"
                advice = check.message or "correct them"
                place = self._place(step.name)
                found.append(Finding(FormCode.ANSWER, place, expected, "others", advice))
        return found

    def hide(self, hidden: Hidden) -> None:
        """Puts something in place of each password, once all steps are closed.

        Args:
            hidden: gives what takes the place: it is called with the names of step and field, and the password.
        """
        for step in self.form.steps:
            given = self._evaluation.answers.get(step.name, {})
            for field in step.fields:
                if field.type is FieldType.PASSWORD and given.get(field.name):
                    given[field.name] = hidden(step.name, field.name, given[field.name])

    def model(self) -> dict[str, Any]:
        """The object model that the answers describe.

        Raises:
            FormError: it cannot be computed, is no object, or has something that JSON has not.
        """
        model = plain_model(self._evaluation.model(_without_name(self.form)), self.form.file)
        header = model.get("?") if isinstance(model, dict) else None
        if not isinstance(header, dict):
            place = Place(self.form.file, object="Application")
            expected, advice = "an object with its class under `?`", "correct the form"
            raise FormError([Finding(FormCode.MODEL, place, expected, shown(model), advice)])
        if self.form.asks_for_name:
            name = self._evaluation.answers.get(NAME_STEP, {}).get(NAME_FIELD)
            header["name"] = name
        new_id = self._evaluation.new_id
        _add_ids(model, new_id)
        found: dict[str, Any] = model
        return found

    def unknown(self, answers: Mapping[str, Any]) -> list[Finding]:
        """Findings for answers to what the form does not ask, or that are no maps."""
        steps = {each.name: each for each in self.form.steps}
        found: list[Finding] = []
        for name, values in answers.items():
            step = steps.get(name)
            if step is None:
                found.append(self._not_asked("a step of the form", name, steps, str(name)))
            elif not isinstance(values, dict):
                expected = "the answers of the step as a map"
                advice = "write each field with its value"
                place = self._place(name)
                found.append(Finding(FormCode.ANSWER, place, expected, shown(values), advice))
            else:
                known = {each.name: each for each in step.fields}
                found += [
                    self._not_asked(f"a field of {name}", each, known, name, each)
                    for each in values
                    if each not in known
                ]
        return found

    def _not_asked(self, expected: str, name: Any, known: Mapping[str, Any], *path: Any) -> Finding:
        advice = did_you_mean(str(name), known, "remove it")
        return Finding(FormCode.ANSWER, self._place(*path), expected, shown(name), advice)

    def _place(self, *path: Any) -> Place:
        return Place(self._where, path=".".join(("$", *map(str, path))))


def fill(
    form: Form,
    answers: Mapping[str, Any],
    sources: Sources,
    parameters: Mapping[str, Any] | None = None,
    where: str = "",
    hidden: Hidden | None = None,
) -> Filled:
    """Fills a form with answers.

    Args:
        form: the form.
        answers: the answers by step and field, as plain values; what is left out has its default.
        sources: where new ids and names come from.
        parameters: what the method gives that the form names under `ParametersSource`.
        where: what messages call the answers.
        hidden: gives what takes the place of a password in the model; passwords stay where None.

    Raises:
        FormError: an answer is missing or wrong, or the form cannot be computed; the error has all findings.
    """
    filling = Filling(form, sources, parameters, where)
    findings = filling.unknown(answers)
    for step in form.steps:
        filling.begin(step)
        given = answers.get(step.name)
        values = given if isinstance(given, dict) else {}
        for definition in step.fields:
            try:
                field = filling.field(definition)
            except FormError as error:
                if not findings:  # Else it may follow from a wrong answer
                    findings += error.findings
                continue
            value = values.get(field.name, field.initial)
            findings += filling.take(step, field, value)
        if not findings:
            findings += filling.close(step)
    if findings:
        raise FormError(findings)
    if hidden is not None:
        filling.hide(hidden)
    return Filled(filling.answers, filling.model())


def default_of(field: Field) -> Any:
    """The value that a field has unless another is given; None for none."""
    return None if is_empty(field, field.initial) else field.initial


def _without_name(form: Form) -> Any:
    """The object model of a form; a name in its header gives way to the one that is asked."""
    whole = form.application
    if not form.asks_for_name or not isinstance(whole, Mapped):
        return whole
    entries: list[Any] = []
    for key, value in whole.entries:
        kept = value
        if text_of(key) == "?" and isinstance(value, Mapped):
            rest = [each for each in value.entries if text_of(each[0]) != "name"]
            kept = Mapped(tuple(rest), value.line)
        entries.append((key, kept))
    return Mapped(tuple(entries), whole.line)


def _add_ids(value: Any, new_id: Any) -> None:
    """Gives every object an id that has none."""
    open_ = [value]
    while open_:
        each = open_.pop()
        if isinstance(each, dict):
            header = each.get("?")
            if isinstance(header, dict) and not header.get("id"):
                header["id"] = new_id()
            open_ += each.values()
        elif isinstance(each, list):
            open_ += each
