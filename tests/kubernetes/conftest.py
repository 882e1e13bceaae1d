"""What tests of the operator load schemas with."""

from types import SimpleNamespace

import pytest

from trundle.kubernetes.operator import SchemaLoader


@pytest.fixture
def clock():
    return SimpleNamespace(now=0.0)


@pytest.fixture
def loader(clock):
    with SchemaLoader(lambda: clock.now) as found:
        yield found
