"""What can be assigned to."""

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine.expressions import (
    Binary,
    Call,
    Expression,
    Index,
    Tree,
    Unary,
    Variable,
    Word,
)
from trundle.engine.statements._records import Step, Target

_OBJECTS = ("$1", "$this")


def read_target(expression: Expression) -> Target:
    """The target that an expression is.

    Raises:
        EngineError: nothing can be assigned to it.
    """
    steps: list[Step] = []
    tree: Tree = expression.tree
    while True:
        match tree:
            case Binary(operator=".", left=left, right=Word(text=name)):
                steps.append(Step(name))
            case Index(value=left, arguments=(index,)):
                steps.append(Step(index=index))
            case _:
                break
        tree = left
    steps.reverse()
    match tree:
        case Variable(name=name) if steps or name not in _OBJECTS:
            return Target(tree, tuple(steps))
        case Variable():
            message = f"{expression} is the object itself"
            raise _wrong(expression, message, "assign to a property", names=("ValueError",))
        case Unary(operator=":") | Binary(operator=":") | Call(name="type") if steps[:1] and (
            steps[0].name
        ):
            return Target(tree, tuple(steps))
    message = f"nothing can be assigned to {expression}"
    raise _wrong(expression, message, "assign to a variable, a property, or a place within one")


def _wrong(
    expression: Expression, message: str, advice: str, names: tuple[str, ...] = ()
) -> EngineError:
    place = expression.place
    return EngineError(
        EngineCode.INVALID_TARGET,
        message,
        advice=advice,
        file=place.file,
        line=place.line,
        names=names,
    )
