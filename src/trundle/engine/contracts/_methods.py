"""The methods that mean something in contracts: what each makes of a value, and what it checks.

`int()` transforms `'42'` to 42, and validates that a value is an integer. So each contract is compiled twice, with either
table. yaql's evaluator gets the same methods as functions, for the contracts that are not compiled.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from trundle.engine._described import described
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._scene import ObjectValue, Scene, TypeValue
from trundle.engine.contracts._steps import Run, calls_of, evaluated, joined, over_value
from trundle.engine.contracts._violations import violation
from trundle.engine.expressions import (
    SCENE,
    Added,
    Binary,
    Call,
    Compiler,
    Constant,
    Expression,
    Format,
    Language,
    Method,
    Omitted,
    Rule,
    Scope,
    Tree,
    Unary,
    Word,
    as_text,
    dotted_name,
    language_for,
)
from trundle.errors import expectation

Compute: TypeAlias = Callable[..., Any]
"""Takes the value, the scene, and the arguments in their order; what `lazy` names can be called."""


@dataclass(frozen=True, slots=True)
class ContractMethod:
    """A method of contracts.

    Attributes:
        name: its name.
        transform: what a value becomes.
        validate: raises if a value may not stay as it is, and returns it.
        required: the names of its required arguments, in their order.
        optional: the names of the others.
        lazy: arguments that are evaluated with `$` as the value.
    """

    name: str
    transform: Compute
    validate: Compute
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    lazy: frozenset[str] = field(default=frozenset())


def _text(value: Any, _scene: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, ObjectValue):
        return value.id
    raise _unlike("text", value)


def _is_text(value: Any, _scene: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    raise _unlike("text", value)


def _integer(value: Any, _scene: Any) -> Any:
    if value is None or type(value) is int:
        return value
    if isinstance(value, str | int | float):
        try:
            return int(value)
        except (ValueError, OverflowError):
            pass
    raise _unlike("an integer", value)


def _is_integer(value: Any, _scene: Any) -> Any:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _unlike("an integer", value)


def _truth(value: Any, _scene: Any) -> Any:
    return None if value is None else bool(value)


def _is_boolean(value: Any, _scene: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    raise _unlike("true or false", value)


def _not_null(value: Any, _scene: Any) -> Any:
    if value is None:
        raise violation(expectation("a value", "nothing"))
    return value


def _check(value: Any, _scene: Any, pred: Callable[..., Any], msg: Any = None) -> Any:
    if not pred(value):
        raise violation(f"the check fails for {described(value)}" if msg is None else as_text(msg))
    return value


def _object(value: Any, scene: Any, wanted: Any, default: Any = None, spec: Any = None) -> Any:
    """What `class()` makes of a value."""
    if value is None:
        return None
    type_, spec = _type_of(scene, wanted), _spec_of(spec)
    if isinstance(value, ObjectValue):
        pass
    elif type(value) is dict or isinstance(value, Mapping):
        value = scene.load(value, type_ if default is None else _type_of(scene, default), spec)
    elif isinstance(value, str):
        found = scene.find(value)
        if found is None:
            advice = "correct the id, or add the object to the model"
            message = f"there is no object with the id {described(value)}"
            raise violation(message, code=EngineCode.NO_OBJECT, advice=advice)
        value = found
    return _expect_instance(value, scene, type_, spec)


def _is_object(value: Any, scene: Any, wanted: Any, _default: Any = None, spec: Any = None) -> Any:
    if value is None:
        return None
    return _expect_instance(value, scene, _type_of(scene, wanted), _spec_of(spec))


def _template(
    value: Any,
    scene: Any,
    wanted: Any,
    default: Any = None,
    spec: Any = None,
    excluded: Any = None,
    *,
    is_made: bool = False,
) -> Any:
    """What `template()` makes of a value."""
    if value is None:
        return None
    type_ = _type_of(scene, wanted)
    if not isinstance(value, Mapping | ObjectValue):
        raise _unlike(f"an object of {type_.name} or its model", value)
    names = frozenset((excluded,) if isinstance(excluded, str) else excluded or ())
    chosen = type_ if default is None else _type_of(scene, default)
    trial, model = scene.template(value, chosen, names, is_made=is_made)
    _expect_instance(trial, scene, type_, _spec_of(spec))
    return model


def _is_template(value: Any, scene: Any, *wanted: Any) -> Any:
    _template(value, scene, *wanted, is_made=True)
    return value


def _owned(value: Any, scene: Any) -> Any:
    if value is not None and not _owns(scene.this, value):
        raise violation(f"{described(scene.this)} must own {described(value)}")
    return value


def _not_owned(value: Any, scene: Any) -> Any:
    if value is not None and _owns(scene.this, value):
        raise violation(f"{described(scene.this)} must not own {described(value)}")
    return value


def _owns(this: Any, value: Any) -> bool:
    if not isinstance(value, ObjectValue):
        raise _unlike("an object", value)
    owner = value.owner
    while owner is not None:
        if owner == this:
            return True
        owner = owner.owner
    return False


def _type_of(scene: Any, wanted: Any) -> TypeValue:
    if isinstance(wanted, str):
        wanted = scene.resolve(wanted)
    if isinstance(wanted, TypeValue):
        return wanted
    raise _unlike("a type or its name", wanted)


def _spec_of(spec: Any) -> str | None:
    return None if spec is None else str(spec)


def _expect_instance(value: Any, scene: Any, type_: TypeValue, spec: str | None) -> Any:
    if not isinstance(value, ObjectValue):
        raise _unlike(f"an object of {type_.name}", value)
    if scene.is_instance(value, type_, spec):
        return value
    message = expectation(f"an object of {type_}", f"{value.id} of {value.type}")
    reasons = scene.mismatch(value, type_, spec)
    if reasons:
        message += f" ({'; '.join(reasons)})"
    raise violation(message, requirements=tuple(reasons))


def _unlike(expected: str, value: Any) -> Exception:
    return violation(expectation(expected, described(value)))


_OBJECTS = ("default", "versionSpec")
_TYPES = ("type", "default")

METHODS: Mapping[str, ContractMethod] = {
    each.name: each
    for each in (
        ContractMethod("string", _text, _is_text),
        ContractMethod("int", _integer, _is_integer),
        ContractMethod("bool", _truth, _is_boolean),
        ContractMethod("notNull", _not_null, _not_null),
        ContractMethod("check", _check, _check, ("pred",), ("msg",), frozenset({"pred"})),
        ContractMethod("class", _object, _is_object, ("type",), _OBJECTS),
        ContractMethod(
            "template", _template, _is_template, ("type",), (*_OBJECTS, "excludeProperties")
        ),
        ContractMethod("owned", _owned, _owned),
        ContractMethod("notOwned", _not_owned, _not_owned),
    )
}
"""All methods of contracts, by name."""


@dataclass(frozen=True, slots=True)
class _ContractDialect:
    """Compiles the methods of contracts, for one purpose."""

    computes: Mapping[str, Compute]

    def method(self, call: Call, compiler: Compiler) -> Method | None:
        """What a call is compiled to; None for a method that contracts give no meaning."""
        compute = self.computes.get(call.name)
        if compute is None:
            return None
        given = arguments_of(call)
        if not given:
            return lambda value, scope: compute(value, scope.scene)
        names = (*METHODS[call.name].required, *METHODS[call.name].optional)
        last = max(names.index(each) for each in given)
        arguments = [self._argument(call, given.get(each), each, compiler) for each in names]
        arguments = arguments[: last + 1]
        if len(arguments) == 1:
            (only,) = arguments
            return lambda value, scope: compute(value, scope.scene, only(scope))
        return lambda value, scope: compute(
            value, scope.scene, *[each(scope) for each in arguments]
        )

    def step(self, call: Call, compiler: Compiler, *, sees_this: bool) -> Run | None:
        """A call as a step; None where its arguments need variables, or contracts give it no meaning."""
        compute = self.computes.get(call.name)
        if compute is None:
            return None
        given = arguments_of(call)
        names = (*METHODS[call.name].required, *METHODS[call.name].optional)
        while names and names[-1] not in given:
            names = names[:-1]
        arguments: list[Callable[[Scene], Any]] = []
        for name in names:
            argument = _without_variables(
                call, given.get(name), name, compiler, sees_this=sees_this
            )
            if argument is None:
                return None
            arguments.append(argument)
        if not arguments:
            return compute
        if len(arguments) == 1:
            (only,) = arguments
            return lambda value, scene: compute(value, scene, only(scene))
        return lambda value, scene: compute(value, scene, *[each(scene) for each in arguments])

    def _argument(
        self, call: Call, tree: Tree | None, name: str, compiler: Compiler
    ) -> Callable[[Scope], Any]:
        if tree is None:
            return lambda _: None
        class_name = dotted_name(tree) if name in _TYPES else None
        if class_name is not None:  # As a full name stands in `Extends`
            return lambda _: class_name
        closure = compiler.closure(tree)
        return _deferred(closure) if name in METHODS[call.name].lazy else closure


def _without_variables(
    call: Call, tree: Tree | None, name: str, compiler: Compiler, *, sees_this: bool
) -> Callable[[Scene], Any] | None:
    """An argument that is the same whatever `$` is; None for any other."""
    if tree is None:
        return lambda _: None
    class_name = dotted_name(tree) if name in _TYPES else None
    if class_name is not None:
        return lambda _: class_name
    if name in METHODS[call.name].lazy:
        body = over_value(compiler.closure(tree), sees_this=sees_this)
        return lambda scene: lambda value: body(value, scene)
    if isinstance(tree, Constant | Word):
        value = tree.value if isinstance(tree, Constant) else tree.text
        return lambda _: value
    if (isinstance(tree, Unary | Binary)) and tree.operator == ":":
        type_name = compiler.closure(tree)
        return lambda scene: type_name(Scope(scene, {}))
    return None


def run_of(expression: Expression, compiler: Compiler) -> Run:
    """What an expression does as a contract, in the compiler's purpose: step by step, where it only calls methods of contracts."""
    calls, dialect = calls_of(expression.tree), compiler.dialect
    sees_this = "$this" in expression.text
    if calls and isinstance(dialect, _ContractDialect):
        steps = [dialect.step(each, compiler, sees_this=sees_this) for each in calls]
        if all(steps):
            return joined([each for each in steps if each])
    return evaluated(compiler.closure(expression.tree), sees_this=sees_this)


