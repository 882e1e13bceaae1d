"""The pages Environments: object models, their drafts and deployments, and what is done with them. They ask the API as the user who looks."""

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from trundle.dashboard._api_client import JSON, ApiClient, ApiRefusedError
from trundle.dashboard._forms import form_of
from trundle.dashboard._frame import ENVIRONMENTS, Frame, address
from trundle.dashboard._models import applications_of
from trundle.dashboard._nodes import value_nodes
from trundle.dashboard._plain import shown_text, text_of, values_of
from trundle.documents import MapNode, compact
from trundle.errors import TrundleError, expectation

_TENANT = "default"
_MOST_TRIED = 1000
"""How many dry runs are remembered, so that they can be done."""
_MOST_LINES = 1000
"""How many lines one answer of the API has."""
_ENDED = ("succeeded", "failed", "interrupted")
_NEWEST = {"limit": "50"}
"""How many deployments and actions a page shows."""


class Tried(NamedTuple):
    """What a dry run was about.

    Attributes:
        verb: the path behind the environment; empty for its deletion.
        body: what was sent; with a draft the tag that it had.
    """

    verb: str
    body: Mapping[str, Any]


class Trial(NamedTuple):
    """Which dry run it was: a number alone may be that of another one, since they begin again when an environment is made anew.

    Attributes:
        environment: the environment.
        number: its number.
        created: when it was asked for.
        action: what it would do.
        by: who asked for it.
    """

    environment: "Environment"
    number: int
    created: str
    action: str
    by: str


class Environment(NamedTuple):
    """The environment that an address names.

    Attributes:
        tenant: whose it is.
        name: its name.
    """

    tenant: str
    name: str

    def path(self, *further: str) -> str:
        """A path of the API; parts of it are not quoted."""
        for each in (self.tenant, self.name, *further):
            if not each or "/" in each or each in {".", ".."}:
                found, advice = (repr(each), "correct it") if each else ("none", "write one")
                raise ApiRefusedError(400, expectation("a name without `/`", found, advice))
        return "/".join(["/v2/tenants", self.tenant, "environments", self.name, *further])

    def address(self, page: str, **further: Any) -> str:
        """An address of a page about it."""
        return address(f"{ENVIRONMENTS.path}/{page}", tenant=self.tenant, name=self.name, **further)


