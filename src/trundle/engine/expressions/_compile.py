"""Trees of expressions to nested closures.

Each closure takes a `Scope` and returns a value that may be lazy. Nothing is decided from types before there are values;
what no row of `_rows` computes goes to yaql's evaluator, with the values that are there already.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, assert_never

from trundle.engine._scene import ObjectValue, TypeValue
from trundle.engine.expressions import _rows
from trundle.engine.expressions._bounds import limited
from trundle.engine.expressions._builtins import DIRECT
from trundle.engine.expressions._calls import Bound, Closure, bind, by_rows, variable_of
from trundle.engine.expressions._decorated import ForeignFunction
from trundle.engine.expressions._invoking import (
    Fail,
    Method,
    as_it_is,
    freezing,
    lazy_values_of,
    of_engine,
    of_objects,
    on_receiver,
    once_each,
    values_of,
)
from trundle.engine.expressions._library import is_of_type
from trundle.engine.expressions._scope import NOWHERE, Scope, context_of
from trundle.engine.expressions._sizes import as_key
from trundle.engine.expressions._tree import (
    Binary,
    Call,
    Constant,
    Group,
    Index,
    ListOf,
    MapOf,
    Omitted,
    Rule,
    Tree,
    Unary,
    Variable,
    Word,
    has_rules,
)
from trundle.engine.expressions._yaql import Context, FrozenDict, Language

_HOLDERS = (ObjectValue, TypeValue)


class Dialect(Protocol):
    """Methods that mean something of their own in expressions of one purpose, such as contracts."""

    def method(self, call: Call, compiler: "Compiler") -> Method | None:
        """What the call of a method is compiled to; None for the language's own."""


