"""Walks the case study release by release, as an operator would be upgraded.

Each release is generated with the versions, rules and hooks known then and the horizon of the study. What
a person expects to read stands in `data/views.yaml` and in the tables below, written down by hand.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from releases import CRM, PREVIEW, VERSIONS, Release, project_of

from trundle.errors import errors_among
from trundle.project.checking import check
from trundle.project.config import load_config
from trundle.project.generating import generate
from trundle.project.lock_change import lock, read_lock
from trundle.report import version_map

DATA = Path(__file__).parent / "data"
LAST = VERSIONS[-1]

HUBS = {
    "2011-01-01": "2011-01-01",
    "2012-02-02": "2012-02-02",
    "2013-03-03": "2013-03-03",
    "2014-04-04-preview": "2013-03-03",
    "2014-04-04": "2014-04-04",
    "2015-05-05": "2015-05-05",
    "2016-06-06": "2016-06-06",
    "2017-07-07": "2017-07-07",
    "2018-08-08": "2018-08-08",
    "2019-09-09": "2019-09-09",
}
"""The version of the storage type that each release keeps; the preview's leaves it unchanged."""

DROPPED = {
    "2015-05-05": {"2011-01-01"},
    "2016-06-06": {"2012-02-02"},
    "2017-07-07": {"2013-03-03"},
    "2018-08-08": {"2014-04-04-preview", "2014-04-04"},
    "2019-09-09": {"2015-05-05"},
}
"""The versions that each release stops to serve."""


def documents() -> dict[str, dict[str, Any]]:
    """The sample documents by name, in the order of their versions."""
    found = {
        file.stem: yaml.load(file.read_text(), _Loader)
        for file in (CRM / "documents").glob("*.yaml")
    }
    return dict(sorted(found.items(), key=lambda item: VERSIONS.index(item[1]["apiVersion"])))


class _Loader(yaml.SafeLoader):
    """Reads versions as text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}

DOCUMENTS = documents()
VIEWS = yaml.load((DATA / "views.yaml").read_text(), _Loader)
BY_VERSION = {document["apiVersion"]: name for name, document in DOCUMENTS.items()}
NOBODY_SAID = {
    "before": {"firstName": "", "lastName": ""},
    "middle": {"firstName": "", "middleName": "", "lastName": ""},
    "preview": {"fullName": "", "familyName": "", "knownAs": ""},
}
"""What the preview's release shows across the preview, before a rule says how the names relate."""


def expected(name: str, version: str, release: str) -> dict[str, Any]:
    """What a person expects to read of a sample document in a version at a release."""
    document = DOCUMENTS[name]
    own = {key: document[key] for key in ("kind", "metadata", "id")}
    return {"apiVersion": version, **own, **_expected_values(name, version, release)}


def _expected_values(name: str, version: str, release: str) -> dict[str, Any]:
    written = DOCUMENTS[name]["apiVersion"]
    if release == PREVIEW and (written == PREVIEW) != (version == PREVIEW):
        key = {PREVIEW: "preview", "2013-03-03": "middle"}.get(version, "before")
        return NOBODY_SAID[key]
    (found,) = (view["sees"] for view in VIEWS[name] if version in view["versions"])
    return found


def stored_by_now(releases: Mapping[str, Release], now: str) -> Iterator[tuple[str, str, bytes]]:
    """Every object that the releases up to now have stored, with who wrote it where."""
    for release in releases[now].known:
        for version in releases[release].served:
            name = BY_VERSION[version]
            yield release, name, releases[release].store(DOCUMENTS[name])


# The hub, the map and the supported versions are the study's


@pytest.mark.parametrize("version", VERSIONS)
def test_the_hub_is_the_studys(releases: Mapping[str, Release], version: str) -> None:
    release = releases[version]
    assert release.scheme.resources["Person"].hub == HUBS[version]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_supported_versions_are_the_studys(
    releases: Mapping[str, Release], version: str
) -> None:
    dropped = {gone for release in releases[version].known for gone in DROPPED.get(release, ())}
    kept = tuple(each for each in releases[version].known if each not in dropped)
    assert releases[version].served == kept


