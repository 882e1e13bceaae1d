"""What the expressions of a form yield: its templates, its parameters, its functions.

Templates stay as they are written until their values are needed; so each use of one computes it anew.
"""

import inspect
import secrets
import string
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from trundle.engine import EngineError
from trundle.engine.expressions import (
    Code,
    Expression,
    Format,
    FrozenDict,
    Listing,
    Mapped,
    Nowhere,
    Scalar,
    Scope,
    check_arguments,
    freeze,
)
from trundle.errors import Finding, Place, expectation, listed, shown
from trundle.forms._errors import FormCode, FormError
from trundle.forms._model import NAME_FIELD, NAME_STEP, Form

MOST_COPIES: Final = 10_000
"""How often a template is repeated at most."""
MOST_VALUES: Final = 1_000_000
"""How many values a form computes at most."""
DEEPEST: Final = 60
"""How deeply templates may use each other."""

LEGACY: Final = Format(1, 0)
"""The format of the expressions in forms."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where names come from that nothing else determines.

    Attributes:
        new_id: gives a new id of an object.
        random_name: gives a short name that is not in use.
    """

    new_id: Callable[[], str]
    random_name: Callable[[], str]

    @classmethod
    def random(cls) -> "Sources":
        """Names out of the randomness of the machine."""

        def name() -> str:
            return "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))

        return cls(lambda: uuid.uuid4().hex, name)


@dataclass(frozen=True, slots=True)
class _Later:
    """An expression in a template, not computed yet."""

    expression: Expression


_ALSO = {"number": "n", "times": "n", "parameterName": "parameter", "templateName": "template"}
"""What published forms call some arguments by."""


class _Signature(inspect.Signature):
    """How expressions call a function of forms."""

    @classmethod
    def of(cls, method: Callable[..., Any], first: int) -> "_Signature":
        """That of a method, from one of its parameters on."""
        return cls([*inspect.signature(method).parameters.values()][first:])

    def bind(self, /, *values: Any, **named: Any) -> inspect.BoundArguments:
        """Says which arguments these are.

        Raises:
            TypeError: the function does not take them.
        """
        known = {_ALSO.get(name, name): each for name, each in named.items()}
        if len(known) < len(named):
            raise TypeError(f"one argument is given by two names among {listed(sorted(named))}")
        return super().bind(*values, **known)


