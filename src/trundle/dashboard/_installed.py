"""The pages Installed: packages with their channels, what a policy will do when, and approving, holding and going back."""

import datetime as dt
import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from trundle.api.access import UNSECURED
from trundle.channels import Hold, parse_time
from trundle.dashboard._api_client import ApiRefusedError
from trundle.dashboard._calendar import WEEKS, calendar_of
from trundle.dashboard._forms import form_of
from trundle.dashboard._frame import INSTALLED, Frame, address
from trundle.dashboard._shown import ShownInstallation
from trundle.dashboard._timeline import Timeline, timeline_of
from trundle.errors import expectation
from trundle.installation import Installation, InstalledPackage, Outlook, exists, foresee, roll_back
from trundle.version import SemVer, VersionSyntaxError

_WAIT = 5.0
"""Seconds to wait for others who change the installation."""

_MOST_EVENTS = 50
_MOST_REASON = 500
_FIRST_YEAR, _LAST_YEAR = 2001, 2100
"""What years the calendar has."""

Form: TypeAlias = Mapping[str, str]
Action: TypeAlias = Callable[[Installation, str, Form, str], None]


class InstalledPackages:
    """Answers what is asked about an installation, and changes what a user may: approvals, holds, and going back.

    Args:
        shown: the installation.
        frame: makes pages.
    """

    def __init__(self, shown: ShownInstallation, frame: Frame) -> None:
        self._shown = shown
        self._frame = frame

    def prepare(self) -> None:
        """Imports what the first look at a signed channel would wait for."""
        with suppress(ImportError):  # An extra, which no unsigned channel needs.
            import trundle.channels.reading.signatures  # noqa: F401, PLC0415

    def _opened(self, *, looking: bool = True) -> Installation:
        """The installation.

        Args:
            looking: whether nothing is to be changed. Otherwise a folder that cannot be written is an error: what is forgotten at the end is not done.

        Raises:
            ApiRefusedError: nothing is installed.
            StateError: the folder cannot be used.
        """
        if not exists(self._shown.folder):
            raise ApiRefusedError(404, "Nothing is installed.")
        folder, clock, settings = self._shown
        return Installation(folder, clock=clock, wait=_WAIT, settings=settings, looking=looking)

    def listed(self, request: Request) -> Response:
        """What is installed; no channel is looked at for it."""
        packages: tuple[InstalledPackage, ...] = ()
        if exists(self._shown.folder):
            with self._opened() as installation:
                packages = installation.packages()
        return self._frame.shown(request, "installed.html", {"packages": packages})

    def one(self, request: Request) -> Response:
        """A package; with `look` what comes of a look at its channel, too."""
        with self._opened() as installation:
            package = installation.package(request.query_params.get("package", ""))
            events = installation.history(package.name)
            values: dict[str, Any] = {
                "package": package,
                "approvals": installation.approvals(package.name),
                "holds": [(each, _mark(each)) for each in installation.holds(package.name)],
                "events": events[:_MOST_EVENTS],
                "further": max(0, len(events) - _MOST_EVENTS),
                "here": address(f"{INSTALLED.path}/one", package=package.name),
                "outlook": None,
            }
            if "look" in request.query_params:
                (outlook,) = foresee(installation, [package.name])
                status = installation.status(package, outlook)
                calendar = calendar_of(
                    package.effective_policy, outlook.plan, events, _day(request)
                )
                values |= {"outlook": outlook, "status": status, "calendar": calendar}
                values |= {"pages": _further_weeks(calendar.start, package)}
                values["timeline"] = _timeline(outlook)
        return self._frame.shown(request, "installed_one.html", values)

    def back(self, request: Request) -> Response:
        """What going back would come to; nothing is changed."""
        with self._opened() as installation:
            event = roll_back(installation, request.query_params.get("package", ""), dry_run=True)
        return self._frame.shown(request, "installed_back.html", {"event": event})

    async def changed(self, request: Request) -> Response:
        """Does what a user asks for."""
        form = await form_of(request)
        act = _ACTIONS.get(form.get("do", ""))
        if act is None:
            found = form.get("do", "")
            known = ", ".join(_ACTIONS)
            raise ApiRefusedError(400, expectation(f"one of {known}", repr(found)))
        name = request.query_params.get("package", "")

        def work() -> None:
            with self._opened(looking=False) as installation:
                act(installation, name, form, _user(request))

        await run_in_threadpool(work)
        return self._frame.redirect(request, address(f"{INSTALLED.path}/one", package=name))


