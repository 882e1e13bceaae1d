"""What is looked at before a release: it refuses, and a reason for an override lets it through."""

import msgspec
import pytest
from publishing_support import WORD, channel_of, now, package, release

from trundle.channels import RefusalCode, RefusedError
from trundle.channels.files import entry_from_json, entry_to_plain
from trundle.channels.publishing import PublishRequest, events, publish
from trundle.channels.transitions import Publish, base_of, id_of_operation
from trundle.errors import Finding, Kind, Place
from trundle.version import SemVer

BAD = Finding(RefusalCode.INVALID_VERSION, Place("schema.txt"), "", "something is wrong")


def reviewed(repository, folder, found, **further):
    """Publishes a folder after a review that finds something; what the review was asked."""
    asked = []

    def review(base):
        asked.append(base and str(base.version))
        return found

    publish(channel_of(repository), PublishRequest(folder, review=review, **further))
    return asked


def test_errors_of_a_review_refuse_a_release_and_change_nothing(repository, tmp_path):
    with pytest.raises(RefusedError) as refused:
        reviewed(repository, package(tmp_path / "a", "1.0.0"), [BAD])
    assert [each.code for each in refused.value.refusals] == [RefusalCode.NOT_IN_ORDER, BAD.code]
    assert refused.value.kind is Kind.REFUSED
    assert repository.tags() == []


def test_notes_of_a_review_refuse_nothing(repository, tmp_path):
    note = Finding(BAD.code, BAD.place, "", "to be known", severity="note")
    reviewed(repository, package(tmp_path / "a", "1.0.0"), [note])
    assert "1.0.0" in repository.tags()


def test_a_reason_lets_it_through_and_is_kept(repository, tmp_path):
    folder = package(tmp_path / "a", "1.0.0")
    reviewed(repository, folder, [BAD], override="it is urgent")
    (event,) = events(repository, WORD, clock=now)
    assert event.override == "it is urgent"
    assert channel_of(repository).current().versions[0].override == "it is urgent"


@pytest.mark.full
def test_a_release_is_compared_with_the_one_that_it_follows(repository, tmp_path):
    for number, version in enumerate(["1.0.0", "1.2.0", "2.0.0"]):
        release(repository, package(tmp_path / str(number), version, content=version))
    assert reviewed(repository, package(tmp_path / "a", "1.1.0"), []) == ["1.0.0"]
    assert reviewed(repository, package(tmp_path / "b", "3.0.0"), []) == ["2.0.0"]
    assert reviewed(repository, package(tmp_path / "c", "0.1.0"), []) == [None]


@pytest.mark.full
def test_pre_releases_of_one_release_follow_the_same_base(repository, tmp_path):
    release(repository, package(tmp_path / "a", "1.0.0"), word="beta", suffix="beta.1")
    for suffix in ("beta.1", "beta.2"):
        folder = package(tmp_path / suffix, "1.1.0", content=suffix)
        release(repository, folder, word="beta", suffix=suffix)
    channel = channel_of(repository, word="beta").current()
    assert base_of(channel, SemVer.parse("1.1.0-beta.3")).version == SemVer.parse("1.0.0-beta.1")


@pytest.mark.full
def test_what_another_publisher_released_meanwhile_is_not_passed_over(repository, tmp_path):
    folder = package(tmp_path / "a", "1.1.0")
    release(repository, package(tmp_path / "b", "1.0.0"))

    def review(_base):
        release(repository, package(tmp_path / "c", "1.0.1", content="meanwhile"))
        return ()

    with pytest.raises(RefusedError) as refused:
        publish(channel_of(repository), PublishRequest(folder, review=review))
    assert refused.value.code is RefusalCode.CONCURRENT_CHANGE
    assert "1.1.0" not in repository.tags()


def test_what_is_published_already_is_not_reviewed_again(repository, tmp_path):
    folder = package(tmp_path / "a", "1.0.0")
    release(repository, folder)
    assert reviewed(repository, folder, [BAD], skip_existing=True) == []


def test_an_earlier_release_of_trundle_keeps_the_reason(repository, tmp_path):
    """It knows no `override`, keeps the field as it is, and gives the operation the same name."""
    reviewed(repository, package(tmp_path / "a", "1.0.0"), [BAD], override="it is urgent")
    entry = channel_of(repository).current().versions[0]
    older = msgspec.structs.replace(
        entry, override=None, extra=(("override", '"it is urgent"'), ("zone", "1"))
    )
    newer = msgspec.structs.replace(entry, extra=(("zone", "1"),))
    at = now()
    names = {id_of_operation(Publish(entry=each, at=at)) for each in (older, newer)}
    written = [msgspec.json.encode(entry_to_plain(each)) for each in (older, newer)]
    assert written[0] == written[1]
    assert entry_from_json(written[0], "x") == newer
    assert len(names) == 1
