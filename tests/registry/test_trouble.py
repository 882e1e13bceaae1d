"""A registry over HTTP that is slow, broken, forgetful or hostile; and one that is newer than the real one here."""

import contextlib
import email.utils
import hashlib
import json
import os
import re
import time
import tracemalloc

import msgspec
import pytest
from artifacts import LAYER, QUICK, manifest, push
from simulating import Simulator, drip, hang_up, status

from trundle.registry import (
    OCI_MANIFEST,
    Descriptor,
    DigestMismatchError,
    InvalidManifestError,
    NotFoundError,
    RegistryError,
    RegistryRefusedError,
    TooLargeError,
    UnauthorisedError,
    UnreachableError,
    describe,
    digest_of,
    fetch_file,
    open_registry,
)


@pytest.fixture
def simulator():
    with Simulator() as running:
        yield running


def repository_of(simulator, name="acme/crm", **settings):
    changed = msgspec.structs.replace(QUICK, **settings)
    return open_registry(simulator.address, settings=changed).repository(name)


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
def test_what_passes_is_tried_again(simulator, code):
    repository = repository_of(simulator)
    push(repository, tag="1.0.0")
    simulator.times(2, status(code, method="GET"))
    assert repository.tags() == ["1.0.0"]
    simulator.times(2, hang_up())
    assert repository.get_manifest("1.0.0").content == manifest()
    simulator.times(1, hang_up(method="PUT", part="manifests"))
    push(repository, tag="2.0.0")


def test_what_does_not_pass_is_reported_with_all_it_said(simulator):
    simulator.faults.append(status(503))
    with pytest.raises(
        UnreachableError, match=r"tags/list: .*HTTP status 503 \(TROUBLE: made by the test\)"
    ):
        repository_of(simulator).tags()
    assert len(simulator.requests) == QUICK.retries + 1


@pytest.mark.parametrize("code", [400, 405, 409, 418, 301])
def test_what_is_refused_is_not_tried_again(simulator, code):
    simulator.faults.append(status(code))
    with pytest.raises(RegistryRefusedError, match=f"HTTP status {code}"):
        repository_of(simulator).tags()
    assert len(simulator.requests) == 1


def test_a_closed_port_is_unreachable():
    with Simulator() as gone:
        repository = repository_of(gone)
    with pytest.raises(UnreachableError, match="check the address"):
        repository.tags()


@pytest.mark.full
def test_the_pause_that_a_registry_asks_for_is_kept(simulator):
    repository = repository_of(simulator)
    push(repository, tag="1.0.0")
    simulator.times(1, status(429, Retry_After="1"))
    begin = time.monotonic()
    assert repository.tags() == ["1.0.0"]
    assert time.monotonic() - begin >= 1
    moment = email.utils.formatdate(time.time() + 3600, usegmt=True)
    simulator.times(1, status(429, Retry_After=moment))
    asked = len(simulator.requests)
    with pytest.raises(UnreachableError, match="429"):
        repository.tags()
    assert len(simulator.requests) == asked + 1


def test_a_silent_registry_is_not_waited_for_without_end(simulator):
    def sleep(_handler, _method, _path):
        time.sleep(1)
        return False

    simulator.faults.append(sleep)
    with pytest.raises(UnreachableError, match="timed out"):
        repository_of(simulator, read_timeout=0.05, retries=1).tags()


def test_a_download_that_breaks_off_goes_on(simulator, tmp_path):
    content = os.urandom(1_000_000)
    repository = repository_of(simulator, chunk=400_000)
    simulator.blobs[digest_of(content)] = content
    simulator.cut_after = 600_000
    repository.fetch_blob(describe(content, LAYER), tmp_path / "blob")
    assert (tmp_path / "blob").read_bytes() == content
    assert simulator.asked("GET") == 2
    assert simulator.headers[-1]["Range"].startswith("bytes=")