def _hold(installation: Installation, name: str, form: Form, user: str) -> None:
    reason, at = form.get("reason", "").strip(), installation.now()
    if not reason or len(reason) > _MOST_REASON:
        expected = f"a reason of up to {_MOST_REASON} characters"
        raise ApiRefusedError(422, expectation(expected, str(len(reason))))
    until = _until(form.get("until", ""))
    if until is not None and until <= at:
        expected, found = "a time to come, or none", f"{until:%Y-%m-%dT%H:%MZ}"
        raise ApiRefusedError(422, expectation(expected, found))
    held = Hold(reason, at, _held_version(form), until, user)
    installation.hold(name, held, shown=_shown_in(form))


def _approve(installation: Installation, name: str, form: Form, user: str) -> None:
    """Approves a version, if the channel still lists the content that the user was shown."""
    version = SemVer.parse(form.get("version", ""))
    installation.approve(name, version, by=user, digest=form.get("digest", ""))


def _unapprove(installation: Installation, name: str, form: Form, user: str) -> None:
    """Withdraws the approval of a version, if it is the one that the user was shown."""
    del user
    version = SemVer.parse(form.get("version", ""))
    if not installation.unapprove(name, version, digest=form.get("digest", "")):
        raise ApiRefusedError(409, f"There is no approval of {version} any more.")


def _unhold(installation: Installation, name: str, form: Form, user: str) -> None:
    """Ends a hold, if it is the one that the user was shown."""
    del user
    version = _held_version(form)
    if not installation.unhold(name, version, shown=_shown_in(form)):
        raise ApiRefusedError(409, f"There is no hold on {version or 'everything'} any more.")


def _held_version(form: Form) -> SemVer | None:
    """The version in a form about holds; None for everything.

    Raises:
        ApiRefusedError: it is no version.
    """
    text = form.get("version", "").strip()
    try:
        return SemVer.parse(text) if text else None
    except VersionSyntaxError:
        message = expectation("a version such as 1.2.3, or none for everything", repr(text))
        raise ApiRefusedError(422, message) from None


def _shown_in(form: Form) -> Callable[[Hold], bool]:
    """Whether a user was shown a hold, by the marks in a form."""
    marks = form.get("seen", "").split()
    return lambda hold: _mark(hold) in marks


def _mark(hold: Hold) -> str:
    """What distinguishes a hold from others."""
    return hashlib.sha256(repr(hold).encode()).hexdigest()[:16]


def _roll_back(installation: Installation, name: str, form: Form, user: str) -> None:
    """Goes back, if that comes to what the user was shown."""
    del user
    before, _, after = form.get("seen", "").partition(" ")
    roll_back(installation, name, between=(before, after))


_ACTIONS: Mapping[str, Action] = {
    "approve": _approve,
    "unapprove": _unapprove,
    "hold": _hold,
    "unhold": _unhold,
    "rollback": _roll_back,
}


def _user(request: Request) -> str:
    """Who asks, for the record; empty where the server knows no users."""
    user = request.scope.get("user")
    return "" if user is None or user.name == UNSECURED.name else str(user.name)


def _until(text: str) -> dt.datetime | None:
    """The time in a form, as browsers write it, taken as UTC; None where there is none.

    Raises:
        ApiRefusedError: it is no time.
    """
    if not text.strip():
        return None
    try:
        local = dt.datetime.fromisoformat(text.strip())
        return local.replace(tzinfo=dt.UTC) if local.tzinfo is None else parse_time(text)[0]
    except ValueError:
        message = expectation("a time such as 2026-03-08T02:00", repr(text))
        raise ApiRefusedError(422, message) from None


def _day(request: Request) -> dt.date | None:
    """The day that the calendar begins with; None for today.

    Raises:
        ApiRefusedError: it is no day, or one that no calendar has.
    """
    text = request.query_params.get("from")
    if text is None:
        return None
    try:
        found = dt.date.fromisoformat(text)
    except ValueError:
        message = expectation("a day such as 2026-03-08", repr(text))
        raise ApiRefusedError(400, message) from None
    if not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        raise ApiRefusedError(400, expectation("a day of this century", text))
    return found


def _further_weeks(start: dt.date, package: InstalledPackage) -> dict[str, str]:
    """Where the weeks before and after are."""
    step = dt.timedelta(weeks=WEEKS)
    found = {"Earlier": start - step, "Later": start + step}
    where = f"{INSTALLED.path}/one"
    return {
        name: address(where, package=package.name, look="1", **{"from": day.isoformat()})
        for name, day in found.items()
        if _FIRST_YEAR <= day.year <= _LAST_YEAR
    }


def _timeline(outlook: Outlook) -> Timeline | None:
    channel = outlook.accepted
    return None if channel is None else timeline_of(channel, outlook.plan.installed)
