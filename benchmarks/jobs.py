"""What is measured: each job with all who do it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import handwritten
import msgspec
import orjson
import with_cattrs
import with_pydantic
from contestants import Contestant, Job
from documents import FIRST, LAST, MANY, SECOND, crowded, document, large
from handwritten import Document
from shapes import NEWER, OLDER

from trundle.runtime import Scheme

BATCH = 500
ONE_APART = "one version apart"
FIVE_APART = "five versions apart"
IN_BATCH = f"a batch of {BATCH}, for one of them"
"""The jobs that are compared with each other."""

JSON = "`json`, hand-written"
STRAIGHT = "`scheme.convert_json`"
STRICT = "`scheme.convert_json`, strict"

Convert = Callable[[Document], Document]


def all_jobs(scheme: Scheme) -> tuple[Job, ...]:
    """All jobs, in the order of the table."""
    first = compact(document(0))
    older = scheme.convert_json(first, OLDER)
    many = scheme.convert_json(compact(crowded(0)), OLDER)
    return (
        Job(
            f"one touched place: {FIRST} to {SECOND}",
            tuple(_between(scheme, first, SECOND, handwritten.second_of_first)),
        ),
        Job(
            f"five touched places: {OLDER} to {NEWER}",
            tuple(_between(scheme, many, NEWER, handwritten.neighbour)),
        ),
        Job(
            f"{ONE_APART}: {OLDER} to {NEWER}, three touched places",
            (
                *_between(scheme, older, NEWER, handwritten.neighbour),
                Contestant("pydantic, hand-written", lambda: with_pydantic.convert(older)),
                Contestant("attrs and cattrs, hand-written", lambda: with_cattrs.convert(older)),
                Contestant(
                    "`scheme.decode`, `convert`, `encode`",
                    lambda: scheme.encode(scheme.convert(scheme.decode(older), NEWER)),
                ),
            ),
        ),
        Job(
            f"{FIVE_APART}: {FIRST} to {LAST}",
            tuple(_between(scheme, first, LAST, handwritten.last_of_first)),
        ),
        _batch(scheme),
        _decoding(scheme, older),
        _objects(scheme, older),
        *_through_storage(scheme, first),
        *_puts(scheme, first),
        _put_among_many(scheme),
    )


def compact(value: Any) -> bytes:
    """A document as clients send it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _between(scheme: Scheme, data: bytes, to: str, by_hand: Convert) -> Iterator[Contestant]:
    """From bytes to bytes."""
    yield Contestant(JSON, lambda: json.dumps(by_hand(json.loads(data))).encode())
    yield Contestant("`orjson`, hand-written", lambda: orjson.dumps(by_hand(orjson.loads(data))))
    yield Contestant(STRAIGHT, lambda: scheme.convert_json(data, to))
    yield Contestant(STRICT, lambda: scheme.convert_json(data, to, strict=True))


def _batch(scheme: Scheme) -> Job:
    batch = [scheme.convert_json(compact(document(number)), OLDER) for number in range(BATCH)]

    def by_hand() -> list[bytes]:
        return [json.dumps(handwritten.neighbour(json.loads(each))).encode() for each in batch]

    def by_scheme(*, strict: bool) -> list[bytes]:
        return [scheme.convert_json(each, NEWER, strict=strict) for each in batch]

    def shown(results: list[bytes]) -> list[Any]:
        return [json.loads(each) for each in results]

    return Job(
        f"{OLDER} to {NEWER}, {IN_BATCH}",
        (
            Contestant(JSON, by_hand, shown, BATCH),
            Contestant(STRAIGHT, lambda: by_scheme(strict=False), shown, BATCH),
            Contestant(STRICT, lambda: by_scheme(strict=True), shown, BATCH),
        ),
    )


def _decoding(scheme: Scheme, older: bytes) -> Job:
    decoder = msgspec.json.Decoder(type(scheme.decode(older)))
    return Job(
        "reading alone",
        (
            Contestant("`json`", lambda: json.loads(older), _same),
            Contestant("`orjson`", lambda: orjson.loads(older), _same),
            Contestant("msgspec, typed", lambda: decoder.decode(older), _plain),
            Contestant("`scheme.decode`", lambda: scheme.decode(older), _plain),
        ),
    )


