"""What a process of its own does for a request: it changes a draft, computes a form, calls a static method, or runs an environment."""

import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

from trundle.api.environments import _bodies as bodies
from trundle.api.environments._places import Place, settings_now
from trundle.catalog import Catalog, Snapshot
from trundle.database import DatabaseError
from trundle.engine import Limits, WatchedCall, watching
from trundle.engine.effects import Effect, Plain, Provider, Record, hidden
from trundle.environments import (
    Action,
    ActionLine,
    Actions,
    CalledClass,
    Draft,
    Environment,
    Environments,
    HiddenAnswers,
    Model,
    OutdatedDraftError,
    Providers,
    RunResult,
    adding,
    call,
    call_static,
    check_application,
    chosen_package,
    delete,
    deploy,
    form_parameters,
    object_of,
    removing,
    replacing,
    rollback,
    upgrade,
)
from trundle.forms import Sources, fill, form_of_package, json_schema
from trundle.packages import Package
from trundle.workers import Note

Opening: TypeAlias = Callable[
    [Providers, str], contextlib.AbstractContextManager[Mapping[str, Provider]]
]
"""Opens providers by their settings and the name by which an environment owns fields of objects; a function of a module."""
Run: TypeAlias = bodies.Deploy | bodies.Call | bodies.Rollback | bodies.Upgrade | bodies.Delete

_PAUSE = 0.3
"""Seconds between two writes of what a run says."""
_MOST_TRIES = 3
"""How often a change of a draft begins that meets others; no more changes of a tenant go on at a time."""
_MOST_LINES = 10_000
_LONGEST_LINE = 4000


class Means(NamedTuple):
    """What environments are run with.

    Attributes:
        catalog: the database of the catalog.
        opening: opens providers.
        limits: how much the code of packages may ask for.
        installed: gives the packages that are installed, which upgrades take; a function of a module. None where nothing is.
        places: what environments may reach, by name.
    """

    catalog: str | Path
    opening: Opening
    limits: Limits
    installed: Callable[[], Collection[Package]] | None = None
    places: Mapping[str, Place] = {}


class Subject(NamedTuple):
    """What a request is about.

    Attributes:
        tenant: the tenant.
        environment: the environment.
        by: who asks.
    """

    tenant: str
    environment: str
    by: str


class EditOfDraft(NamedTuple):
    """A change of a draft.

    Attributes:
        draft: the draft.
        edit: its new model, an application that is added, or the name of one that is removed.
        tag: the tag of the draft that the client has read; empty for none, None where it does not say.
        dry_run: whether nothing is written.
    """

    draft: str
    edit: bodies.NewModel | bodies.NewestApplication | str
    tag: str | None
    dry_run: bool


@contextlib.contextmanager
def _opened(means: Means) -> Iterator[Environments]:
    with Catalog(means.catalog) as catalog:
        yield Environments(catalog, limits=means.limits)


# Drafts


def edited(_: Note, means: Means, subject: Subject, asked: EditOfDraft) -> Draft:
    """Changes a draft."""
    tenant, environment, by = subject
    with _opened(means) as environments:
        kept: Mapping[str, str] = {}
        change: Callable[[Model], Model]
        match asked.edit:
            case str() as application:
                change = removing(environment, application)
            case bodies.NewModel() as given:
                change = replacing(environment, given.model, "the model")
            case _ as given:
                change, kept = _application(environments.snapshot(tenant), given, means.limits)

        def edit() -> Draft:
            return environments.edit(
                environment,
                change,
                tenant=tenant,
                draft=asked.draft,
                by=by,
                secrets=kept,
                tag=asked.tag,
                dry_run=asked.dry_run,
            )

        # Without a tag, the client has read nothing that others could have changed.
        for _again in range(_MOST_TRIES - 1 if asked.tag is None else 0):
            with contextlib.suppress(OutdatedDraftError):
                return edit()
        return edit()


