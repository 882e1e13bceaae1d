"""Owners of fields on their way through admission; the values are written by hand."""

from trundle.kubernetes._owners import with_owners, without_path

PATH = ("f:metadata", "f:annotations", "f:a/carrier")


def entry(fields, manager="me", version="g/v1", operation="Update"):
    head = {"manager": manager, "operation": operation, "apiVersion": version}
    return {**head, "fieldsType": "FieldsV1", "fieldsV1": fields}


def test_a_path_goes_with_what_only_leads_to_it():
    carrier = {"f:a/carrier": {}}
    only = entry({"f:metadata": {"f:annotations": {".": {}, **carrier}}})
    both = entry({"f:metadata": {"f:annotations": {".": {}, "f:b": {}, **carrier}}, "f:x": {}})
    other = entry({"f:x": {}})
    kept = entry({"f:metadata": {"f:annotations": {".": {}, "f:b": {}}}, "f:x": {}})
    assert without_path([only, both, other], PATH) == [kept, other]


def test_fields_that_a_version_hides_go_back_to_their_owners():
    had = {"f:age": {}, "f:team": {}, "f:deep": {"f:one": {}, "f:two": {}}, "f:gone": {}}
    before = [entry(had), entry({"f:note": {}}, version="g/v2")]
    old = {"age": 7, "team": "red", "deep": {"one": 1, "two": 2}, "gone": 1}
    new = {"age": 7, "team": "blue", "deep": {"one": 1, "two": 3}}
    kept = entry({"f:age": {}, "f:deep": {"f:one": {}}})
    assert with_owners(before, [], "g/v2", lambda _: (old, new)) == [kept]
    left = [entry({"f:gone": {}})]
    merged = [entry({"f:age": {}, "f:deep": {"f:one": {}}, "f:gone": {}})]
    assert with_owners(before, left, "g/v2", lambda _: (old, new)) == merged


def test_elements_of_lists_are_found_by_keys_and_values():
    fields = {"f:parts": {'k:{"name":"a"}': {".": {}, "f:size": {}}}, "f:tags": {'v:"x"': {}}}
    old = {"parts": [{"name": "b", "size": 1}, {"name": "a", "size": 2}], "tags": ["x", "y"]}
    new = {"parts": [{"name": "a", "size": 3}], "tags": ["x"]}
    kept = entry({"f:parts": {'k:{"name":"a"}': {}}, "f:tags": {'v:"x"': {}}})
    assert with_owners([entry(fields)], [], "g/v2", lambda _: (old, new)) == [kept]


def test_an_applier_has_one_entry_only():
    before = [entry({"f:age": {}}, operation="Apply")]
    after = [entry({"f:group": {}}, version="g/v2", operation="Apply")]
    assert with_owners(before, after, "g/v2", lambda _: ({"age": 1}, {"age": 1})) == after