class Evaluation:
    """Computes what a form says for some answers.

    Attributes:
        signatures: how expressions call the functions that only forms have.

    Args:
        form: the form.
        sources: where names come from.
        given: parameters from elsewhere; they go over those of the form.

    Raises:
        FormError: a parameter cannot be computed.
    """

    def __init__(
        self, form: Form, sources: Sources, given: Mapping[str, Any] | None = None
    ) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self.file = form.file
        self._sources = sources
        self._templates = {name: _delayed(code) for name, code in form.templates.items()}
        self._referred: dict[str, Any] = {}
        self._left = MOST_VALUES
        self._variables = {f"${name}": freeze(value) for name, value in (given or {}).items()}
        for name, code in form.parameters.items():
            if name not in (given or {}):
                self._variables[f"${name}"] = freeze(self.value(code))

    @property
    def new_id(self) -> Callable[[], str]:
        """Gives a new id of an object."""
        return self._sources.new_id

    def value(self, code: Code) -> Any:
        """What a part of a form yields, as plain values.

        Raises:
            FormError: an expression in it fails, or there is too much of it.
        """
        data = freeze(self.answers)
        variables = {"$1": data, "$forms": data}
        return self._guarded(code, variables)

    def model(self, code: Code) -> Any:
        """What the object model yields; templates can be used in it."""
        data = freeze(self.answers)
        variables = {"$1": data, "$forms": data}
        variables |= {f"${name}": each for name, each in self._templates.items()}
        return self._guarded(code, variables)

    def holds(self, rule: Expression, value: Any) -> bool:
        """Whether a rule is true of a value.

        Raises:
            FormError: it cannot be computed.
        """
        variables = {"$1": freeze(value), "$forms": freeze(self.answers)}
        return bool(self._guarded(rule, variables))

    def holds_for_all(self, rule: Expression) -> bool:
        """Whether a rule is true of all answers so far.

        Raises:
            FormError: it cannot be computed.
        """
        return bool(self.value(rule))

    def _guarded(self, code: Code, variables: Mapping[str, Any]) -> Any:
        try:
            return self._finished(_delayed(code), self._scope(variables), 0)
        except EngineError as error:
            raise FormError(error.findings) from None
        except RecursionError:
            raise self._too_much(code, "it nests too deeply") from None

    def _scope(self, variables: Mapping[str, Any]) -> Scope:
        merged = {**self._variables, **variables}
        functions: dict[str, Callable[..., Any]] = {}
        scope = Scope(Nowhere(functions), merged)
        found: dict[str, Callable[..., Any]] = {
            "generateHostname": self._host_name,
            "name": self._name,
            "ref": lambda *values, **named: self._reference(scope, *values, **named),
            "repeat": lambda *values, **named: self._repeated(scope, *values, **named),
        }
        functions.update({name: self._checked(name, each) for name, each in found.items()})
        return scope

    def _checked(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that refuses arguments which it does not take."""

        def call(*values: Any, **named: Any) -> Any:
            signature = self.signatures[name]
            check_arguments(f"the function {name}", signature, values, named)
            given = signature.bind(*values, **named)
            return function(*given.args, **given.kwargs)

        return call

    def _finished(self, value: Any, scope: Scope, depth: int) -> Any:
        """A value in which nothing is left to compute."""
        self._left -= 1
        if self._left < 0:
            raise self._too_much(value, f"it has more than {MOST_VALUES} values")
        if depth > DEEPEST:
            raise self._too_much(value, f"its templates nest more than {DEEPEST} levels deep")
        below = depth + 1
        if isinstance(value, _Later):
            found = _compiled(value.expression)(scope)
            return self._finished(found, scope, below)
        if isinstance(value, Mapping):
            return self._finished_map(value, scope, below)
        if isinstance(value, tuple | list | frozenset | set):
            return [self._finished(each, scope, below) for each in value]
        return value

    def _finished_map(self, value: Mapping[Any, Any], scope: Scope, depth: int) -> dict[Any, Any]:
        found = {}
        for key, each in value.items():
            name = self._finished(key, scope, depth)
            if isinstance(name, dict | list):
                message = expectation("a scalar as key", shown(name))
                raise FormError([Finding(FormCode.MODEL, Place(self.file), "", message)])
            found[name] = self._finished(each, scope, depth)
        return found

    def _too_much(self, code: Any, found: str) -> FormError:
        place = code.expression.place if isinstance(code, _Later) else Place(self.file)
        advice = "make it smaller, and see that no template uses itself"
        return FormError([Finding(FormCode.LIMIT, place, "", found, advice)])

    def _name(self) -> Any:
        return self.answers.get(NAME_STEP, {}).get(NAME_FIELD)

    def _host_name(self, pattern: Any, n: Any = 0) -> str:
        if pattern:
            return str(pattern).replace("#", str(n))
        return self._sources.random_name()

    def _repeated(self, scope: Scope, template: Any, n: Any) -> Any:
        if not isinstance(n, int) or isinstance(n, bool):
            raise TypeError(expectation("a number of copies", shown(n)))
        if n > MOST_COPIES:
            raise TypeError(expectation(f"at most {MOST_COPIES} copies", str(n)))
        copies = []
        for index in range(1, n + 1):
            inner = self._scope({**scope.variables, "$index": index})
            copies.append(self._finished(template, inner, 1))
        return freeze(copies)

    def _reference(
        self,
        scope: Scope,
        template: Any,
        parameter: Any = None,
        idOnly: Any = None,  # noqa: N803 - as forms write it
    ) -> Any:
        parameter = parameter or template
        is_first = parameter not in self._referred
        if is_first:
            if template not in self._templates:
                return None
            made = self._finished(self._templates[template], scope, 1)
            if not isinstance(made, dict):
                return None
            header = made.get("?")
            made["?"] = header = dict(header) if isinstance(header, dict) else {}
            header.setdefault("id", self._sources.new_id())
            self._referred[parameter] = made
        found = self._referred[parameter]
        if not is_first if idOnly is None else idOnly:
            return found["?"]["id"]
        return freeze(found)

    signatures: ClassVar = {
        "generateHostname": _Signature.of(_host_name, 1),
        "name": _Signature.of(_name, 1),
        "ref": _Signature.of(_reference, 2),
        "repeat": _Signature.of(_repeated, 2),
    }


def _delayed(code: Code) -> Any:
    """A part of a form as a frozen value, with its expressions still to be computed."""
    match code:
        case Expression():
            return _Later(code)
        case Scalar(value=value):
            return value
        case Listing(items=items):
            return tuple(_delayed(each) for each in items)
        case Mapped(entries=entries):
            return FrozenDict([(_delayed(key), _delayed(value)) for key, value in entries])


@lru_cache(maxsize=4096)
def _by_text(expression: Expression, place: Place) -> Callable[[Scope], Any]:  # noqa: ARG001 - equal texts at other places
    return expression.compile(LEGACY)


def _compiled(expression: Expression) -> Callable[[Scope], Any]:
    return _by_text(expression, expression.place)
