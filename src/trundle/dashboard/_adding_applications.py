"""The page that adds an application to a draft: by the form of its package, or by its properties."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from trundle.dashboard._answer_form import answer_form, schema_of
from trundle.dashboard._api_client import JSON, ApiClient, ApiRefusedError
from trundle.dashboard._drafts import nearest
from trundle.dashboard._environments import Environment, environment_of
from trundle.dashboard._fields import Field, Group, fields_in
from trundle.dashboard._form_changes import as_shown, filled_in
from trundle.dashboard._forms import form_of
from trundle.dashboard._frame import Frame
from trundle.dashboard._plain import text_of, values_of
from trundle.documents import MapNode, compact
from trundle.errors import TrundleError
from trundle.version import ANY, SemVer

_NOTHING = MapNode(())
_PROPERTIES = Field(
    ("properties",), "Properties", "yaml", doc="The properties of the object, by their names."
)
_ANSWERS = Field(("answers",), "Answers", "yaml", doc="The answers, by step and field.")


class Questions(NamedTuple):
    """What is asked about a version of a package.

    Attributes:
        package: the package.
        version: the version.
        form: the fields of its form, or one for properties.
        is_form: whether these are of its form.
        note: why there is no form; may be empty.
    """

    package: str
    version: str
    form: Group
    is_form: bool
    note: str = ""


class AddingApplications:
    """Answers what is asked about applications that are added.

    Args:
        client: asks the API.
        frame: makes pages.
    """

    def __init__(self, client: ApiClient, frame: Frame) -> None:
        self._client = client
        self._frame = frame
        self._schemas: dict[str, dict[str, Any] | None] = {}

    async def opened(self, request: Request) -> Response:
        """The packages to choose from, or the form of one."""
        given = request.query_params
        of, draft = environment_of(given), given.get("draft", "").strip()
        await self._client.ask(request, "GET", of.path())
        if not given.get("package"):
            return await self._choice(request, of, draft)
        return self._shown(request, of, draft, await self._asked(request, of, given), {})

    async def submitted(self, request: Request) -> Response:
        """Adds an application with the answers of a form."""
        given = await form_of(request)
        of, draft = environment_of(given), given.get("draft", "").strip()
        asked = await self._asked(request, of, given)
        filled = filled_in(asked.form, _NOTHING, given)
        problems = {**filled.problems, **_unequal(asked.form, given)}
        if problems:
            return self._shown(request, of, draft, asked, given, problems, code=422)
        answers = values_of(compact(filled.document).encode())
        body: dict[str, Any] = {"package": asked.package, "version": f"=={asked.version}"}
        if asked.is_form:
            body["answers"] = answers.get("answers") or {} if asked.note else answers
        else:
            body["properties"] = answers.get("properties") or {}
            body |= {"name": given["called"]} if given.get("called") else {}
        try:
            path = of.path("drafts", draft or "page", "applications")
            await self._client.ask(
                request,
                "POST",
                path,
                body=text_of(body),
                media_type=JSON,
            )
        except ApiRefusedError as error:
            return self._shown(request, of, draft, asked, given, refusal=error, code=error.code)
        return self._frame.redirect(request, of.address("draft", draft=draft or "page"))

    async def _choice(self, request: Request, of: Environment, draft: str) -> Response:
        path = f"/v2/tenants/{of.tenant}/packages"
        answer = await self._client.ask(request, "GET", path)
        names = dict.fromkeys(each["name"] for each in answer.value["packages"])
        values = {"of": of, "draft": draft, "packages": list(names)}
        return self._frame.shown(request, "environment_packages.html", values)

    async def _asked(
        self, request: Request, of: Environment, given: Mapping[str, str]
    ) -> Questions:
        name = given.get("package", "")
        path = f"/v2/tenants/{of.tenant}/packages"
        listed = (await self._client.ask(request, "GET", path, query={"name": name})).value
        known = {SemVer.parse(x["version"]): x for x in listed["packages"] if x["name"] == name}
        version = SemVer.parse(given["version"]) if given.get("version") else ANY.choose(known)
        if version is None or version not in known:
            raise ApiRefusedError(404, f"The tenant {of.tenant} sees no such package {name}.")
        return await self._form(request, of, known[version])

    async def _form(self, request: Request, of: Environment, said: Mapping[str, Any]) -> Questions:
        """The form of a version; the API shows its archive to the user before it is known here."""
        name, version, digest = said["name"], said["version"], said["digest"]
        path = f"/v2/tenants/{of.tenant}/packages/{name}/versions/{version}/content"
        plain = Group((), "Properties", (_PROPERTIES,))
        try:
            if digest not in self._schemas:
                archive = await self._client.fetch(request, path)
                self._schemas[digest] = await run_in_threadpool(schema_of, archive)
            schema = self._schemas[digest]
        except ApiRefusedError:
            raise
        except TrundleError:  # It needs what a method of the package gives.
            body = text_of({"package": name, "version": f"=={version}"})
            try:
                answer = await self._client.ask(
                    request, "POST", of.path("form"), body=body, media_type=JSON
                )
            except ApiRefusedError as error:
                note = f"Its form cannot be shown, as its questions need code of the package to run. {error.message}"
                answers = Group((), "Answers", (_ANSWERS,))
                return Questions(name, version, answers, is_form=True, note=note)
            schema = answer.value["schema"]
        if schema is None:
            return Questions(name, version, plain, is_form=False)
        return Questions(name, version, answer_form(schema), is_form=True)

    def _shown(
        self,
        request: Request,
        of: Environment,
        draft: str,
        asked: Questions,
        given: Mapping[str, str],
        problems: Mapping[str, str] | None = None,
        refusal: ApiRefusedError | None = None,
        code: int = 200,
    ) -> Response:
        errors = {key: [each] for key, each in (problems or {}).items()}
        for place, message in _causes(refusal):
            errors.setdefault(nearest(asked.form, place), []).append(message)
        shown = {each.name for each in fields_in(asked.form) if each.control != "secret"}
        values = {
            "of": of,
            "draft": draft,
            "asked": asked,
            "typed": {key: as_shown(each) for key, each in given.items() if key in shown},
            "errors": errors,
            "refusal": refusal,
            "called": given.get("called", ""),
        }
        return self._frame.shown(request, "environment_add.html", values, code)


def _unequal(form: Group, given: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with what people write twice, by the names of fields."""
    return {
        each.name: "The two are not equal; write both again."
        for each in fields_in(form)
        if each.is_repeated and given.get(each.name, "") != given.get(each.again_name, "")
    }


def _causes(refusal: ApiRefusedError | None) -> Sequence[tuple[str, str]]:
    """What is wrong with answers: their places, and why."""
    return () if refusal is None else refusal.causes
