import itertools

import pytest
from evolving import rules
from lineages import links, root, threads

from trundle.evolution import ChangeError


def test_properties_of_one_name_and_type_meet_at_neighbours():
    lineage = root({"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {"a": "string"}}})
    assert links(lineage) == ["a@v1 a@v2"]
    assert threads(lineage) == ["a@v1 a@v2"]


def test_a_rename_makes_two_names_one_thread():
    lineage = root(
        {"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {"b": "string"}}},
        rules("v1", rename={"a": "b"}),
    )
    assert threads(lineage) == ["a@v1 b@v2"]


def test_renames_chain():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {"b": "string"}},
            "v3": {"Thing": {"c": "string"}},
        },
        rules("v1", rename={"a": "b"}),
        rules("v2", rename={"b": "c"}),
    )
    assert threads(lineage) == ["a@v1 b@v2 c@v3"]


def test_a_rename_and_back_is_one_thread():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {"b": "string"}},
            "v3": {"Thing": {"a": "string"}},
        },
        rules("v1", rename={"a": "b"}),
        rules("v2", rename={"b": "a"}),
    )
    assert threads(lineage) == ["a@v1 b@v2 a@v3"]


def test_two_names_that_swap():
    both = {"Thing": {"a": "string", "b": "string"}}
    lineage = root({"v1": both, "v2": both}, rules("v1", rename={"a": "b", "b": "a"}))
    assert threads(lineage) == ["a@v1 b@v2", "b@v1 a@v2"]


def test_a_name_that_comes_back_after_its_rename_is_something_else():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {"b": "string"}},
            "v3": {"Thing": {"a": "string", "b": "string"}},
        },
        rules("v1", rename={"a": "b"}),
    )
    assert threads(lineage) == ["a@v1 b@v2 b@v3", "a@v3"]
    assert "a@v1 a@v3" not in links(lineage)


def test_a_name_reused_at_once_after_its_rename_is_something_else():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {"a": "string", "b": "string"}},
        },
        rules("v1", rename={"a": "b"}),
    )
    assert threads(lineage) == ["a@v1 b@v2", "a@v2"]
    assert links(lineage) == ["a@v1 b@v2"]


def test_what_bore_the_new_name_before_the_rename_is_something_else():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string", "b": "string"}},
            "v2": {"Thing": {"b": "string"}},
        },
        rules("v1", rename={"a": "b"}),
    )
    assert threads(lineage) == ["a@v1 b@v2", "b@v1"]


def test_a_property_meets_itself_across_a_gap():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {}},
            "v3": {"Thing": {}},
            "v4": {"Thing": {"a": "string"}},
        }
    )
    assert threads(lineage) == ["a@v1 a@v4"]


def test_several_gaps_are_one_thread():
    lineage = root(
        {f"v{n}": {"Thing": {"a": "string"} if n % 2 else {}} for n in range(1, 6)},
    )
    assert threads(lineage) == ["a@v1 a@v3 a@v5"]


def test_a_rename_reaches_across_a_gap():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {}},
            "v3": {"Thing": {"b": "string"}},
        },
        rules("v1", rename={"a": "b"}),
    )
    assert threads(lineage) == ["a@v1 b@v3"]


def test_an_unrelated_type_in_between_is_a_gap():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {"a": "integer"}},
            "v3": {"Thing": {"a": "string"}},
        }
    )
    assert links(lineage) == ["a@v1 a@v2 ?", "a@v1 a@v3", "a@v2 a@v3 ?"]
    assert threads(lineage) == ["a@v1 a@v3", "a@v2"]


def test_two_types_that_alternate_are_two_threads():
    kinds = ["string", "integer", "string", "integer"]
    lineage = root({f"v{n}": {"Thing": {"a": kind}} for n, kind in enumerate(kinds, 1)})
    assert threads(lineage) == ["a@v1 a@v3", "a@v2 a@v4"]


def test_a_lossy_change_of_type_is_a_link_of_two_threads():
    lineage = root({"v1": {"Thing": {"a": "integer"}}, "v2": {"Thing": {"a": "number"}}})
    assert links(lineage) == ["a@v1 a@v2"]
    assert threads(lineage) == ["a@v1", "a@v2"]


def test_a_preview_before_its_ga_leads_to_it():
    has = {"Thing": {"a": "string"}}
    lineage = root({"v1": has, "v2alpha1": has, "v2beta1": has, "v2": has})
    assert links(lineage) == ["a@v1 a@v2", "a@v2alpha1 a@v2beta1", "a@v2beta1 a@v2"]
    assert threads(lineage) == ["a@v1 a@v2alpha1 a@v2beta1 a@v2"]


def test_a_preview_after_the_last_ga_leads_back_to_it():
    has = {"Thing": {"a": "string"}}
    lineage = root({"v1": has, "v2alpha1": has, "v2beta1": has})
    assert links(lineage) == ["a@v1 a@v2alpha1", "a@v1 a@v2beta1"]


