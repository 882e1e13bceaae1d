"""Structural schemas; tests/cluster has a real API server take them."""

import json

import constructs
import pools
import pytest
from projects import installer

from trundle.api import served_kinds
from trundle.kubernetes import (
    DefinitionError,
    WebhookAddress,
    definitions,
    service_named,
    url_named,
)
from trundle.kubernetes._manifests import Placement, people

PRESERVE = "x-kubernetes-preserve-unknown-fields"
WEBHOOK = WebhookAddress(service=service_named("crm/hook"))


@pytest.fixture(scope="module")
def install(tmp_path_factory):
    with installer(tmp_path_factory.mktemp("structural")) as made:
        yield made


def crd_of(installed, notes=None):
    kinds = served_kinds([installed.project], installed.scheme)
    (made,) = definitions(kinds, WEBHOOK, [].append if notes is None else notes.append)
    return made


@pytest.fixture(scope="module")
def made(install):
    notes = []
    crd = crd_of(install(constructs.FILES, config=constructs.CONFIG), notes)
    return crd, notes


@pytest.fixture(scope="module")
def properties(made):
    versions = {each["name"]: each for each in made[0]["spec"]["versions"]}
    return versions["v1"]["schema"]["openAPIV3Schema"]["properties"]


def test_references_are_put_in_place(properties):
    part = properties["parts"]["items"]
    assert part["properties"]["size"] == {"type": "integer", "format": "int32", "default": 1}
    assert part["required"] == ["name"]
    assert part["description"] == "A part."


def test_what_contains_itself_is_kept_and_not_looked_at(properties):
    children = properties["tree"]["properties"]["children"]
    assert children["items"] == {"type": "object", PRESERVE: True}


def test_constraints_stand_where_their_values_do(properties):
    assert properties["names"]["items"] == {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5}
    assert properties["matrix"]["items"]["items"] == {"type": "integer", "minimum": 0}
    assert properties["limits"]["additionalProperties"] == {"type": "integer", "minimum": 1}


def test_what_is_said_of_elements_and_values_stays(properties):
    words = {"type": "string", "description": "One word.", "example": "spoken"}
    assert properties["words"] == {"type": "array", "example": ["a", "b"], "items": words}
    note = {"type": "string", "description": "One note.", "example": "first"}
    assert properties["notes"] == {"type": "object", "additionalProperties": note}
    assert properties["grid"]["items"]["items"]["description"] == "One cell."
    assert properties["guesses"]["items"] == {"description": "Whatever it is.", PRESERVE: True}
    written = {"description": "Whatever it says.", PRESERVE: True}
    assert properties["written"] == {"type": "object", "additionalProperties": written}
    port = {"description": "A port.", "example": 80, "x-kubernetes-int-or-string": True}
    assert properties["ports"]["items"] == port
    listed = {"type": "string", "enum": ["x", "y"], "description": "Either.", "example": "x"}
    assert properties["listed"]["items"] == listed


def test_what_is_said_beside_a_reference_goes_before_what_its_definition_says(properties):
    other, part = properties["others"]["items"], properties["parts"]["items"]
    assert (other["description"], other["example"]) == ("Another part.", {"name": "left"})
    assert (part["description"], part["example"]) == ("A part.", {"name": "right"})
    assert other["properties"] == part["properties"]


def test_limits_are_said_as_openapi_says_them(properties):
    ratio = properties["ratio"]
    assert (ratio["minimum"], ratio["exclusiveMinimum"], ratio["maximum"]) == (0, True, 1)


def test_types_of_several_kinds_become_what_a_crd_has_for_them(properties):
    assert properties["either"] == {"x-kubernetes-int-or-string": True}
    assert properties["mixed"] == {PRESERVE: True}
    assert properties["shape"] == {"type": "object", PRESERVE: True}
    assert properties["anything"] == {PRESERVE: True}
    assert properties["open"][PRESERVE] is True
    assert "additionalProperties" not in properties["open"]
    assert properties["nothing"]["nullable"] is True


