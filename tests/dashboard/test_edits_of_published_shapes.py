"""The editor over documents that show every value of a schema: what is saved untouched stays what it is, and what one field changes is what was shown before, in every version."""

import contextlib
import html
import json
import random
import re

import pytest
import submitting
from apis import Client
from constructs import CONFIG, FILES
from objects_pages import page_of, post
from projects import installer
from test_objects_pages import get

from trundle.api import served_kinds
from trundle.api.access import Access
from trundle.report import json_path
from trundle.store import Key, Store
from trundle.verify._cover import covering

pytestmark = pytest.mark.full
SHOWN = ("labels", "annotations", "finalizers", "ownerReferences")
TYPED = ["17", "abc", "", "0.50", "true", "[1, {a: 1.50}]"]
NEWER = """
    title: Thing
    type: object
    properties:
      name: {type: string}
      level: {type: string, enum: [low, high], default: high}
      added: {type: boolean, default: true}
      code: {type: integer, default: 5}
      parts: {type: array, items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: integer, default: 3}}}}
      free: {type: object, additionalProperties: true}
      loose: {}
    """


class Editor:
    """The page over a store, and what clients of all versions see."""

    def __init__(self, installed, store):
        (self.kind,) = served_kinds([installed.project], installed.scheme)
        self.store = store
        self.application, api = page_of(installed, store, Access())
        self.client = Client(api)

    def covered(self):
        """The names of objects that show every value, put into the store at each version."""
        for label, served in self.kind.versions.items():
            resource = next(each for each in served.schema.resources if each.root == served.root)
            for number, data in enumerate(covering(served.schema, resource)):
                written = dict(json.loads(data, parse_float=float), apiVersion=served.version)
                written["metadata"] = {"name": f"{label}-{number}"}
                with contextlib.suppress(ValueError):
                    body = json.dumps(written, allow_nan=False).encode()
                    self.store.create(self.key(f"{label}-{number}"), body)
                    yield f"{label}-{number}"

    def key(self, name):
        return Key(self.kind.resource, "default", name)

    def path(self, label, name):
        return f"/apis/{self.kind.group}/{label}/namespaces/default/{self.kind.plural}/{name}"

    def seen(self, label, name):
        """The values of an object by their places, as a client of a version sees it."""
        document = self.client.http.get(self.path(label, name)).json()
        assert document["kind"] == self.kind.kind, document
        metadata = document.pop("metadata")
        del document["apiVersion"], document["kind"]
        kept = {key: metadata[key] for key in SHOWN if metadata.get(key)}
        return dict(leaves({**document, **({"metadata": kept} if kept else {})}))

    def opened(self, label, name):
        asked = {"of": self.kind.group, "type": self.kind.plural, "name": name, "v": label}
        answer = get(self.application, "/edit", namespace="default", **asked, **{"as": "form"})
        return submitting.form_in(answer.text)[0], answer.text

    def previewed(self, given):
        """What is said of the versions: the places that change, by version; None where it is refused."""
        answer = post(self.application, "/ui/objects/edit", **given, do="preview")
        if answer.status != 200:
            return None, {}
        parts = re.findall(
            r'<section class="type"><h2>(.*?)</h2>(.*?)</section>', answer.text, re.DOTALL
        )
        places = r'<tr class="changed"><th scope="row" class="code">(.*?)</th>'
        shown = {
            label: {html.unescape(x) for x in re.findall(places, part)} for label, part in parts
        }
        return submitting.form_in(answer.text)[0], shown

    def saved(self, given):
        return post(self.application, "/ui/objects/edit", **given, do="save").status


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    folder = tmp_path_factory.mktemp("things")
    files = {"v1.yaml": FILES["v1.yaml"], "v2.yaml": FILES["v2.yaml"], "v3.yaml": NEWER}
    with installer(folder) as install:
        installed = install(files, config=CONFIG)
        with Store(folder / "store.sqlite", installed.scheme) as store:
            yield Editor(installed, store)


def leaves(value, path=()):
    if isinstance(value, dict | list) and value:
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, (*path, key))
    elif path:
        yield json_path(path).removeprefix("$").removeprefix("."), json.dumps(value)


def stored_values(found):
    """What is stored; which version wrote last can be another one, as forms have maps in an order of their own."""
    values = json.loads(found.data, parse_float=str)
    values.pop("$writtenWith")
    return json.dumps(values)


def changed(before, after):
    return {each for each in before | after if before.get(each) != after.get(each)}


def test_edits_change_what_was_shown_and_nothing_else(editor):
    random_ = random.Random(1)
    untouched = edits = 0
    for name in editor.covered():
        for label in editor.kind.versions:
            given, _ = editor.opened(label, name)
            before = editor.store.find(editor.key(name))
            ready, shown = editor.previewed(given)
            if ready is None:
                continue  # What is stored is not valid: the page says where.
            assert not any(shown.values()), (name, label, shown)
            assert editor.saved(ready) == 303
            after = editor.store.find(editor.key(name))
            assert stored_values(after) == stored_values(before)
            untouched += 1
            fields = [each for each in given if re.match(r"/(?!metadata)", each)]
            field, typed = random_.choice(fields), random_.choice(TYPED)
            views = {each: editor.seen(each, name) for each in editor.kind.versions}
            ready, shown = editor.previewed({**given, field: typed})
            if ready is None or editor.saved(ready) != 303:
                continue
            edits += 1
            for each, earlier in views.items():
                assert shown[each] == changed(earlier, editor.seen(each, name)), (name, field, each)
    assert untouched > 20
    assert edits > 5