def test_what_only_a_preview_tried_is_found_again_in_an_earlier_version():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2alpha1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {}},
        }
    )
    assert threads(lineage) == ["a@v1 a@v2alpha1"]


def test_previews_without_a_ga_chain():
    has = {"Thing": {"a": "string"}}
    lineage = root({"v1alpha1": has, "v1alpha2": has, "v1beta1": has})
    assert links(lineage) == ["a@v1alpha1 a@v1alpha2", "a@v1alpha2 a@v1beta1"]


def test_a_rename_belongs_to_the_preview_it_is_written_on():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2alpha1": {"Thing": {"b": "string"}},
            "v2": {"Thing": {"a": "string"}},
        },
        rules("v2alpha1", rename={"b": "a"}),
    )
    assert threads(lineage) == ["a@v1 b@v2alpha1 a@v2"]


def test_a_rename_between_ga_versions_leaves_the_old_name_to_the_preview_in_between():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2alpha1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {"b": "string"}},
        },
        rules("v1", rename={"a": "b"}),
    )
    assert threads(lineage) == ["a@v1 a@v2alpha1 b@v2"]


def test_keep_holds_two_sides_of_one_name_apart():
    has = {"Thing": {"a": "string"}}
    lineage = root({"v1": has, "v2": has}, rules("v1", keep=("a",)))
    assert links(lineage) == ["a@v1 a@v2 ?"]
    assert threads(lineage) == ["a@v1", "a@v2"]


def test_keep_belongs_to_its_neighbours_only():
    has = {"Thing": {"a": "string"}}
    lineage = root({"v1": has, "v2": has, "v3": has}, rules("v2", keep=("a",)))
    assert "a@v1 a@v2" in threads(lineage)


def test_wrap_and_unwrap_rename_too():
    lineage = root(
        {"v1": {"Thing": {"tag": "string"}}, "v2": {"Thing": {"tags": "[string]"}}},
        rules("v1", wrap={"tag": "tags"}),
    )
    assert links(lineage) == ["tag@v1 tags@v2"]
    lineage = root(
        {"v1": {"Thing": {"tags": "[string]"}}, "v2": {"Thing": {"tag": "string"}}},
        rules("v1", unwrap={"tags": "tag"}),
    )
    assert links(lineage) == ["tags@v1 tag@v2"]


@pytest.mark.parametrize(("single", "many"), list(itertools.product(("", "?"), repeat=2)))
def test_wrap_and_unwrap_join_what_may_be_null(single, many):
    wrapped = root(
        {"v1": {"Thing": {"a": f"string{single}"}}, "v2": {"Thing": {"b": f"[string]{many}"}}},
        rules("v1", wrap={"a": "b"}),
    )
    unwrapped = root(
        {"v1": {"Thing": {"a": f"[string]{many}"}}, "v2": {"Thing": {"b": f"string{single}"}}},
        rules("v1", unwrap={"a": "b"}),
    )
    assert links(wrapped) == links(unwrapped) == ["a@v1 b@v2"]
    assert all(each.links[0].conversion is not None for each in (wrapped, unwrapped))


def test_two_renames_to_one_name_contradict_each_other():
    with pytest.raises(ChangeError) as raised:
        _ = root(
            {
                "v1": {"Thing": {"a": "string", "b": "string"}},
                "v2": {"Thing": {"c": "string"}},
            },
            rules("v1", rename={"a": "c", "b": "c"}, where={"rename.b": "trundle.yaml:7"}),
        ).links
    assert raised.value.where == "trundle.yaml:7"
    assert str(raised.value) == (
        "trundle.yaml:7: renaming 'b' to 'c' contradicts another rename of Thing: "
        "both have a property in v1"
    )


def test_links_are_the_same_in_any_order_of_declaration():
    versions = {
        "v1": {"Thing": {"a": "string", "b": "integer", "c": "[string]"}},
        "v2alpha1": {"Thing": {"b": "integer", "a": "string"}},
        "v2": {"Thing": {"c": "[string]", "d": "string"}},
    }
    turned = {
        version: {"Thing": dict(reversed(versions[version]["Thing"].items()))}
        for version in reversed(versions)
    }
    changes = rules("v1", rename={"a": "d"})
    assert links(root(versions, changes)) == links(root(turned, changes))


def test_a_variant_that_the_union_lacks_is_an_error_that_lists_those_it_has():
    versions = {
        "v1": {"Thing": {"shape": "Old"}, "Old": {"size": "integer"}},
        "v2": {
            "Thing": {"shape": "Round|Square"},
            "Round": {"kind!": "RoundKind", "size": "integer"},
            "Square": {"kind!": "SquareKind", "size": "integer"},
            "RoundKind": ["round"],
            "SquareKind": ["square"],
        },
    }
    lineage = root(versions, rules("v1", variant={"shape": "Round"}))
    assert links(lineage) == ["shape@v1 shape@v2"]
    with pytest.raises(ChangeError, match="has no variant 'Oval'; it has 'Round', 'Square'"):
        _ = root(versions, rules("v1", variant={"shape": "Oval"})).links
