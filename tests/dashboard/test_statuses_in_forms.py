"""The editor asks for a status just where a client of the version can write it with the object."""

import pytest
import statuses
import submitting
from apis import Client
from objects_pages import page_of, post
from projects import installer
from test_objects_pages import get, seen

from trundle.api.access import Access
from trundle.store import Store


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    with installer(tmp_path_factory.mktemp("stated")) as install:
        yield install(statuses.FILES, config=statuses.CONFIG)


@pytest.mark.parametrize(
    ("kind", "version", "asked"),
    [("Plain", "v1", True), ("Mixed", "v1", True), ("Mixed", "v2", False)],
)
def test_a_status_is_asked_for_where_it_is_written_with_the_object(
    installed, tmp_path, kind, version, asked
):
    with Store(tmp_path / "store.sqlite", installed.scheme) as store:
        application, api = page_of(installed, store, Access())
        client, plural = Client(api), statuses.PLURALS[kind]
        path = f"/apis/{statuses.GROUP}/v1/namespaces/default/{plural}"
        made = statuses.document(kind, "v1", status={"phase": "Up"})
        assert client.call("POST", path, made)[0] == 201
        of = {"of": statuses.GROUP, "type": plural, "namespace": "default"}
        page = get(application, "/edit", **of, name="a", v=version, **{"as": "form"})
        fields, _ = submitting.form_in(page.text)
        assert ("/status/phase" in fields) is asked, fields
        shown = post(application, "/ui/objects/edit", **{**fields, "/spec/note": "x"}, do="preview")
        changed = {**submitting.form_in(shown.text)[0], **seen(shown)}
        done = post(application, "/ui/objects/edit", **changed, do="save")
        assert done.status == 303, done.text
        saved = client.call("GET", f"{path}/a")[1]
        assert (saved["spec"]["note"], saved["status"]["phase"]) == ("x", "Up")