def _deferred(body: Callable[[Scope], Any]) -> Callable[[Scope], Any]:
    return lambda scope: lambda value: body(Scope(scope.scene, {"$1": value}, scope))


def arguments_of(call: Call) -> dict[str, Tree]:
    """The arguments of a call of one of the `METHODS`, by name.

    Raises:
        EngineError: one is missing, unknown or given twice.
    """
    method = METHODS[call.name]
    names = (*method.required, *method.optional)
    given: dict[str, Tree] = {}
    for at, each in enumerate(call.arguments):
        match each:
            case Rule(source=Word(text=name)) if name in names and name not in given:
                given[name] = each.destination
            case Rule() | Omitted():
                raise _wrong_arguments(method)
            case _ if at < len(names) and names[at] not in given:
                given[names[at]] = each
            case _:
                raise _wrong_arguments(method)
    if any(name not in given for name in method.required):
        raise _wrong_arguments(method)
    return given


def _wrong_arguments(method: ContractMethod) -> EngineError:
    names = ", ".join((*method.required, *(f"{name} => .." for name in method.optional)))
    message = f"`{method.name}()` in a contract has other arguments than `{method.name}({names})`"
    return EngineError(EngineCode.SYNTAX, message, advice="write them so")


def _added(method: ContractMethod, compute: Compute) -> Added:
    """A method of contracts as a function of yaql."""
    names = (*method.required, *method.optional)

    def call(value: Any, context: Any, *arguments: Any, **named: Any) -> Any:
        given = dict(zip(names, arguments, strict=False)) | named
        return compute(value, context[SCENE], *[given.get(each) for each in names])

    def check(value: Any, context: Any, pred: Any, msg: Any = None) -> Any:
        return compute(value, context[SCENE], pred, msg)

    payload, parameters = (check, {"pred": "lambda"}) if method.lazy else (call, {})
    return Added(method.name, payload, parameters, is_method=True, is_function=False)


@cache
def _language(purpose: str, *, is_legacy: bool) -> tuple[Language, _ContractDialect]:
    computes = {name: getattr(each, purpose) for name, each in METHODS.items()}
    added = [_added(METHODS[name], compute) for name, compute in computes.items()]
    language = language_for(is_legacy=is_legacy).with_functions(added)
    return language, _ContractDialect(computes)


def compilers_for(format_: Format) -> tuple[Compiler, Compiler]:
    """What compiles contracts of a format: for transforming, and for validating."""
    making = Compiler(*_language("transform", is_legacy=format_.is_legacy))
    return making, Compiler(*_language("validate", is_legacy=format_.is_legacy))