def test_a_download_that_never_gets_on_ends_and_can_be_gone_on_with(simulator, tmp_path):
    content = os.urandom(1_000_000)
    descriptor = describe(content, LAYER)
    repository = repository_of(simulator)
    simulator.blobs[descriptor.digest] = content

    def cut(_handler, _method, _path):
        simulator.cut_after = 1000
        return False

    simulator.faults.append(cut)
    with pytest.raises(UnreachableError, match="it continues where it stopped"):
        repository.fetch_blob(descriptor, tmp_path / "blob")
    assert not (tmp_path / "blob").exists()
    simulator.faults.clear()
    simulator.cut_after = None
    repository.fetch_blob(descriptor, tmp_path / "blob")
    assert (tmp_path / "blob").read_bytes() == content
    assert int(simulator.headers[-1]["Range"][6:-1]) > 0


def test_a_registry_without_ranges_sends_all_again(simulator, tmp_path):
    content = os.urandom(100_000)
    simulator.blobs[digest_of(content)] = content

    def forget(handler, _method, _path):
        del handler.headers["Range"]
        return False

    simulator.faults.append(forget)
    partial = tmp_path / "partial"
    partial.write_bytes(content[:50_000])
    repository_of(simulator).fetch_blob(
        describe(content, LAYER), tmp_path / "blob", partial=partial
    )
    assert (tmp_path / "blob").read_bytes() == content


def test_exchanged_bytes_are_found_while_they_come_in(simulator, tmp_path):
    content = b"x" * 100_000
    descriptor = describe(content, LAYER)
    repository = repository_of(simulator)
    for wrong in (b"y" * 100_000, content + b"more"):
        simulator.blobs[descriptor.digest] = wrong
        with pytest.raises(DigestMismatchError, match=descriptor.digest):
            repository.fetch_blob(descriptor, tmp_path / "blob")
        with pytest.raises((DigestMismatchError, TooLargeError)):
            repository.read_blob(descriptor, limit=200_000)
        assert list(tmp_path.glob("*blob*")) == []


def test_endless_content_is_cut_off(simulator, tmp_path):
    def endless(handler, method, path):
        if method != "GET":
            return False
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        try:
            while True:
                handler.wfile.write(b" " * 65536)
        except OSError:
            return True

    simulator.faults.append(endless)
    repository = repository_of(simulator)
    with pytest.raises(TooLargeError):
        repository.get_manifest("1.0.0")
    with pytest.raises(TooLargeError):
        repository.tags()
    with pytest.raises(DigestMismatchError, match="more bytes"):
        repository.fetch_blob(describe(b"x" * 100_000, LAYER), tmp_path / "blob")
    assert list(tmp_path.glob("*blob*")) == []


@pytest.mark.parametrize("code", [201, 401, 404, 500])
def test_an_answer_that_never_ends_is_not_read_to_its_end(simulator, code):
    push(repository_of(simulator), tag="0.9.0")

    def endless(handler, method, _path):
        if method == "HEAD":
            return False
        handler.drain()
        handler.send_response(code)
        handler.end_headers()
        handler.close_connection = True
        try:
            while True:
                handler.wfile.write(b" " * 65536)
        except OSError:
            return True

    simulator.faults.append(endless)
    with contextlib.suppress(RegistryError):
        repository_of(simulator).remove_unique_tag("0.9.0")
    with contextlib.suppress(RegistryError):
        push(repository_of(simulator), tag="1.0.0")


@pytest.mark.full
def test_content_that_drips_is_given_up(simulator, tmp_path):
    simulator.faults.append(drip(0.01))
    repository = repository_of(simulator, request_time=0.3, slowest=10_000_000, retries=0)
    begin = time.monotonic()
    with pytest.raises(UnreachableError, match="too long"):
        repository.fetch_blob(
            Descriptor(media_type=LAYER, digest=digest_of(b"x"), size=1_000_000), tmp_path / "blob"
        )
    assert time.monotonic() - begin < 60


def test_a_blob_that_announces_too_much_is_not_fetched(simulator, tmp_path):
    repository = repository_of(simulator, largest_blob=10)
    with pytest.raises(TooLargeError, match="at most 10"):
        repository.fetch_blob(describe(b"x" * 11, LAYER), tmp_path / "blob")
    assert simulator.requests == []


