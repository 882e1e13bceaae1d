"""Python's collector of circles while requests are answered."""

import gc
import weakref

from trundle.api._collection import seldom_collecting


class _Circle:
    def __init__(self) -> None:
        self.itself = self


def test_what_is_loaded_is_spared_and_all_is_as_before_afterwards() -> None:
    before = gc.get_threshold()
    loaded = [_Circle()]
    with seldom_collecting():
        assert not any(each is loaded for each in gc.get_objects())
    assert any(each is loaded for each in gc.get_objects())
    assert gc.get_threshold() == before


def test_circles_that_are_made_meanwhile_are_found() -> None:
    with seldom_collecting():
        kept: list[object] = []
        gone: list[object] = []
        circle = weakref.ref(
            _Circle(), gone.append
        )  # Asked for it, Python may hold it just when it looks.
        while not gone and len(kept) < 100_000:
            kept.append([])
        assert gone == [circle]