class EnvironmentPages:
    """Answers what is asked about environments.

    Args:
        client: asks the API.
        frame: makes pages.
    """

    def __init__(self, client: ApiClient, frame: Frame) -> None:
        self._client = client
        self._frame = frame
        self._tried: OrderedDict[Trial, Tried] = OrderedDict()

    async def listed(self, request: Request) -> Response:
        """The environments of a tenant."""
        tenant = request.query_params.get("tenant", "").strip() or _TENANT
        return await self._list(request, tenant)

    async def created(self, request: Request) -> Response:
        """Makes an environment."""
        given = await form_of(request)
        of = Environment(given.get("tenant", "").strip() or _TENANT, given.get("name", "").strip())
        body = {"name": of.name, "place": given.get("place", "")}
        try:
            await self._post(request, of.path().rpartition("/")[0], body)
        except ApiRefusedError as error:
            return await self._list(request, of.tenant, error)
        return self._frame.redirect(request, of.address("one"))

    async def one(self, request: Request) -> Response:
        """An environment: its objects, its drafts and its history."""
        of = environment_of(request.query_params)
        return await self._one(request, of)

    async def draft(self, request: Request) -> Response:
        """A draft: the objects that it would deploy."""
        of, name = environment_of(request.query_params), request.query_params.get("draft", "")
        found = await self._get(request, of.path("drafts", name))
        values = {"of": of, "draft": found, "applications": applications_of(found["model"])}
        return self._frame.shown(request, "environment_draft.html", values)

    async def deployment(self, request: Request) -> Response:
        """An earlier deployment with its model."""
        of, number = environment_of(request.query_params), request.query_params.get("number", "")
        found = await self._get(request, of.path("deployments", number))
        values = {
            "of": of,
            "deployment": found,
            "applications": applications_of(found.get("model") or {}),
        }
        return self._frame.shown(request, "environment_deployment.html", values)

    async def action(self, request: Request) -> Response:
        """What an action does or did: its effects, and what it said."""
        of, number = environment_of(request.query_params), request.query_params.get("number", "")
        found = await self._get(request, of.path("actions", number))
        tried = self._tried.get(_trial(of, found))
        named = None if tried is None else tried.body.get("named")
        result = found.get("result") or {}
        value = result.get("value")
        values = {
            "of": of,
            "action": found,
            "arguments": text_of(named).decode() if named else "",
            "running": found["state"] not in _ENDED,
            "result": result,
            "value": "" if value is None else shown_text(value),
            "lines": await self._lines(request, of, number),
            "tried": tried is not None,
        }
        return self._frame.shown(request, "environment_action.html", values)

    async def changed(self, request: Request) -> Response:
        """Does what a user asks for: what runs code is tried first, and done when the user has seen what it would do."""
        given = await form_of(request)
        of, do = environment_of(given), given.get("do", "")
        try:
            if do == "confirm":
                return await self._confirmed(request, of, given.get("number", ""))
            if do == "discard":
                await self._send(request, "DELETE", of.path("drafts", given.get("draft", "")))
                return self._frame.redirect(request, of.address("one"))
            if do == "remove":
                return await self._removed(request, of, given)
            return await self._tries(request, of, await self._wanted(request, of, do, given))
        except ApiRefusedError as error:
            return await self._one(request, of, error)

    async def _wanted(
        self, request: Request, of: Environment, do: str, given: Mapping[str, str]
    ) -> Tried:
        """What a form asks for."""
        match do:
            case "deploy":
                name = given.get("draft", "")
                found = await self._get(request, of.path("drafts", name)) if name else {}
                seen = {"tag": found["tag"]} if found else {}
                return Tried("deploy", {"draft": name, **seen})
            case "call":
                target = {"object": given.get("object", ""), "method": given.get("method", "")}
                return Tried("call", {**target, "named": _arguments(given.get("arguments", ""))})
            case "rollback" if re.fullmatch("[0-9]{1,18}", given.get("deployment", "")):
                return Tried("rollback", {"deployment": int(given["deployment"])})
            case "upgrade":
                return Tried("upgrade", {"major": given.get("major") == "true"})
            case "delete":
                return Tried("", {})
        known = "deploy, call, rollback, upgrade, delete, discard, remove, confirm"
        raise ApiRefusedError(400, expectation(f"one of {known}", repr(do)))

    async def _tries(self, request: Request, of: Environment, wanted: Tried) -> Response:
        begun = await self._begin(request, of, wanted, dry=True)
        self._remember(_trial(of, begun), wanted)
        return self._frame.redirect(request, of.address("action", number=str(begun["number"])))

    async def _confirmed(self, request: Request, of: Environment, number: str) -> Response:
        """Does what a dry run has shown; once, however many ask for it together."""
        trial = _trial(of, await self._get(request, of.path("actions", number)))
        wanted = self._tried.pop(trial, None)
        if wanted is None:
            message = "The server does not know any more what was tried. Try it again."
            raise ApiRefusedError(409, message)
        try:
            begun = await self._begin(request, of, wanted, dry=False)
        except ApiRefusedError:
            self._remember(trial, wanted)
            raise
        return self._frame.redirect(request, of.address("action", number=str(begun["number"])))

    def _remember(self, trial: Trial, wanted: Tried) -> None:
        self._tried[trial] = wanted
        while len(self._tried) > _MOST_TRIED:
            self._tried.popitem(last=False)

    async def _begin(
        self, request: Request, of: Environment, wanted: Tried, *, dry: bool
    ) -> Mapping[str, Any]:
        """The action that begins."""
        path = of.path(*([wanted.verb] if wanted.verb else []))
        method = "POST" if wanted.verb else "DELETE"
        query = {"dryRun": "All"} if dry else {}
        found: Mapping[str, Any] = await self._send(request, method, path, wanted.body, query)
        return found

    async def _removed(
        self, request: Request, of: Environment, given: Mapping[str, str]
    ) -> Response:
        draft, application = given.get("draft", ""), given.get("application", "")
        await self._send(request, "DELETE", of.path("drafts", draft, "applications", application))
        return self._frame.redirect(request, of.address("draft", draft=draft))

    async def _list(
        self, request: Request, tenant: str, refusal: ApiRefusedError | None = None
    ) -> Response:
        path = Environment(tenant, "x").path().rpartition("/")[0]
        found = await self._get(request, path)
        places = await self._get(request, f"{path.rpartition('/')[0]}/places")
        shown = [(Environment(tenant, each["name"]), each) for each in found["environments"]]
        values = {
            "tenant": tenant,
            "environments": shown,
            "places": [each["name"] for each in places["places"]],
            "refusal": refusal,
        }
        code = 200 if refusal is None else refusal.code
        return self._frame.shown(request, "environments.html", values, code)

    async def _one(
        self, request: Request, of: Environment, refusal: ApiRefusedError | None = None
    ) -> Response:
        found = await self._get(request, of.path())
        model = await self._get(request, of.path("model"))
        deployments = (await self._get(request, of.path("deployments"), _NEWEST))["deployments"]
        actions = (await self._get(request, of.path("actions"), _NEWEST))["actions"]
        applications = applications_of(model)
        values = {
            "of": of,
            "environment": found,
            "applications": applications,
            "objects": [one for each in applications for one in each.every if one.id],
            "deployments": deployments,
            "actions": actions,
            "refusal": refusal,
        }
        code = 200 if refusal is None else refusal.code
        return self._frame.shown(request, "environment.html", values, code)

    async def _lines(self, request: Request, of: Environment, number: str) -> list[str]:
        """All that an action said."""
        found: list[Any] = []
        while True:
            after = str(found[-1]["number"]) if found else "0"
            path = of.path("actions", number, "log")
            some = (await self._client.ask(request, "GET", path, query={"after": after})).value
            found += some["lines"]
            if len(some["lines"]) < _MOST_LINES:
                return [each["line"] for each in found]

    async def _get(
        self, request: Request, path: str, query: Mapping[str, str] | None = None
    ) -> Any:
        return (await self._client.ask(request, "GET", path, query=query)).value

    async def _post(self, request: Request, path: str, body: Mapping[str, Any]) -> Any:
        return await self._send(request, "POST", path, body)

    async def _send(
        self,
        request: Request,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        content = text_of(body) if body else b""
        answer = await self._client.ask(
            request, method, path, query=query, body=content, media_type=JSON if content else ""
        )
        return answer.value


def environment_of(given: Mapping[str, str]) -> Environment:
    """The environment that parameters name."""
    return Environment(given.get("tenant", "").strip() or _TENANT, given.get("name", "").strip())


def _trial(of: Environment, action: Mapping[str, Any]) -> Trial:
    """What identifies an action as the API shows it."""
    by = action.get("by", "")
    return Trial(of, int(action["number"]), action["created"], action["action"], by)


def _arguments(text: str) -> Any:
    """Arguments by name, in YAML.

    Raises:
        ApiRefusedError: they are none.
    """
    if not text.strip():
        return {}
    try:
        found = value_nodes(text)
    except TrundleError as error:
        raise ApiRefusedError(400, f"The arguments cannot be read. {error}") from None
    if len(found) != 1 or not isinstance(found[0], MapNode):
        raise ApiRefusedError(400, "The arguments are not values by their names.")
    return values_of(compact(found[0]).encode())
