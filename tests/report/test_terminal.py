import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.report import folded, table, wrapped

HEADER = ("Property", "2020-01-01", "Change")
ROWS = (
    ("name", "string?", "None"),
    (
        "destinations",
        "(EventHubDestination | StorageBlobDestination | WebHookDestination)?",
        "Change of Type",
    ),
)


@pytest.mark.parametrize("width", [40, 80, 100, 140])
def test_a_table_fits_the_width(width):
    text = (
        f"## Type\n\n{table(HEADER, ROWS)}\n\nA line that is longer than any table, and stays as it is"
        + "." * 99
    )
    lines = folded(text, width).split("\n")
    assert all(len(line) <= width for line in lines if line.startswith("|"))
    assert lines[-1] == text.rsplit("\n", maxsplit=1)[-1]
    if width == 140:
        assert folded(text, width) == text


def test_a_cell_goes_over_several_lines_at_its_words():
    assert folded(table(("A", "B"), [("a", "some words that go on"), ("b", "x")]), 24) == (
        "| A | B                |\n"
        "| - | ---------------- |\n"
        "| a | some words that  |\n"
        "|   | go on            |\n"
        "| b | x                |"
    )


def test_a_wide_table_of_narrow_columns_stays_readable():
    narrow = table([str(n) for n in range(9)], [["1234567"] * 9])
    assert folded(narrow, 20) == narrow


cells = st.text(
    st.characters(codec="ascii", exclude_categories=["C"], exclude_characters="\\"), max_size=40
)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=4), st.integers(50, 90))
def test_folding_loses_no_letter(rows, width):
    text = folded(table(("A", "B", "C"), rows), width)
    letters = "".join(rows[0][0].replace("|", "\\|").split())
    column = "".join(line[2 : line.index(" |", 1) + 1] for line in text.split("\n")[2:])
    assert all(letter in column for letter in letters if letter not in "|\\")
    assert max(map(len, text.split("\n"))) <= width


def test_long_words_break_between_their_parts():
    text = table(("Name", "Type"), [("virtualNetworkGatewayId", "IPConfiguration[]?")])
    assert folded(text, 34).split("\n")[2:] == [
        "| virtual   | IPConfiguration[]? |",
        "| Network   |                    |",
        "| GatewayId |                    |",
    ]


def test_prose_is_wrapped_below_its_bullet_and_leaves_names_whole():
    line = "  - schemas/2020-01-01/a-very-long-name.yaml#/definitions/Person is required in all versions"
    assert wrapped(line, 40, indent=2).split("\n") == [
        "  - schemas/2020-01-01/a-very-long-name.yaml#/definitions/Person",
        "      is required in all versions",
    ]
    assert wrapped("short", 40) == "short"
