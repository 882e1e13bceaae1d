"""A text that a user edits, in YAML or in a form of it. The text is what counts; the form changes it place by place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from trundle.dashboard._api_client import ApiRefusedError
from trundle.dashboard._fields import Group, fields_in, groups_in, parts_in
from trundle.dashboard._form_changes import Changed, as_shown, extended, filled_in, moved, reduced
from trundle.dashboard._nodes import document_nodes, yaml_of
from trundle.dashboard._schema_form import DocumentForm
from trundle.documents import MapNode, Node
from trundle.errors import TrundleError, expectation

_MOST = 1000
"""How many fields a form has at most."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A text, and the form of it.

    Attributes:
        text: the document.
        form: its form; None where it is shown as YAML.
        typed: what fields have that could not be written into the text, by their names.
        problems: why not.
        focus: the name of the field that the user goes on with, or what a button does; may be empty.
        note: what a user should know about the form; may be empty.
    """

    text: str
    form: Group | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    focus: str = ""
    note: str = ""

    def at_fields(self, causes: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
        """What is wrong, by the name of the field or group that is nearest to the place.

        Args:
            causes: places, as the API names them, and what is wrong there.
        """
        if self.form is None:
            return {}
        found: dict[str, list[str]] = {key: [each] for key, each in self.problems.items()}
        for place, message in causes:
            found.setdefault(nearest(self.form, place), []).append(message)
        return found


def nearest(form: Group | None, place: str) -> str:
    """The name of the field or group that is nearest to a place as the API names it; empty where none is near."""
    every = () if form is None else (each for each in parts_in(form) if each.path)
    holding = [each for each in every if _holds(each.place, place)]
    return max(holding, key=lambda each: len(each.place)).name if holding else ""


def drafted(maker: DocumentForm, text: str, focus: str = "") -> Draft:
    """A text with its form; without one, and with the reason, where it cannot have one."""
    try:
        document = document_of(text)
    except ApiRefusedError as error:
        return Draft(text, note=f"There is no form of this text. {error.message}")
    form = maker.of(document)
    number = sum(1 for _ in fields_in(form))
    if number > _MOST:
        return Draft(text, note=f"A form of {number} fields would be too long for a page.")
    note = ""
    if yaml_of(document) != text:
        note = "What you change here writes the text in YAML anew, without its comments."
    return Draft(text, form, focus=_focused(form, focus), note=note)


def sent(maker: DocumentForm, text: str, given: Mapping[str, str]) -> Draft:
    """A text after its form was sent: with what was filled in, and with what was added or removed.

    Args:
        maker: makes its form.
        text: the text that the form was made from.
        given: what the browser sent; `do` is `add` or `remove` and a name, or something else.

    Raises:
        ApiRefusedError: the form is not one of this text.
    """
    document = document_of(text)
    form = maker.of(document)
    first = filled_in(form, document, given)
    changed = first
    if not first.problems:
        changed = _acted(maker, form, first, given.get("do", ""))
    after = text if changed.document is document else yaml_of(changed.document)
    draft = drafted(maker, after, changed.focus)
    kept = (*changed.problems, *(first.keys.inputs if first.problems else ()))
    typed = {name: as_shown(given[name]) for name in kept if name in given}
    return Draft(draft.text, draft.form, typed, changed.problems, draft.focus, draft.note)


def _focused(form: Group, name: str) -> str:
    """The field that is meant by the name of a field, or of a group with fields."""
    for group in groups_in(form):
        if name and group.name == name:
            first = next(fields_in(group), None)
            return f"add {name}" if first is None else first.name
    return name


def _acted(maker: DocumentForm, form: Group, now: Changed, wanted: str) -> Changed:
    """What a button beside a field does."""
    do, _, name = wanted.partition(" ")
    try:
        if do == "add":
            group = moved(form, now, name)
            if now.focus.startswith(f"{group}/"):  # What was given a key is there already.
                return now
            return extended(maker.of(now.document), now.document, group)
        if do == "remove":
            return reduced(form, now, name)
    except LookupError:
        raise ApiRefusedError(400, f"The form has nothing at {name!r}.") from None
    return now


def document_of(text: str) -> Node:
    """The document in a text.

    Raises:
        ApiRefusedError: it is not one object.
    """
    try:
        found = document_nodes(text)
    except TrundleError as error:
        raise ApiRefusedError(400, str(error)) from None
    if len(found) != 1:
        raise ApiRefusedError(400, expectation("one document", str(len(found))))
    if not isinstance(found[0], MapNode):
        raise ApiRefusedError(400, "The document is not an object.")
    return found[0]


def _holds(place: str, inner: str) -> bool:
    return inner == place or inner.startswith((f"{place}.", f"{place}["))
