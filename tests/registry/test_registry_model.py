import pickle

import msgspec
import pytest

from trundle.registry import (
    EMPTY,
    EMPTY_DESCRIPTOR,
    OCI_INDEX,
    OCI_MANIFEST,
    ConflictError,
    Descriptor,
    ImageIndex,
    ImageManifest,
    InvalidManifestError,
    TooLargeError,
    UnauthorisedError,
    describe,
    digest_of,
    encode,
)
from trundle.registry._model import (
    DOCKER_INDEX,
    DOCKER_MANIFEST,
    MAX_MANIFEST,
    inline_content,
    parse_manifest,
    sniff_media_type,
)


def document(**changes):
    base = {
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "config": {"mediaType": "x", "digest": digest_of(b"{}"), "size": 2},
        "layers": [],
    }
    return msgspec.json.encode({**base, **changes})


def test_the_empty_descriptor_is_that_of_the_specification():
    assert EMPTY_DESCRIPTOR.digest == (
        "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )
    assert EMPTY_DESCRIPTOR.size == len(EMPTY) == 2


def test_a_manifest_is_the_same_bytes_every_time_and_reads_back():
    config = describe(b"config", "application/json")
    layers = (describe(b"layer", "application/octet-stream"),)
    one, two = (
        ImageManifest(
            schema_version=2,
            media_type=OCI_MANIFEST,
            artifact_type="application/vnd.example",
            config=config,
            layers=layers,
            annotations=annotations,
        )
        for annotations in ({"b": "2", "a": "1"}, {"a": "1", "b": "2"})
    )
    assert encode(one) == encode(two)
    assert parse_manifest(encode(one), OCI_MANIFEST, "x") == one
    assert one.blobs() == (config, *layers)
    assert one.children() == ()


def test_an_index_reads_back():
    member = describe(b"member", OCI_MANIFEST)
    index = ImageIndex(schema_version=2, media_type=OCI_INDEX, manifests=(member, member))
    assert parse_manifest(encode(index), OCI_INDEX, "x") == index
    assert index.children() == (member,)
    assert index.blobs() == ()


def test_what_is_not_known_is_passed_over():
    found = parse_manifest(document(future={"a": 1}), OCI_MANIFEST, "x")
    assert isinstance(found, ImageManifest)


def test_manifests_of_docker_are_read():
    content = document(mediaType=DOCKER_MANIFEST)
    assert isinstance(parse_manifest(content, DOCKER_MANIFEST, "x"), ImageManifest)
    assert sniff_media_type(content, "x") == DOCKER_MANIFEST
    index = b'{"schemaVersion": 2, "manifests": []}'
    assert isinstance(parse_manifest(index, DOCKER_INDEX, "x"), ImageIndex)
    assert sniff_media_type(index, "x") == OCI_INDEX


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        document(schemaVersion=1),
        document(mediaType=OCI_INDEX),
        document(layers=[{"mediaType": "x", "digest": "md5:0", "size": 1}]),
        document(layers=[{"mediaType": "x", "digest": digest_of(b"") + "\n", "size": 1}]),
        document(layers=[{"mediaType": "x", "digest": digest_of(b""), "size": -1}]),
        document(layers=[{"mediaType": "x", "digest": digest_of(b""), "size": 2**63}]),
        document(subject={"mediaType": "x", "digest": "sha256:..", "size": 1}),
        document(config=None),
    ],
)
def test_what_is_no_manifest_is_refused_by_name(content):
    with pytest.raises(InvalidManifestError, match=r"^the place: "):
        parse_manifest(content, OCI_MANIFEST, "the place")


def test_a_manifest_of_another_kind_or_size_is_refused():
    with pytest.raises(InvalidManifestError, match="text/plain"):
        parse_manifest(document(), "text/plain", "x")
    with pytest.raises(TooLargeError):
        parse_manifest(b" " * (MAX_MANIFEST + 1), OCI_MANIFEST, "x")


def test_inline_data_that_is_no_base64_is_refused():
    wrong = Descriptor(media_type="x", digest=digest_of(b"a"), size=1, data="?")
    with pytest.raises(InvalidManifestError, match="base64"):
        inline_content(wrong, "x")


@pytest.mark.parametrize("kind", [ConflictError, UnauthorisedError])
def test_an_error_says_where_what_and_what_to_do_and_crosses_processes(kind):
    error = kind("here", "this", "that", "do something")
    assert str(error) == "here: expected this, found that; do something"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args, again.advice) == (kind, error.args, "do something")
