"""What the webhook remembers; the answers are those of a function that counts."""

import json

import pytest

from trundle.kubernetes import WebhookMetrics
from trundle.kubernetes._memory import Memory


class Counting:
    """Answers with what it was asked, and counts."""

    def __init__(self, status="Success"):
        self.asked = 0
        self.status = status

    def __call__(self, body):
        self.asked += 1
        request = json.loads(body)["request"]
        found = {"uid": request["uid"], "convertedObjects": request["objects"]}
        found["result"] = {"status": self.status}
        return json.dumps({"response": found}, separators=(",", ":")).encode()


def review(uid, *objects, to="g/v1"):
    request = {"uid": uid, "desiredAPIVersion": to, "objects": list(objects)}
    return json.dumps({"kind": "K", "apiVersion": "a", "request": request}).encode()


def answered(memory, *given, **more):
    return json.loads(memory.answer(review(*given, **more)))["response"]


@pytest.fixture
def counting():
    return Counting()


@pytest.fixture
def memory(counting):
    return Memory(counting, WebhookMetrics())


def test_the_same_is_answered_once_with_the_uid_of_each(memory, counting):
    ada = {"a": 1}
    assert [answered(memory, uid, ada)["uid"] for uid in "xyz"] == ["x", "y", "z"]
    assert answered(memory, "w", ada)["convertedObjects"] == [ada]
    assert counting.asked == 1


def test_another_object_version_or_spelling_is_asked_for(memory, counting):
    answered(memory, "x", {"a": 1})
    answered(memory, "x", {"a": 2})
    answered(memory, "x", {"a": 1}, to="g/v2")
    answered(memory, "x", {"a": 1.0})
    answered(memory, "x", {"a": 1}, {"a": 1})
    assert counting.asked == 5


def test_failures_are_not_remembered():
    failing = Counting("Failed")
    memory = Memory(failing, WebhookMetrics())
    answered(memory, "x", {"a": 1})
    answered(memory, "x", {"a": 1})
    assert failing.asked == 2


def test_what_is_remembered_has_a_limit(counting):
    memory = Memory(counting, WebhookMetrics(), most=1000)
    for number in range(20):
        answered(memory, "x", {"a": number, "text": "t" * 50})
    answered(memory, "x", {"a": 19, "text": "t" * 50})
    assert counting.asked == 20
    answered(memory, "x", {"a": 0, "text": "t" * 50})
    assert counting.asked == 21


def test_a_list_is_not_remembered(memory, counting):
    for _ in range(2):
        answered(memory, "x", {"text": "t" * 70_000})
    assert counting.asked == 2


def test_what_is_no_review_is_left_to_the_one_who_says_so():
    memory = Memory(lambda body: body, WebhookMetrics())
    for body in (b"{", b"[]", b"{}", b'{"kind": "K", "apiVersion": 1, "request": {}}'):
        assert memory.answer(body) == body
