"""Statements as closures: each method body is compiled once for each format.

A closure takes the scope of the method and returns a signal: what comes after it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat, takewhile
from typing import Any, NoReturn, assert_never

from trundle.engine._described import described
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._structure import value_of
from trundle.engine.expressions import Format, Scope, Variable, explained, is_sequence, located
from trundle.engine.running._frame import Frame
from trundle.engine.running._signals import BREAK, CONTINUE, Run, Signal, Stray
from trundle.engine.running._targets import assignment, set_variable
from trundle.engine.running._thrown import catching, throwing
from trundle.engine.statements import (
    Assign,
    Block,
    Break,
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
from trundle.errors import Place, expectation


def frame_of(scope: Scope) -> Frame:
    """The call of a method in which a statement runs."""
    frame = scope.scene
    assert isinstance(frame, Frame)
    return frame


class Compiler:
    """Compiles the statements of one class file.

    Attributes:
        format: the format of its package.
    """

    def __init__(self, format_: Format) -> None:
        self.format = format_
        self._loops = 0

    def body(self, block: Block) -> Run:
        """What runs the body of a method.

        Raises:
            EngineError: an expression in it cannot be read.
        """
        match block:
            case (Return(value=value, line=line),):
                return Returning(value_of(value, self.format), line)
        return self.block(block)

    def block(self, block: Block, loop: int = 0) -> Run:
        """What runs statements one after the other.

        Args:
            block: the statements.
            loop: the line of the loop whose rounds they are; each round is a step, too. 0 for none.

        Raises:
            EngineError: an expression in it cannot be read.
        """
        if not block and not loop:
            return _nothing
        steps = [(self._statement(each), each.line) for each in block]
        count, first = len(block) + bool(loop), block[0].line if block else loop
        at = next((at for at, each in enumerate(block) if isinstance(each, Return)), None)
        if at is None:
            return _in_turn(steps, count, first)
        # What stands behind `Return` has to be right, and counts, but does not run
        value, line = steps[at]
        if at:
            return _in_turn(steps[:at], count, first, value, line)
        return _at_once(value, line, count)

    def _statement(self, statement: Statement) -> Run:  # noqa: C901 - one line for each kind
        match statement:
            case Evaluate():
                return self._evaluate(statement)
            case Assign():
                return self._assign(statement)
            case Return():
                return value_of(statement.value, self.format)  # The block around returns it
            case Do():
                return self.block(statement.body)
            case If():
                return self._if(statement)
            case While():
                return self._while(statement)
            case For():
                return self._for(statement)
            case Repeat():
                return self._repeat(statement)
            case Break():
                return self._leaving(BREAK, statement.line)
            case Continue():
                return self._leaving(CONTINUE, statement.line)
            case Match():
                return self._match(statement)
            case Switch():
                return self._switch(statement)
            case Parallel():
                return self._parallel(statement)
            case Try():
                return self._try(statement)
            case Throw():
                return throwing(statement, self.format)
            case Rethrow():
                return _rethrow
        assert_never(statement)

    def _rounds(self, body: Block, line: int = 0) -> Run:
        """The block of a loop, which `Break` and `Continue` in it are about."""
        self._loops += 1
        run = self.block(body, line)
        self._loops -= 1
        return run

    def _leaving(self, word: str, line: int) -> Run:
        signal = word if self._loops else Stray(word, line)
        return lambda _: signal

    def _evaluate(self, statement: Evaluate) -> Run:
        expression = statement.expression.compile(self.format)

        def evaluate(scope: Scope) -> Signal:
            expression(scope)
            return None

        return evaluate

    def _assign(self, statement: Assign) -> Run:
        value, target = value_of(statement.value, self.format), statement.target
        if not target.steps:
            assert isinstance(target.root, Variable)
            return _set(target.root.name, value)
        store = assignment(target, self.format)

        def assign(scope: Scope) -> Signal:
            store(scope, value(scope))
            return None

        return assign

    def _if(self, statement: If) -> Run:
        condition = value_of(statement.condition, self.format)
        then, otherwise = self.block(statement.then), self.otherwise(statement)
        if otherwise is None:
            return lambda scope: then(scope) if condition(scope) else None
        return lambda scope: then(scope) if condition(scope) else otherwise(scope)

    def otherwise(self, statement: If) -> Run | None:
        """What runs where the condition of a statement is not met; None for nothing."""
        return self.block(statement.otherwise) if statement.otherwise else None

    def _while(self, statement: While) -> Run:
        condition = statement.condition.compile(self.format)
        body = self._rounds(statement.body, statement.line)
        return _loop(lambda scope: takewhile(bool, map(condition, repeat(scope))), body)

    def _for(self, statement: For) -> Run:
        collection, body = value_of(statement.collection, self.format), self._rounds(statement.body)
        return _loop(lambda scope: _items(collection(scope)), body, f"${statement.variable}")

    def _repeat(self, statement: Repeat) -> Run:
        count = value_of(statement.count, self.format)
        body = self._rounds(statement.body, statement.line)
        return _loop(lambda scope: _times(count(scope)), body)

    def _match(self, statement: Match) -> Run:
        value, default = value_of(statement.value, self.format), self.block(statement.default)
        cases = [(_exactly(key), self.block(block)) for key, block in statement.cases]

        def match(scope: Scope) -> Signal:
            found = _exactly(value(scope))
            for key, block in cases:
                if key == found:
                    return block(scope)
            return default(scope)

        return match

    def _switch(self, statement: Switch) -> Run:
        cases = [
            (value_of(condition, self.format), self.block(block))
            for condition, block in statement.cases
        ]
        default = self.block(statement.default)

        def switch(scope: Scope) -> Signal:
            is_met = False
            for condition, block in cases:
                if condition(scope):
                    is_met = True
                    signal = block(scope)
                    if signal is not None:
                        return signal
            return None if is_met else default(scope)

        return switch

    def _parallel(self, statement: Parallel) -> Run:
        branches = [self.block((each,)) for each in statement.body]
        if not branches:
            return _nothing
        limit = None if statement.limit is None else value_of(statement.limit, self.format)

        def parallel(scope: Scope) -> Signal:
            at_once = len(branches) if limit is None else limit(scope)
            if not isinstance(at_once, int) or at_once < 1:
                raise ValueError(expectation("a `Limit` of 1 or more", described(at_once)))
            turns = frame_of(scope).world.turns
            inner = [Scope(scope.scene, {}, scope) for _ in branches]
            tasks = [_task(branch, each) for branch, each in zip(branches, inner, strict=True)]
            signals = turns.all(tasks, at_once)
            return next((each for each in signals if each is not None), None)

        return parallel

    def _try(self, statement: Try) -> Run:
        body, otherwise = self.block(statement.body), self.block(statement.otherwise)
        finally_ = self.block(statement.finally_)
        handlers = [catching(each, self.block(each.body)) for each in statement.catches]

        def attempt(scope: Scope) -> Signal:
            try:
                signal = body(scope)
            except EngineError as error:
                if error.code == EngineCode.LIMIT:
                    raise
                for handle in handlers:
                    handled = handle(scope, error)
                    if handled is not None:
                        return handled[0]
                raise
            return otherwise(scope) if signal is None else signal

        def try_(scope: Scope) -> Signal:
            try:
                signal = attempt(scope)
            except EngineError as error:
                if error.code != EngineCode.LIMIT and finally_(scope) is not None:
                    raise _ended_in_finally() from error
                raise
            after = finally_(scope)
            return signal if after is None else after

        return try_


class Returning:
    """The body of a method that returns a value and does nothing else.

    Attributes:
        value: what computes that.
        line: where it stands.
    """

    __slots__ = ("line", "value")

    def __init__(self, value: Callable[[Scope], Any], line: int) -> None:
        self.value = value
        self.line = line

    def __call__(self, scope: Scope) -> Signal:
        """Runs it."""
        return _at_once(self.value, self.line, 1)(scope)


def _nothing(_: Scope) -> Signal:
    return None


def _in_turn(
    steps: Sequence[tuple[Run, int]],
    count: int,
    first: int,
    value: Callable[[Scope], Any] | None = None,
    last: int = 0,
) -> Run:
    """What runs statements, and returns a value after them, if there is one.

    Args:
        steps: the statements with their lines.
        count: how many steps it takes.
        first: where it begins.
        value: what is returned; None for nothing.
        last: where that is.
    """

    def run(scope: Scope) -> Signal:
        line = first
        frame: Any = scope.scene
        world = frame.world
        world.steps -= count
        try:
            if world.steps < 0:
                world.more()
            for step, line in steps:  # noqa: B007 - the line is for errors
                signal = step(scope)
                if signal is not None:
                    return signal
            if value is None:
                return None
            line = last
            return (value(scope),)
        except Exception as error:  # noqa: BLE001 - it is raised again
            leave(error, frame, line)

    return run


def _at_once(value: Callable[[Scope], Any], line: int, count: int) -> Run:
    """The same where a value is returned at once, as in many methods."""

    def run(scope: Scope) -> Signal:
        frame: Any = scope.scene
        world = frame.world
        world.steps -= count
        try:
            if world.steps < 0:
                world.more()
            return (value(scope),)
        except Exception as error:  # noqa: BLE001 - it is raised again
            leave(error, frame, line)

    return run


def _loop(rounds: Callable[[Scope], Iterable[Any]], body: Run, variable: str = "") -> Run:
    """What runs a block in rounds, which begin one by one.

    Args:
        rounds: what each round is about.
        body: what runs.
        variable: the variable that has what the round is about; empty for none.
    """

    def loop(scope: Scope) -> Signal:
        variables: Any = scope.variables
        for each in rounds(scope):
            if variable:
                variables[variable] = each
            signal = body(scope)
            if signal is not None and signal is not CONTINUE:
                return None if signal is BREAK else signal
        return None

    return loop


def _set(name: str, value: Callable[[Scope], Any]) -> Run:
    """What sets a variable."""

    def assign(scope: Scope) -> Signal:
        made = value(scope)
        if scope.parent is None:
            scope.variables[name] = made  # type: ignore[index]
        else:
            set_variable(scope, name, made)
        return None

    return assign


def _task(branch: Run, scope: Scope) -> Callable[[], Signal]:
    return lambda: branch(scope)


def _ended_in_finally() -> EngineError:
    message = "`Finally` ends with `Return`, `Break` or `Continue` while an exception is raised"
    return EngineError(
        EngineCode.INVALID_OPERATION, message, advice="handle the exception in `Catch`"
    )


def _items(value: Any) -> Sequence[Any]:
    """What `For` goes through: the items of a list, or the keys of a map; nothing for null."""
    if value is None:
        return ()
    if is_sequence(value) or isinstance(value, Mapping):
        return tuple(value)
    raise TypeError(expectation("a list or a map for `For`", described(value)))


def _times(value: Any) -> range:
    """The rounds of `Repeat`."""
    if not isinstance(value, int):
        raise TypeError(expectation("an integer for `Repeat`", described(value)))
    return range(value)


def _exactly(value: Any) -> Any:
    """A value that equals another one only if it is of its type, as far as booleans are concerned."""
    return (value,) if isinstance(value, bool) else value


def _rethrow(scope: Scope) -> Signal:
    handled = frame_of(scope).handled
    if not handled:
        raise TypeError("`Rethrow` stands outside of `Catch`")
    raise handled[-1]


def leave(error: Exception, frame: Frame, line: int) -> NoReturn:
    """Lets an exception leave a statement: as an error, which notes where the method is, once for each call.

    That is the place of an error that has none of its own.
    """
    place = Place(frame.origin.declaration.file, line)
    if isinstance(error, EngineError):
        left = located(error, place, frame)
    else:
        left = explained(error, "the statement", place, frame)
    if left.seen is not frame:
        left.seen = frame
        left.frames += (frame.entry(line),)
    if left is error:
        raise left
    raise left from error
