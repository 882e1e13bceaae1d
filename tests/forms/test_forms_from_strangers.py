"""Whatever a form or its answers are, reading and filling end with a result or with findings."""

import contextlib

from amounts import amount
from asked_forms import counted
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.forms import FormError, converted, fill, json_schema, read_form

WORDS = st.sampled_from(
    [
        "a", "$", "$.main.f", "$t", "repeat($t, 3)", "ref(t)", "name()", "1", "-1", "0x10", "1e999", "true", "null",
        "2.0", "2.3", "2.4", "string", "integer", "choice", "boolean", "password", "network", "clusterip",
        "databaselist", "com.x.Y", "^a$", "(", "/a/i", "$.f.g.h", "1/0", "generateHostname(a, 1)", "[].first()",
        "dict(a => 1)", "'?'", "?", "floatingip", "domain", "{}", "ä", "!yaql '$.main'", "!yaql '('", "1900-01-01",
    ]
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "name", "type", "label", "initial", "required", "hidden", "minValue", "maxLength", "choices", "regexpValidator",
        "validators", "errorMessages", "expr", "message", "main", "fields", "'?'", "x", "t", "requirements", "filter",
        "Version", "Format", "Templates", "Parameters", "ParametersSource", "Forms", "Application",
    ]
)  # fmt: skip


def flow(children):
    lists = st.lists(children, max_size=3).map(lambda each: f"[{', '.join(each)}]")
    maps = st.dictionaries(KEYS, children, max_size=4).map(
        lambda each: "{" + ", ".join(f"{key}: {value}" for key, value in each.items()) + "}"
    )
    return st.one_of(lists, maps)


PART = st.recursive(WORDS, flow, max_leaves=8)
FIELD = st.tuples(
    st.sampled_from(["string", "integer", "choice", "boolean", "network", "password", "com.x.Y"]),
    st.dictionaries(KEYS.filter(lambda key: key not in ("name", "type")), PART, max_size=4),
).map(
    lambda made: (
        f"        - {{name: f, type: {made[0]}"
        + "".join(f", {key}: {value}" for key, value in made[1].items())
        + "}\n"
    )
)
LINES = st.tuples(FIELD, PART, PART, PART).map(
    lambda made: (
        f"Application:\n  ?: {{type: a.App}}\n  x: {made[1]}\nTemplates:\n  t: {made[2]}\n"
        f"Parameters:\n  p: {made[3]}\nForms:\n  - main:\n      fields:\n{made[0]}"
    )
)
ANSWER = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda each: st.one_of(
        st.lists(each, max_size=2), st.dictionaries(st.text(max_size=2), each, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=amount(300), deadline=None)
@given(text=st.one_of(LINES, PART, st.text(max_size=40)), answer=ANSWER)
def test_forms_end_with_a_result_or_with_findings(text, answer):
    reading = read_form(text, "ui.yaml", "a.App")
    if reading.form is None:
        assert reading.findings
        return
    for use in (
        lambda: converted(text, "ui.yaml", "a.App"),
        lambda: json_schema(reading.form),
        lambda: fill(reading.form, {"main": {"f": answer}}, counted()),
    ):
        with contextlib.suppress(FormError):
            use()
