"""What is written over a stored object is marked, and nothing else is."""

import threading

from trundle.runtime._marks import WritingOver, marks


def test_nothing_is_marked_that_is_not_written_over_anything():
    assert not marks()
    with WritingOver():
        pass
    assert not marks()


def test_whether_anything_was_marked_is_known():
    with WritingOver() as writing:
        assert not writing.marked
        assert marks()
    assert writing.marked


def test_each_knows_of_its_own_marks():
    with WritingOver() as outer:
        with WritingOver() as inner:
            assert marks()
        assert (inner.marked, outer.marked) == (True, False)
        assert marks()
    assert outer.marked


def test_another_thread_marks_nothing():
    found = []
    with WritingOver() as writing:
        other = threading.Thread(target=lambda: found.append(marks()))
        other.start()
        other.join()
    assert (found, writing.marked) == ([False], False)
