"""`trundle convert --into`: what it prints, how it ends, and what it refuses."""

import json
import socket

import pytest

OLD = '{"apiVersion": "2014-04-04", "kind": "Person", "id": "a", "alphaKey": "k"}\n'
COMMAND = ("convert", "in", "--to", "2015-05-05", "--into", "out", "--jobs", "1")


@pytest.fixture
def generated(generated):
    generated.write("in/a.jsonl", OLD * 3)
    return generated


def test_a_folder_is_converted_once(generated):
    plan = generated.run(*COMMAND, "--dry-run")
    assert (plan.exit_code, plan.stderr) == (0, "would convert 1 part into out\n")
    assert not (generated.folder / "out").exists()
    first = generated.run(*COMMAND)
    assert (first.exit_code, first.stdout) == (0, "")
    assert first.stderr == "converted 3 documents into out, in 1 part\n"
    again = generated.run(*COMMAND, "-o", "json", "--scheduler", "tcp://127.0.0.1:1")
    assert again.exit_code == 0  # All is done; nothing has to be asked for.
    assert "1 part done before" in again.stderr
    assert json.loads(again.stdout) == {
        "into": "out",
        "parts": 1,
        "partsDoneBefore": 1,
        "converted": 3,
        "refused": 0,
        "tolerated": 0,
        "refusals": None,
        "dryRun": False,
    }


def test_what_is_tolerated_is_counted_and_what_is_not_is_refused(generated):
    generated.write("in/a.jsonl", OLD + OLD.replace('"id": "a"', '"more": 1'))
    refused = generated.run(*COMMAND)
    assert refused.exit_code == 3
    assert refused.stderr.endswith("refused 1 document; out/refused.jsonl says why\n")
    other = (*COMMAND[:5], "other", "--jobs", "1", "--lenient")
    lenient = generated.run(*other)
    assert lenient.exit_code == 0
    assert "tolerated what 1 of them lack or have too much" in lenient.stderr


@pytest.mark.parametrize("target", ["2015-05-05", "crm.example.com/v20150505", "storage"])
def test_documents_have_the_group_of_the_projects_server_as_where_one_file_is_converted(
    generated, target
):
    """The command for one file, which has tests of its own, is the judge; a list, and documents of others, are among them."""
    config = generated.folder / "trundle.yaml"
    config.write_text(config.read_text() + "kubernetes: {group: crm.example.com}\n")
    plain, ours = json.loads(OLD), json.loads(OLD) | {"apiVersion": "crm.example.com/v20140404"}
    listed = {"apiVersion": "crm.example.com/v20140404", "kind": "PersonList", "items": [ours] * 2}
    good = [
        ours,
        plain,
        ours | {"id": "b"},
        {"apiVersion": "v1", "kind": "List", "items": [ours, plain]},
    ]
    good += [] if target == "storage" else [listed]
    bad = [ours | {"apiVersion": "x.example.com/v20140404"}, ours | {"id": 5}]
    wanted = []
    for each in good:
        result = generated.run("convert", "-", "--to", target, "-o", "json", stdin=json.dumps(each))
        assert result.exit_code == 0, result.output
        wanted.append(json.loads(result.stdout))
    lines = "".join(json.dumps(each) + "\n" for each in (*good, *bad))
    again = json.dumps(ours)[:-1] + ', "id": "c"}\n'
    generated.write("in/a.jsonl", lines + again)
    assert generated.run(*COMMAND[:2], "--to", target, *COMMAND[4:]).exit_code == 3
    found = (generated.folder / "out/documents/part-000000.jsonl").read_text().splitlines()
    assert [json.loads(each) for each in found] == wanted
    refused = (generated.folder / "out/refused.jsonl").read_text().splitlines()
    reasons = [str(json.loads(each)["reasons"]) for each in refused]
    assert ["no API group, but" in reasons[0], "$.id" in reasons[1], "'id'" in reasons[2]] == [
        True
    ] * 3


@pytest.mark.parametrize(
    "bad",
    [
        OLD.encode().replace(b"2014-04-04", b"\xff"),
        OLD.encode().replace(b"alphaKey", b"\xff"),
        b'{"kind":"List","items":[' * 3000 + b"]}" * 3000 + b"\n",
    ],
    ids=["a version", "a name", "lists in lists"],
)
def test_a_document_that_cannot_be_read_ends_no_part_of_a_project_with_a_group(generated, bad):
    """It ended the whole command as a bug of Trundle."""
    config = generated.folder / "trundle.yaml"
    config.write_text(config.read_text() + "kubernetes: {group: crm.example.com}\n")
    (generated.folder / "in/a.jsonl").write_bytes(OLD.encode() + bad + OLD.encode())
    result = generated.run(*COMMAND)
    assert (result.exit_code, "converted 2 documents" in result.stderr) == (3, True), result.output
    (refused,) = (generated.folder / "out/refused.jsonl").read_text().splitlines()
    assert json.loads(refused)["line"] == 2


def test_a_stored_form_can_be_converted_to_and_from(generated):
    generated.run("convert", "in", "--to", "storage", "--into", "stored")
    generated.run("convert", "stored/documents", "--to", "2014-04-04", "--into", "back")
    found = (generated.folder / "back/documents/part-000000.jsonl").read_text().splitlines()
    assert [json.loads(each) for each in found] == [json.loads(OLD)] * 3


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("in", "--to", "2015-05-05"), 2, "convert what is in it with --into FOLDER"),
        (
            ("in/a.jsonl", "--to", "2015-05-05", "--scheduler", "x"),
            2,
            "--scheduler: expected no such",
        ),
        (
            ("in", "--to", "2015-05-05", "--into", "out", "--losses"),
            2,
            "--losses: expected no such",
        ),
        (("in", "--to", "2030-01-01", "--into", "out"), 5, "has no version '2030-01-01'"),
        (("in", "--to", "2015-05-05", "--into", "out", "--part-size", "0"), 2, "--part-size"),
        (("in", "--to", "2015-05-05", "--into", "memory://out"), 2, "outlives the command"),
        (("none", "--to", "2015-05-05", "--into", "out"), 5, "none: no such file"),
        (("in", "--to", "2015-05-05", "--into", "in/out"), 3, "apart from the documents"),
        (
            ("in", "--to", "2015-05-05", "--into", "out", "--scheduler", "x"),
            2,
            "scheduler: expected the address",
        ),
        (
            ("in", "--to", "2015-05-05", "--into", "out", "--scheduler", "x", "--jobs", "2"),
            2,
            "--jobs: expected no such option with --scheduler",
        ),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(generated, arguments, code, text):
    found = generated.run("convert", *arguments)
    assert (found.exit_code, text in found.stderr) == (code, True), found.stderr
    assert not (generated.folder / "out").exists()


def test_a_server_that_does_not_answer_is_named(generated):
    with socket.socket() as bound:  # As nobody listens, connections are refused.
        bound.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{bound.getsockname()[1]}/a.jsonl"
        result = generated.run("convert", address, *COMMAND[2:])
    assert result.exit_code == 7
    assert f"error: {address}: expected an answer of the file system, found " in result.stderr
    assert "check the address, the credentials and the network" in result.stderr
    assert not (generated.folder / "out").exists()
