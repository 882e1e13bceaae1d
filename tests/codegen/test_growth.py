"""What generating costs grows slowly with the versions in which one property has another type each time.

Steps of the planner are counted, not seconds, and so are the bytes that are generated.
"""

import itertools

import pytest
from amounts import full
from evolving import evolution

from trundle.codegen import generate_package
from trundle.evolution._thread_values import ThreadValues


def plain(number):
    return {"Thing": {"p": f"P{number}"}, f"P{number}": {f"a{number}": "string"}}


def variants(number):
    """Two variants, one of which has the text of a variant of the next version."""
    one, other = f"A{number}", f"B{number}"
    return {
        "Thing": {"p": f"{one}|{other}"},
        one: {"kind!": f"K{one}", f"a{number}": "string"},
        other: {"kind!": f"K{other}", f"b{number}": "string"},
        f"K{one}": [f"t{number}"],
        f"K{other}": [f"t{number + 1}"],
    }


@pytest.mark.parametrize(("version", "counts"), [full(plain, (4, 8, 16)), (variants, (3, 6))])
def test_values_are_planned_once_and_code_does_not_double_with_each_version(
    monkeypatch, version, counts
):
    shared, planned = ThreadValues._shared, []

    def counted(self, *arguments):
        planned[-1] += 1
        return shared(self, *arguments)

    monkeypatch.setattr(ThreadValues, "_shared", counted)
    written = []
    for count in counts:
        planned.append(0)
        versions = {f"{2001 + each}-01-01": version(each) for each in range(count)}
        files = generate_package(evolution(versions), package="grown")
        written.append(sum(map(len, files.values())))
        assert all(more <= 4 * fewer for fewer, more in itertools.pairwise(planned)), planned
        assert all(more <= 8 * fewer for fewer, more in itertools.pairwise(written)), written
