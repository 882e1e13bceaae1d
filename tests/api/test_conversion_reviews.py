"""`POST /convert`: reviews of one object or many, and objects that cannot be converted."""

import pytest
from apis import GROUP, NEW, OLD, Client, clubs, serving_clubs


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    with clubs(folder) as installed, serving_clubs(installed, folder / "store.db") as (api, _):
        yield Client(api)


def member(version, name="ada", **properties):
    metadata = {"name": name, "namespace": "default", "uid": "u"}
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Member",
        "metadata": metadata,
        **properties,
    }


def convert(client, version, *objects):
    request = {"uid": "42", "desiredAPIVersion": f"{GROUP}/{version}", "objects": list(objects)}
    review = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": request,
    }
    code, found = client.call("POST", "/convert", review)
    assert code == 200, found
    assert (found["apiVersion"], found["kind"]) == (review["apiVersion"], review["kind"])
    assert found["response"]["uid"] == "42"
    return found["response"]


def test_objects_are_converted_in_their_order(client):
    found = convert(
        client,
        NEW,
        member(OLD, "ada", team="red"),
        member(NEW, "bob", group="blue", note="x"),
        *(member(OLD, f"m{number}", team="green") for number in range(500)),
    )
    assert found["result"] == {"status": "Success"}
    first, second, *others = found["convertedObjects"]
    assert first == member(NEW, "ada", group="red")
    assert second == member(NEW, "bob", group="blue", note="x")
    assert [x["metadata"]["name"] for x in others] == [f"m{number}" for number in range(500)]


def test_what_an_api_server_lets_pass_is_converted(client):
    (found,) = convert(client, NEW, member(OLD, odd=[1]))["convertedObjects"]
    assert found == member(NEW, odd=[1])


def test_one_bad_object_fails_all_and_is_named_with_its_path(client):
    found = convert(client, NEW, member(OLD, team="red"), member(OLD, "bob", team=1))
    assert (found["result"]["status"], found["convertedObjects"]) == ("Failed", [])
    message = found["result"]["message"]
    assert message.startswith("objects[1] (Member default/bob): ")
    assert "$.team" in message


@pytest.mark.parametrize(
    "objects",
    [
        [1],
        [{}],
        [{"apiVersion": f"{GROUP}/v9", "kind": "Member"}],
        [{"apiVersion": 7, "kind": None}],
    ],
)
def test_what_is_no_object_of_a_served_version_fails(client, objects):
    found = convert(client, NEW, *objects)
    assert found["result"]["status"] == "Failed"
    assert found["result"]["message"].startswith("objects[0]")


def test_a_version_that_is_not_served_is_named(client):
    message = convert(client, "v9", member(OLD, team="x"))["result"]["message"]
    assert f"found Member of {GROUP}/v9" in message


def test_many_failures_are_counted(client):
    message = convert(client, NEW, *(member(OLD, team=1) for _ in range(25)))["result"]["message"]
    assert message.splitlines()[-1] == "and 15 more"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "ConversionReview", "request": {}},
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"},
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": {"objects": 1},
        },
        b"{",
    ],
)
def test_what_is_no_review_is_refused(client, body):
    code, found = client.call("POST", "/convert", body)
    assert (code, found["reason"]) == (400, "BadRequest")
