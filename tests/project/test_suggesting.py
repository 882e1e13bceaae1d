"""Suggested rules say the same with patterns and without, in fewer lines."""

import pytest
import yaml

from trundle.project import load_project, suggest_rules
from trundle.report import suggest, suggestions_text


def text(**properties):
    return {"type": "object", "properties": properties}


STRING, WHOLE = {"type": "string"}, {"type": "integer"}
REFERENCE = text(apiVersion=STRING, kind=STRING, name=STRING)
GROUPED = text(apiGroup=STRING, kind=STRING, name=STRING)
TIMEOUTS = {"nodeDrainTimeout": STRING, "nodeDeletionTimeout": STRING}
SECONDS = text(nodeDrainTimeoutSeconds=WHOLE, nodeDeletionTimeoutSeconds=WHOLE)


@pytest.fixture
def suggested(tmp_path):
    """Writes a project of two versions, and gives what is suggested without patterns and with them."""

    def write(older, newer, changes="", **definitions):
        (tmp_path / "schemas").mkdir()
        for version, properties in (("v1beta1", older), ("v1beta2", newer)):
            schema = {"title": "Machine", **text(**properties)}
            schema["$defs"] = {
                name: sides[version == "v1beta2"]
                for name, sides in definitions.items()
                if sides[version == "v1beta2"]
            }
            (tmp_path / "schemas" / f"{version}.yaml").write_text(yaml.safe_dump(schema))
        project = configured(tmp_path, changes)
        return suggest(project.evolution), suggest_rules(project.evolution)

    return write


def configured(folder, changes):
    (folder / "trundle.yaml").write_text(f"package: machines\nsources: [schemas]\n{changes}")
    return load_project(folder / "trundle.yaml")


def lines(found):
    return yaml.safe_load(suggestions_text(found))["changes"]["v1beta1"]


def same(folder, singles, starred):
    """Whether both configure the same, and nothing is to be noted of a pattern."""
    found = [configured(folder, suggestions_text(each)) for each in (singles, starred)]
    ours, theirs = (
        {
            (each.type, rule, older, newer)
            for each in project.evolution.all_changes
            for rule, older, newer in each.named()
        }
        for project in found
    )
    return ours == theirs and not found[1].findings


def ref(name):
    return {"$ref": f"#/$defs/{name}"}


def test_moves_that_follow_one_pattern_are_one_line(suggested, tmp_path):
    singles, starred = suggested(TIMEOUTS, {"deletion": SECONDS})
    assert lines(starred) == {
        "Machine": {
            "move": {"node*Timeout": "deletion.node*TimeoutSeconds"},
            "convert": {"node*Timeout": "go-duration-to-seconds"},
        }
    }
    assert same(tmp_path, singles, starred)
    (move,) = (each for each in starred if each.rule == "move")
    assert move.score == min(each.score for each in singles)
    assert move.evidence[-1] == "stands for nodeDeletionTimeout, nodeDrainTimeout"


def test_a_pattern_that_would_match_something_else_is_not_suggested(suggested, tmp_path):
    more = {"nodeStartTimeout": STRING}
    singles, starred = suggested({**TIMEOUTS, **more}, {"deletion": SECONDS, "start": WHOLE})
    assert starred == singles
    assert same(tmp_path, singles, starred)


def test_the_letter_case_of_a_place_is_part_of_a_pattern(suggested, tmp_path):
    singles, starred = suggested(
        {"keySize": WHOLE, "keyAlgorithm": {"type": "string", "enum": ["rsa", "ecdsa"]}},
        {"privateKey": text(size=WHOLE, algorithm={"type": "string", "enum": ["RSA", "ECDSA"]})},
    )
    assert lines(starred)["Machine"] == {
        "move": {"key*": "privateKey.*"},
        "values": {"keyAlgorithm": {"rsa": "RSA", "ecdsa": "ECDSA"}},
    }
    assert same(tmp_path, singles, starred)


def test_what_is_suggested_for_several_types_is_suggested_once(suggested, tmp_path):
    both = {"bootRef": ref("BootRef"), "netRef": ref("NetRef")}
    singles, starred = suggested(
        both, both, BootRef=(REFERENCE, GROUPED), NetRef=(REFERENCE, GROUPED)
    )
    assert lines(starred) == {
        "*Ref": {
            "rename": {"apiVersion": "apiGroup"},
            "convert": {"apiVersion": "api-version-to-group"},
        }
    }
    assert same(tmp_path, singles, starred)
    assert starred[0].evidence[-1] == "in 2 types"


def test_a_pattern_for_types_leaves_out_those_that_would_be_noted(suggested, tmp_path):
    properties = {"bootRef": ref("BootRef"), "netRef": ref("NetRef"), "otherRef": ref("OtherRef")}
    without = text(kind=STRING, name=STRING)
    singles, starred = suggested(
        properties,
        properties,
        BootRef=(REFERENCE, GROUPED),
        NetRef=(REFERENCE, GROUPED),
        OtherRef=(REFERENCE, without),
    )
    assert starred == singles
    assert same(tmp_path, singles, starred)


def test_what_a_rule_of_an_outer_object_moves_hinders_no_pattern(suggested, tmp_path):
    older = text(**TIMEOUTS, check=text(nodeStartupTimeout=STRING))
    newer = text(deletion=SECONDS, checks=text(start=text(nodeStartupTimeoutSeconds=WHOLE)))
    properties = {"one": ref("One"), "two": ref("Two")}
    singles, starred = suggested(properties, properties, One=(older, newer), Two=(older, newer))
    assert lines(starred)["*"]["move"] == {
        "node*Timeout": "deletion.node*TimeoutSeconds",
        "check.nodeStartupTimeout": "checks.start.nodeStartupTimeoutSeconds",
    }
    assert same(tmp_path, singles, starred)


def test_a_configured_rule_goes_before_a_suggested_pattern(suggested):
    rules = "changes: {v1beta1: {Machine: {move: {nodeDrainTimeout: drain}}}}\n"
    singles, starred = suggested(
        {**TIMEOUTS, "nodeDetachTimeout": STRING},
        {"drain": STRING, "deletion": text(nodeDeletionTimeout=STRING, nodeDetachTimeout=STRING)},
        rules,
    )
    assert [each.property for each in singles] == ["nodeDeletionTimeout", "nodeDetachTimeout"]
    assert lines(starred) == {"Machine": {"move": {"node*Timeout": "deletion.node*Timeout"}}}
