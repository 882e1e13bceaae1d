"""Examples that a seed determines, whatever else the process has loaded.

Hypothesis mixes constants of the modules that are loaded into what it draws, so that its own seed does not
replay in another process, nor do its examples. Providers of our own take every choice from one `random.Random`.
"""

import math
import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, PrimitiveProvider

SETTLED = "trundle-settled"
"""The backend whose examples the test itself determines."""
_SEEDED = "trundle-seeded"
_PLAIN = 128
"""Most letters are drawn from the first ones of an alphabet."""
_FLOATS = (0.0, 1.0, -1.0, 0.5, 1e-7, 1e22, 1.7976931348623157e308)
_RANDOM: list[random.Random] = [random.Random(0)]  # noqa: S311 - examples are no secrets


class Settled(PrimitiveProvider):
    """Draws from the random source that Hypothesis makes of the test."""

    lifetime = "test_case"

    @property
    def source(self) -> random.Random:
        """Where every choice comes from."""
        found = self._cd._random if self._cd is not None else None  # noqa: SLF001 - as Hypothesis' own provider does
        assert isinstance(found, random.Random)
        return found

    def draw_boolean(self, p: float = 0.5) -> bool:
        """A boolean that is true with some probability."""
        return self.source.random() < p

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,  # noqa: ARG002 - the signature of a provider
    ) -> int:
        """An integer within bounds."""
        source = self.source
        if weights and source.random() < sum(weights.values()):
            return source.choices(list(weights), list(weights.values()))[0]
        low = -(2**64) if min_value is None else min_value
        high = low + 2**65 if max_value is None else max_value
        return source.randint(min(low, high), high)

    def draw_float(
        self,
        *,
        min_value: float = -math.inf,
        max_value: float = math.inf,
        allow_nan: bool = True,  # noqa: ARG002 - the signature of a provider
        smallest_nonzero_magnitude: float,  # noqa: ARG002 - the same
    ) -> float:
        """A float within bounds."""
        low, high = max(min_value, -1.7e308), min(max_value, 1.7e308)
        fitting = [each for each in _FLOATS if low <= each <= high]
        return self.source.choice(fitting) if fitting else low

    def draw_string(self, intervals: Any, *, min_size: int = 0, max_size: int = 10) -> str:
        """A text of some letters."""
        source = self.source
        if not intervals:
            return ""
        size = source.randint(min_size, min(max_size, min_size + 10))
        few = min(_PLAIN, len(intervals))
        return "".join(
            chr(intervals[source.randrange(few if source.random() < 0.8 else len(intervals))])  # noqa: PLR2004
            for _ in range(size)
        )

    def draw_bytes(self, min_size: int = 0, max_size: int = 10) -> bytes:
        """Some bytes."""
        return self.source.randbytes(self.source.randint(min_size, min(max_size, min_size + 10)))


class Seeded(Settled):
    """Draws from the random source of the current call of `each_example`."""

    @property
    def source(self) -> random.Random:
        """Where every choice comes from."""
        return _RANDOM[0]


AVAILABLE_PROVIDERS.update({SETTLED: Settled, _SEEDED: Seeded})


def each_example(seed: str, count: int, test: Callable[[st.DataObject], None]) -> None:
    """Calls a test with something to draw from, so many times.

    Args:
        seed: determines the examples; the same one gives the same examples, in any process.
        count: how many there are.
        test: draws what it needs. It must not raise: hypothesis would look for simpler examples.

    Raises:
        SystemExit: the process is to end, as a handler of signals says it.
    """
    _RANDOM[0] = random.Random(seed)  # noqa: S311 - the same
    ended: list[SystemExit] = []

    @settings(
        backend=_SEEDED,
        database=None,
        deadline=None,
        max_examples=count,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        try:
            test(data)
        except SystemExit as error:  # which Hypothesis would take for a failure
            ended.append(error)
            raise KeyboardInterrupt from None

    try:
        run()
    except KeyboardInterrupt:
        if ended:
            raise ended[0] from None
        raise
