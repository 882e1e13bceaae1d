"""What goes wrong with one thing that an operator looks at, or asks for, does not end the others."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import sites

from trundle.installation import Installation
from trundle.kubernetes._cluster import RequestError
from trundle.kubernetes.operator import Operator, Records, _operator
from trundle.kubernetes.operator._leadership import LostLeaseError
from trundle.kubernetes.operator._remembered import SupersededError
from trundle.kubernetes.operator._reporting import Report
from trundle.kubernetes.operator._serving import Served, ServedRecord


class Found:
    """The installations of a cluster, which refuses to write some of them."""

    def __init__(self, refuses):
        self.refuses = refuses
        self.written = {}

    def listed(self, _namespace):
        return [
            {
                "kind": "Installation",
                "metadata": {"name": each, "namespace": "shop", "uid": each},
                "spec": {"registry": "oci:/folder", "package": "/a"},
            }
            for each in "abc"
        ]

    def set_finalizer(self, document, *, there):
        if document["metadata"]["name"] in self.refuses:
            raise RequestError("Installation", 403, "a policy refuses it")

    def write_status(self, document, status):
        self.written[document["metadata"]["name"]] = status["conditions"][0]["reason"]

    def record(self, *_given, **_named):
        pass


class Remembering:
    """Keeps nothing, and counts."""

    saved = 0

    def __init__(self, *_given):
        pass

    def load(self):
        pass

    def save(self):
        Remembering.saved += 1


class Following:
    """Finds each installation ready, but for what it raises."""

    raises = None

    def __init__(self, *_given):
        pass

    def tidy(self):
        pass

    def follow(self, document):
        if self.raises is not None and document["metadata"]["name"] == "b":
            raise self.raises
        report = Report()
        report.says("Applied", "it is there", ready=True)
        return report


@pytest.fixture
def lines():
    return []


def operator_of(folder, lines, **further):
    nothing = SimpleNamespace(
        begin_look=lambda: None, clean=lambda: None, tidy=list, has_moved=lambda: False
    )
    return Operator(
        SimpleNamespace(client=None), folder, clock=sites.Clock(), home="home", rolling=nothing,
        log=lines.append, **further,
    )  # fmt: skip


@pytest.fixture
def operator(tmp_path, lines, monkeypatch):
    monkeypatch.setattr(_operator, "Keeper", Remembering)
    monkeypatch.setattr(_operator, "Follower", Following)
    monkeypatch.setattr(Remembering, "saved", 0)
    return operator_of(tmp_path, lines)


def test_an_installation_that_cannot_be_written_holds_up_no_other(operator, lines):
    operator._found = Found({"a"})
    look = operator.look()
    assert operator._found.written == {"b": "Applied", "c": "Applied"}
    assert Remembering.saved == 1
    assert look.away
    assert [each for each in lines if each.startswith("shop/a: ") and "a policy refuses it" in each]


@pytest.mark.parametrize("kind", [LostLeaseError, SupersededError])
def test_nothing_more_is_done_where_another_operator_acts(operator, monkeypatch, kind):
    operator._found = Found({})
    monkeypatch.setattr(Following, "raises", kind("Lease", "to hold it", "another one", ""))
    assert operator.look().away
    assert operator._found.written == {"a": "Applied"}


def test_a_namespace_that_has_no_installation_any_more_is_restored_when_it_has_one(
    operator, tmp_path
):
    operator._found = Found({})
    with Installation(tmp_path / "yard", clock=sites.Clock()):
        operator._keepers["yard"] = Remembering()
    operator.look()
    assert not (tmp_path / "yard").exists()
    assert list(operator._keepers) == ["shop"]
    assert (tmp_path / "shop").exists()


def test_what_is_needed_is_known_where_it_cannot_be_saved(operator, monkeypatch):
    noted = []

    def refused(_keeper):
        raise RequestError("ConfigMap", 403, "forbidden")

    operator._found = Found({})
    monkeypatch.setattr(Remembering, "save", refused)
    monkeypatch.setattr(operator._tidying, "note", lambda space, _: noted.append(space))
    assert operator.look().away
    assert noted == ["shop"]


def test_what_cannot_be_removed_is_among_the_lines(operator, lines, tmp_path, monkeypatch):
    operator._found = Found({})
    for each in ("yard", "barn"):
        with Installation(tmp_path / each, clock=sites.Clock()):
            operator._keepers[each] = Remembering()
    rename = Path.rename

    def renamed(path, target):
        if path.name == "barn":
            raise OSError(39, "Directory not empty", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", renamed)
    operator.look()
    assert sorted(operator._keepers) == ["barn", "shop"]
    assert [each for each in lines if "barn" in each and "Directory not empty" in each]


class Lease:
    """A Lease about which the cluster says nonsense at first."""

    seconds = 0
    holds = False

    def __init__(self):
        self.answers = [ValueError("this is no JSON"), None]
        self.operator = None

    def renew(self):
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer
        self.operator.stop()
        return True


def test_the_lease_is_asked_for_again_whatever_went_wrong(tmp_path, lines):
    """The thread that does it would be gone, and the operator would never act again."""
    lease = Lease()
    lease.operator = operator_of(tmp_path, lines, leadership=lease)
    lease.operator._lead()
    assert lease.answers == []
    assert "ValueError: this is no JSON" in lines[0]


def test_records_are_written_only_by_the_operator_that_acts():
    def check():
        raise LostLeaseError("Lease", "to hold it", "another one", "")

    records = Records(SimpleNamespace(client=None), "home", check)
    served = Served(owner="shop/a", package="p", digest="d", crds={}, hubs={})
    for write in (
        lambda: records.put(ServedRecord(served)),
        lambda: records.keep("d", b""),
        lambda: records.delete("shop/a"),
    ):
        with pytest.raises(LostLeaseError):
            write()