@pytest.mark.parametrize("version", VERSIONS)
def test_the_map_is_the_studys(releases: Mapping[str, Release], version: str) -> None:
    release = releases[version]
    drawn = version_map(release.project.evolution, "Person", release.project.config.horizon)
    assert [str(each.version) for each in drawn.versions] == list(release.known)
    assert [str(each.version) for each in drawn.versions if each.hub] == [HUBS[version]]
    assert [str(each.version) for each in drawn.versions if each.served] == list(release.served)
    stored = [str(each.version) for each in drawn.versions if each.stored]
    assert stored == [each for each in release.known if each != PREVIEW]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_storage_version_leads_straight_to_the_hub(
    releases: Mapping[str, Release], version: str
) -> None:
    resource = releases[version].scheme.resources["Person"]
    scheme = releases[version].scheme
    hub = scheme._lookup.load(resource.storage[resource.hub])
    assert set(resource.storage) == {each for each in releases[version].known if each != PREVIEW}
    for path in resource.storage.values():
        class_ = scheme._lookup.load(path)
        assert class_ is hub or scheme.function(class_, hub)


# Every object stored by every earlier release still reads


@pytest.mark.parametrize("now", VERSIONS)
def test_what_any_release_stored_reads_as_a_person_expects(
    releases: Mapping[str, Release], now: str
) -> None:
    release = releases[now]
    wrong = [
        f"{name}, stored by {earlier}, read in {version}: {found}"
        for earlier, name, stored in stored_by_now(releases, now)
        for version in release.known
        if (found := release.read(stored, version)) != expected(name, version, now)
    ]
    assert not wrong


@pytest.mark.parametrize("now", VERSIONS)
def test_rolling_hop_by_hop_agrees_with_the_fused_upgrade(
    releases: Mapping[str, Release], now: str
) -> None:
    release = releases[now]
    for earlier, name, stored in stored_by_now(releases, now):
        hopped = stored
        for each in release.known[release.known.index(earlier) :]:
            hopped = releases[each].roll(hopped)
        for version in release.known:
            found, wanted = release.read(hopped, version), release.read(stored, version)
            assert found == wanted, f"{name}, stored by {earlier}, read in {version}"


@pytest.mark.parametrize("now", VERSIONS)
def test_rolling_forward_again_changes_nothing(releases: Mapping[str, Release], now: str) -> None:
    for _, _, stored in stored_by_now(releases, now):
        rolled = releases[now].roll(stored)
        assert releases[now].roll(rolled) == rolled


# The laws


@pytest.mark.parametrize("now", VERSIONS)
def test_what_a_client_writes_it_reads(releases: Mapping[str, Release], now: str) -> None:
    release = releases[now]
    for _, _, stored in stored_by_now(releases, now):
        for version in release.known:
            document = DOCUMENTS[BY_VERSION[version]]
            assert release.read(release.store(document, stored), version) == document


@pytest.mark.parametrize("now", VERSIONS)
def test_writing_back_what_one_read_changes_nothing(
    releases: Mapping[str, Release], now: str
) -> None:
    release = releases[now]
    for _, _, stored in stored_by_now(releases, now):
        for base in (stored, release.roll(stored)):
            for version in release.known:
                seen = release.scheme.from_storage(base, version)
                assert release.scheme.encode(release.scheme.to_storage(seen, base)) == base


# A preview's names


def test_a_preview_alone_shares_only_what_both_sides_have(releases: Mapping[str, Release]) -> None:
    release = releases[PREVIEW]
    stored = release.store(DOCUMENTS["goofy"])
    assert json.loads(stored) == {
        "apiVersion": "2013-03-03",
        "kind": "Person",
        "metadata": {"name": "goofy"},
        "id": DOCUMENTS["goofy"]["id"],
        "$writtenWith": PREVIEW,
        "$propertyBag": {
            "familyName": {PREVIEW: {"value": "Geef"}},
            "fullName": {PREVIEW: {"value": "George Geef"}},
            "knownAs": {PREVIEW: {"value": "Goofy"}},
        },
    }


