"""The functions of the engine: what `new`, `cast`, `super` and the others compute.

Each takes the scene of the code that calls it, and values as `freeze` makes them.
"""

import base64
import inspect
import itertools
import random
import re
import string
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import jsonpatch

from trundle._clock import now
from trundle.engine._described import described
from trundle.engine._dump import Dump, Form
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._frozen import frozen
from trundle.engine._object import Instance, Part, part
from trundle.engine._scene import Callee, TypeValue
from trundle.engine._sources import format_of
from trundle.engine._stage import Code
from trundle.engine.expressions import (
    FrozenDict,
    Scope,
    call_by_name,
    check_arguments,
    check_size,
    check_text,
    freeze,
    thaw,
)
from trundle.engine.running._frame import Frame
from trundle.engine.running._new_objects import made, new, type_of
from trundle.engine.running._reflection import Info, instance_of, typeinfo
from trundle.errors import expectation, listed

_MOST_PATCHED = 100_000
"""How many values what is patched, or what patches it, may have in it: each step copies them all."""
_LOGGER = "io.murano.system.Logger"
_TYPE_REFERENCES_SINCE = (1, 4)
_COUNTER = itertools.count()
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_LETTERS = string.digits + string.ascii_lowercase

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""All of them by name."""


def _function(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a function under its name; a call that does not fit its parameters is an error of the caller."""

    def add(compute: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(compute)

        @wraps(compute)
        def call(scene: Code, *values: Any, **named: Any) -> Any:
            check_arguments(f"the function {name}", signature, (scene, *values), named)
            return compute(scene, *values, **named)

        FUNCTIONS[name] = call
        return compute

    return add


def signatures() -> Mapping[str, inspect.Signature]:
    """How code calls each of them."""
    found = {name: inspect.signature(each) for name, each in FUNCTIONS.items()}
    return {
        name: each.replace(parameters=[*each.parameters.values()][1:])
        for name, each in found.items()
    }


_function("new")(new)


@_function("cast")
def _cast(scene: Code, object: Any, type: Any, versionSpec: Any = None) -> Any:  # noqa: A002, N803
    """An object as one of its classes."""
    if object is None:
        return None
    instance = instance_of(object)
    wanted = type_of(scene, type)
    order = instance.type.lineage.order
    if versionSpec is None and wanted in order:
        return part(instance, wanted)
    versions = scene.world.wanted(
        scene.origin, wanted.package, None if versionSpec is None else str(versionSpec)
    )
    found = [
        each
        for each in order
        if (each.name, each.package) == (wanted.name, wanted.package) and each.version in versions
    ]
    if len(found) == 1:
        return part(instance, found[0])
    both = listed(each.label for each in found or order)
    code = EngineCode.AMBIGUOUS if found else EngineCode.NO_CLASS
    message = expectation(f"one class {wanted.name} of {instance.id}", both)
    raise instance.type.error(code, message, advice="name another class, or its version")


@_function("super")
def _super(scene: Code, object: Any, f: Any = None) -> Any:  # noqa: A002
    """An object cast to each parent of the class whose code it is, or what is computed of each."""
    parts = _parents(scene, object)
    return parts if f is None else tuple([f(each) for each in parts])


@_function("psuper")
def _psuper(scene: Code, object: Any, f: Any = None) -> Any:  # noqa: A002
    """The same; what is computed takes turns."""
    parts = _parents(scene, object)
    return parts if f is None else _pselect(scene, parts, f)


def _parents(scene: Code, value: Any) -> tuple[Any, ...]:
    instance = instance_of(value)
    parents = instance.type.lineage.parents
    if scene.origin not in parents:
        message = expectation(f"an object of {scene.origin.name}", instance.type.label)
        raise EngineError(EngineCode.NO_CLASS, message, advice="call `super` with `$this`")
    return tuple([part(instance, each) for each in parents[scene.origin]])


@_function("pselect")
def _pselect(scene: Code, items: Any, f: Any = None) -> Any:
    """What is computed of each item, in their order; the computations take turns."""
    if f is None or not isinstance(items, tuple | list):
        raise TypeError(expectation("a list and an expression for `pselect`", described(items)))

    def task(each: Any) -> Callable[[], Any]:
        return lambda: f(each)

    return tuple(scene.world.turns.all([task(each) for each in items], len(items)))


@_function("id")
def _id(_scene: Code, object: Any) -> Any:  # noqa: A002
    return None if object is None else instance_of(object).id


@_function("name")
def _name(_scene: Code, object: Any) -> Any:  # noqa: A002
    return None if object is None else instance_of(object).name


@_function("metadata")
def _metadata(_scene: Code, object: Any) -> Any:  # noqa: A002
    return None if object is None else freeze(instance_of(object).header.get("metadata", {}))


@_function("type")
def _type(scene: Code, object: Any) -> Any:  # noqa: A002
    """The type of an object, or the type of a name; before format 1.4 the name of an object's type."""
    if object is None:
        return None
    if isinstance(object, Instance | Part):
        has_references = format_of(scene.origin.source) >= _TYPE_REFERENCES_SINCE
        return object.type if has_references else object.type.name
    return type_of(scene, object)


@_function("typeinfo")
def _typeinfo(scene: Code, value: Any) -> Info:
    """What is known of the class of an object, or of a class."""
    if isinstance(value, Instance | Part):
        return typeinfo(scene, value.type)
    return typeinfo(scene, type_of(scene, value))


@_function("find")
def _find(scene: Code, object: Any, type: Any) -> Any:  # noqa: A002
    """The nearest owner of a type; null where there is none."""
    wanted = type_of(scene, type)
    at = instance_of(object).holder
    while at is not None and not scene.is_instance(at, wanted):
        at = at.holder
    return at


@_function("require")
def _require(_scene: Code, value: Any) -> Any:
    if value is None:
        raise ValueError("a required value is null")
    return value


@_function("isObject")
def _is_object(_scene: Code, value: Any) -> bool:
    return isinstance(value, Instance | Part | TypeValue)


@_function("dump")
def _dump(
    scene: Code,
    object: Any,  # noqa: A002
    serializationType: Form = "Serializable",  # noqa: N803
    ignoreUpcasts: bool = True,  # noqa: FBT001, FBT002, N803
    *,
    type: Form | None = None,  # noqa: A002
) -> Any:
    """An object as a model; `type` is another name of `serializationType`, which published packages use."""
    excluded: frozenset[str] = frozenset()
    instance = instance_of(object)
    if not ignoreUpcasts and isinstance(object, Part):
        excluded = frozenset(instance.type.properties.keys() - object.type.properties.keys())
    form = serializationType if type is None else type
    tree = Dump(scene.world, form, excluded, is_part=True).tree(instance)
    return freeze(frozen(tree, scene.world.limits))


@_function("sleep")
def _sleep(scene: Code, seconds: Any) -> None:
    """Lets others take their turn for some time."""
    world, wanted = scene.world, max(float(seconds), 0)
    world.check_impure("`sleep` waits")
    left = world.seconds_left()
    world.turns.sleep(min(wanted, left))
    if wanted > left:
        world.more()


@_function("call")
def _call(scene: Code, name: str, args: Any = (), kwargs: Any = None, receiver: Any = None) -> Any:
    """Calls a method of a receiver, or a function, by name."""
    values, named = tuple(args or ()), dict(kwargs or {})
    name = _text(name)
    if receiver is not None:
        found = scene.method(receiver, name)
        if found is not None:
            return found.call(receiver, values, named, scene)
    elif name in FUNCTIONS:
        return FUNCTIONS[name](scene, *values, **named)
    scope = Scope(scene, {"$1": scene.this, "$this": scene.this})
    return call_by_name(name, receiver, values, named, scope, format_of(scene.origin.source))


@_function("base64encode")
def _encode(_scene: Code, text: str) -> str:
    data = _text(text).encode()
    check_text(len(data) * 4 // 3)
    return base64.b64encode(data).decode()


@_function("base64decode")
def _decode(_scene: Code, text: str) -> str:
    return base64.b64decode(_text(text), validate=True).decode()


@_function("bind")
def _bind(_scene: Code, value: Any, values: Mapping[Any, Any]) -> Any:
    """A copy in which texts such as `$key` and `$text-{key}` have the values of a map."""
    check_size(value, with_texts=True)

    def bound(each: Any) -> Any:
        if isinstance(each, str):
            return _filled(each, values)
        if isinstance(each, Mapping):
            return FrozenDict({bound(key): bound(one) for key, one in each.items()})
        if isinstance(each, tuple | list):
            return tuple([bound(one) for one in each])
        return each

    return bound(value)


def _filled(text: str, values: Mapping[Any, Any]) -> Any:
    if not text.startswith("$"):
        return text
    rest = text[1:]
    if rest in values:
        return values[rest]
    if "{" not in rest:
        raise KeyError(rest)
    size = 0

    def filled(found: re.Match[str]) -> str:
        nonlocal size
        given = values[found[1]]
        check_size(given, with_texts=True)
        text = str(given)
        size += len(text)
        check_text(size)
        return text

    return _PLACEHOLDER.sub(filled, rest)


@_function("patch")
def _patch(_scene: Code, value: Any, operations: Any) -> Any:
    """A copy with changes by JSON Patch."""
    listed_ = operations if isinstance(operations, tuple | list) else (operations,)
    for each in (value, listed_):
        check_size(each, _MOST_PATCHED)
    patch = jsonpatch.JsonPatch(thaw(tuple(listed_)))
    patched, copied = thaw(value), 0
    for each in patch:
        if each["op"] == "copy" and isinstance(each.get("from"), str):
            source = jsonpatch.JsonPointer(each["from"]).resolve(patched, None)
            copied += check_size(source, _MOST_PATCHED)
            if copied > _MOST_PATCHED:  # Copies of what was copied double it each time
                message = f"a patch copies more than {_MOST_PATCHED} values"
                raise EngineError(EngineCode.LIMIT, message, advice="make it smaller")
        patched = jsonpatch.JsonPatch([each]).apply(patched, in_place=True)
    return freeze(patched)


@_function("randomName")
def _random_name(scene: Code) -> str:
    scene.world.check_impure("`randomName` gives another name each time")
    letters = "".join(random.choices(string.ascii_lowercase, k=5))  # noqa: S311 - no secret
    return f"{letters}{_base_36(int(now().timestamp() * 1000))}{_base_36(next(_COUNTER))}"


def _base_36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _LETTERS[digit] + digits
    return digits or "0"


@_function("logger")
def _logger(scene: Code, name: Any) -> Instance:
    return made(scene, type_of(scene, _LOGGER), None, {"name": str(name)}, None)


@_function("inject")
def _inject(scene: Code, target: Any, method: str, what: Any, mock: str | None = None) -> None:
    """Replaces a method of a class, or of the class of an object, by a method of an object or by what is computed."""
    type_ = target.instance.type if isinstance(target, Instance | Part) else type_of(scene, target)
    replacement = _computed(what) if mock is None else _answered(scene, what, mock)
    variables = dict(scene.variables) if isinstance(scene, Frame) else {}
    holding = (scene.this, variables, None if mock is None else what)
    scene.world.calls.mock(type_, method, replacement, holding)


def _computed(compute: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(frame: Any, found: Callee, given: Any) -> Any:
        def original() -> Any:
            return found.call(frame.this, given.values, given.named, frame)

        return compute(given.variables, original)

    return replacement


def _answered(scene: Code, answering: Any, name: str) -> Callable[..., Any]:
    callee = None if answering is None else scene.method(answering, name)
    if callee is None:
        message = expectation(f"an object with a method {name}", described(answering))
        raise EngineError(EngineCode.NO_METHOD, message, advice="correct the call of `inject`")
    return lambda _frame, _found, given: callee.call(answering, given.values, given.named, scene)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(expectation("a text", described(value)))
