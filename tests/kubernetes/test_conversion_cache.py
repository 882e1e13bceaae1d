"""What the webhook remembers; objects are converted by a function that counts."""

import json

import pytest

from trundle.api import ConversionReviews
from trundle.errors import TrundleError
from trundle.kubernetes import WebhookMetrics
from trundle.kubernetes._conversion_cache import ConversionCache


class Counting:
    """Converts objects to themselves, and counts."""

    def __init__(self):
        self.asked = 0

    def __call__(self, document, _wanted):
        self.asked += 1
        if "wrong" in document:
            raise TrundleError(document["wrong"])
        return json.dumps(document, default=float).encode()


def review(uid, *objects, to="g/v1"):
    request = {"uid": uid, "desiredAPIVersion": to, "objects": list(objects)}
    about = {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1"}
    return json.dumps({**about, "request": request}).encode()


def answered(reviews, *given, **more):
    return json.loads(reviews.answer(review(*given, **more)))["response"]


@pytest.fixture
def counting():
    return Counting()


@pytest.fixture
def reviews(counting):
    return ConversionReviews(counting, remember=ConversionCache(WebhookMetrics()).converted)


def test_the_same_is_answered_once_with_the_uid_of_each(reviews, counting):
    ada = {"a": 1}
    assert [answered(reviews, uid, ada)["uid"] for uid in "xyz"] == ["x", "y", "z"]
    assert answered(reviews, "w", ada)["convertedObjects"] == [ada]
    assert counting.asked == 1


def test_another_object_version_or_spelling_is_asked_for(reviews, counting):
    answered(reviews, "x", {"a": 1})
    answered(reviews, "x", {"a": 2})
    answered(reviews, "x", {"a": 1}, to="g/v2")
    answered(reviews, "x", {"a": 1.0})
    assert counting.asked == 4


def test_objects_of_a_list_are_asked_for(reviews, counting):
    answered(reviews, "x", {"a": 1})
    for number in (3, 5):
        found = answered(reviews, "x", {"a": 1}, {"a": 1})
        assert found["convertedObjects"] == [{"a": 1}, {"a": 1}]
        assert counting.asked == number


def test_failures_are_not_remembered(reviews, counting):
    for _ in range(2):
        result = answered(reviews, "x", {"kind": "K", "wrong": "no"})["result"]
        assert result == {"status": "Failed", "message": "objects[0] (K): no"}
    assert counting.asked == 2


def test_what_is_remembered_has_a_limit(counting):
    cache = ConversionCache(WebhookMetrics(), most=1000)
    reviews = ConversionReviews(counting, remember=cache.converted)
    for number in range(20):
        answered(reviews, "x", {"a": number, "text": "t" * 50})
    answered(reviews, "x", {"a": 19, "text": "t" * 50})
    assert counting.asked == 20
    answered(reviews, "x", {"a": 0, "text": "t" * 50})
    assert counting.asked == 21


@pytest.mark.parametrize(
    "given", [({"text": "t" * 70_000}, "g/v1"), ({}, None)], ids=["large", "nowhere"]
)
def test_what_is_large_or_asks_for_no_version_is_not_remembered(reviews, counting, given):
    for _ in range(2):
        answered(reviews, "x", given[0], to=given[1])
    assert counting.asked == 2


def test_two_that_are_answered_at_once_are_kept_once():
    """Each asks for itself, as neither finds an answer."""
    cache = ConversionCache(WebhookMetrics(), most=20)

    def convert(data, wanted):
        cache.converted(data, wanted, lambda data, _: data)
        return data

    cache.converted(b"[1]", "g/v1", convert)
    assert cache._size == sum(len(key[-1]) + len(made) for key, made in cache._kept.items()) == 6
