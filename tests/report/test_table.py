from trundle.report import table


def test_a_table_is_aligned_markdown_whose_bars_are_escaped():
    assert table(("A", "B"), [("a|b", "x"), ("", "long")]) == (
        "| A    | B    |\n| ---- | ---- |\n| a\\|b | x    |\n|      | long |"
    )
