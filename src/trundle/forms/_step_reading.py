"""Reads the steps of a form."""

from typing import Final

from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar, line_of
from trundle.errors import Place
from trundle.forms._errors import FormCode
from trundle.forms._field_reading import FieldReader
from trundle.forms._findings import Findings, kind_of, text_of
from trundle.forms._model import (
    NAME_FIELD,
    NAME_STEP,
    Check,
    Definition,
    FieldType,
    FormVersion,
    Step,
)
from trundle.forms._settling import checks_of

MOST_FIELDS: Final = 1000
_STEP_KEYS = ("fields", "validators", "region")


class StepReader(Findings):
    """Reads the steps of one form.

    Args:
        file: what messages call the form.
        version: its version.
    """

    def __init__(self, file: str, version: FormVersion) -> None:
        super().__init__(file)
        self._version = version

    def steps(self, whole: Mapped) -> tuple[Step, ...]:
        """The steps of a form, without those that cannot be read."""
        found = whole.get("Forms")
        items: tuple[Code, ...] = ()
        if isinstance(found, Listing):
            items = found.items
        elif found is not None and found != Scalar(None):
            self.wrong(
                FormCode.STRUCTURE,
                line_of(found),
                "a list under `Forms`",
                kind_of(found),
                "correct it",
            )
        steps: list[Step] = []
        for each in items:
            step = self._step(each)
            if step is None:
                continue
            if step.name in {one.name for one in steps} | {NAME_STEP}:
                found_name = f"{step.name} a second time"
                advice = "rename it"
                self.wrong(
                    FormCode.STRUCTURE,
                    step.place.line or 0,
                    "steps with names of their own",
                    found_name,
                    advice,
                )
            steps.append(step)
        count = sum(len(each.fields) for each in steps)
        if count > MOST_FIELDS:
            self.wrong(
                FormCode.LIMIT,
                whole.line,
                f"at most {MOST_FIELDS} fields",
                str(count),
                "ask for less",
            )
        return tuple(steps)

    def _step(self, code: Code) -> Step | None:
        name = text_of(code.entries[0][0]) if isinstance(code, Mapped) and code.entries else None
        if not isinstance(code, Mapped) or not name:
            advice = "write `- NAME: {fields: [...]}`"
            self.wrong(
                FormCode.STRUCTURE, line_of(code), "a step under its name", kind_of(code), advice
            )
            return None
        for other, value in code.entries[1:]:
            self.passed_over(
                text_of(other) or "a key", line_of(value), "write it under the name of the step"
            )
        body = code.entries[0][1]
        if not isinstance(body, Mapped):
            self.wrong(
                FormCode.STRUCTURE,
                line_of(body),
                f"`fields` under `{name}`",
                kind_of(body),
                "list them",
            )
            return None
        self.unknown(body, _STEP_KEYS, f"the step {name}")
        fields = body.get("fields")
        if not isinstance(fields, Listing):
            found = "none" if fields is None else kind_of(fields)
            line = body.line if fields is None else line_of(fields)
            self.wrong(
                FormCode.STRUCTURE, line, f"a list under `fields` of {name}", found, "list them"
            )
            fields = Listing(())
        reader = FieldReader(self.file, name, self._version)
        definitions = reader.fields(fields)
        self.findings += reader.findings
        return Step(name, definitions, self._checks(body), Place(self.file, code.line, name))

    def _checks(self, body: Mapped) -> tuple[Check, ...]:
        found = body.get("validators")
        if found is None or found == Scalar(None):
            return ()
        if not isinstance(found, Listing):
            self.wrong(
                FormCode.STRUCTURE,
                line_of(found),
                "a list of validators",
                kind_of(found),
                "write a list",
            )
            return ()
        for each in found.items:
            rule = each.get("expr") if isinstance(each, Mapped) else None
            if not isinstance(rule, Expression | Scalar) or (
                isinstance(rule, Scalar) and not isinstance(rule.value, bool)
            ):
                advice = "write an expression without quotes"
                self.wrong(
                    FormCode.STRUCTURE,
                    line_of(each),
                    "`expr` with an expression, and `message`",
                    kind_of(each),
                    advice,
                )
        return checks_of(found)


def name_step(package: str, file: str) -> Step:
    """The step that asks for the name of the application."""
    attributes: dict[str, Code] = {
        "label": Scalar("Application Name"),
        "initial": Scalar(package.rpartition(".")[2] or None),
        "description": Scalar("The name of the application in its environment."),
        "regexp_validator": Scalar(r"^[-\w]+$"),
        "error_messages": Mapped(
            ((Scalar("invalid"), Scalar("letters, digits, underscores and hyphens are allowed")),)
        ),
    }
    place = Place(file, object=f"{NAME_STEP}.{NAME_FIELD}")
    field = Definition(NAME_FIELD, FieldType.STRING, (), attributes, place)
    return Step(NAME_STEP, (field,), (), place)
