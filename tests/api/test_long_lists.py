"""Lists of more than a page are sent in parts: whole, of one moment, and broken where the server cannot go on."""

import json

import pytest
from amounts import some_of
from apis import NEW, OLD, Client, serving_clubs

from trundle.api import _object_reads
from trundle.database import UnreachableError
from trundle.store import Store


@pytest.fixture
def client(installed, tmp_path, monkeypatch):
    monkeypatch.setattr(_object_reads, "_PAGE", 3)
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        yield Client(api)


def filled(client, number):
    names = [f"m{at:02}" for at in range(number)]
    for name in names:
        client.create(OLD, name, team="red" if int(name[1:]) % 4 else "blue", age=int(name[1:]))
    return names


@pytest.mark.parametrize("number", some_of([4, 0, 1, 10, 3, 6], 3))
@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_list_is_whole_however_many_parts_it_has(client, number, version):
    names = filled(client, number)
    answer = client.http.get(client.at(version))
    assert ("content-length" in answer.headers) is (number <= 3)
    assert answer.headers["content-type"] == "application/json"
    found = answer.json()
    assert [each["metadata"]["name"] for each in found["items"]] == names
    assert found["items"] == [client.get(version, name) for name in names]
    assert (found["kind"], found["metadata"]["continue"]) == ("MemberList", "")
    newest = max([int(x["metadata"]["resourceVersion"]) for x in found["items"]], default=0)
    assert int(found["metadata"]["resourceVersion"]) >= newest


@pytest.mark.full
@pytest.mark.parametrize("kept", [(), ("m00",), ("m05",), ("m09",), ("m00", "m09")])
def test_parts_without_objects_leave_no_commas(client, kept):
    """A selector of fields is looked at after a page is read, so that whole pages may be empty."""
    names = filled(client, 10)
    for without in [tuple(each for each in names if each not in kept)]:
        fields = ",".join(f"metadata.name!={each}" for each in without)
        found = client.http.get(client.at(OLD), params={"fieldSelector": fields})
        assert [x["metadata"]["name"] for x in json.loads(found.content)["items"]] == [*kept]


def test_a_list_is_of_one_moment(client, monkeypatch):
    names = filled(client, 7)
    plain = Store.list
    asked = []

    def listing(self, *args, **given):
        page = plain(self, *args, **given)
        if not asked:
            asked.append(page.resource_version)
            client.create(OLD, "m99", team="red")
            client.call("DELETE", client.at(OLD, names[-1]))
        return page

    monkeypatch.setattr(Store, "list", listing)
    found = client.http.get(client.at(OLD)).json()
    assert [each["metadata"]["name"] for each in found["items"]] == names
    assert found["metadata"]["resourceVersion"] == str(asked[0])


def test_a_list_that_cannot_go_on_is_no_short_list(client, monkeypatch):
    filled(client, 7)
    plain, calls = Store.list, []

    def listing(self, *args, **given):
        calls.append(1)
        if len(calls) > 1:
            raise UnreachableError("the database", "a server that answers", "none", "try again")
        return plain(self, *args, **given)

    monkeypatch.setattr(Store, "list", listing)
    with pytest.raises(Exception, match=r"already started|server that answers"):
        client.http.get(client.at(OLD))
    assert client.get(OLD, "m00")["team"] == "blue"


def test_what_is_wrong_with_a_request_is_said_before_the_list_begins(client):
    filled(client, 7)
    for query in ({"fieldSelector": "nonsense"}, {"labelSelector": "a in ("}, {"limit": "x"}):
        code, found = client.call("GET", client.at(OLD), **query)
        assert (code, found["reason"]) == (400, "BadRequest")
