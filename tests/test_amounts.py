"""What `make test` leaves to `make test-all`."""

from pathlib import Path
from typing import NamedTuple

import amounts

TESTS = Path(__file__).parent


class Case(NamedTuple):
    path: Path
    function: str
    number: int
    is_full: bool = False

    def get_closest_marker(self, name):
        return self.is_full if name == "full" else None


def test_the_places_with_fewer_cases_are_there():
    assert [each for each in amounts.ONE_IN if not (TESTS / each).exists()] == []


def test_one_case_in_so_many_is_kept_and_the_first_of_each_test():
    laws, others = TESTS / "laws" / "test_a.py", TESTS / "version" / "test_a.py"
    cases = [
        *(Case(laws, "one", number) for number in range(5)),
        *(Case(laws, "other", number, number == 0) for number in range(3)),
        *(Case(others, "one", number) for number in range(3)),
    ]
    left = [(each.function, each.number) for each in amounts.left_to_all(cases, TESTS)]
    assert left == [("one", 1), ("one", 2), ("one", 3), ("other", 2)]