def test_an_exchanged_manifest_is_found(simulator):
    repository = repository_of(simulator)
    descriptor = push(repository, tag="1.0.0")
    simulator.manifests[descriptor.digest] = (manifest(annotations={"a": "b"}), OCI_MANIFEST)
    with pytest.raises(DigestMismatchError, match=descriptor.digest):
        repository.get_manifest(descriptor.digest)


def test_an_upload_in_pieces_goes_on_where_it_broke_off(simulator, tmp_path):
    content = os.urandom(1_000_000)
    file, seen = tmp_path / "file", []
    file.write_bytes(content)
    simulator.cut_after = 70_000
    repository = repository_of(simulator, chunk=300_000)
    repository.put_blob(file, describe(content, LAYER), progress=seen.append)
    assert simulator.blobs[digest_of(content)] == content
    assert sum(seen) == len(content)
    assert simulator.asked("POST") == 1
    assert simulator.asked("PATCH") == 5


def test_an_upload_whose_session_is_gone_begins_again(simulator):
    content = os.urandom(500_000)
    simulator.times(1, status(404, method="PATCH"))
    simulator.times(1, status(404, method="GET", part="uploads"))
    repository_of(simulator, chunk=300_000).put_blob(content, describe(content, LAYER))
    assert simulator.blobs[digest_of(content)] == content
    assert simulator.asked("POST") == 2


def test_a_small_upload_that_breaks_off_begins_again(simulator):
    simulator.times(2, hang_up(method="PUT"))
    repository_of(simulator).put_blob(b"hello", describe(b"hello", LAYER))
    assert simulator.blobs == {digest_of(b"hello"): b"hello"}


def test_an_upload_that_is_too_large_for_the_registry_says_so(simulator):
    simulator.faults.append(status(413, method="PUT"))
    with pytest.raises(TooLargeError, match="raise its limit"):
        repository_of(simulator).put_blob(b"hello", describe(b"hello", LAYER))


def test_an_upload_that_never_succeeds_ends(simulator):
    simulator.faults.append(hang_up(method="PUT"))
    with pytest.raises(UnreachableError, match="try again later"):
        repository_of(simulator).put_blob(b"hello", describe(b"hello", LAYER))
    assert simulator.asked("POST") == QUICK.retries + 1


def test_credentials_do_not_follow_to_another_host(simulator, tmp_path, monkeypatch):
    """Blobs may be sent from elsewhere, and sent to elsewhere."""
    config = tmp_path / "docker"
    config.mkdir()
    (config / "config.json").write_text(
        json.dumps({"auths": {simulator.address: {"auth": "YTpi"}}})
    )
    content = b"hello"
    with Simulator() as other:
        other.blobs[digest_of(content)] = content

        def guard(handler, method, path):
            if "Authorization" not in handler.headers:
                handler.drain()
                handler.reply(401, WWW_Authenticate='Basic realm="x"')
                return True
            if method == "GET" and "/blobs/" in path:
                handler.reply(307, Location=f"http://{other.address}{path}")
                return True
            if method == "POST":
                other.uploads["there"] = b""
                handler.reply(202, Location=f"http://{other.address}/v2/x/blobs/uploads/there")
                return True
            return False

        simulator.faults.append(guard)
        repository = repository_of(simulator)
        repository.fetch_blob(describe(content, LAYER), tmp_path / "blob")
        assert (tmp_path / "blob").read_bytes() == content
        repository.put_blob(b"other", describe(b"other", LAYER))
        assert other.blobs[digest_of(b"other")] == b"other"
        assert len(other.headers) == 2
        assert not any("Authorization" in each for each in other.headers)


def test_tags_come_page_by_page(simulator):
    repository = repository_of(simulator)
    digest = push(repository).digest
    wanted = [f"1.0.{number}" for number in range(7)]
    for tag in wanted:
        repository.set_tag(tag, digest)
    simulator.page = 3
    assert repository.tags() == sorted(wanted)
    assert simulator.asked("GET", "tags/list") == 3


