import json

import pytest
from channel_data import PACKAGE, START, change, channel, codes, digest, entry, v
from hypothesis import given
from hypothesis import strategies as st

from trundle.channels import (
    LONGEST_LATEST,
    Channel,
    ChannelFileError,
    ListedVersion,
    Tombstone,
    belongs,
    check_pair,
    is_channel_word,
    latest_of,
    read_all,
    read_latest,
    tag_of,
    write_all,
    write_latest,
)
from trundle.packages import Requirement
from trundle.version import SemVer, VersionRange

LATEST = """{
 "name": "stable",
 "type": "channel",
 "package": "crossplane/aws-stack",
 "latest":
  {
    "version": "1.2.3",
    "id": "461324714c7d",
    "createTime": "2019-09-12T17:39:04Z"
  }
}"""
ALL = """{
 "name": "stable",
 "type": "all",
 "package": "crossplane/aws-stack",
 "latest": {"version": "1.2.3", "id": "236565319b99", "createTime": "2019-09-12T17:39:04Z"},
  "versions": [
     {"version": "1.2.3", "id": "236565319b99", "createTime": "2019-09-12T17:39:04Z"},
     {"version": "1.1.3", "id": "72f201c9f096", "createTime": "2019-09-2T4:39:04Z"},
     {"version": "1.0.3", "id": "ea2d2f10bfdb", "createTime": "2019-09-1T23:39:04Z"}
   ]}"""


def plain(**changes):
    """The content of an `all` file with two versions and a tombstone, with some of its keys changed."""
    gone = Tombstone(entry("1.1.0"), START, "a hole")
    content = json.loads(write_all(change(channel("1.0.0", "1.2.0"), unpublished=(gone,))))
    for path, value in changes.items():
        *way, last = (int(each) if each.isdigit() else each for each in path.split("__"))
        place = content
        for step in way:
            place = place[step]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return json.dumps(content).encode()


def test_the_short_files_of_the_source_are_read():
    file = read_all(ALL.encode())
    assert [str(each.version) for each in file.channel.versions] == ["1.2.3", "1.1.3", "1.0.3"]
    assert file.channel.latest == v("1.2.3")
    assert [each.where for each in file.warnings] == [
        "all: $.versions[1].createTime",
        "all: $.versions[2].createTime",
        "all: $.versions",
    ]
    latest = read_latest(LATEST.encode())
    assert latest.latest.latest.identity == "461324714c7d"
    assert latest.latest.latest.tag_name == "1.2.3"


def test_a_source_file_with_two_ids_for_one_version_is_refused():
    with pytest.raises(ChannelFileError, match="the id 236565319b99 of version"):
        read_all(ALL.replace("236565319b99", "461324714c7d", 1).encode())


def test_what_is_written_has_the_keys_of_the_source():
    written = json.loads(write_latest(channel("1.2.3")))
    assert list(written)[:4] == ["name", "type", "package", "latest"]
    assert written["type"] == "channel"
    assert list(written["latest"])[:3] == ["version", "id", "createTime"]
    assert written["latest"]["createTime"] == "2026-03-02T12:00:00Z"
    assert written["latest"]["id"] == digest("1.2.3")[7:19]
    everything = json.loads(write_all(channel("1.2.3")))
    assert everything["type"] == "all"
    assert everything["latest"] == everything["versions"][0] == written["latest"]


def test_no_latest_is_written_as_null():
    assert json.loads(write_latest(channel("1.0.0", latest=None)))["latest"] is None


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
NUMBERS = st.integers(0, 3)
VERSIONS = st.builds(SemVer, NUMBERS, NUMBERS, NUMBERS)


@st.composite
def channels(draw):
    versions = draw(st.lists(VERSIONS, unique=True, max_size=6))
    moments = st.datetimes(timezones=st.just(START.tzinfo))
    entries = []
    for version in sorted(versions, reverse=True):
        made = entry(str(version), at=draw(moments))
        lowest = draw(st.none() | st.just(SemVer(0, 0, 0)))
        entries.append(
            change(
                made,
                changes=tuple(draw(st.lists(TEXTS, max_size=2))),
                critical=draw(st.booleans()),
                deprecated=draw(st.none() | TEXTS),
                min_upgrade_from=lowest,
                depends_on=draw(
                    st.sampled_from([(), (Requirement("a/b", VersionRange.parse(">=1,<2")),)])
                ),
                extra=draw(st.sampled_from([(), (("later", '{"x":1.10}'),)])),
            )
        )
    cut = draw(st.integers(0, len(entries)))
    gone = tuple(Tombstone(each, draw(moments), draw(TEXTS)) for each in entries[cut:])
    listed = tuple(entries[:cut])
    return Channel(
        name="stable",
        package=PACKAGE,
        latest=draw(st.sampled_from([None, *(each.version for each in listed)])),
        versions=listed,
        unpublished=gone,
        serial=draw(st.integers(0, 10**15)),
        update_time=draw(st.none() | moments),
        expires=draw(st.none() | moments),
        extra=draw(st.sampled_from([(), (("soon", "[1e400,12345678901234567890]"),)])),
    )


