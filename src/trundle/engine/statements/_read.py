"""Reads the body of a method: all of its mistakes at once, each with the construct, the key and the line."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar, line_of
from trundle.engine.statements._records import (
    Assign,
    Block,
    Break,
    Catch,
    Constant,
    Continue,
    Do,
    Evaluate,
    For,
    If,
    Match,
    Parallel,
    Repeat,
    Rethrow,
    Return,
    Statement,
    Switch,
    Throw,
    Try,
    While,
)
from trundle.engine.statements._targets import read_target
from trundle.errors import Place, did_you_mean, expectation, listed, shown

_NAME = re.compile(r"[^\W\d]\w*")
_TYPE_NAME = re.compile(r"(?:\w*:)?[\w.]+")


@dataclass(frozen=True, slots=True)
class _Construct:
    """A construct: the keys that it needs beside its own, and those that it may have."""

    read: "Callable[[_Reader, _Parts], Statement]"
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Parts:
    """What stands under the keys of one construct."""

    construct: str
    values: Mapping[str, Code]
    line: int

    @property
    def own(self) -> Code:
        return self.values[self.construct]


def read_body(body: Code | None, file: str) -> Block:
    """The statements of a body.

    Args:
        body: one statement, or a list of them; None for nothing.
        file: what messages call the file.

    Raises:
        EngineError: the body cannot be read; `errors` has all of its mistakes.
    """
    reader = _Reader(file)
    found = reader.block(body)
    if reader.errors:
        raise EngineError.of(reader.errors)
    return found


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self.errors: list[EngineError] = []

    def block(self, code: Code | None) -> Block:
        """Statements; those that cannot be read are noted and left out."""
        if code is None or (isinstance(code, Scalar) and code.value is None):
            return ()
        found = []
        for each in code.items if isinstance(code, Listing) else (code,):
            try:
                found.append(self._statement(each))
            except EngineError as error:
                error.file, error.line = error.file or self._file, error.line or line_of(each)
                self.errors.append(error)
        return tuple(found)

    def _statement(self, code: Code) -> Statement:
        match code:
            case Expression():
                _ = code.tree
                return Evaluate(code, line_of(code))
            case Mapped(entries=((Expression() as target, value),)):
                return Assign(read_target(target), value, line_of(target))
            case Mapped():
                return self._construct(code)
        if isinstance(code, Listing):
            raise self.wrong(code, expectation("a statement", "a list"), "write `Do:`")
        self._check_plain(code)
        advice = "write an expression such as `$.f()`, without quotes, or a construct"
        raise self.wrong(code, expectation("a statement", shown(code.value)), advice)

    def _check_plain(self, code: Scalar) -> None:
        """Makes sure that text without quotes is not an expression with a mistake.

        Raises:
            EngineError: it looks like one, and is none.
        """
        if code.is_plain and isinstance(code.value, str) and "$" in code.value:
            _ = Expression(code.value, Place(self._file, code.line)).tree

    def _construct(self, code: Mapped) -> Statement:
        keys = {key.value: value for key, value in code.entries if isinstance(key, Scalar)}
        names = [str(key) for key in keys if key in _CONSTRUCTS]
        if len(names) > 1 and "Do" in names:
            names.remove("Do")
        if not names:
            raise self._no_construct(code)
        name = names[0]
        construct = _CONSTRUCTS[name]
        known = (name, *construct.needs, *construct.takes)
        for key, _ in code.entries:
            if _written(key) not in known:
                raise self._unknown(key, name, known[1:])
        for need in construct.needs:
            if need not in keys:
                message, advice = f"`{name}` needs `{need}`", f"add `{need}:` beside `{name}:`"
                raise self.wrong(code, message, advice)
        parts = {str(key): value for key, value in keys.items()}
        return construct.read(self, _Parts(name, parts, line_of(code)))

    def _unknown(
        self, key: Scalar | Expression, construct: str, others: tuple[str, ...]
    ) -> EngineError:
        text = _written(key)
        if others:
            return self.wrong(key, f"`{construct}` has no key {text}", did_you_mean(text, others))
        message = expectation(f"`{construct}` alone", text)
        return self.wrong(key, message, "write two statements")

    def _no_construct(self, code: Mapped) -> EngineError:
        if len(code.entries) != 1:
            written = [_written(key) for key, _ in code.entries]
            message = expectation("a construct or one assignment", f"the keys {listed(written)}")
            return self.wrong(code, message, "write each assignment as an item of the list")
        only = code.entries[0][0]
        if isinstance(only, Scalar):
            self._check_plain(only)
        text = _written(only)
        message = expectation("a construct or an expression to assign to", shown(text))
        owners = [name for name, each in _CONSTRUCTS.items() if text in each.needs + each.takes]
        if owners:
            advice = f"write it beside the {' or '.join(owners)} that it belongs to, without a dash"
            return self.wrong(only, message, advice)
        return self.wrong(only, message, did_you_mean(text, list(_CONSTRUCTS)))

    def wrong(self, code: Code, message: str, advice: str) -> EngineError:
        """The error for what is wrong at a place."""
        line = line_of(code)
        return EngineError(EngineCode.SYNTAX, message, advice=advice, file=self._file, line=line)

    def unfit(self, code: Code, expected: str, advice: str) -> EngineError:
        """The error for what stands in place of something else."""
        return self.wrong(code, expectation(expected, _kind_of(code)), advice)

    def condition(self, parts: _Parts, code: Code) -> Expression | Scalar:
        """An expression or a constant."""
        if isinstance(code, Expression | Scalar):
            return code
        raise self.unfit(
            code, f"an expression for `{parts.construct}`", "write one, without a list or map"
        )

    def variable(self, parts: _Parts, key: str) -> str:
        """The name of a variable, as it is written: without `$`."""
        code = parts.values[key]
        text = code.value if isinstance(code, Scalar) else None
        if not isinstance(text, str) or not _NAME.fullmatch(text):
            advice = "write it without `$`" if isinstance(code, Expression) else "write one"
            raise self.unfit(code, f"the name of a variable for `{key}`", advice)
        return text

    def names(self, code: Code, key: str) -> tuple[str, ...]:
        """Names of exceptions: one or a list of them."""
        found = []
        for each in code.items if isinstance(code, Listing) else (code,):
            text = each.text if isinstance(each, Expression) else getattr(each, "value", None)
            if not isinstance(text, str) or not _TYPE_NAME.fullmatch(text):
                raise self.unfit(
                    each, f"names of exceptions for `{key}`", "write one, or a list of them"
                )
            found.append(text)
        return tuple(found)

    def nothing(self, parts: _Parts) -> None:
        """Makes sure that a construct has no value."""
        code = parts.own
        if not isinstance(code, Scalar) or code.value is not None:
            raise self.unfit(
                code, f"no value for `{parts.construct}`", "remove what stands behind it"
            )

    def cases(self, parts: _Parts) -> tuple[tuple[Expression | Scalar, Block], ...]:
        """The blocks of a map, by what stands before them."""
        code = parts.own
        if not isinstance(code, Mapped):
            raise self.unfit(
                code, f"a map of blocks for `{parts.construct}`", "write a block for each case"
            )
        return tuple((key, self.block(value)) for key, value in code.entries)


def _written(key: Scalar | Expression) -> str:
    return str(key) if isinstance(key, Expression) else str(key.value)


def _kind_of(code: Code) -> str:
    match code:
        case Scalar(value=value):
            return shown(value)
        case Listing():
            return "a list"
        case Mapped():
            return "a map"
    return f"the expression {code}"


def _if(reader: _Reader, parts: _Parts) -> Statement:
    condition = reader.condition(parts, parts.own)
    then, otherwise = reader.block(parts.values["Then"]), reader.block(parts.values.get("Else"))
    return If(condition, then, otherwise, parts.line)


def _while(reader: _Reader, parts: _Parts) -> Statement:
    if not isinstance(parts.own, Expression):
        advice = 'write one, without quotes; `!yaql "true"` is one that is always true'
        raise reader.unfit(parts.own, "an expression for `While`", advice)
    return While(parts.own, reader.block(parts.values["Do"]), parts.line)


def _for(reader: _Reader, parts: _Parts) -> Statement:
    variable = reader.variable(parts, "For")
    return For(variable, parts.values["In"], reader.block(parts.values["Do"]), parts.line)


def _repeat(reader: _Reader, parts: _Parts) -> Statement:
    count = _number(reader, parts, "Repeat")
    return Repeat(count, reader.block(parts.values["Do"]), parts.line)


def _number(reader: _Reader, parts: _Parts, key: str) -> Expression | Scalar:
    code = parts.values[key]
    if isinstance(code, Expression) or (isinstance(code, Scalar) and type(code.value) is int):
        return code
    raise reader.unfit(code, f"an integer or an expression for `{key}`", "write one of them")


def _break(reader: _Reader, parts: _Parts) -> Statement:
    reader.nothing(parts)
    return Break(parts.line)


def _continue(reader: _Reader, parts: _Parts) -> Statement:
    reader.nothing(parts)
    return Continue(parts.line)


def _rethrow(reader: _Reader, parts: _Parts) -> Statement:
    reader.nothing(parts)
    return Rethrow(parts.line)


def _match(reader: _Reader, parts: _Parts) -> Statement:
    found: list[tuple[Constant, Block]] = []
    for key, block in reader.cases(parts):
        if isinstance(key, Expression):
            advice = "put quotes around it, or use `Switch`"
            message = expectation("constants as keys of `Match`", str(key))
            raise reader.wrong(key, message, advice)
        found.append((key.value, block))
    default = reader.block(parts.values.get("Default"))
    return Match(parts.values["Value"], tuple(found), default, parts.line)


def _switch(reader: _Reader, parts: _Parts) -> Statement:
    return Switch(reader.cases(parts), reader.block(parts.values.get("Default")), parts.line)


def _parallel(reader: _Reader, parts: _Parts) -> Statement:
    limit = _number(reader, parts, "Limit") if "Limit" in parts.values else None
    return Parallel(reader.block(parts.own), limit, parts.line)


def _try(reader: _Reader, parts: _Parts) -> Statement:
    values = parts.values
    handlers = values.get("Catch")
    listed_ = (
        () if handlers is None else handlers.items if isinstance(handlers, Listing) else (handlers,)
    )
    catches = tuple(_catch(reader, each) for each in listed_)
    body, otherwise = reader.block(parts.own), reader.block(values.get("Else"))
    return Try(body, catches, otherwise, reader.block(values.get("Finally")), parts.line)


def _catch(reader: _Reader, code: Code) -> Catch:
    known = ("With", "As", "Do")
    if isinstance(code, Scalar) and code.value is None:
        return Catch(None, "", (), code.line)
    if not isinstance(code, Mapped):
        raise reader.unfit(
            code, "a map, or a list of maps, for `Catch`", f"write {', '.join(known)}"
        )
    for key, _ in code.entries:
        text = _written(key)
        if text not in known:
            raise reader.wrong(key, f"`Catch` has no key {text}", did_you_mean(text, known))
    parts = _Parts("Catch", {_written(key): each for key, each in code.entries}, code.line)
    names = reader.names(parts.values["With"], "With") if "With" in parts.values else None
    variable = reader.variable(parts, "As") if "As" in parts.values else ""
    return Catch(names, variable, reader.block(parts.values.get("Do")), code.line)


def _throw(reader: _Reader, parts: _Parts) -> Statement:
    values = parts.values
    names = reader.names(parts.own, "Throw")
    if not names:
        raise reader.unfit(parts.own, "the name of an exception for `Throw`", "write one")
    return Throw(names, values.get("Message"), values.get("Extra"), values.get("Cause"), parts.line)


_CONSTRUCTS: Mapping[str, _Construct] = {
    "Return": _Construct(lambda _, parts: Return(parts.own, parts.line)),
    "Do": _Construct(lambda reader, parts: Do(reader.block(parts.own), parts.line)),
    "If": _Construct(_if, ("Then",), ("Else",)),
    "While": _Construct(_while, ("Do",)),
    "For": _Construct(_for, ("In", "Do")),
    "Repeat": _Construct(_repeat, ("Do",)),
    "Break": _Construct(_break),
    "Continue": _Construct(_continue),
    "Match": _Construct(_match, ("Value",), ("Default",)),
    "Switch": _Construct(_switch, (), ("Default",)),
    "Parallel": _Construct(_parallel, (), ("Limit",)),
    "Try": _Construct(_try, (), ("Catch", "Else", "Finally")),
    "Throw": _Construct(_throw, (), ("Message", "Extra", "Cause")),
    "Rethrow": _Construct(_rethrow),
}
"""The constructs by their first key."""
