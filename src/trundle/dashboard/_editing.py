"""The editor of the page Objects: a document at one version, as YAML or as a form, and what all versions will see of it before it is saved."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from trundle.dashboard._api_client import ApiClient, ApiRefusedError
from trundle.dashboard._drafts import Draft, document_of, drafted, nearest, sent
from trundle.dashboard._form_changes import as_shown
from trundle.dashboard._forms import form_of
from trundle.dashboard._frame import Frame
from trundle.dashboard._nodes import put, text_node, yaml_of
from trundle.dashboard._objects import Addressed, ServedKinds
from trundle.dashboard._plain import text_of, values_of
from trundle.dashboard._schema_form import DocumentForm
from trundle.dashboard._side_by_side import Row, side_by_side
from trundle.documents import compact
from trundle.project import write_documents

_YAML = "application/yaml"
_MANAGER = "trundle-page"
_CONFLICT = 409
_NOT_FOUND = 404
_FORM, _SAVE, _OVER = "form", "save", "over"
_SENDING = (_SAVE, _OVER, "preview")
"""What a user does with a document as a whole, rather than with its form."""
_STATUS = "status"
"""What clients do not write; it is written apart."""
_HIDDEN = ("managedFields", "generation", "creationTimestamp")
"""Metadata that the server keeps by itself, whatever a document says."""


class Seen(NamedTuple):
    """What a version will see after a change.

    Attributes:
        label: the version.
        rows: the values that change: as they are now, and as they will be.
        refusal: why the version cannot show the object; empty where it can.
    """

    label: str
    rows: tuple[Row, ...]
    refusal: str = ""


class Editor:
    """Answers what is asked about changes of objects.

    Args:
        kinds: the resource types.
        client: asks the API.
        frame: makes pages.
    """

    def __init__(self, kinds: ServedKinds, client: ApiClient, frame: Frame) -> None:
        self._kinds = kinds
        self._client = client
        self._frame = frame

    async def opened(self, request: Request) -> Response:
        """The editor with an object as it is, or with the start of a new one."""
        given = request.query_params
        asked = self._kinds.asked(given, given.getlist("v")[:1])
        if asked.name:
            found = (await self._client.ask(request, "GET", asked.path)).value
            text = _text(_edited(found))
        else:
            text = _text(_new(asked))
        as_form = given.get("as") == _FORM
        return self._shown(request, asked, drafted(_maker(asked), text) if as_form else Draft(text))

    async def submitted(self, request: Request) -> Response:
        """Shows what a change does, or saves it; it saves what was shown before alone."""
        given = await form_of(request)
        asked = self._kinds.asked(given, [given.get("v", "")])
        text, do = as_shown(given.get("document", "")), given.get("do", "")
        draft = Draft(text)
        if given.get("as") == _FORM:
            draft = sent(_maker(asked), text, given)
        if do not in _SENDING or draft.problems:
            return self._turned(request, asked, draft, do)
        saves = do == _SAVE and given.get("seen") == _digest(draft.text)
        try:
            if do == _OVER:
                draft = await self._over(request, asked, draft)
            if not saves:
                return await self._previewed(request, asked, draft)
            saved = await self._sent(request, asked, draft.text, {})
        except ApiRefusedError as error:
            newer: tuple[Row, ...] = ()
            if error.code == _CONFLICT and asked.name:
                newer = await self._newer(request, asked, draft.text)
            return self._shown(request, asked, draft, refusal=error, newer=newer, code=error.code)
        metadata = saved.value["metadata"]
        there = asked._replace(name=metadata["name"], namespace=metadata.get("namespace", ""))
        return self._frame.redirect(request, there.address("one"))

    async def deleted(self, request: Request) -> Response:
        """Deletes an object; the one that the user looked at."""
        given = await form_of(request)
        asked = self._kinds.asked(given, [given.get("v", "")])
        body = text_of({"preconditions": {"uid": given.get("uid", "")}})
        await self._client.ask(
            request, "DELETE", asked.path, body=body, media_type="application/json"
        )
        return self._frame.redirect(request, asked._replace(name="").address("list"))

    def _turned(self, request: Request, asked: Addressed, draft: Draft, do: str) -> Response:
        """The editor after what concerns the form alone."""
        if draft.problems:
            return self._shown(request, asked, draft, code=422)
        if do == "as form":
            draft = drafted(_maker(asked), draft.text)
        elif do == "as yaml":
            draft = Draft(draft.text)
        return self._shown(request, asked, draft)

    async def _previewed(self, request: Request, asked: Addressed, draft: Draft) -> Response:
        labels = ",".join(asked.kind.versions)
        query = {"dryRun": "All", "versions": labels}
        answer = await self._sent(request, asked, draft.text, query)
        after = answer.value["items"]
        before: Sequence[Any] = [None] * len(after)
        if asked.name:
            now = await self._client.ask(request, "GET", asked.path, query={"versions": labels})
            before = now.value["items"]
        seen = [
            _seen(label, old, new)
            for label, old, new in zip(asked.kind.versions, before, after, strict=True)
        ]
        return self._shown(request, asked, draft, seen=seen, warnings=answer.warnings)

    async def _sent(
        self, request: Request, asked: Addressed, text: str, query: Mapping[str, str]
    ) -> Any:
        """Puts the document over the object, or creates one."""
        there, document = asked, _values(text)
        if not asked.name and asked.kind.namespaced and not asked.namespace:
            there = asked._replace(namespace=_namespace(document))
        return await self._client.ask(
            request,
            "PUT" if asked.name else "POST",
            there.path,
            query={"fieldValidation": "Strict", "fieldManager": _MANAGER, **query},
            body=text.encode(),
            media_type=_YAML,
        )

    async def _over(self, request: Request, asked: Addressed, draft: Draft) -> Draft:
        """The text of a user, as one that is put over what is stored now."""
        found = (await self._client.ask(request, "GET", asked.path)).value
        version = text_node(found["metadata"]["resourceVersion"])
        text = yaml_of(put(document_of(draft.text), ("metadata", "resourceVersion"), version))
        return drafted(_maker(asked), text) if draft.form else Draft(text)

    async def _newer(self, request: Request, asked: Addressed, text: str) -> tuple[Row, ...]:
        """Where the object as it is now differs from what a user would save."""
        try:
            found = (await self._client.ask(request, "GET", asked.path)).value
        except ApiRefusedError as error:
            if error.code == _NOT_FOUND:
                return ()
            raise
        own = _values(text)
        return tuple(each for each in side_by_side([found, own]) if each.differs)

    def _shown(
        self,
        request: Request,
        asked: Addressed,
        draft: Draft,
        *,
        refusal: ApiRefusedError | None = None,
        newer: Sequence[Row] = (),
        seen: Sequence[Seen] | None = None,
        warnings: Sequence[str] = (),
        code: int = 200,
    ) -> Response:
        values = {
            "asked": asked,
            "label": asked.served[0].label,
            "draft": draft,
            "nearest": nearest,
            "errors": draft.at_fields(_causes(refusal)),
            "digest": _digest(draft.text),
            "refusal": refusal,
            "newer": newer,
            "seen": seen,
            "warnings": warnings,
            "conflict": refusal is not None and refusal.code == _CONFLICT,
        }
        return self._frame.shown(request, "object_edit.html", values, code)


def _maker(asked: Addressed) -> DocumentForm:
    """Makes the forms of what is asked for."""
    kind, served = asked.kind, asked.served[0]
    names = () if asked.name else ("name", *(("namespace",) if kind.namespaced else ()))
    kept = frozenset({_STATUS}) if kind.keeps_status(served) else frozenset()
    return DocumentForm(served.schema, served.root, names, kept)


def _causes(refusal: ApiRefusedError | None) -> Sequence[tuple[str, str]]:
    return () if refusal is None else refusal.causes


def _seen(label: str, old: Any, new: Any) -> Seen:
    if new["kind"] == "Status":
        return Seen(label, (), new["message"])
    before = None if old is None or old["kind"] == "Status" else old
    return Seen(label, tuple(each for each in side_by_side([before, new]) if each.differs))


def _edited(document: Mapping[str, Any]) -> dict[str, Any]:
    """An object without what a user cannot change."""
    metadata = {key: each for key, each in document["metadata"].items() if key not in _HIDDEN}
    return {**document, "metadata": metadata}


def _new(asked: Addressed) -> dict[str, Any]:
    """The start of a new object."""
    kind = asked.kind
    metadata = {
        "name": "",
        **({"namespace": asked.namespace or "default"} if kind.namespaced else {}),
    }
    head = {"apiVersion": kind.api_version(asked.served[0]), "kind": kind.kind}
    return {**head, "metadata": metadata}


def _text(document: Mapping[str, Any]) -> str:
    return write_documents([text_of(document)], "yaml")


def _values(text: str) -> Any:
    """What a text says.

    Raises:
        ApiRefusedError: it is not one object.
    """
    return values_of(compact(document_of(text)).encode())


def _namespace(document: Any) -> str:
    """The namespace that a new object names."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    found = metadata.get("namespace") if isinstance(metadata, dict) else None
    return found if isinstance(found, str) and found else "default"


def _digest(text: str) -> str:
    """What a text is known by between showing it and saving it; browsers end lines in their own way."""
    return hashlib.sha256(as_shown(text).encode()).hexdigest()