def _application(
    snapshot: Snapshot,
    asked: bodies.NewestApplication,
    limits: Limits,
) -> tuple[Callable[[Model], Model], Mapping[str, str]]:
    """What adds an application, and the secrets that go with it."""
    package = chosen_package(snapshot, asked.named)
    answers = HiddenAnswers(package)
    plain = asked.class_name is not None or asked.properties is not None
    form = None if plain else form_of_package(package, asked.form)
    if form is None:
        made = object_of(package, asked.properties or asked.answers or {}, asked.class_name)
    else:
        parameters = form_parameters(form.form, package, snapshot, limits)
        given = asked.answers or {}
        made = fill(form.form, given, Sources.random(), parameters, "the answers", answers).model
    check_application(made, package, snapshot, limits)
    return adding(made, package, asked.name), answers.secrets


def form_schema(
    _: Note, means: Means, subject: Subject, asked: bodies.WantedNewestForm
) -> dict[str, Any] | None:
    """The JSON Schema of the answers to the form of a package, whose code runs for it; None where it has no form."""
    with _opened(means) as environments:
        snapshot = environments.snapshot(subject.tenant)
        package = chosen_package(snapshot, asked.named)
        form = form_of_package(package, asked.form)
        if form is None:
            return None
        return json_schema(form.form, form_parameters(form.form, package, snapshot, means.limits))


def static_value(_: Note, means: Means, subject: Subject, asked: bodies.StaticCall) -> Any:
    """What a static method returns."""
    called = CalledClass(asked.class_name, asked.version, asked.package)
    with _opened(means) as environments:
        snapshot = environments.snapshot(subject.tenant)
        given = asked.method, asked.arguments, asked.named
        return call_static(snapshot, called, *given, limits=means.limits)


# Runs


def title_of(run: Run) -> str:
    """What a run is called."""
    match run:
        case bodies.Deploy():
            return "deploy"
        case bodies.Call():
            return f"call {run.object}.{run.method}"
        case bodies.Rollback():
            return f"rollback to {run.deployment}"
        case bodies.Upgrade():
            return "upgrade"
        case bodies.Delete():
            return "delete"


def carried_out(note: Note, means: Means, run: Run, action: Action) -> dict[str, Any]:
    """Runs an environment; gives what it came to as plain values."""
    with (
        _opened(means) as environments,
        _Report(environments, action, note) as report,
        watching(report),
    ):
        return _plain(_result(environments, means, run, action, report))


@contextlib.contextmanager
def _reported(
    means: Means, report: "_Report", environment: Environment
) -> Iterator[Mapping[str, Provider]]:
    """What acts on the world for an environment, reporting what it does."""
    settings = settings_now(means.places, environment)
    with means.opening(settings, environment.manager) as opened:
        yield {key: _Reported(each, report) for key, each in opened.items()}


def _result(
    environments: Environments,
    means: Means,
    run: Run,
    action: Action,
    report: "_Report",
) -> RunResult:
    name = action.environment
    about: dict[str, Any] = {
        "tenant": action.tenant,
        "opening": partial(_reported, means, report),
        "by": action.by,
        "dry_run": action.dry_run,
    }
    match run:
        case bodies.Deploy():
            return deploy(environments, name, draft=run.draft, tag=run.tag, **about)
        case bodies.Call():
            target = run.object, run.method, run.arguments, run.named
            return call(environments, name, *target, **about, action=action)
        case bodies.Rollback():
            return rollback(environments, name, run.deployment, **about)
        case bodies.Upgrade():
            arriving = () if means.installed is None else means.installed()
            more: dict[str, Any] = {"major": run.major, "arriving": arriving, **about}
            return upgrade(environments, name, run.packages, **more)
        case bodies.Delete():
            return delete(environments, name, **about)


def _plain(result: RunResult) -> dict[str, Any]:
    moved = result.upgraded.items()
    return {
        **result.to_plain(),
        "value": result.value,
        "findings": [each.to_plain() for each in result.findings],
        "upgraded": [{"package": each, "from": old, "to": new} for each, (old, new) in moved],
    }