class Compiler:
    """Makes closures for the expressions of one language.

    Attributes:
        language: the functions that are known, and yaql's evaluator over them.
        dialect: methods of this purpose; None for those of the language alone.
    """

    def __init__(self, language: Language, dialect: Dialect | None = None) -> None:
        self.language = language
        self.dialect = dialect

    def closure(self, tree: Tree) -> Closure:
        """What a tree is compiled to."""
        match tree:
            case Constant(value=value) | Word(text=value):
                return lambda _: value
            case Variable():
                return variable_of(tree.name)
            case Group():
                return self.closure(tree.inner)
            case Unary():
                return self._unary(tree)
            case Binary():
                return self._binary(tree)
            case Index():
                return self._index(tree)
            case ListOf():
                return self._list(tree)
            case MapOf():
                return self._map(tree)
            case Call():
                return self._function(tree)
            case Rule() | Omitted():
                return self._by_yaql(tree)
        assert_never(tree)

    def frozen(self, tree: Tree, fail: Fail) -> Closure | None:
        """What a tree is compiled to that yields values as `freeze` makes them alone, and whose errors `fail` raises; None for most trees."""
        match tree:
            case Variable():
                return self.closure(tree)
            case Binary(operator="." | "?.", right=Call()) if self.dialect is None:
                return self._dot(tree, fail)
        return None

    def by_values(self, name: str, scope: Scope, *values: Any) -> Any:
        """What yaql's function of a name makes of values."""
        language = self.language
        return language.call(name, values, context_of(scope, language))

    def _by_yaql(self, tree: Tree) -> Closure:
        language, native = self.language, tree.native

        def evaluate(scope: Scope) -> Any:
            return language.evaluate(native, context_of(scope, language))

        return evaluate

    def _bound(
        self, table: Mapping[str, tuple[_rows.Row, ...]], name: str, arguments: tuple[Tree, ...]
    ) -> Bound | None:
        rows = _rows.rows_for(table, name, len(arguments), is_legacy=self.language.is_legacy)
        return bind(rows, arguments, self.closure)

    def _unary(self, tree: Unary) -> Closure:
        if tree.operator == ":":
            return self._type_name("", tree.operand, tree)
        bound = self._bound(_rows.UNARY, tree.operator, (tree.operand,))
        if bound is None:
            return self._by_yaql(tree)
        name = f"#unary_operator_{tree.operator}"
        return bound.function(lambda scope, *values: self.by_values(name, scope, *values))

    def _binary(self, tree: Binary) -> Closure:
        match tree.operator:
            case "." | "?.":
                return self._dot(tree)
            case ":":
                prefix = tree.left.text if isinstance(tree.left, Word) else None
                return self._type_name(prefix, tree.right, tree)
            case "is":
                left, right = self.closure(tree.left), self.closure(tree.right)
                return self._is(left, right)
            case "and" | "or":
                return _choice(tree.operator, self.closure(tree.left), self.closure(tree.right))
            case "->":
                return self._arrow(tree)
        bound = self._bound(_rows.OPERATORS, tree.operator, (tree.left, tree.right))
        if bound is None:
            return self._by_yaql(tree)
        name = {"=": "*equal", "!=": "*not_equal"}.get(tree.operator, f"#operator_{tree.operator}")

        def otherwise(scope: Scope, *values: Any) -> Any:
            return self.by_values(name, scope, *values)

        order = _rows.NULL_ORDER.get(tree.operator)
        return bound.function(otherwise if order is None else _null_first(order, otherwise))

    def _operator(self, name: str) -> Callable[..., Any]:
        """An operator, or a function, of two values that are there already."""
        is_operator = name in _rows.OPERATORS
        table, full = (_rows.OPERATORS, f"#operator_{name}") if is_operator else (_rows.FOLDS, name)
        rows = _rows.rows_for(table, name, 2, is_legacy=self.language.is_legacy)
        return by_rows(rows, lambda scope, *values: self.by_values(full, scope, *values))

    def _type_name(self, prefix: str | None, name: Tree, whole: Tree) -> Closure:
        if prefix is None or not isinstance(name, Word):
            return self._by_yaql(whole)
        text = f"{prefix}:{name.text}"

        def resolve(scope: Scope) -> Any:
            assert scope.scene is not None
            return scope.scene.resolve(text)

        return resolve

    def _is(self, left: Closure, right: Closure) -> Closure:
        def test(scope: Scope) -> Any:
            value, type_ = left(scope), right(scope)
            if isinstance(type_, str | TypeValue):
                return is_of_type(value, type_, scope.scene)
            return self.by_values("#operator_is", scope, value, type_)

        return test

    def _dot(self, tree: Binary, fail: Fail | None = None) -> Closure:
        """A member or a method; with `fail`, a method whose values are as `freeze` makes them, and whose errors that raises."""
        left, right = self.closure(tree.left), tree.right
        match right:
            case Word():
                return on_receiver(tree, left, self._member(right))
            case Call():
                own = self.dialect.method(right, self) if self.dialect else None
                if own is not None:
                    return on_receiver(tree, left, own)
                arguments = once_each(self.closure)
                otherwise = self._own_method(right, arguments)
                if fail is None:
                    return of_objects(tree, left, arguments, otherwise, as_it_is)
                return of_objects(tree, left, arguments, freezing(otherwise), fail)
        return self._by_yaql(tree)

    def _member(self, word: Word) -> Method:
        language, name, native = self.language, word.text, word.native
        is_legacy = language.is_legacy

        def member(value: Any, scope: Scope) -> Any:
            kind = type(value)
            if kind is FrozenDict or kind is dict:
                return value.get(name) if is_legacy else value[name]
            if isinstance(value, _HOLDERS):
                assert scope.scene is not None
                return value.read(name, scope.scene)
            if kind is tuple or kind is list:
                return (member(each, scope) for each in limited(value))
            return language.call("#operator_.", (value, native), context_of(scope, language))

        return member

    def _own_method(self, call: Call, arguments: Callable[[Tree], Closure]) -> Method:
        """The call of a method that the language has for plain values."""
        language, native, name = self.language, call.native, call.name

        def by_yaql(receiver: Any, scope: Scope) -> Any:
            return language.evaluate_method(native, receiver, context_of(scope, language))

        rows = _rows.rows_for(
            _rows.METHODS, name, len(call.arguments) + 1, is_legacy=language.is_legacy
        )
        bound = bind(rows, (None, *call.arguments), arguments, self._operator)
        if bound is None:
            return by_yaql

        def by_values(scope: Scope, *values: Any) -> Any:
            return language.call_method(name, values, context_of(scope, language))

        return bound.method(by_yaql, by_values)

    def _index(self, tree: Index) -> Closure:
        argument = tree.arguments[0] if len(tree.arguments) == 1 else None
        if argument is None or isinstance(argument, Rule | Omitted):
            return self._by_yaql(tree)
        if isinstance(tree.value, Constant | Word) or self.language.is_legacy:
            return self._by_yaql(tree)
        value, index = self.closure(tree.value), self.closure(argument)

        def item(scope: Scope) -> Any:
            of, at = value(scope), index(scope)
            kind = type(of)
            if kind is FrozenDict or kind is dict:
                return of[as_key(at)]
            if kind is tuple and type(at) is int:
                return of[at]
            return self.by_values("#indexer", scope, of, at)

        return item

    def _list(self, tree: ListOf) -> Closure:
        if any(isinstance(each, Rule | Omitted) for each in tree.items):
            return self._by_yaql(tree)
        items = tuple(self.closure(each) for each in tree.items)
        if all(isinstance(each, Constant | Word) for each in tree.items):
            constant = tuple(each(NOWHERE) for each in items)
            return lambda _: constant
        return lambda scope: tuple([each(scope) for each in items])

    def _list_function(self, call: Call) -> Closure:
        """`list()`: a list of values, with the items of those that are lazy sequences."""
        items = tuple(self.closure(each) for each in call.arguments)
        kind = list if self.language.is_legacy else tuple
        if all(isinstance(each, Constant | Word) for each in call.arguments):
            constant = kind(each(NOWHERE) for each in items)
            return lambda _: constant
        if kind is list:
            return lambda scope: list(_unrolled([each(scope) for each in items]))
        return lambda scope: tuple(_unrolled([each(scope) for each in items]))

    def _map(self, tree: MapOf | Call) -> Closure:
        parts = tree.rules if isinstance(tree, MapOf) else tree.arguments
        rules = [each for each in parts if isinstance(each, Rule)]
        if len(rules) < len(parts):
            return self._by_yaql(tree)
        pairs = tuple((self.closure(each.source), self.closure(each.destination)) for each in rules)
        return lambda scope: FrozenDict(
            [(as_key(key(scope)), value(scope)) for key, value in pairs]
        )

    def _function(self, call: Call) -> Closure:
        if not self.language.is_legacy:
            only_rules = all(isinstance(each, Rule) for each in call.arguments)
            if call.name == "dict" and call.arguments and only_rules:
                return self._map(call)
            if call.name == "switch" and only_rules:
                return self._switch(call)
        if call.name == "list" and not has_rules(call):
            return self._list_function(call)
        if call.name in DIRECT and (values := values_of(call, self.closure)):
            return of_engine(call.name, values)
        if call.name == "coalesce" and not has_rules(call):
            return _first_not_null(tuple(self.closure(each) for each in call.arguments))
        bound = self._bound(_rows.FUNCTIONS, call.name, call.arguments)
        if bound is not None:
            return bound.function(lambda scope, *values: self.by_values(call.name, scope, *values))
        by_yaql = self._by_yaql(call)
        is_own = self.language.knows_function(call.name)
        return by_yaql if is_own else self._foreign(call, by_yaql)

    def _foreign(self, call: Call, by_yaql: Closure) -> Closure:
        """The call of a function that only the scene may have."""
        takes = lazy_values_of(call, self.closure)
        if takes is None:
            return by_yaql

        def function(scope: Scope) -> Any:
            found = scope.scene.functions.get(call.name) if scope.scene else None
            if found is None or isinstance(found, ForeignFunction):
                return by_yaql(scope)
            values, named = takes(scope)
            return found(*values, **named)

        return function

    def _switch(self, call: Call) -> Closure:
        cases = tuple(
            (self.closure(each.source), self.closure(each.destination))
            for each in call.arguments
            if isinstance(each, Rule)
        )

        def switch(scope: Scope) -> Any:
            for condition, value in cases:
                if condition(scope):
                    return value(scope)
            return None

        return switch

    def _arrow(self, tree: Binary) -> Closure:
        """`left -> right`: the right side with the variables that the left side sets."""
        left = self._variables(tree.left)
        if left is None:
            return self._by_yaql(tree)
        right, native, language = self.closure(tree.right), tree.right.native, self.language

        def evaluate(scope: Scope) -> Any:
            inner = left(scope)
            if isinstance(inner, Context):
                return language.evaluate(native, inner)
            return right(inner)

        return evaluate

    def _variables(self, tree: Tree) -> Closure | None:
        match tree:
            case Call(name="let"):
                return self._let(tree)
            case Binary(operator=".", right=Call(name="unpack") as call) if call.arguments:
                return self._unpack(tree.left, call)
        return None

    def _let(self, call: Call) -> Closure | None:
        settings: dict[str, Closure] = {}
        for at, each in enumerate(call.arguments, 1):
            match each:
                case Rule(source=Word(text=name)):
                    settings[f"${name}"] = self.closure(each.destination)
                case Rule() | Omitted():
                    return None
                case _:
                    settings[f"${at}"] = self.closure(each)
        if len(settings) < len(call.arguments):
            return None

        def let(scope: Scope) -> Scope:
            values = {name: value(scope) for name, value in settings.items()}
            return Scope(scope.scene, values, scope)

        return let

    def _unpack(self, receiver: Tree, call: Call) -> Closure | None:
        names = tuple(each.text for each in call.arguments if isinstance(each, Word))
        if len(names) < len(call.arguments):
            return None
        items, language, native = self.closure(receiver), self.language, call.native

        def unpack(scope: Scope) -> Any:
            values = items(scope)
            if type(values) is not tuple or len(values) != len(names):
                return language.evaluate_method(native, values, context_of(scope, language))
            variables = {f"${name}": each for name, each in zip(names, values, strict=True)}
            return Scope(scope.scene, variables, scope)

        return unpack


def _unrolled(values: Iterable[Any]) -> Iterator[Any]:
    """Values, with the items of those that are lazy sequences."""
    for each in values:
        if isinstance(each, Iterator):
            yield from _unrolled(each)
        else:
            yield each


def _choice(operator: str, left: Closure, right: Closure) -> Closure:
    if operator == "and":
        return lambda scope: left(scope) and right(scope)
    return lambda scope: left(scope) or right(scope)


def _first_not_null(choices: tuple[Closure, ...]) -> Closure:
    def coalesce(scope: Scope) -> Any:
        for each in choices:
            value = each(scope)
            if value is not None:
                return value
        return None

    return coalesce


def _null_first(
    order: Callable[[Any, Any], bool], otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    def compare(scope: Scope, left: Any, right: Any) -> Any:
        if left is None or right is None:
            return order(left, right)
        return otherwise(scope, left, right)

    return compare
