"""Runs tests: each in a session of its own, in worker processes."""

import contextlib
import gc
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from trundle.engine import (
    Branch,
    CallTrace,
    Coverage,
    Engine,
    EngineError,
    Limits,
    Session,
    watching,
)
from trundle.errors import Place, shortened
from trundle.packages import Package
from trundle.testing._cases import Case
from trundle.testing._outcome import CaseOutcome, Status
from trundle.testing._world import TestWorld
from trundle.workers import bound_memory, cpu_count, spread

if TYPE_CHECKING:
    from trundle.engine import Handle

_SET_UP, _TEAR_DOWN = "setUp", "tearDown"
_LOGGERS = ("trundle.packages", "trundle.status", "trundle.engine")
_MOST_LINES = 1000
_LONGEST_LINE = 10_000


@dataclass(frozen=True, slots=True)
class TestRun:
    """How tests run.

    Attributes:
        packages: the archives of all packages that the tests may use.
        jobs: how many run at a time; one to each processor where None.
        seconds: how long one may take.
        limits: how much one may ask for.
        coverage: whether to note which branches run.
        trace: whether to note each call.
        lock: which versions requirements get, as the lock of a session.
    """

    __test__ = False  # It is none of pytest's.

    packages: tuple[bytes, ...]
    jobs: int | None = None
    seconds: float = 60.0
    limits: Limits = field(default_factory=Limits)
    coverage: bool = False
    trace: bool = False
    lock: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def run_tests(run: TestRun, cases: Sequence[Case]) -> Iterator[CaseOutcome]:
    """Runs tests, and gives what came out of each as soon as it is there.

    A test that takes too long, or whose process dies, is an outcome as any other.

    Args:
        run: how.
        cases: the tests.

    Raises:
        EngineError: the packages cannot be used together.
    """
    with tempfile.TemporaryDirectory(prefix="trundle-tests-") as folder:
        yield from spread(
            _one,
            cases,
            jobs=run.jobs or cpu_count(),
            start=_start,
            arguments=(run, Path(folder)),
            seconds=run.seconds,
            lost=_lost,
        )


class _Worker:
    """What a worker process keeps between tests."""

    engine: Engine
    world: TestWorld
    coverage: Coverage | None = None
    trace = False
    lock: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    compiled: ClassVar[set[str]] = set()


def _start(run: TestRun, folder: Path) -> None:
    bound_memory(run.limits.memory)
    packages = [Package.from_archive(each) for each in run.packages]
    _Worker.world = TestWorld(folder / str(os.getpid()))
    _Worker.coverage = Coverage() if run.coverage else None
    _Worker.trace = run.trace
    _Worker.lock = run.lock
    _Worker.engine = Engine(
        packages,
        limits=run.limits,
        providers=_Worker.world.providers,
        coverage=_Worker.coverage,
    )


def _lost(case: Case, why: str, seconds: float) -> CaseOutcome:
    what = f"{case.package} {case.name}"
    message = f"{why} ({Place(case.file, case.line, what)})"
    return CaseOutcome(case, Status.ERROR, message, message, seconds)


def _one(case: Case) -> CaseOutcome:
    """Runs one test; the others run, too, where it takes all memory."""
    begun = time.monotonic()
    try:
        outcome = _run(case)
    except MemoryError:
        why = "the test takes more memory than it may; let it do less, or allow more with --memory-limit [limit]"
        outcome = _lost(case, why, time.monotonic() - begun)
    if outcome.status is not Status.PASSED:
        gc.collect()  # What errors hold is in circles, and the next test shall have all memory
    return outcome


def _run(case: Case) -> CaseOutcome:
    known = _compiled(case)
    calls: list[str] = []
    begun = time.monotonic()
    with (
        _logged() as lines,
        watching(CallTrace(_some(calls))) if _Worker.trace else contextlib.nullcontext(),
        _Worker.world.fresh(),
        _Worker.engine.session(lock=_Worker.lock, mocks=True) as session,
    ):
        status, message, details = _tried(session, case)
    seconds = time.monotonic() - begun
    ran: frozenset[Branch] = frozenset()
    if _Worker.coverage is not None:
        ran = frozenset(_Worker.coverage.ran)
        _Worker.coverage.ran.clear()
    return CaseOutcome(
        case, status, message, details, seconds, "\n".join(lines), ran, known, tuple(calls)
    )


def _some(calls: list[str]) -> Callable[[str], None]:
    """What keeps lines, up to a number."""

    def write(line: str) -> None:
        if len(calls) < _MOST_LINES:
            calls.append(line)
        elif len(calls) == _MOST_LINES:
            calls.append("...")

    return write


def _tried(session: Session, case: Case) -> tuple[Status, str, str]:
    """Runs `setUp`, the test and `tearDown`; the last one wherever the first one came to its end."""
    name, _, version = case.package.partition("/")
    errors: list[EngineError] = []

    def attempt(act: Callable[[], object]) -> bool:
        try:
            act()
        except EngineError as error:
            errors.append(error)
            return False
        return True

    made: list[Handle | None] = []
    type_ = f"{case.class_name}/{version}@{name}"
    if attempt(lambda: made.append(session.load({"?": {"type": type_}}))):
        test = made[0]
        assert test is not None
        if attempt(lambda: session.call(test, _SET_UP, internal=True)):
            attempt(lambda: session.call(test, case.method, internal=True))
            attempt(lambda: session.call(test, _TEAR_DOWN, internal=True))
    if not errors:
        return Status.PASSED, "", ""
    is_failure = all("AssertionError" in each.names for each in errors)
    return (
        Status.FAILED if is_failure else Status.ERROR,
        str(errors[0]),
        "\n\n".join(each.format() for each in errors),
    )


def _compiled(case: Case) -> frozenset[Branch]:
    """The branches of the package of a test, those that nothing calls included; once for each package."""
    if _Worker.coverage is None or case.package in _Worker.compiled:
        return frozenset()
    _Worker.compiled.add(case.package)
    name, _, version = case.package.partition("/")
    with _Worker.engine.session(lock=_Worker.lock) as session:
        for each in _Worker.engine.package(name, f"={version}").classes:
            # A class that cannot be built is a case of its own.
            with contextlib.suppress(EngineError):
                session.compile(session.type(each, f"={version}", name))
    known = _Worker.coverage.known
    return frozenset(each for each in known if each.package == case.package)


@contextlib.contextmanager
def _logged() -> Iterator[list[str]]:
    """What packages log meanwhile."""
    lines: list[str] = []
    handler = _Lines(lines)
    loggers = [logging.getLogger(each) for each in _LOGGERS]
    before = [(each.level, each.propagate) for each in loggers]
    for each in loggers:
        each.setLevel(logging.DEBUG)
        each.propagate = False
        each.addHandler(handler)
    try:
        yield lines
    finally:
        for each, (level, propagate) in zip(loggers, before, strict=True):
            each.removeHandler(handler)
            each.setLevel(level)
            each.propagate = propagate


class _Lines(logging.Handler):
    """Keeps messages as lines, up to a number."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a message."""
        if len(self._lines) < _MOST_LINES:
            message = shortened(record.getMessage(), _LONGEST_LINE)
            self._lines.append(f"{record.levelname} {record.name}: {message}")