@pytest.mark.parametrize("now", VERSIONS[VERSIONS.index("2014-04-04") :])
def test_a_previews_full_name_is_the_legal_name_once_the_ga_is_out(
    releases: Mapping[str, Release], now: str
) -> None:
    stored = releases[PREVIEW].store(DOCUMENTS["goofy"])
    rolled = json.loads(releases[now].roll(stored))
    assert rolled["legalName"] == "George Geef"
    assert rolled["familyName"] == "Geef"
    assert rolled["knownAs"] == "Goofy"
    assert "$propertyBag" not in rolled


@pytest.mark.parametrize("now", VERSIONS[VERSIONS.index("2014-04-04") :])
def test_a_hook_does_not_overwrite_a_previews_name_while_its_inputs_are_absent(
    releases: Mapping[str, Release], now: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = releases[PREVIEW].store(DOCUMENTS["goofy"])
    from crm_hooks.names import PersonNames

    def refuse(*_: object) -> dict[str, Any]:
        pytest.fail("the hook was called without inputs")

    monkeypatch.setattr(PersonNames, "assign_to", refuse)
    assert json.loads(releases[now].roll(stored))["legalName"] == "George Geef"


# The first release's names


@pytest.mark.parametrize("now", VERSIONS)
def test_the_names_of_2011_reach_every_release_and_return(
    releases: Mapping[str, Release], now: str
) -> None:
    stored = releases["2011-01-01"].store(DOCUMENTS["mickey"])
    release = releases[now]
    for base in (stored, release.roll(stored)):
        assert release.read(base, "2011-01-01") == DOCUMENTS["mickey"]


def test_the_names_of_2011_are_there_in_2019_although_2011_is_not_served(
    releases: Mapping[str, Release],
) -> None:
    release = releases[LAST]
    stored = releases["2011-01-01"].store(DOCUMENTS["mickey"])
    assert "2011-01-01" not in release.served
    assert release.read(stored, LAST)["legalName"] == "Mickey Mouse"
    assert release.read(stored, "2011-01-01")["firstName"] == "Mickey"


# A client of 2011 writes over what a client of 2019 stored


DONALD = {
    "apiVersion": LAST,
    "kind": "Person",
    "metadata": {"name": "donald", "labels": {"team": "navy"}},
    "id": "6f1d5c1e-0b54-4a53-9d0c-000000000003",
    "legalName": "Donald Fauntleroy Duck",
    "familyName": "Duck",
    "knownAs": "Donald",
    "sortKey": "Duck, Donald",
    "mailingAddress": {
        "fullAddress": "1313 Webfoot Walk, Duckburg, CA 95501, Calisota",
        "city": "Duckburg",
        "country": "Calisota",
        "postCode": "CA 95501",
        "latitude": 40.8,
        "longitude": -124.1,
    },
}


@pytest.mark.parametrize("old", ["2011-01-01", "2012-02-02", "2013-03-03"])
def test_an_old_clients_new_last_name_is_all_that_changes(
    releases: Mapping[str, Release], old: str
) -> None:
    release = releases[LAST]
    stored = release.store(DONALD)
    seen = release.read(stored, old)
    written = release.store({**seen, "lastName": "Drake"}, stored)
    assert release.read(written, LAST) == {
        **DONALD,
        "familyName": "Drake",
        "legalName": "Donald Fauntleroy Drake",
        "sortKey": "Drake",
    }
    assert release.read(written, old) == {**seen, "lastName": "Drake"}
    assert release.read(written, "2014-04-04") == {
        "apiVersion": "2014-04-04",
        **{key: DONALD[key] for key in ("kind", "metadata", "id", "knownAs")},
        "familyName": "Drake",
        "legalName": "Donald Fauntleroy Drake",
        "alphaKey": "Drake",
    }


def test_an_old_clients_new_first_name_leaves_the_sort_key_alone(
    releases: Mapping[str, Release],
) -> None:
    release = releases[LAST]
    stored = release.store(DONALD)
    seen = release.read(stored, "2011-01-01")
    written = release.store({**seen, "firstName": "Dewey"}, stored)
    assert release.read(written, LAST) == {
        **DONALD,
        "knownAs": "Dewey",
        "legalName": "Dewey Fauntleroy Duck",
    }


def test_an_old_clients_labels_touch_no_name(releases: Mapping[str, Release]) -> None:
    release = releases[LAST]
    stored = release.store(DOCUMENTS["michael"])
    seen = release.read(stored, "2011-01-01")
    written = release.store({**seen, "metadata": {"name": "mickey"}}, stored)
    assert release.read(written, LAST) == {**DOCUMENTS["michael"], "metadata": {"name": "mickey"}}


def test_an_old_client_says_nothing_about_addresses(releases: Mapping[str, Release]) -> None:
    release = releases[LAST]
    before = json.loads(release.store(DONALD))
    seen = release.read(release.store(DONALD), "2011-01-01")
    after = json.loads(release.store({**seen, "lastName": "Drake"}, release.store(DONALD)))
    assert after["mailingAddress"] == before["mailingAddress"]


def test_a_new_client_after_an_old_one_is_not_shown_stale_names(
    releases: Mapping[str, Release],
) -> None:
    release = releases[LAST]
    stored = release.store(DONALD)
    seen = release.read(stored, "2011-01-01")
    written = release.store({**seen, "lastName": "Drake"}, stored)
    again = release.read(written, LAST)
    married = release.store({**again, "familyName": "Gander"}, written)
    assert release.read(married, "2011-01-01")["lastName"] == "Gander"
    assert release.read(married, LAST)["sortKey"] == "Drake"


def test_a_client_of_2017_moves_a_person_and_the_place_on_the_map_stays(
    releases: Mapping[str, Release],
) -> None:
    release = releases[LAST]
    stored = release.store(DONALD)
    seen = release.read(stored, "2017-07-07")
    assert seen["mailingAddress"] == {"street": "1313 Webfoot Walk", "city": "Duckburg"}
    moved = {**seen, "mailingAddress": {"street": "1 Quack Street", "city": "Duckburg"}}
    written = release.store(moved, stored)
    assert release.read(written, LAST) == {
        **DONALD,
        "mailingAddress": {
            **DONALD["mailingAddress"],
            "fullAddress": "1 Quack Street, Duckburg",
        },
    }
    assert release.read(written, "2017-07-07") == moved


def test_zeros_that_a_version_only_shows_are_never_stored(
    releases: Mapping[str, Release],
) -> None:
    release = releases[LAST]
    stored = releases["2018-08-08"].store(DOCUMENTS["ludwig"])
    seen = release.read(stored, LAST)
    assert (seen["mailingAddress"]["latitude"], seen["mailingAddress"]["longitude"]) == (0, 0)
    written = json.loads(release.store({**seen, "sortKey": "Von Drake"}, stored))
    assert "latitude" not in written["mailingAddress"]
    assert "longitude" not in written["mailingAddress"]


# The hook of 2014


@pytest.mark.parametrize("now", VERSIONS[VERSIONS.index("2014-04-04") :])
def test_the_hook_of_2014_still_runs_unchanged(releases: Mapping[str, Release], now: str) -> None:
    hooks = {each.reference.use: each.reference for each in releases[now].project.hooks}
    reference = hooks["crm_hooks.names:PersonNames"]
    assert (str(reference.older), str(reference.newer)) == ("2013-03-03", "2014-04-04")
    rolled = json.loads(releases[now].roll(releases["2013-03-03"].store(DOCUMENTS["donald"])))
    assert rolled["legalName"] == "Donald Fauntleroy Duck"
    assert rolled["knownAs"] == "Donald"


def whole_project(folder: Path) -> Path:
    """A copy of the whole example, generated and without findings."""
    shutil.copytree(CRM, folder, ignore=shutil.ignore_patterns("crm", "__pycache__"))
    file = folder / "trundle.yaml"
    project = load_config(file)
    generate(project)
    assert not errors_among(check(project))
    return file


def test_the_example_itself_has_no_findings(tmp_path: Path) -> None:
    whole_project(tmp_path / "crm")


def test_removing_the_hooks_module_is_found(tmp_path: Path) -> None:
    file = whole_project(tmp_path / "crm")
    (file.parent / "crm_hooks" / "names.py").unlink()
    (finding,) = (each for each in check(load_config(file)) if each.code == "hook")
    assert "crm_hooks.names" in finding.message
    assert finding.where.startswith(f"{file}:")


@pytest.mark.full
def test_removing_one_direction_of_the_hook_is_found(tmp_path: Path) -> None:
    file = whole_project(tmp_path / "crm")
    hooks = file.parent / "crm_hooks" / "names.py"
    hooks.write_text(hooks.read_text().replace("def assign_to", "def assigned"))
    findings = errors_among(check(load_config(file)))
    assert any("PersonNames" in each.message and "assigned" in each.message for each in findings)


@pytest.mark.full
def test_removing_the_hook_from_the_configuration_is_found(tmp_path: Path) -> None:
    file = whole_project(tmp_path / "crm")
    config = yaml.load(file.read_text(), yaml.BaseLoader)
    config["horizon"] = {"ga": 4}
    del config["hooks"][0]
    file.write_text(yaml.safe_dump(config))
    project = load_config(file)
    assert {each.code for each in errors_among(check(project))} == {"lock", "stale"}
    generate(project)
    findings = errors_among(check(project))
    assert findings
    assert all("crm_hooks.names:PersonNames" in each.message for each in findings)


@pytest.mark.full
def test_a_version_between_the_hooks_two_is_found_with_the_pair_it_belongs_to(
    tmp_path: Path,
) -> None:
    file = whole_project(tmp_path / "crm")
    schemas = file.parent / "schemas"
    shutil.copy(schemas / "2013-03-03.yaml", schemas / "2013-12-12.yaml")
    (finding,) = (each for each in check(load_config(file)) if each.code == "hook")
    assert "2013-12-12" in finding.message
    assert "[2013-12-12, 2014-04-04]" in finding.advice


# The lock


@pytest.mark.full
def test_no_release_makes_what_an_earlier_one_stored_unreadable(tmp_path: Path) -> None:
    recorded = b""
    for version in VERSIONS:
        file = project_of(version, tmp_path / version)
        path = file.parent / "trundle.lock"
        if recorded:
            path.write_bytes(recorded)
        project = load_config(file)
        assert not [x for x in check(project) if x.code == "lock" and x.severity == "error"], (
            version
        )
        lock(project)
        recorded = path.read_bytes()
    stored = {version for version in VERSIONS if version != PREVIEW}
    assert read_lock(path).resources["Person"].keys() == stored
    assert read_lock(CRM / "trundle.lock").resources["Person"].keys() == stored


@pytest.mark.full
def test_forgetting_the_previews_rename_is_refused_by_the_lock(tmp_path: Path) -> None:
    file = whole_project(tmp_path / "crm")
    lines = file.read_text().splitlines()
    start = lines.index("  2014-04-04-preview:")
    file.write_text("\n".join([*lines[:start], *lines[start + 3 :]]))
    findings = errors_among(check(load_config(file)))
    assert any(each.code == "lock" and "fullName" in each.message for each in findings)


# Every generation is the same


@pytest.mark.full
def test_a_release_is_generated_alike_wherever_and_whenever(tmp_path: Path) -> None:
    trees = []
    for name in ("one", "two"):
        project = load_config(project_of("2016-06-06", tmp_path / name))
        root = generate(project).root
        trees.append({file.relative_to(root): file.read_bytes() for file in root.rglob("*.py")})
    assert trees[0] == trees[1]
