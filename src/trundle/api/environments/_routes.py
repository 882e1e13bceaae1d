"""The paths of environments under `/v1/` and `/v2/`."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import msgspec
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trundle.api._asked import (
    NEWEST,
    VERSIONS,
    Asked,
    Method,
    Version,
    json_answer,
    route,
)
from trundle.api._responses import warning
from trundle.api._status import ApiError, bad_request, unknown_path
from trundle.api.environments import _bodies as bodies
from trundle.api.environments import _documents as documents
from trundle.api.environments._pages import number_at, page_of, paged
from trundle.api.environments._places import settings_at, settings_now
from trundle.api.environments._runner import Runner
from trundle.api.environments._work import EditOfDraft, Run, Subject
from trundle.environments import APPLICATIONS, Action, Draft, Environments, left_out
from trundle.errors import expectation

B = TypeVar("B", bodies.Rollback, bodies.Upgrade)

_MOST_BYTES = 16 * 1024 * 1024
"""How large a model may be."""
_MOST_EDITS = 4
"""How many drafts are changed at a time."""
_MOST_LINES = 1000
"""How many lines of a log one answer has."""


class EnvironmentRoutes:
    """Answers requests about environments.

    Args:
        environments: the environments.
        runner: runs them.
    """

    def __init__(self, environments: Environments, runner: Runner) -> None:
        self._kept = environments
        self._actions = runner.actions
        self._runner = runner
        self._places = runner.places
        self._editing = ThreadPoolExecutor(_MOST_EDITS, "drafts")

    @property
    def routes(self) -> list[BaseRoute]:
        """The paths, each with the methods that it has."""
        return [each for version in VERSIONS for each in self._routes_of(version)]

    def _routes_of(self, version: Version) -> Iterable[BaseRoute]:
        every = f"/{version}/tenants/{{tenant}}/environments"
        one = f"{every}/{{environment}}"
        draft = f"{one}/drafts/{{draft}}"
        paths: dict[str, dict[str, Method]] = {
            f"/{version}/tenants/{{tenant}}/places": {"GET": self._list_places},
            every: {"GET": self._list, "POST": self._create},
            one: {"GET": self._show, "DELETE": self._delete},
            f"{one}/place": {"PUT": self._put_place},
            f"{one}/model": {"GET": self._show_model},
            f"{one}/drafts": {"GET": self._list_drafts},
            f"{one}/secrets/{{secret}}": {"PUT": self._put_secret, "DELETE": self._remove_secret},
            f"{one}/deployments": {"GET": self._list_deployments},
            f"{one}/deployments/{{number}}": {"GET": self._show_deployment},
            f"{one}/actions": {"GET": self._list_actions},
            f"{one}/actions/{{number}}": {"GET": self._show_action},
            f"{one}/actions/{{number}}/log": {"GET": self._show_log},
            f"{one}/deploy": {"POST": self._deploy},
            f"{one}/call": {"POST": self._call},
            f"{one}/rollback": {"POST": self._running(bodies.Rollback)},
            f"{one}/upgrade": {"POST": self._running(bodies.Upgrade)},
        }
        editing: dict[str, dict[str, Method]] = {
            draft: {"GET": self._show_draft, "PUT": self._replace, "DELETE": self._discard},
            f"{draft}/applications": {"POST": self._add},
            f"{draft}/applications/{{object}}": {"DELETE": self._remove},
            f"{one}/form": {"POST": self._show_form},
            f"/{version}/tenants/{{tenant}}/actions": {"POST": self._call_static},
        }
        for path, methods in paths.items():
            yield self._route(version, path, methods)
        for path, methods in editing.items():
            yield self._route(version, path, methods, self._editing)

    def _route(
        self,
        version: Version,
        path: str,
        methods: dict[str, Method],
        executor: ThreadPoolExecutor | None = None,
    ) -> Route:
        return route(version, path, methods, executor, _MOST_BYTES)

    # Environments

    def _list_places(self, asked: Asked) -> Response:
        found = sorted(name for name, each in self._places.items() if each.is_for(asked.tenant))
        return json_answer({"places": [{"name": each} for each in found]})

    def _list(self, asked: Asked) -> Response:
        found = self._kept.overviews(asked.tenant)
        shown = [documents.environment(each, asked.version) for each in found]
        return json_answer({"environments": shown})

    def _create(self, asked: Asked) -> Response:
        given = bodies.body_of(asked, bodies.NewEnvironment)
        settings = settings_at(self._places, given.place, asked.tenant, given.name)
        about: dict[str, Any] = {"providers": settings, "place": given.place}
        made = self._kept.create(given.name, tenant=asked.tenant, dry_run=asked.dry_run, **about)
        if asked.dry_run:
            return json_answer({"name": given.name, "tenant": asked.tenant})
        found = self._kept.overview(made.name, tenant=asked.tenant)
        return json_answer(documents.environment(found, asked.version), 201)

    def _show(self, asked: Asked) -> Response:
        found = self._kept.overview(_name(asked), tenant=asked.tenant)
        return json_answer(documents.environment(found, asked.version))

    def _delete(self, asked: Asked) -> Response:
        if asked.flag("purge"):
            self._actions.settle()
            self._kept.purge(_name(asked), tenant=asked.tenant, dry_run=asked.dry_run)
            return json_answer({})
        return self._begun(asked, bodies.Delete())

    def _put_place(self, asked: Asked) -> Response:
        given, name = bodies.body_of(asked, bodies.NewPlace), _name(asked)
        found = self._kept.overview(name, tenant=asked.tenant)
        settings = settings_at(self._places, given.place, asked.tenant, name)
        put = self._kept.put_at(
            name,
            given.place,
            settings,
            tenant=asked.tenant,
            reached=partial(settings_now, self._places),
            dry_run=asked.dry_run,
        )
        shown = msgspec.structs.replace(found, environment=put)
        return json_answer(documents.environment(shown, asked.version))

    def _show_model(self, asked: Asked) -> Response:
        return json_answer(self._kept.model(_name(asked), tenant=asked.tenant))

    # Drafts

    def _list_drafts(self, asked: Asked) -> Response:
        of = self._kept.get(_name(asked), tenant=asked.tenant)
        found = self._kept.drafts(of.name, tenant=asked.tenant)
        return json_answer({"drafts": [documents.draft(of, x, asked.version) for x in found]})

    def _show_draft(self, asked: Asked) -> Response:
        of = self._kept.get(_name(asked), tenant=asked.tenant)
        found = self._kept.draft(of.name, asked.path["draft"], tenant=asked.tenant)
        return _tagged(documents.draft(of, found, asked.version))

    def _replace(self, asked: Asked) -> Response:
        given = bodies.body_of(asked, bodies.NewModel)
        tag = _tag(asked, given.tag)
        if tag is None:
            message = expectation(
                "the tag of the draft that is replaced, or an empty one for a new draft",
                "none",
                "send `tag` in the body, or If-Match",
            )
            raise ApiError(428, "PreconditionRequired", message)
        return self._edited(asked, given, tag)

    def _discard(self, asked: Asked) -> Response:
        about: dict[str, Any] = {"tag": _tag(asked, None), "dry_run": asked.dry_run}
        self._kept.discard(_name(asked), tenant=asked.tenant, draft=asked.path["draft"], **about)
        return json_answer({})

    def _add(self, asked: Asked) -> Response:
        is_newest = asked.version == NEWEST
        kind = bodies.NewApplication if is_newest else bodies.NewestApplication
        given = bodies.body_of(asked, kind)
        if given.properties is not None and given.answers is not None:
            raise bad_request(expectation("answers or properties", "both", "leave one out"))
        return self._edited(asked, given, _tag(asked, given.tag))

    def _remove(self, asked: Asked) -> Response:
        return self._edited(asked, asked.path["object"], _tag(asked, None))

    def _show_form(self, asked: Asked) -> Response:
        is_newest = asked.version == NEWEST
        kind = bodies.WantedForm if is_newest else bodies.WantedNewestForm
        given = bodies.body_of(asked, kind)
        subject = _subject(asked)
        self._kept.get(subject.environment, tenant=asked.tenant)
        return json_answer({"schema": self._runner.form(subject, given)})

    def _edited(
        self,
        asked: Asked,
        edit: bodies.NewModel | bodies.NewestApplication | str,
        tag: str | None,
    ) -> Response:
        subject, draft = _subject(asked), _printable(asked.path["draft"])
        made = self._runner.edit(subject, EditOfDraft(draft, edit, tag, asked.dry_run))
        of = self._kept.get(subject.environment, tenant=asked.tenant)
        shown = _tagged(documents.draft(of, made, asked.version))
        return warning(shown, _left_out(edit, made))

    # Secrets

    def _put_secret(self, asked: Asked) -> Response:
        text = bodies.body_of(asked, bodies.NewSecret).secret
        if not text:
            raise bad_request(expectation("a secret", "nothing", "send its text as `secret`"))
        return self._set_secret(asked, text)

    def _remove_secret(self, asked: Asked) -> Response:
        return self._set_secret(asked, None)

    def _set_secret(self, asked: Asked, text: str | None) -> Response:
        name, secret = _name(asked), _printable(asked.path["secret"])
        self._kept.set_secret(name, secret, text, tenant=asked.tenant, dry_run=asked.dry_run)
        return json_answer({"name": secret})

    # Deployments

    def _list_deployments(self, asked: Asked) -> Response:
        of = self._kept.get(_name(asked), tenant=asked.tenant)
        page = page_of(asked)
        found = self._kept.history(of.name, tenant=asked.tenant, before=page.last, most=page.read)
        shown = [documents.deployment(of, x, asked.version, model=False) for x in found[::-1]]
        return paged("deployments", shown, page)

    def _show_deployment(self, asked: Asked) -> Response:
        of = self._kept.get(_name(asked), tenant=asked.tenant)
        found = self._kept.deployment(of.name, _number(asked), tenant=asked.tenant)
        return json_answer(documents.deployment(of, found, asked.version, model=True))

    # Actions

    def _running(self, kind: type[B]) -> Callable[[Asked], Response]:
        def run(asked: Asked) -> Response:
            return self._begun(asked, bodies.body_of(asked, kind))

        return run

    def _deploy(self, asked: Asked) -> Response:
        given = bodies.body_of(asked, bodies.Deploy)
        return self._begun(asked, bodies.Deploy(given.draft, _tag(asked, given.tag)))

    def _call(self, asked: Asked) -> Response:
        given = bodies.body_of(asked, bodies.Call)
        _printable(given.object)
        _printable(given.method)
        return self._begun(asked, given)

    def _call_static(self, asked: Asked) -> Response:
        given = bodies.body_of(asked, bodies.StaticCall)
        value = self._runner.call_static(Subject(asked.tenant, "", asked.user), given)
        return json_answer({"value": value})

    def _begun(self, asked: Asked, run: Run) -> Response:
        begun = self._runner.begin(_subject(asked), run, dry_run=asked.dry_run)
        path = f"/{asked.version}/tenants/{begun.tenant}/environments/{begun.environment}"
        headers = {"location": f"{path}/actions/{begun.number}"}
        return json_answer(documents.action(begun, asked.version), 202, headers)

    def _list_actions(self, asked: Asked) -> Response:
        page = page_of(asked)
        about: dict[str, Any] = {"tenant": asked.tenant, "before": page.last, "most": page.read}
        found = self._actions.list(_name(asked), **about)
        return paged("actions", [documents.action(each, asked.version) for each in found], page)

    def _show_action(self, asked: Asked) -> Response:
        return json_answer(documents.action(self._action(asked), asked.version))

    def _show_log(self, asked: Asked) -> Response:
        page = page_of(asked)
        after = number_at(asked, "after", "the number of a line")
        if after is not None and page.last is not None:
            raise bad_request(expectation("`after` or `continue`", "both", "leave one out"))
        if page.limit is not None:
            page = page._replace(limit=min(page.limit, _MOST_LINES))
        begin = page.last or after or 0
        found = self._actions.lines(self._action(asked), after=begin, most=page.read or _MOST_LINES)
        return paged("lines", [documents.line(each) for each in found], page)

    def _action(self, asked: Asked) -> Action:
        return self._actions.get(_name(asked), _number(asked), tenant=asked.tenant)


def _name(asked: Asked) -> str:
    return asked.path["environment"]


def _number(asked: Asked) -> int:
    """The number in a path.

    Raises:
        ApiError: nothing can have it.
    """
    found = bodies.number_of(asked.path["number"])
    if found is None:
        raise unknown_path()
    return found


def _printable(name: str) -> str:
    """A name that can be kept.

    Raises:
        ApiError: it cannot be printed.
    """
    if not name.isprintable():
        message = expectation("a name that can be printed", repr(name), "correct it")
        raise bad_request(message)
    return name


def _subject(asked: Asked) -> Subject:
    return Subject(asked.tenant, _name(asked), asked.user)


def _tag(asked: Asked, given: str | None) -> str | None:
    """The tag of the draft that a client has read; None where it names none.

    Raises:
        ApiError: it names several, or two that differ.
    """
    header = asked.if_match
    if not header:
        return given
    tag = header.removeprefix('"').removesuffix('"')
    if header != f'"{tag}"' or '"' in tag or (given is not None and given != tag):
        raise bad_request(expectation('one tag, as If-Match: "TAG"', header, "correct it"))
    return tag


def _left_out(edit: bodies.NewModel | bodies.NewestApplication | str, made: Draft) -> Iterable[str]:
    """What no property takes of what a client has sent."""
    match edit:
        case bodies.NewModel():
            return left_out(edit.model, made.model)
        case bodies.NewestApplication(properties=dict() as properties):
            return left_out(properties, made.model[APPLICATIONS][-1])
    return ()


def _tagged(document: dict[str, Any]) -> Response:
    return json_answer(document, headers={"etag": f'"{document["tag"]}"'})