@given(channels())
def test_channels_are_read_as_they_are_written(written):
    data = write_all(written)
    file = read_all(data, name="stable", package=PACKAGE)
    assert file.channel == written
    assert file.warnings == ()
    assert write_all(file.channel) == data
    latest = read_latest(write_latest(written)).latest
    assert latest == latest_of(written)
    assert check_pair(latest, written) == ()


@pytest.mark.parametrize(
    ("changes", "place", "code"),
    [
        ({"name": "latest"}, "$.name", "invalid-file"),
        ({"name": "Stable"}, "$.name", "invalid-file"),
        ({"name": "beta"}, "$.name", "wrong-channel"),
        ({"package": "acme/other"}, "$.package", "wrong-package"),
        ({"package": 1}, "$.package", "invalid-file"),
        ({"type": "channel"}, "$.type", "invalid-file"),
        ({"schemaVersion": 2}, "$.schemaVersion", "newer-format"),
        ({"serial": -1}, "$.serial", "invalid-file"),
        ({"serial": True}, "$.serial", "invalid-file"),
        ({"serial": 1.5}, "$.serial", "invalid-file"),
        ({"expires": "soon"}, "$.expires", "invalid-file"),
        ({"versions": ...}, "$.versions", "invalid-file"),
        ({"versions": {}}, "$.versions", "invalid-file"),
        ({"versions__0": 1}, "$.versions[0]", "invalid-file"),
        ({"versions__0__version": "1.2"}, "$.versions[0].version", "invalid-file"),
        ({"versions__0__version": "2.0.0-beta"}, "$.versions[0].version", "invalid-file"),
        ({"versions__0__version": 1.2}, "$.versions[0].version", "invalid-file"),
        ({"versions__0__id": "0" * 12}, "$.versions[0].id", "invalid-file"),
        ({"versions__0__id": "xyz"}, "$.versions[0].id", "invalid-file"),
        ({"versions__0__digest": "sha256:abc"}, "$.versions[0].digest", "invalid-file"),
        ({"versions__0__tag": "latest"}, "$.versions[0].tag", "invalid-file"),
        ({"versions__0__size": "big"}, "$.versions[0].size", "invalid-file"),
        ({"versions__0__size": -1}, "$.versions[0].size", "invalid-file"),
        ({"versions__0__size": False}, "$.versions[0].size", "invalid-file"),
        ({"versions__0__createTime": ...}, "$.versions[0].createTime", "invalid-file"),
        ({"versions__0__createTime": "now"}, "$.versions[0].createTime", "invalid-file"),
        ({"versions__0__critical": "yes"}, "$.versions[0].critical", "invalid-file"),
        ({"versions__0__changes": "one"}, "$.versions[0].changes", "invalid-file"),
        ({"versions__0__deprecated": ""}, "$.versions[0].deprecated", "invalid-file"),
        ({"versions__0__minUpgradeFrom": "9.0.0"}, "$.versions[0].minUpgradeFrom", "invalid-file"),
        ({"versions__0__dependsOn": {"a": "^1"}}, "$.versions[0].dependsOn['a']", "invalid-file"),
        ({"versions__0__dependsOn": []}, "$.versions[0].dependsOn", "invalid-file"),
        ({"unpublished__0__reason": ...}, "$.unpublished[0].reason", "invalid-file"),
        ({"unpublished__0__unpublishTime": ...}, "$.unpublished[0].unpublishTime", "invalid-file"),
        (
            {"latest__version": "1.1.0", "latest__tag": "1.1.0"},
            "$.latest.version",
            "inconsistent-file",
        ),
        ({"latest__version": "9.0.0"}, "$.latest.version", "inconsistent-file"),
        ({"latest__version": "1.2.0-beta"}, "$.latest.version", "latest-not-in-channel"),
        ({"latest__size": 1}, "$.latest", "inconsistent-file"),
        ({"latest__createTime": "2020-01-01T00:00:00Z"}, "$.latest", "inconsistent-file"),
    ],
)
def test_each_violated_rule_names_its_place(changes, place, code):
    name = "stable" if code == "wrong-channel" else None
    with pytest.raises(ChannelFileError) as caught:
        read_all(plain(**changes), "c/all", name=name, package=PACKAGE)
    found = [each for each in caught.value.findings if each.where == f"c/all: {place}"]
    assert found, str(caught.value)
    assert code in [each.code for each in found]
    assert all(each.expected and each.found and each.advice for each in caught.value.findings)
    assert code in codes(caught.value.refusals)


def _with_versions(*entries, **fields):
    made = channel("1.0.0")
    return write_all(change(made, versions=entries, latest=None, **fields))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (_with_versions(entry("1.0.0"), entry("1.0.0")), "version 1.0.0 once"),
        (
            _with_versions(entry("1.0.0"), entry("1.0.0", content="x")),
            "one digest for version 1.0.0",
        ),
        (
            _with_versions(
                entry("1.0.0"), unpublished=(Tombstone(entry("1.0.0"), START, "a hole"),)
            ),
            "version 1.0.0 either listed or unpublished",
        ),
    ],
)
def test_each_version_stands_in_a_file_once(data, words):
    with pytest.raises(ChannelFileError, match=words):
        read_all(data)


