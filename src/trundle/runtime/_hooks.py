"""Hand-written code that a plan calls at a fixed place."""

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import msgspec
from msgspec import inspect

from trundle.runtime._by_class import once
from trundle.runtime._class_fields import struct_type
from trundle.runtime._documents import names_twice
from trundle.runtime._errors import HookError
from trundle.runtime._json import decoder
from trundle.runtime._objects import ABSENT, Absent, FreeForm, GeneratedObject
from trundle.runtime._required_values import with_required

Method = TypeVar("Method", bound=Callable[..., Any])
_Read_contra = TypeVar("_Read_contra", contravariant=True)
_Written_co = TypeVar("_Written_co", covariant=True)
Read = TypeVar("Read")
Written = TypeVar("Written")


class AssignTo(Protocol[_Read_contra, _Written_co]):
    """Augments the conversion of a type from the older of two neighbours to the newer."""

    def assign_to(self, source: _Read_contra, /) -> _Written_co:
        """What the newer side gets from the older."""
        ...


class AssignFrom(Protocol[_Read_contra, _Written_co]):
    """Augments the conversion of a type from the newer of two neighbours back to the older."""

    def assign_from(self, source: _Read_contra, /) -> _Written_co:
        """What the older side gets from the newer."""
        ...


class HookMethodDeclaration(NamedTuple):
    """What a hook's method declares: attributes that it reads and attributes that it writes."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def hook(*, reads: tuple[str, ...], writes: tuple[str, ...]) -> Callable[[Method], Method]:
    """Declares what a hook's `assign_to` or `assign_from` reads and writes.

    The method gets a frozen record of just the attributes that it reads, absent ones as `ABSENT`, and
    returns a dictionary of attributes that it writes. It must be pure: the same record, the same outputs.
    It is not called when everything that it reads is absent.

    Args:
        reads: attributes of the type on the side that the value comes from. Dots lead into nested objects, as in
            `spec.size`, which is `spec__size` in the record. `metadata` of a resource is read as plain data.
        writes: attributes of the type on the side that the value goes to, in the same way. A single label or annotation
            of a resource is `metadata.labels["KEY"]`, or `metadata.annotations["KEY"]`.

    Raises:
        TypeError: one of them is a single text.
    """
    if any(isinstance(each, str) for each in (reads, writes)):
        raise TypeError("give `reads` and `writes` as a tuple of attributes, as in ('name',)")

    def declare(method: Method) -> Method:
        method.__hook__ = HookMethodDeclaration(  # type: ignore[attr-defined]
            tuple(sorted(reads)), tuple(sorted(writes))
        )
        return method

    return declare


def call_hook(
    name: str,
    method: Callable[[Read], Written],
    record: Read,
    writes: frozenset[str],
    result: type[Any],
    between: str,
    holder: object,
    *,
    beside: str = "",
) -> Written:
    """The outputs of a hook's method for a record of inputs; empty where all inputs are absent.

    Args:
        name: the hook, for messages.
        method: the method.
        record: the frozen record of inputs.
        writes: the attributes that the method declares.
        result: the record class of the side that is written, which knows their types.
        between: the neighbours, for messages.
        holder: the object that is converted, for messages.
        beside: an input that is no reason to call the method where all others are absent.

    Raises:
        HookError: the method raised, returned no dictionary, or wrote what it did not declare or what is
            not of the attribute's type.
    """
    fields = cast("msgspec.Struct", record).__struct_fields__
    values = [getattr(record, field) for field in fields if field != beside]
    if all(value is ABSENT for value in values):
        return cast("Written", {})
    if any(isinstance(value, list | dict | msgspec.Struct) for value in values):
        shown = {field: with_required(getattr(record, field)) for field in fields}
        record = copy.deepcopy(type(record)(**shown))
    try:
        outputs = method(record)
    except Exception as error:
        reason = f"the hook {name} between {between} raised {type(error).__name__}: {error}"
        raise HookError(reason, holder) from error
    if not isinstance(outputs, Mapping):
        reason = (
            f"the hook {name} between {between} returned {type(outputs).__name__}; "
            "expected a dictionary of the attributes that it writes"
        )
        raise HookError(reason, holder)
    if extra := sorted(set(outputs) - writes):
        reason = (
            f"the hook {name} between {between} wrote {', '.join(map(repr, extra))}, which it does "
            f"not declare; {_advice_for(extra[0], writes)}"
        )
        raise HookError(reason, holder)
    try:
        return cast("Written", _typed(outputs, result))
    except msgspec.ValidationError as error:
        reason = (
            f"the hook {name} between {between} wrote a value of a wrong type: {_wrong(str(error))}"
        )
        raise HookError(reason, holder) from None


def _advice_for(undeclared: str, writes: frozenset[str]) -> str:
    """What to do about an attribute that a hook writes and does not declare; it may have declared what is in it."""
    inside = sorted(each for each in writes if each.startswith(f"{undeclared}__"))
    if inside:
        return f"return {', '.join(map(repr, inside))} in its place, as `writes` has"
    return f"add it to `writes`, which has {', '.join(sorted(writes))}"


def _typed(outputs: Mapping[str, Any], result: type[Any]) -> dict[str, Any]:
    """The outputs of a hook as values of the types that their attributes have, without those that are absent.

    Raises:
        msgspec.ValidationError: one is of another type.
    """
    given = {name: value for name, value in outputs.items() if value is not ABSENT}
    decoder(result)
    made = msgspec.convert(as_documents_write(given, result), result)
    for attribute in given:
        _require_names_apart(getattr(made, attribute))
    return {name: getattr(made, name) for name in given}


def _wrong(message: str) -> str:
    """What msgspec says of an output, with the attribute in place of a path: the path of the error is that of the holder."""
    said, _, path = message.partition(" - at `$")
    attribute = path.removeprefix(".").removesuffix("`")
    return f"{said} for {attribute!r}" if attribute else said


def plain_metadata(metadata: FreeForm | Absent) -> dict[str, Any] | Absent:
    """The metadata of a resource as a hook reads it: plain data, made anew for each call.

    Returns:
        `ABSENT` where the document has none, or something else than an object in its place.
    """
    if metadata is ABSENT:
        return ABSENT
    found = msgspec.json.decode(metadata)
    return found if isinstance(found, dict) else ABSENT


def as_documents_write(outputs: Mapping[str, Any], result: Any) -> Mapping[str, Any]:
    """A hook's outputs with the nested objects that it returns as dictionaries under their documents' names."""
    return {
        field.name: _attribute(outputs[field.name], field)
        for field in struct_type(result).fields
        if field.name in outputs
    }


def _attribute(value: Any, field: inspect.Field) -> Any:
    try:
        return _spelt(value, field.type)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(f"{error} - at `$.{field.name}`") from None


def _spelt(value: Any, type_: inspect.Type) -> Any:
    match type_:
        case inspect.ListType(item_type=inner) if isinstance(value, list):
            return [_spelt(each, inner) for each in value]
        case inspect.DictType(value_type=inner) if isinstance(value, dict):
            return {name: _spelt(each, inner) for name, each in value.items()}
        case inspect.UnionType(types):
            objects = [each for each in types if isinstance(each, inspect.StructType)]
            known = (
                objects if len(objects) == 1 else [each for each in types if _is_list(each, value)]
            )
            return _spelt(value, known[0]) if known else value
        case inspect.StructType(cls) if isinstance(value, dict):
            fields = {each.name: each for each in struct_type(cls).fields}
            if extra := sorted(value.keys() - fields.keys()):
                every = ", ".join(sorted(fields.keys() - {"unknown"}))
                raise msgspec.ValidationError(
                    f"{cls.__name__} has no attribute {extra[0]!r}, but {every}"
                )
            return {
                fields[name].encode_name: _spelt(each, fields[name].type)
                for name, each in value.items()
                if each is not ABSENT
            }
        case inspect.StructType(cls) if isinstance(value, GeneratedObject) and not isinstance(
            value, cls
        ):
            raise msgspec.ValidationError(
                f"Expected a dictionary of attributes, as `{cls.__name__}` has a class of its own in this version, "
                f"got an object of the class `{type(value).__name__}` of another one"
            )
        case inspect.RawType() if not isinstance(value, msgspec.Raw):
            raise msgspec.ValidationError(
                f"Expected free-form data as `trundle.runtime.free_form(value)` makes it, got `{type(value).__name__}`"
            )
        case _:
            return value


def _is_list(type_: inspect.Type, value: Any) -> bool:
    return isinstance(type_, inspect.ListType) and isinstance(value, list)


def _require_names_apart(value: Any) -> None:
    """Refuses additional properties that have the names of properties: a document has room for one of them.

    Raises:
        ValidationError: an object has such a one.
    """
    waiting = [value]
    while waiting:
        match waiting.pop():
            case list() as items:
                waiting.extend(items)
            case dict() as members:
                waiting.extend(members.values())
            case GeneratedObject() as found:
                twice = names_twice(found)
                if twice:
                    what = type(found).__name__
                    raise msgspec.ValidationError(
                        f"{twice[0]!r} is a property of {what}, and no additional one"
                    )
                waiting.extend(getattr(found, each) for each in found.__struct_fields__)


@once
def _described(type_: Any) -> inspect.Type:
    """What msgspec knows of a type."""
    return inspect.type_info(type_)


def call_converter(
    name: str,
    method: Callable[[Read], Written],
    value: Read,
    between: str,
    holder: object,
    *,
    made: Any = None,
) -> Written | Absent:
    """What a hand-written property converter makes of a value.

    Args:
        name: the hook, for messages.
        method: the method.
        value: the value.
        between: the neighbours, for messages.
        holder: what is converted, for messages.
        made: the type of what is made; None in packages that an earlier release generated, where it may be anything.

    Raises:
        HookError: the converter raised, or made something else.
    """
    kept = (
        copy.deepcopy(with_required(value))
        if isinstance(value, list | dict | msgspec.Struct)
        else value
    )
    try:
        found = method(kept)
    except Exception as error:
        reason = f"the hook {name} between {between} raised {type(error).__name__}: {error}"
        raise HookError(reason, holder) from error
    if made is None or found is ABSENT:
        return found
    try:
        typed = msgspec.convert(_spelt(found, _described(made)), made)
        _require_names_apart(typed)
    except msgspec.ValidationError as error:
        reason = f"the hook {name} between {between} returned a value of a wrong type: {error}"
        raise HookError(reason, holder) from None
    return cast("Written", typed)