@pytest.mark.parametrize("end", [b"0\r\n\r\n", b""])
def test_an_answer_in_chunks_is_read_if_it_is_whole(simulator, end):
    def chunked(handler, _method, _path):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b'a\r\n{"tags": [\r\n5\r\n"x"]}\r\n' + end)
        handler.close_connection = True
        return True

    simulator.faults.append(chunked)
    repository = repository_of(simulator)
    if end:
        assert repository.tags() == ["x"]
    else:
        with pytest.raises(UnreachableError):
            repository.tags()


@pytest.mark.parametrize("where", ["http://other.example/v2/x", "http://[other.example"])
def test_a_next_page_elsewhere_is_refused(simulator, where):
    def mislead(handler, _method, _path):
        handler.reply(200, b'{"tags": []}', Link=f'<{where}>; rel="next"')
        return True

    simulator.faults.append(mislead)
    with pytest.raises(InvalidManifestError, match=r"other\.example"):
        repository_of(simulator).tags()


def test_a_place_for_a_blob_that_is_none_is_refused(simulator):
    def mislead(handler, method, _path):
        if method == "POST":
            handler.reply(202, Location="http://[")
        return method == "POST"

    simulator.faults.append(mislead)
    with pytest.raises(RegistryRefusedError, match="a place to send the blob to, found 'http"):
        push(repository_of(simulator), b"1")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"tags": 1}', b"\xff"])
def test_a_list_that_is_none_is_refused(simulator, content):
    def nonsense(handler, _method, _path):
        handler.reply(200, content)
        return True

    simulator.faults.append(nonsense)
    with pytest.raises(InvalidManifestError, match="list of names"):
        repository_of(simulator).tags()


def test_the_api_for_referrers_is_used_where_there_is_one(simulator):
    repository = repository_of(simulator)
    subject = push(repository, b"1", tag="1.0.0")
    signature = push(repository, b"signature", subject=subject)
    assert [each.digest for each in repository.referrers(subject.digest)] == [signature.digest]
    assert repository.tags(internal=True) == []


def test_a_tag_is_removed_alone_where_that_can_be(simulator):
    repository = repository_of(simulator)
    descriptor = push(repository, b"1", tag="1.0.0")
    repository.set_tag("latest", descriptor.digest)
    repository.remove_tag("1.0.0")
    assert repository.tags() == ["latest"]
    with pytest.raises(NotFoundError):
        repository.remove_tag("1.0.0")


def test_a_tag_whose_manifest_others_need_is_removed_alone_at_the_real_registry(remote):
    descriptor = push(remote, b"1", tag="1.0.0")
    for _ in range(2):
        remote.set_tag("latest", descriptor.digest)
        remote.remove_tag("latest")
        assert remote.tags() == ["1.0.0"]
        assert remote.resolve("1.0.0") == descriptor
        assert remote.get_manifest(descriptor.digest).descriptor == descriptor


def half_deleted(simulator):
    """As docker-registry does while another tag is being set: the manifest is gone, its tags are not."""

    def fault(handler, method, path):
        digest = path.rpartition("/")[2]
        if method != "DELETE" or digest not in simulator.manifests:
            return False
        del simulator.manifests[digest]
        handler.reply(400, b'{"errors":[{"code":"DIGEST_INVALID","message":"no"}]}')
        return True

    return fault


@pytest.mark.parametrize("fault", [half_deleted, lambda _simulator: hang_up(method="DELETE")])
def test_a_tag_goes_also_where_deleting_goes_wrong_on_the_way(simulator, fault):
    simulator.new = False
    repository = repository_of(simulator)
    push(repository, b"1", tag="1.0.0")
    push(repository, b"2", tag="_trundle.own")
    simulator.times(1, fault(simulator))
    repository.remove_unique_tag("_trundle.own")
    assert simulator.tags.keys() == {"1.0.0"}
    simulator.times(1, fault(simulator))
    repository.remove_tag("1.0.0")
    assert not simulator.tags