def test_all_findings_are_listed():
    with pytest.raises(ChannelFileError) as caught:
        read_all(plain(serial=-1, expires="soon", versions__0__size="big"))
    assert len(caught.value.findings) == 3


def test_a_wrong_order_is_a_warning_and_put_right():
    file = read_all(_with_versions(entry("1.0.0"), entry("1.1.0")))
    assert [str(each.version) for each in file.channel.versions] == ["1.1.0", "1.0.0"]
    assert [(each.where, each.severity) for each in file.warnings] == [
        ("all: $.versions[1].version", "warning")
    ]


def test_a_missing_latest_is_none_with_a_warning():
    file = read_all(plain(latest=...))
    assert file.channel.latest is None
    assert [each.where for each in file.warnings] == ["all: $.latest"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "expected valid JSON, found a mistake in column 1: Expecting value"),
        (b"{", "expected valid JSON"),
        (b"[]", "expected an object, found a list"),
        (
            b'{"name": "a", "name": "b"}',
            "expected each key once in an object, found 'name' a second time",
        ),
        (b'{"serial": NaN}', "NaN is not a JSON number"),
        (b'{"name": "\\ud800"}', "half a surrogate pair"),
        (b'{"name": "\xff"}', "expected UTF-8 text, found the byte 0xff"),
        (b"[" * 100_000, "levels"),
        (b" " * (LONGEST_LATEST + 1), "a file of at most 1,048,576 bytes"),
    ],
)
def test_what_is_no_json_is_said(data, words):
    with pytest.raises(ChannelFileError, match=words):
        read_latest(data)


def test_unknown_fields_are_kept_as_they_are_spelled():
    data = plain()
    text = data.decode().replace(
        '"serial": 2', '"serial": 2, "next": {"a": 1.10, "b": 1e2, "c": -0}'
    )
    text = text.replace('"size": 1000', '"size": 1000, "sbom": [12345678901234567890123]')
    written = write_all(read_all(text.encode()).channel).decode()
    assert '"next": {"a":1.10,"b":1e2,"c":-0}' in written
    assert written.count('"sbom":[12345678901234567890123]') == 4


@pytest.mark.parametrize(
    ("word", "good"),
    [("stable", True), ("beta2", True), ("latest", False), ("all", False), ("2beta", False),
     ("Beta", False), ("a-b", False), ("", False), ("betä", False), ("beta\n", False)],
)  # fmt: skip
def test_channel_words(word, good):
    assert is_channel_word(word) is good


@pytest.mark.parametrize(
    ("version", "word", "inside"),
    [
        ("1.2.3", "stable", True),
        ("1.2.3-beta", "stable", False),
        ("1.2.3+1", "stable", False),
        ("1.2.3-beta+123", "beta", True),
        ("1.2.3-beta.1", "beta", True),
        ("1.2.3-beta-1", "beta", False),
        ("1.2.3-beta1", "beta", False),
        ("1.2.3-alpha.beta", "beta", False),
        ("1.2.3", "beta", False),
        ("1.2.3+beta", "beta", False),
        ("1.2.3-stable", "stable", False),
    ],
)
def test_which_versions_belong_to_a_channel(version, word, inside):
    assert belongs(v(version), word) is inside


def test_builds_of_equal_precedence_order_by_their_identifiers():
    entries = ["1.0.0-beta", "1.0.0-beta+2", "1.0.0-beta+10", "1.0.0-beta+10.a", "1.0.0-beta+a"]
    made = channel(*reversed(entries), name="beta")
    assert [str(each.version) for each in reversed(made.versions)] == entries
    assert made.latest == v("1.0.0-beta+a")


def test_a_plus_is_an_underscore_in_a_tag():
    assert tag_of(v("1.2.3-beta+123")) == "1.2.3-beta_123"


@pytest.mark.parametrize(
    ("other", "place"),
    [
        (channel("1.0.0", serial=9), "$.serial"),
        (channel("1.0.0", latest=None), "$.latest"),
        (channel(entry("1.0.0", content="x")), "$.latest"),
        (channel(name="beta", serial=1), "$.name"),
    ],
)
def test_the_two_files_of_a_channel_have_to_agree(other, place):
    findings = check_pair(latest_of(other), channel("1.0.0"))
    assert [each.where for each in findings] == [f"latest: {place}"]
    assert {str(each.code) for each in findings} == {"inconsistent-file"}


def test_content_is_compared_by_digest_or_else_by_id():
    full = entry("1.0.0")
    short = ListedVersion(version=full.version, id=full.id, create_time=START)
    assert short.is_same_content(full.digest)
    assert full.is_same_content(full.id)
    assert not full.is_same_content(full.digest[:-1] + "x")
    assert not short.is_same_content(digest("other"))


def test_nothing_here_needs_network_database_or_signatures():
    import subprocess
    import sys

    script = (
        "import sys, trundle.channels; "
        "print([each for each in ('socket', 'sqlite3', 'ssl', 'tuf', 'http.client') if each in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