def test_keys_of_a_list_need_elements_that_have_them(properties):
    assert properties["keyed"]["x-kubernetes-list-map-keys"] == ["name"]
    assert "x-kubernetes-list-type" not in properties["unkeyed"]


def test_what_is_left_out_is_noted(made):
    noted = {line.split(": ")[1] for line in made[1]}
    assert {".looked", ".names", ".mixed", ".shape", ".open", ".unkeyed", ".tree.other"} <= noted


TAKEN = [
    r"^[a-z()*+,;=:]+$",
    r"^[!#$%&'*+\-.^_\x60|~]+$",
    r"^\*+$",
    r"^\++\}+a}+$",
    r"^[[:alpha:]*+]+$",
    r"^[]*+]+[^]*+]+[\]*+]+[(?!]+$",
    r"^(?<name>a)(?P<other>b)(?i:c)$",
    r"\A\pL\p{Greek}\012\/\_\Qa*+\E*?\z",
    r"^a{,3}b{1,}c{1000}é$",
    r"^((a{1,10}b?){10}){1,10}(a{500}|b{1000}){1}(a{900}){0,}$",
    r"^\P{Lu}[\p{^Han}-z]\p{Any}a{0010}[\w-.]$",
]
REFUSED = [
    r"^a*+$",
    r"^a{2}+$",
    r"^a**$",
    r"^[a]+(?!b)",
    r"^(?<=a)b",
    r"^(?>a)",
    r"(a)\1",
    r"^\u0041$",
    r"^[\u0041]$",
    r"^\cA",
    r"^a\Z",
    r"^[\Z]",
    r"^[\b]",
    r"^\k<name>",
    r"^.{1,2000}$",
    r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.){1,20}$",
    r"^((a{10}|b{101})c{2}){10}$",
    r"^\p{Alphabetic}",
    r"^[\p{IsGreek}]",
    r"^[^]*$",
    r"^a[]?$",
    r"^[a-\d]",
    r"^[[:letter:]]",
    r"^[[:alpha:]",
    r"^\x{110000}",
]
"""What Go 1.26 says of patterns: `regexp.Compile`."""


def test_a_pattern_stays_where_the_api_server_takes_it(install):
    patterns = [*TAKEN, *REFUSED]
    properties = {f"p{i}": {"type": "string", "pattern": each} for i, each in enumerate(patterns)}
    schema = {"title": "Path", "type": "object", "properties": properties}
    notes = []
    files = {"schemas/v1.yaml": json.dumps(schema)}
    crd = crd_of(install(files, config={"kubernetes": {"group": "example.com"}}), notes)
    made = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert [made[each].get("pattern") for each in properties] == TAKEN + [None] * len(REFUSED)
    assert len(notes) == len(REFUSED)


def test_no_pattern_that_go_cannot_match_stands_inside_of_what_combines(install):
    ahead, plain = ({"pattern": each} for each in ("^a(?!b)", "^c"))
    said = {"anyOf": [ahead, plain], "allOf": [{"not": ahead}], "not": {"oneOf": [ahead]}}
    properties = {
        **{each: {"type": "string", each: value} for each, value in said.items()},
        "fine": {"type": "string", "anyOf": [plain, {"maxLength": 2}], "not": plain},
    }
    schema = {"title": "Path", "type": "object", "properties": properties}
    notes = []
    files = {"schemas/v1.yaml": json.dumps(schema)}
    crd = crd_of(install(files, config={"kubernetes": {"group": "example.com"}}), notes)
    made = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert [made[each] for each in said] == [{"type": "string"}] * len(said)
    assert [each.partition(": a CRD does not say ")[::2] for each in sorted(notes)] == [
        (f"paths.example.com v1: .{each}", f"its `{name}`")
        for each, name in [("allOf", "not"), ("anyOf", "anyOf"), ("not", "not")]
    ]
    assert made["fine"] == properties["fine"]


