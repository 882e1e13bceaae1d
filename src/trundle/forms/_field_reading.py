"""Reads the fields of a step."""

from dataclasses import replace

from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar, line_of
from trundle.errors import Place, did_you_mean
from trundle.forms._attributes import (
    ATTRIBUTES,
    constant,
    is_constant,
    spelled_with_underscores,
)
from trundle.forms._errors import FormCode
from trundle.forms._findings import Findings, kind_of, text_of
from trundle.forms._model import Definition, FieldType, FormVersion
from trundle.forms._settling import place_of, wrong_attribute, wrong_pattern

_NAMED = frozenset(FieldType) - {FieldType.OBJECT}
_SINCE = {FieldType.NETWORK: FormVersion(2, 1)}
_ALSO_KNOWN = ("name", "type")
_OF_PAGES = ("widget", "widget_media", "widget_attrs", "js_validation")
_MAPPED_CHOICES = FormVersion(2, 4)


class FieldReader(Findings):
    """Reads the fields of one step.

    Args:
        file: what messages call the form.
        step: the name of the step.
        version: the version of the form.
    """

    def __init__(self, file: str, step: str, version: FormVersion) -> None:
        super().__init__(file, step)
        self._step = step
        self._version = version

    def fields(self, code: Listing) -> tuple[Definition, ...]:
        """The fields in a list, without those that cannot be read."""
        found: list[Definition] = []
        for each in code.items:
            field = self._field(each)
            if field is None:
                continue
            if field.name in {one.name for one in found}:
                expected, what = "fields with names of their own", f"{field.name} a second time"
                self.wrong(FormCode.STRUCTURE, line_of(each), expected, what, "rename it")
            found.append(field)
        return tuple(found)

    def _field(self, code: Code) -> Definition | None:
        if not isinstance(code, Mapped):
            advice = "write `name` and `type`"
            self.wrong(FormCode.STRUCTURE, line_of(code), "a field as a map", kind_of(code), advice)
            return None
        name = self._name(code)
        type_, classes = self._type(code, name or "")
        if name is None or type_ is None:
            return None
        place = Place(self.file, code.line, f"{self._step}.{name}")
        field = Definition(name, type_, classes, {}, place)
        return replace(field, attributes=self._attributes(code, field))

    def _name(self, code: Mapped) -> str | None:
        found = code.get("name")
        text = text_of(found) if found is not None else None
        if isinstance(found, Scalar) and isinstance(found.value, int | float | bool):
            text = str(found.value)
        if not text:
            what = "none" if found is None else kind_of(found)
            self.wrong(FormCode.STRUCTURE, code.line, "a name of the field", what, "write `name`")
            return None
        return text

    def _type(self, code: Mapped, name: str) -> tuple[FieldType | None, tuple[str, ...]]:
        found = code.get("type")
        items = found.items if isinstance(found, Listing) else (found,)
        names = [text_of(each) if each is not None else None for each in items]
        texts = [each for each in names if each]
        if len(texts) < len(names) or not texts:
            what = "none" if found is None else kind_of(found)
            advice = "write `type`, such as string"
            expected = f"a type of the field {name}".rstrip()
            self.wrong(FormCode.STRUCTURE, code.line, expected, what, advice)
            return None, ()
        if len(texts) == 1 and texts[0] in _NAMED:
            type_ = FieldType(texts[0])
            if self._version < _SINCE.get(type_, self._version):
                self.since(_SINCE[type_], code.line, f"a field of the type {type_}", self._version)
            return type_, ()
        for each in texts:
            if "." not in each:
                advice = did_you_mean(
                    each, sorted(map(str, _NAMED)), "write a full name of a class"
                )
                expected = "a type of fields, or the full name of a class"
                self.wrong(FormCode.STRUCTURE, line_of(found or code), expected, each, advice)
                return None, ()
        return FieldType.OBJECT, tuple(texts)

    def _attributes(self, code: Mapped, field: Definition) -> dict[str, Code]:
        found: dict[str, Code] = {}
        for key, value in code.entries:
            written = text_of(key) or kind_of(key)
            name = spelled_with_underscores(written)
            if written in _ALSO_KNOWN:
                continue
            if name in _OF_PAGES:
                self.passed_over(written, line_of(value), "it is about pages of another program")
            elif name not in ATTRIBUTES:
                self.passed_over(written, line_of(value), did_you_mean(name, ATTRIBUTES))
            elif field.type not in ATTRIBUTES[name].types:
                self.passed_over(f"{written} of a field of the type {field.type}", line_of(value))
            else:
                found[name] = self._attribute(field, written, value)
        return found

    def _attribute(self, field: Definition, written: str, code: Code) -> Code:
        name = spelled_with_underscores(written)
        attribute = ATTRIBUTES[name]
        line = line_of(code)
        if self._version < attribute.since:
            self.since(attribute.since, line, written, self._version)
        if name == "regexp_validator" and isinstance(code, Expression):
            code = Scalar(code.text, line)  # Patterns are often written without quotes
        if name == "choices" and isinstance(code, Mapped) and self._version < _MAPPED_CHOICES:
            self.since(_MAPPED_CHOICES, line, "a map of choices", self._version)
        if name == "validators":
            self._validators(code)
        elif is_constant(code):
            place = place_of(field, code)
            self.findings += wrong_attribute(name, constant(code), place)
        return code

    def _validators(self, code: Code) -> None:
        if not isinstance(code, Listing):
            advice = "write a list"
            self.wrong(
                FormCode.ATTRIBUTE, line_of(code), "a list of validators", kind_of(code), advice
            )
            return
        for each in code.items:
            rule = each.get("expr") if isinstance(each, Mapped) else None
            line = line_of(each)
            match rule:
                case Expression() | Scalar(value=bool()):
                    continue
                case Mapped() if (text := rule.get("regexpValidator")) is not None:
                    written = text.text if isinstance(text, Expression) else text_of(text)
                    if written is not None:
                        place = Place(self.file, line, self._step)
                        self.findings += wrong_pattern(written, place)
                        continue
            expected = "`expr` with an expression or a regexpValidator, and `message`"
            what = kind_of(each) if rule is None else kind_of(rule)
            advice = "write the expression without quotes"
            self.wrong(FormCode.ATTRIBUTE, line, expected, what, advice)
