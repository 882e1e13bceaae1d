import gc

import pytest

from trundle.project._garbage_collection import without_collection


def test_the_collector_rests_meanwhile_and_goes_on_afterwards():
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_goes_on_after_an_error():
    with pytest.raises(ValueError, match="broken"), without_collection():
        raise ValueError("broken")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
