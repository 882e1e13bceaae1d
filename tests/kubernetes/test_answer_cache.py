"""What the webhook remembers; the answers are those of a function that counts."""

import json

import pytest

from trundle.kubernetes import WebhookMetrics
from trundle.kubernetes._answer_cache import AnswerCache


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


def answered(cache, *given, **more):
    return json.loads(cache.answer(review(*given, **more)))["response"]


@pytest.fixture
def counting():
    return Counting()


@pytest.fixture
def cache(counting):
    return AnswerCache(counting, WebhookMetrics())


def test_the_same_is_answered_once_with_the_uid_of_each(cache, counting):
    ada = {"a": 1}
    assert [answered(cache, uid, ada)["uid"] for uid in "xyz"] == ["x", "y", "z"]
    assert answered(cache, "w", ada)["convertedObjects"] == [ada]
    assert counting.asked == 1


def test_another_object_version_or_spelling_is_asked_for(cache, counting):
    answered(cache, "x", {"a": 1})
    answered(cache, "x", {"a": 2})
    answered(cache, "x", {"a": 1}, to="g/v2")
    answered(cache, "x", {"a": 1.0})
    answered(cache, "x", {"a": 1}, {"a": 1})
    assert counting.asked == 5


def test_failures_are_not_remembered():
    failing = Counting("Failed")
    cache = AnswerCache(failing, WebhookMetrics())
    answered(cache, "x", {"a": 1})
    answered(cache, "x", {"a": 1})
    assert failing.asked == 2


def test_what_is_remembered_has_a_limit(counting):
    cache = AnswerCache(counting, WebhookMetrics(), most=1000)
    for number in range(20):
        answered(cache, "x", {"a": number, "text": "t" * 50})
    answered(cache, "x", {"a": 19, "text": "t" * 50})
    assert counting.asked == 20
    answered(cache, "x", {"a": 0, "text": "t" * 50})
    assert counting.asked == 21


def test_a_list_is_not_remembered(cache, counting):
    for _ in range(2):
        answered(cache, "x", {"text": "t" * 70_000})
    assert counting.asked == 2


def test_what_is_no_review_is_left_to_the_one_who_says_so():
    cache = AnswerCache(lambda body: body, WebhookMetrics())
    for body in (b"{", b"[]", b"{}", b'{"kind": "K", "apiVersion": 1, "request": {}}'):
        assert cache.answer(body) == body


def test_two_that_are_answered_at_once_are_kept_once(counting):
    """Each asks for itself, as neither finds an answer."""
    limit = len(review("1", {"a": 1})) * 3

    def answer(body):
        if counting.asked == 0:
            counting(body)
            cache.answer(body)
        return counting(body)

    cache = AnswerCache(answer, WebhookMetrics(), limit)
    answered(cache, "1", {"a": 1})
    for _ in range(3):
        answered(cache, "1", {"a": 2})
    assert cache._size == sum(len(key[-1]) + len(each) for key, each in cache._kept.items())