class _Report(logging.Handler):
    """Writes down what a run says and does, while it runs: from a thread, so that slow code does not keep it.

    What packages log is part of it. Used as a context manager.
    """

    def __init__(self, environments: Environments, action: Action, note: Note) -> None:
        super().__init__()
        self._note = note
        self._actions = Actions(environments)
        self._time = environments.time
        self._action = action
        self._secrets = environments.secret_texts(action.environment, tenant=action.tenant)
        self._lines: queue.SimpleQueue[ActionLine] = queue.SimpleQueue()
        self._unwritten: list[ActionLine] = []
        self._number = 0
        self._numbering = threading.Lock()
        self._doing, self._at = "", dict[int, str]()
        self._effects = 0
        self._written: tuple[str, int] = ("", 0)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Self:
        self._actions.start(self._action)
        for name in ("trundle.packages", "trundle.status"):
            log = logging.getLogger(name)
            log.setLevel(logging.INFO)
            log.addHandler(self)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for name in ("trundle.packages", "trundle.status"):
            logging.getLogger(name).removeHandler(self)
        self._ended.set()
        self._thread.join()
        self._flush()

    def say(self, text: str) -> None:
        """Adds a line; those beyond the most that are kept are left out."""
        with self._numbering:
            self._number += 1
            number = self._number
        if number < _MOST_LINES:
            shown = _kept(str(hidden(text, self._secrets)))[:_LONGEST_LINE]
            self._lines.put(ActionLine(number, self._time(), shown))
        elif number == _MOST_LINES:
            self._lines.put(
                ActionLine(number, self._time(), "more lines follow, which are not kept")
            )

    def act(self, text: str) -> None:
        """Adds a line about an effect that was carried out."""
        self._effects += 1
        self.say(text)

    def emit(self, record: logging.LogRecord) -> None:
        """Adds what a package logs."""
        self.say(f"{record.levelname.lower()}: {record.getMessage()}")

    def begin(self, call: WatchedCall) -> None:
        """A method begins."""
        self._at[call.depth] = str(call.frame)
        self._is_at(call.depth)

    def end(self, call: WatchedCall, result: Any) -> None:
        """A method returns to the one that called it."""
        del result
        self._is_at(call.depth - 1)

    def fail(self, call: WatchedCall, error: Exception) -> None:
        """The same."""
        self.end(call, error)

    def _is_at(self, depth: int) -> None:
        self._note.text = self._doing = self._at.get(depth, "")

    def _write(self) -> None:
        while not self._ended.wait(_PAUSE):
            self._flush()

    def _flush(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._unwritten.append(self._lines.get_nowait())
        now = self._doing, self._effects
        if not self._unwritten and now == self._written:
            return
        # Where it cannot be written now, the next time does; the run itself does not depend on it.
        with contextlib.suppress(DatabaseError):
            self._actions.note(self._action, self._unwritten, *now)
            self._unwritten, self._written = [], now


def _kept(text: str) -> str:
    """A text as each database can keep it: without NUL, and without halves of characters."""
    return text.replace("\0", "\\0").encode(errors="backslashreplace").decode()


class _Reported(Provider):
    """A provider whose acts are reported."""

    def __init__(self, provider: Provider, report: _Report) -> None:
        self._provider, self._report = provider, report
        self.kinds = provider.kinds

    def place(self, kind: str, wanted: Plain) -> str:
        return self._provider.place(kind, wanted)

    def check(self, effect: Effect, now: Record | None) -> None:
        self._provider.check(effect, now)

    def show(self, kind: str, wanted: Plain) -> str:
        return self._provider.show(kind, wanted)

    def foresee(self, effect: Effect) -> Plain:
        return self._provider.foresee(effect)

    def apply(self, effect: Effect, before: Record | None) -> Plain:
        found = self._provider.apply(effect, before)
        self._report.act(f"{'created' if before is None else 'changed'} {effect.key}")
        return found

    def remove(self, effect: Effect, outcome: Plain) -> None:
        self._provider.remove(effect, outcome)
        self._report.act(f"removed {effect.key}")
