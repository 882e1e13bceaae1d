"""Which methods and branches ran: for tests of packages."""

from dataclasses import dataclass, field

from trundle.engine._declarations import MethodDeclaration
from trundle.engine._sources import format_of
from trundle.engine._type import Type
from trundle.engine.expressions import Scope
from trundle.engine.running._blocks import Compiler
from trundle.engine.running._signals import Run, Signal
from trundle.engine.statements import Block, If


@dataclass(frozen=True, slots=True, order=True)
class Branch:
    """A way through a method: its begin, a block of statements in it, or an `If` without `Else` whose condition is not met.

    Attributes:
        package: the package, as `name/1.2.3`.
        file: the class file.
        line: the line: of the method, of the first statement of the block, or of the `If`.
        class_name: the full name of the class.
        method: the method.
        kind: `method`, `block` or `else`, in this order.
    """

    package: str
    file: str
    line: int
    class_name: str
    method: str
    kind: str


@dataclass(slots=True)
class Coverage:
    """What an engine compiled, and what of it ran; sessions of the engine add to it.

    Attributes:
        known: the branches of all methods that were compiled.
        ran: those that ran.
    """

    known: set[Branch] = field(default_factory=set)
    ran: set[Branch] = field(default_factory=set)


class CountingCompiler(Compiler):
    """Compiles a method so that its branches are known, and noted where they run."""

    def __init__(self, declaring: Type, declared: MethodDeclaration, coverage: Coverage) -> None:
        super().__init__(format_of(declaring.source))
        self._declaring = declaring
        self._declared = declared
        self._coverage = coverage

    def body(self, block: Block) -> Run:
        """What runs the body of a method."""
        return self._counted(super().block(block), self._declared.line, "method")

    def block(self, block: Block, loop: int = 0) -> Run:
        """What runs a block of it."""
        run = super().block(block, loop)
        return self._counted(run, block[0].line, "block") if block else run

    def otherwise(self, statement: If) -> Run | None:
        """What runs where a condition is not met."""
        return super().otherwise(statement) or self._counted(_nothing, statement.line, "else")

    def _counted(self, run: Run, line: int, kind: str) -> Run:
        at, ran = self._declaring, self._coverage.ran
        branch = Branch(
            f"{at.package}/{at.version}",
            at.declaration.file,
            line,
            at.name,
            self._declared.name,
            kind,
        )
        self._coverage.known.add(branch)

        def counted(scope: Scope) -> Signal:
            ran.add(branch)
            return run(scope)

        return counted


def _nothing(_: Scope) -> Signal:
    return None
