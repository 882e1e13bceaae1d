import pytest
from report_schemas import choice, schema, thing, v

from trundle.evolution import Evolution
from trundle.report import compare, comparison_lines

OLD = (
    thing("Person", id="string", name="string", formerlyConfiguredDestinations="Destination[]?"),
    thing("Destination", id="string"),
    choice("Level", "basic", "Trial"),
)
NEW = (
    thing("Person", id="string", name="string?", level="Level?"),
    choice("Level", "basic", "Gold"),
)


@pytest.fixture
def comparison():
    old, new = (schema(f"202{n}-01-01", *types) for n, types in enumerate((OLD, NEW)))
    return compare(Evolution((old, new)), v("2020-01-01"), v("2021-01-01"))


def lines_of(comparison, **arguments):
    return [tuple(each) for each in comparison_lines(comparison, **arguments)]


def test_each_line_says_what_it_means(comparison):
    found = lines_of(comparison, width=120)
    rows = {text.split()[1]: meaning for text, meaning in found if text.startswith("| ")}
    del rows["Property"], rows[next(each for each in rows if each.startswith("---"))]
    assert rows == {
        "formerlyConfiguredDestinations": "removed",
        "level": "added",
        "name": "changed",
    }
    assert found[0] == ("## Person", "title")
    assert ("Removed types: Destination", "removed") in found


def test_unchanged_properties_are_folded_unless_all_are_wanted(comparison):
    folded, every = (lines_of(comparison, width=120, every=each) for each in (False, True))
    assert not any("| id " in text for text, _ in folded)
    assert any("`--all` shows unchanged ones" in text for text, _ in folded)
    assert [meaning for text, meaning in every if "| id " in text] == ["unchanged"]
    assert not any("--all" in text for text, _ in every)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_lines_fit_the_width_and_break_no_word(comparison, width):
    text = "\n".join(text for text, _ in lines_of(comparison, width=width, every=True))
    assert max(map(len, text.split("\n"))) <= width
    assert "Destination[]?" in text
    assert ("formerlyConfiguredDestinations" if width > 80 else "Destinations") in text


def test_long_lists_of_names_end_in_their_number():
    names = [f"T{n:02}" for n in range(13)]
    kept = thing("Person", id="string")
    old = schema("2020-01-01", kept)
    new = schema("2021-01-01", kept, *(thing(each, id="string") for each in names))
    comparison = compare(Evolution((old, new)), v("2020-01-01"), v("2021-01-01"))
    (text,) = (text for text, meaning in lines_of(comparison, width=100) if meaning == "added")
    assert text == f"Added types: {', '.join(names[:10])} and 3 more"
    (text,) = (
        each for each, kind in lines_of(comparison, width=100, every=True) if kind == "added"
    )
    assert text.endswith("T12")
