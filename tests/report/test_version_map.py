import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import msgspec
import pytest
from report_schemas import crm, crm_schemas, schema, thing, v

from trundle.evolution import Evolution
from trundle.report import (
    ReportError,
    as_released,
    version_map,
    version_map_data,
    version_map_mermaid,
    version_map_svg,
    version_map_text,
)

SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg):
    return ET.fromstring(svg)


def test_text_shows_rails_to_the_hub_and_what_is_served():
    assert version_map_text(version_map(crm(), "person", 4)) == (
        "Person\n"
        "10 versions · hub 2019-09-09 · 4 served (the newest 4 GA versions and their previews)\n"
        "\n"
        "  API versions                      storage types\n"
        "· 2011-01-01         ╌╌╌╌╌╮        2011-01-01         ──────╮\n"
        "· 2012-02-02         ╌╌╌╌╌┤        2012-02-02         ──────┤\n"
        "· 2013-03-03         ╌╌╌╌╌┤        2013-03-03         ──────┤\n"
        "· 2014-04-04-preview ╌╌╌╌╌┤                                 │\n"
        "· 2014-04-04         ╌╌╌╌╌┤        2014-04-04         ──────┤\n"
        "· 2015-05-05         ╌╌╌╌╌┤        2015-05-05         ──────┤\n"
        "● 2016-06-06         ─────┤        2016-06-06         ──────┤\n"
        "● 2017-07-07         ─────┤        2017-07-07         ──────┤\n"
        "● 2018-08-08         ─────┤        2018-08-08         ──────┤\n"
        "◆ 2019-09-09         ─────┴─────▶  2019-09-09         hub ◀─╯\n"
        "\n"
        "◆ hub   ● GA   · no longer served\n"
    )


def test_one_version_is_a_map():
    found = version_map(Evolution(crm_schemas()[:1]), "Person")
    assert "◆ 2011-01-01 ───────────▶  2011-01-01 hub\n" in version_map_text(found)
    assert drawn(version_map_svg(found)).tag == f"{SVG}svg"


def test_previews_after_the_hub_lead_back_to_it():
    schemas = (
        schema("v1", thing("Person", id="string")),
        schema("v2beta1", thing("Person", id="string")),
    )
    text = version_map_text(version_map(Evolution(schemas), "Person"))
    assert "◆ v1      ─────┬─────▶" in text
    assert "○ v2beta1 ─────╯" in text


def test_a_preview_without_a_ga_is_the_hub():
    schemas = tuple(schema(name, thing("Person", id="string")) for name in ("v1alpha1", "v1beta1"))
    found = version_map(Evolution(schemas), "Person")
    assert str(found.hub) == "v1beta1"
    drawn(version_map_svg(found))


def test_a_dropped_resource_type_is_named_and_greyed():
    schemas = (
        schema("v1", thing("Person", id="string")),
        schema("v2", thing("Pet", id="string"), resource="Pet"),
    )
    found = version_map(Evolution(schemas), "Person")
    assert found.dropped_in == v("v2")
    assert "dropped in v2" in version_map_text(found)
    assert drawn(version_map_svg(found)).find(f"{SVG}g").get("class") == "dropped"
    assert version_map(Evolution(schemas), "Pet").dropped_in is None


def test_an_unknown_resource_is_an_error_with_suggestions():
    with pytest.raises(ReportError, match=r"found 'Persons'.*did you mean Person"):
        version_map(crm(), "Persons")


def test_the_last_part_of_a_name_finds_a_resource():
    evolution = Evolution(
        (schema("v1", thing("Clusters", id="string"), resource="Cloud.Fabric/clusters"),)
    )
    assert version_map(evolution, "Clusters").resource == "Cloud.Fabric/clusters"


def test_mermaid_has_a_node_for_each_type_and_marks_the_hub():
    text = version_map_mermaid(version_map(crm(), "Person", 4))
    assert text.startswith("flowchart LR\n")
    assert text.count("api_v") == 10 + 10
    assert 'storage_v2019_09_09[("2019-09-09<br/>hub")]:::hub' in text
    assert "api_v2011_01_01 <-.-> storage_v2019_09_09" in text
    assert text.count("==>|upgrade|") == 8