def test_what_is_said_of_an_integer_or_a_text_alone_is_left_out_and_noted(install):
    integer, text = {"type": "integer", "minimum": 1}, {"type": "string", "enum": ["a"]}
    said = {
        "either": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
        "one": {"oneOf": [integer, {"type": "string"}]},
        "other": {"oneOf": [{"type": "integer"}, text]},
    }
    schema = {"title": "Path", "type": "object", "properties": said}
    notes = []
    files = {"schemas/v1.yaml": json.dumps(schema)}
    crd = crd_of(install(files, config={"kubernetes": {"group": "example.com"}}), notes)
    made = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert [made[each] for each in said] == [{"x-kubernetes-int-or-string": True}] * len(said)
    assert sorted(notes) == [
        f"paths.example.com v1: .{each}: a CRD does not say which integers and texts it takes"
        for each in ("one", "other")
    ]


def test_one_version_is_stored_and_none_of_the_others(made):
    crd, _ = made
    said = {each["name"]: (each["served"], each["storage"]) for each in crd["spec"]["versions"]}
    assert said == {"v1": (True, False), "v2": (True, False), "storage": (False, True)}
    status = {each["name"]: "subresources" in each for each in crd["spec"]["versions"]}
    assert status == {"v1": True, "v2": False, "storage": False}


def test_subresources_are_those_that_a_crd_has(install):
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    selected = {**paths, "labelSelectorPath": ".status.selector"}
    for each in ({}, {"scale": paths}, {"scale": selected}, {"scale": paths, "status": {}}):
        crd = crd_of(install({"pools.json": pools.definition(**each)}))
        assert crd["spec"]["versions"][0].get("subresources", {}) == each


def test_a_project_of_json_schemas_says_what_scales(install):
    counted = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
    schema = {"title": "Pool", "type": "object", "properties": {"spec": counted, "status": counted}}
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    said = {"group": pools.GROUP, "types": {"Pool": {"scale": [paths]}}}
    crd = crd_of(install({"v1.yaml": schema}, config={"kubernetes": said}))
    assert crd["spec"]["versions"][0]["subresources"] == {"status": {}, "scale": paths}


@pytest.mark.parametrize("subresources", [{}, {"status": {}, "scale": {"specReplicasPath": ".x"}}])
def test_roles_of_people_have_all_subresources(install, subresources):
    installed = install({"pools.json": pools.definition(**subresources)})
    kinds = served_kinds([installed.project], installed.scheme)
    for each in people(kinds, Placement("pools", WEBHOOK)):
        named = ["pools", *(f"pools/{part}" for part in subresources)]
        assert each["rules"][0]["resources"] == named


def test_a_whole_resource_inside_another_one_stays_one(install):
    crd = pools.definition()
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    whole = {"type": "object", "x-kubernetes-embedded-resource": True}
    known = {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}
    spec["properties"] = {
        "open": {**whole, PRESERVE: True},
        "known": {**whole, "properties": known},
    }
    made = crd_of(install({"pools.json": crd}))["spec"]["versions"][0]
    found = made["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    text, head = {"type": "string"}, {"type": "object"}
    said = {"apiVersion": text, "kind": text, "metadata": head}
    assert found["open"] == {**whole, PRESERVE: True, "properties": said}
    assert found["known"] == {**whole, "properties": {**said, **known}}


def test_deprecated_versions_warn(install):
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.old.example.com"},
        "spec": {
            "group": "old.example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Cluster",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "deprecated": True,
                    "deprecationWarning": "use v2",
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"size": {"type": "integer"}},
                        }
                    },
                }
            ],
        },
    }
    made = crd_of(install({"crd.yaml": crd}))
    (version, _) = made["spec"]["versions"]
    assert (version["deprecated"], version["deprecationWarning"]) == (True, "use v2")
    assert made["spec"]["scope"] == "Cluster"


