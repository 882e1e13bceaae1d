import pytest

from trundle.project._places import matches, parse_pattern, spelt


@pytest.mark.parametrize(
    ("path", "text", "exact"),
    [
        (("spec", "rules", 2, "name"), "spec.rules[].name", "spec.rules[2].name"),
        (("labels", "a.b/c", "d"), 'labels["a.b/c"].d', 'labels["a.b/c"].d'),
        (("é", "x-y"), "é.x-y", "é.x-y"),
        (("*",), '["*"]', '["*"]'),
        ((0,), "[]", "[0]"),
        ((), ".", "."),
    ],
)
def test_a_path_is_spelt_as_rules_are(path, text, exact):
    assert spelt(path) == text
    assert spelt(path, exact=True) == exact


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("spec.a", ("spec", "a"), True),
        ("spec.a", ("spec", "a", "b"), False),
        ("spec.a", ("spec",), False),
        ("rules[].name", ("rules", 4, "name"), True),
        ("rules[].name", ("rules", "4", "name"), False),
        ("rules.*.name", ("rules", "x", "name"), True),
        ("rules.*.name", ("rules", 0, "name"), True),
        ("*", ("a", "b"), False),
        ("status.**", ("status",), True),
        ("status.**", ("status", "a", 0, "b"), True),
        ("**.uid", ("a", "b", "uid"), True),
        ("**.uid", ("a", "uid", "b"), False),
        ('labels["a.b"]', ("labels", "a.b"), True),
        ('["a.b"].c', ("a.b", "c"), True),
        ('["*"]', ("x",), False),
        ("spec.*Ref.uid", ("spec", "configRef", "uid"), True),
        ("spec.*Ref.uid", ("spec", "configRefs", "uid"), False),
        ("node*Time*", ("nodeDrainTimeout",), True),
        ("a*", (0,), False),
        ("[][].a", (0, 1, "a"), True),
    ],
)
def test_a_pattern_names_paths(pattern, path, expected):
    assert matches(parse_pattern(pattern), path) is expected


@pytest.mark.parametrize("text", ["a.", ".a", "a..b", "a b", "a[0]", 'a["b', "a[]b", "a**b", "***"])
def test_what_is_no_pattern_is_refused(text):
    assert parse_pattern(text) is None


def test_what_is_spelt_names_itself():
    for path in [("spec", "rules", 2, "name"), ("labels", 'a."b', "*"), (0, "[]", "**")]:
        assert matches(parse_pattern(spelt(path)), path)