def test_svg_is_self_contained_and_described():
    svg = version_map_svg(version_map(crm(), "Person", 4))
    root = drawn(svg)
    assert root.find(f"{SVG}title").text == "Version map of Person"
    assert "2011-01-01 (no longer served)" in root.find(f"{SVG}desc").text
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in svg


def test_svg_escapes_every_text():
    evolution = Evolution((schema("v1", thing("Person", id="string"), resource='A<&"B'),))
    root = drawn(version_map_svg(version_map(evolution, 'A<&"B')))
    assert root.find(f"{SVG}title").text == 'Version map of A<&"B'


def test_no_two_cards_overlap():
    names = [
        f"20{year:02}-{month:02}-01{kind}"
        for year in range(15, 20)
        for month in (3, 9)
        for kind in ("-preview", "")
    ]
    evolution = Evolution(tuple(schema(name, thing("Person", id="string")) for name in names))
    root = drawn(version_map_svg(version_map(evolution, "Person", 2)))
    boxes = [box for box in root.iter(f"{SVG}rect") if box.get("class") == "card"]
    assert len(boxes) == 20
    for above, below in pairwise(boxes):
        end = float(above.get("y")) + float(above.get("height"))
        assert end < float(below.get("y"))
    stores = sorted(float(each.get("cy")) for each in root.iter(f"{SVG}ellipse"))
    assert all(second - first > 46 for first, second in pairwise(stores))
    assert max(stores) < float(root.get("height"))


def test_a_picture_is_legible_at_the_width_of_a_page():
    root = drawn(version_map_svg(version_map(crm(), "Person", 4)))
    assert float(root.get("width")) <= 800
    style = root.find(f"{SVG}style").text
    assert min(float(each) for each in re.findall(r"font-size: ([0-9.]+)px", style)) >= 12
    assert "prefers-color-scheme: dark" in style


def test_json_lists_each_version():
    data = version_map_data(version_map(crm(), "Person", 4))
    assert data["hub"] == "2019-09-09"
    assert data["versions"][3] == {
        "version": "2014-04-04-preview",
        "preview": True,
        "served": False,
        "stored": False,
        "hub": False,
        "deprecated": None,
    }


def test_storage_upgrades_lead_to_a_hub_that_is_held_back_from_both_sides():
    schemas = tuple(schema(name, thing("Person", id="string")) for name in ("v1", "v2", "v3"))
    (held,) = schemas[1].resources
    said = msgspec.structs.replace(schemas[1], resources=(msgspec.structs.replace(held, hub=True),))
    found = version_map(Evolution((schemas[0], said, schemas[2])), "Person")
    rows = version_map_text(found).splitlines()
    assert rows[4:7] == [
        "● v1 ─────╮        v1 ──────╮",
        "◆ v2 ─────┼─────▶  v2 hub ◀─┤",
        "● v3 ─────╯        v3 ──────╯",
    ]
    hub = next(each for each in drawn(version_map_svg(found)).iter() if each.get("class") == "hub")
    lid = float(hub.find(f"{SVG}ellipse").get("cy"))
    rails = [
        each.get("d")
        for each in drawn(version_map_svg(found)).iter(f"{SVG}path")
        if "upgrade" in (each.get("class") or "") and "H" in each.get("d")
    ]
    starts = sorted(float(rail[1:].split()[1].partition("H")[0]) for rail in rails)
    assert len(starts) == 2
    assert starts[0] < lid < starts[1]


def test_a_map_as_of_a_version_is_the_one_that_its_release_had():
    found = version_map(as_released(crm(), v("2014-04-04-preview")), "Person", 2)
    assert [str(each.version) for each in found.versions] == [
        "2011-01-01",
        "2012-02-02",
        "2013-03-03",
        "2014-04-04-preview",
    ]
    assert str(found.hub) == "2013-03-03"
    assert [each.served for each in found.versions] == [False, True, True, True]
    assert version_map(as_released(crm(), v("2019-09-09")), "Person", 4) == (
        version_map(crm(), "Person", 4)
    )


def test_a_map_as_of_an_unknown_version_is_refused():
    with pytest.raises(ReportError, match=r"found '2014-04-05'.*did you mean 2014-04-04"):
        as_released(crm(), v("2014-04-05"))
