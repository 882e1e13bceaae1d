"""Members that a document has several times: clients are warned of them, or refused, as they ask for it."""

import json

import pytest
from apis import NEW, OLD
from hypothesis import given
from hypothesis import strategies as st

from trundle.documents import repeated_places

MERGE = "application/merge-patch+json"
TWICE = b'{"apiVersion":"clubs.example.com/v1","kind":"Member","metadata":{"name":"ada","labels":{"a":"1","b":"2","a":"3"}},"team":"red","team":"blue"}'
PLACES = ["metadata.labels.a", "team"]


def warned(answer):
    return [each[7:-1].replace('\\"', '"') for each in answer.headers.get_list("warning")]


@pytest.mark.parametrize("query", [{}, {"fieldValidation": "Warn"}])
def test_a_client_is_warned(client, query):
    answer = client.http.post(client.at(OLD), content=TWICE, params=query)
    assert (answer.status_code, answer.json()["team"]) == (201, "blue")
    assert sorted(warned(answer)) == [f'duplicate field "{each}"' for each in PLACES]
    patch = b'{"team":"red","x":1,"team":"green","x":2}'
    headers = {"content-type": MERGE}
    answer = client.http.patch(client.at(OLD, "ada"), content=patch, params=query, headers=headers)
    assert warned(answer) == ['duplicate field "team"', 'duplicate field "x"', 'unknown field "x"']


def test_a_client_that_wants_none_is_refused(client):
    strict = {"fieldValidation": "Strict"}
    answer = client.http.post(client.at(OLD), content=TWICE, params=strict)
    found = answer.json()
    assert (answer.status_code, found["reason"]) == (400, "BadRequest")
    for each in PLACES:
        assert f'duplicate field "{each}"' in found["message"]
    client.create(NEW, "ada", group="red")
    headers = {"content-type": MERGE}
    patch = b'{"note":"a","note":"b"}'
    answer = client.http.patch(client.at(NEW, "ada"), content=patch, params=strict, headers=headers)
    assert (answer.status_code, "note" in client.get(NEW, "ada")) == (
        422,
        False,
    )  # As in Kubernetes.


def test_a_client_that_does_not_mind_is_not_warned(client):
    answer = client.http.post(client.at(OLD), content=TWICE, params={"fieldValidation": "Ignore"})
    assert (answer.status_code, warned(answer)) == (201, [])


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (b'{"free":{"a":[1,{"b":1,"b":{"c":1,"c":2}}]}}', ["free.a[1].b", "free.a[1].b.c"]),
        (b'{"a":1,"a":2,"a":3}', ["a"]),
        (b'{"a":{"x":1},"b":{"x":1}}', []),
        ('{"ä":1,"\\u00e4":2}'.encode(), ["ä"]),
        (b'{"a":1,"a":"x\\u0022:"}', ["a"]),
        (b'{"a":1,"a":"\\u003A"}', ["a"]),
        (b'{"a":1,"a":2,"b":%s}' % (b"9" * 5000), ["a"]),
        (b'{"a":1,"a":2,"b":1e400}', ["a"]),
        (b"[{}]", []),
        (b'{"a":', []),
        (b"[" * 100_000, []),
        (b"\xff\xfe", []),
    ],
)
def test_places_are_those_of_kubernetes(text, places):
    assert repeated_places(text) == places


_TEXTS = st.text(st.sampled_from('a":\\ä'), max_size=3)
_OBJECTS = st.recursive(
    _TEXTS,
    lambda inner: st.lists(st.tuples(_TEXTS, inner), max_size=4) | st.tuples(inner, inner),
    max_leaves=8,
)


@given(_OBJECTS, st.randoms(use_true_random=False))
def test_duplicates_are_found_however_names_and_texts_are_spelt(value, draw):
    def spelt(text):
        plain = json.dumps(text, ensure_ascii=draw.random() < 0.5)[1:-1]
        every = "".join(f"\\u{ord(each):04{draw.choice('xX')}}" for each in text)
        return f'"{every if draw.random() < 0.3 else plain}"'

    def written(each):
        if isinstance(each, str):
            return spelt(each)
        if isinstance(each, tuple):
            return f"[{','.join(map(written, each))}]"
        return f"{{{','.join(f'{spelt(name)}:{written(inner)}' for name, inner in each)}}}"

    def repeats(each):
        if isinstance(each, str):
            return False
        if isinstance(each, tuple):
            return any(map(repeats, each))
        names = [name for name, _ in each]
        last = dict(each)  # What is overwritten counts for nothing.
        return len({*names}) < len(names) or any(map(repeats, last.values()))

    assert bool(repeated_places(written(value).encode())) is repeats(value)
