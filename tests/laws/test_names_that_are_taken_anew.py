"""A rule leads a property elsewhere, and the newer version gives its name to another one: neither accompanies the other."""

import pytest
from cases import V1, V2, V3
from evolving import Store, evolve, rules

C = {"w": "integer", "name": "string"}


@pytest.mark.parametrize(
    ("rule", "types", "value"),
    [
        ({"rename": {"z": "w"}}, {"Thing": {"w": "[C;name]", "z": "C?"}}, {"w": 5}),
        ({"rename": {"z": "w"}}, {"Thing": {"w": "[C;name]", "z": "string"}}, "5"),
        (
            {"move": {"z": "o.z"}},
            {"Thing": {"o": "O", "z": "C"}, "O": {"z": "[C;name]"}},
            {"w": 5},
        ),
    ],
    ids=["an object", "a text", "what moves"],
)
@pytest.mark.parametrize("hub", [V1, V2])
def test_what_has_the_name_now_stays_when_what_had_it_is_edited(
    forgetting, hub, rule, types, value
):
    versions = {V1: {"Thing": {"z": "[C;name]"}, "C": C}, V2: {**types, "C": C}}
    scheme = forgetting(evolve(versions, rules(V1, **rule), hub=hub))
    renamed = [{"name": "a"}]
    shown = {"o": {"z": renamed}} if "move" in rule else {"w": renamed}
    store = Store(scheme).put(V2, **shown, z=value)
    assert store.read(V1) == {"z": renamed}
    edited = [{"name": "b", "w": 1}]
    shown = {"o": {"z": edited}} if "move" in rule else {"w": edited}
    assert store.put(V1, z=edited).read(V2) == {**shown, "z": value}


def test_an_empty_list_beside_it_is_read_where_an_element_is_new(forgetting):
    """In a put, the first version has its entry for no value, which the second is shown of; the entry accompanied that."""
    of_c = {"C": {"w": "integer"}}
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"x": "[B]"}, "B": {"z": "[C]"}, **of_c},
                V2: {"Thing": {"x": "[B]"}, "B": {"w": "[C]", "z": "C?"}, **of_c},
                V3: {"Thing": {"x": "[B]"}, "B": {"w": "[C]", "z": "[C?]"}, **of_c},
            },
            rules(V1, "B", rename={"z": "w"}),
            rules(V2, "B", wrap={"z": "z"}),
            hub=V1,
        )
    )
    elements = [{"z": [{}]}, {"w": [{}], "z": []}]
    assert Store(scheme).put(V1).put(V3, x=elements).read(V3) == {"x": elements}
