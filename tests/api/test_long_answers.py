"""Long answers: packed by gzip where a client accepts it, also part by part."""

import gzip
import json

import pytest
from apis import NEW, Client, clubs, serving_clubs

from trundle.api import _object_reads


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    with (
        pytest.MonkeyPatch.context() as patch,
        clubs(folder) as installed,
        serving_clubs(installed, folder / "store.db") as (api, _),
    ):
        patch.setattr(_object_reads, "_PAGE", 50)
        client = Client(api)
        client.create(NEW, "long", group="red", free={"text": "x" * 200_000})
        client.create(NEW, "short", group="red")
        for number in range(60):
            client.create(NEW, f"n{number:02}", group="blue")
        yield client


def raw(client, path, accepted):
    """The packing of an answer, and what was sent."""
    with client.http.stream("GET", path, headers={"accept-encoding": accepted}) as answer:
        return answer.headers.get("content-encoding"), b"".join(answer.iter_raw())


@pytest.mark.parametrize("name", ["long", ""])
def test_a_long_answer_is_packed(client, name):
    packing, sent = raw(client, client.at(NEW, name), "deflate, gzip")
    assert packing == "gzip"
    packing, plain = raw(client, client.at(NEW, name), "identity")
    assert packing is None
    assert gzip.decompress(sent) == plain
    assert len(sent) < len(plain) / 4
    assert len(json.loads(plain).get("items", ())) == (0 if name else 62)


@pytest.mark.parametrize("accepted", ["gzip;q=0.5", "*", ""])
def test_only_gzip_by_its_name_is_understood(client, accepted):
    assert raw(client, client.at(NEW, "long"), accepted)[0] is None


def test_a_short_answer_is_sent_as_it_is(client):
    assert raw(client, client.at(NEW, "short"), "gzip")[0] is None