def test_a_manifest_that_cannot_be_deleted_is_named(simulator):
    push(repository_of(simulator), b"1", tag="1.0.0")
    simulator.times(1, status(400, method="DELETE"))
    with pytest.raises(RegistryRefusedError, match="TROUBLE"):
        repository_of(simulator).remove_unique_tag("1.0.0")
    simulator.faults.append(status(503, method="DELETE"))
    with pytest.raises(UnreachableError, match="503"):
        repository_of(simulator).remove_unique_tag("1.0.0")


def test_credentials_that_do_not_suffice_are_named(simulator):
    simulator.faults.append(status(403))
    with pytest.raises(UnauthorisedError, match="ask who runs the registry"):
        repository_of(simulator).tags()


def test_the_proxy_of_the_environment_is_used_except_where_it_says_so(simulator, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://ali:sec%3Aret@{simulator.address}")
    monkeypatch.setenv("no_proxy", simulator.address)
    push(repository_of(simulator), tag="1.0.0")
    assert not any("http://" in each for each in simulator.requests)
    other = open_registry("http://registry.example.com", settings=QUICK).repository("acme/crm")
    assert other.tags() == ["1.0.0"]
    assert simulator.requests[-1] == "GET http://registry.example.com/v2/acme/crm/tags/list"
    said = {name.lower(): value for name, value in simulator.headers[-1].items()}
    assert said["proxy-authorization"] == "Basic YWxpOnNlYzpyZXQ="


@pytest.mark.full
def test_large_blobs_take_little_memory(simulator, tmp_path):
    size = 64 * 1024 * 1024
    source = tmp_path / "source"
    with source.open("wb") as file:
        for number in range(64):
            file.write(bytes([number]) * (1024 * 1024))
    with source.open("rb") as file:
        digest = "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    descriptor = Descriptor(media_type=LAYER, digest=digest, size=size)
    local = open_registry(f"oci:{tmp_path / 'layout'}").repository("big")
    tracemalloc.start()
    local.put_blob(source, descriptor)
    local.fetch_blob(descriptor, tmp_path / "copy")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 1024 * 1024


@pytest.mark.full
def test_large_blobs_take_little_memory_at_the_real_registry(remote, tmp_path):
    size = 64 * 1024 * 1024
    source = tmp_path / "source"
    source.write_bytes(b"x" * size)
    descriptor = Descriptor(media_type=LAYER, digest=digest_of(b"x" * size), size=size)
    tracemalloc.start()
    remote.put_blob(source, descriptor)
    remote.fetch_blob(descriptor, tmp_path / "copy")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "copy").stat().st_size == size
    assert peak < 4 * 1024 * 1024


@pytest.mark.parametrize("registry", ["127.0.0.1:1", "http://nonexistent.invalid"])
def test_a_registry_that_does_not_answer_is_named_without_the_words_of_a_library(registry):
    settings = msgspec.structs.replace(QUICK, retries=0)
    for run in (
        lambda: list(open_registry(registry, settings=settings).repositories()),
        lambda: list(fetch_file(f"http://{registry.removeprefix('http://')}/x", settings=settings)),
    ):
        with pytest.raises(UnreachableError) as caught:
            run()
        assert re.search(r"Connection\(|Pool\(|Error\(", str(caught.value)) is None
        assert caught.value.found in {"Connection refused", "Name or service not known"}


def test_a_registry_that_says_no_length_of_blobs_at_head_has_them(simulator):
    repository = repository_of(simulator)
    one, other = describe(b"one", LAYER), describe(b"other", LAYER)
    repository.put_blob(b"one", one)
    simulator.faults.append(status(200, method="HEAD", part="/blobs/", length=0))
    assert repository.has_blob(one)
    assert not repository.has_blob(other)
    simulator.faults.append(status(200, method="GET", part=one.digest, length=0))
    assert not repository.has_blob(one)