@pytest.mark.full
def test_descriptions_of_a_large_crd_are_cut_first_and_left_out_then(install):
    def project(text, number):
        fields = {f"p{at}": {"type": "string", "description": text} for at in range(number)}
        top = {"title": "Big", "type": "object", "description": "A big thing. Really."}
        return install({"v1.yaml": {**top, "properties": fields}})

    notes = []
    cut = crd_of(project(f"Short. {'long ' * 200}", 400), notes)
    schema = cut["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["p0"]["description"] == "Short."
    assert ["descriptions are cut" in each for each in notes] == [True]
    notes.clear()
    bare = crd_of(project("long " * 200, 400), notes)
    schema = bare["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["p0"] == {"type": "string"}
    assert schema["description"] == "A big thing."
    assert ["descriptions are left out" in each for each in notes] == [True]


def test_descriptions_of_the_outer_levels_are_kept_longest(install):
    def level(number, inner):
        fields = {f"p{at}": {"type": "string", "description": "long " * 20} for at in range(number)}
        return {"type": "object", "description": "A level.", "properties": {**fields, **inner}}

    nested = level(100, {"inner": level(1000, {"inmost": level(1500, {})})})
    notes = []
    crd = crd_of(install({"v1.yaml": {"title": "Big", **nested}}), notes)
    outer = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    inner = outer["inner"]["properties"]
    assert outer["p0"]["description"] == inner["p0"]["description"] == "long " * 19 + "long"
    assert "description" not in inner["inmost"]["properties"]["p0"]
    assert inner["inmost"]["description"] == "A level."
    (noted,) = notes
    assert "left out more than 2 levels inside" in noted
    assert len(json.dumps(crd, separators=(",", ":"))) < 256 * 1024


def test_descriptions_stay_where_a_crd_is_too_large_without_them_too(install):
    fields = {
        f"p{at}": {"type": "string", "pattern": f"^{at}-{'x' * 80}$", "description": "One."}
        for at in range(2500)
    }
    notes = []
    top = {"title": "Big", "type": "object", "description": "A big thing. Really."}
    crd = crd_of(install({"v1.yaml": {**top, "properties": fields}}), notes)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["description"] == "A big thing. Really."
    assert schema["properties"]["p0"]["description"] == "One."
    (noted,) = notes
    assert "kubectl apply --server-side" in noted


def test_a_service_has_namespace_and_name():
    assert service_named("a/b:8443")["port"] == 8443
    for wrong in ("b", "a/b:0", "a/b:65536", "A/b", "a/b c", "a/-b", "a/b:", f"a/{'b' * 64}"):
        with pytest.raises(DefinitionError, match="NAMESPACE/NAME"):
            service_named(wrong)


@pytest.mark.parametrize(
    ("given", "converts", "admits"),
    [
        ("https://hook.test", "https://hook.test/convert", "https://hook.test/admit"),
        ("https://[::1]:8443/", "https://[::1]:8443/convert", "https://[::1]:8443/admit"),
        ("https://convert.test/crm/convert", "https://convert.test/crm/convert", "https://convert.test/crm/admit"),
        ("https://hook.test/other", "https://hook.test/other", "https://hook.test/admit"),
    ],
)  # fmt: skip
def test_a_webhook_converts_and_admits_at_paths_beside_each_other(given, converts, admits):
    webhook = WebhookAddress(url=url_named(given))
    assert (webhook.client(), webhook.at("/admit").client()) == ({"url": converts}, {"url": admits})
    one = webhook.at("/convert/shop/convert")
    assert one.at("/admit/shop/convert").url == f"{admits}/shop/convert"


@pytest.mark.parametrize(
    "given",
    ["http://hook.test/convert", "hook.test", "https:///convert", "https://ann@hook.test", "https://hook.test?a", "https://hook.test:x/", "https://[::1", "", "https://ho st/x", "https://h\n/convert", "https://h/%zz"],
)  # fmt: skip
def test_a_url_is_one_that_a_cluster_takes(given):
    with pytest.raises(DefinitionError, match="HOST"):
        url_named(given)