def _objects(scheme: Scheme, older: bytes) -> Job:
    source, value = json.loads(older), scheme.decode(older)
    return Job(
        f"{OLDER} to {NEWER}, what is read already",
        (
            Contestant("dictionaries, hand-written", lambda: handwritten.neighbour(source), _same),
            Contestant(
                "`scheme.convert` of an object", lambda: scheme.convert(value, NEWER), _plain
            ),
        ),
    )


def _through_storage(scheme: Scheme, first: bytes) -> Iterator[Job]:
    """The first version to what a store keeps, with its bags, and back."""

    def by_hand() -> bytes:
        stored = handwritten.stored_of_first(json.loads(first))
        return json.dumps(handwritten.first_of_stored(stored)).encode()

    def by_scheme() -> bytes:
        stored = scheme.to_storage(scheme.decode(first))
        return scheme.encode(scheme.from_storage(stored, FIRST))

    yield Job(
        f"{FIRST} through a stored bag and back, in memory",
        (Contestant(JSON, by_hand), Contestant("`to_storage`, `from_storage`", by_scheme)),
    )

    def by_hand_through_bytes() -> bytes:
        kept = json.dumps(handwritten.stored_of_first(json.loads(first))).encode()
        return json.dumps(handwritten.first_of_stored(json.loads(kept))).encode()

    yield Job(
        f"{FIRST} through a stored bag and back, stored as bytes",
        (
            Contestant(JSON, by_hand_through_bytes),
            Contestant(
                "`scheme.convert_json`, twice",
                lambda: scheme.convert_json(scheme.convert_json(first), FIRST),
            ),
        ),
    )


def _puts(scheme: Scheme, first: bytes) -> Iterator[Job]:
    """The first version written over what the last one has added to."""
    base = handwritten.stored_of_first(json.loads(first))
    base["region"] = "eu-central"
    base["containers"][1]["cpu"] = 0.5
    by_last = compact(handwritten.last_of_stored(base))
    kept = scheme.convert_json(by_last, base=scheme.convert_json(first))
    seen = handwritten.first_of_stored(base)
    edited = json.loads(json.dumps(seen))
    edited["title"] = "Invoices"
    edited["replicas"] += 1
    edited["containers"][0]["image"] += "-hotfix"
    shown = json.loads(scheme.convert_json(kept, FIRST)) | {"title": "Invoices"}
    shown["replicas"] += 1
    for name, written in (
        ("unedited", compact(seen)),
        ("edited in two places, in the order as read", compact(shown)),
        ("edited in three places", compact(edited)),
    ):
        yield _put(scheme, name, written, base, kept)


def _put_among_many(scheme: Scheme) -> Job:
    """One element of a long list edited in the first version, over what the last one has added to."""
    whole = compact(large(0))
    base = handwritten.stored_of_first(json.loads(whole))
    base["region"] = "eu-central"
    base["containers"][1]["cpu"] = 0.5
    by_last = compact(handwritten.last_of_stored(base))
    kept = scheme.convert_json(by_last, base=scheme.convert_json(whole))
    edited = handwritten.first_of_stored(base)
    edited["containers"][MANY // 2]["image"] += "-hotfix"
    return _put(scheme, f"one of {MANY} elements of a list edited", compact(edited), base, kept)


def _put(scheme: Scheme, name: str, written: bytes, base: Document, kept: bytes) -> Job:
    return Job(
        f"{FIRST} put over what is stored, {name}",
        (
            _put_by_hand(written, json.dumps(base).encode()),
            Contestant(
                "`scheme.convert_json` with a base",
                lambda: scheme.convert_json(written, base=kept),
                lambda put: [json.loads(scheme.convert_json(put, each)) for each in (FIRST, LAST)],
            ),
        ),
    )


def _put_by_hand(written: bytes, base: bytes) -> Contestant:
    def run() -> bytes:
        return json.dumps(handwritten.put_first(json.loads(written), json.loads(base))).encode()

    def shown(stored: bytes) -> list[Document]:
        read = json.loads(stored)
        return [handwritten.first_of_stored(read), handwritten.last_of_stored(read)]

    return Contestant(JSON, run, shown)


def _plain(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def _same(value: Any) -> Any:
    return value
