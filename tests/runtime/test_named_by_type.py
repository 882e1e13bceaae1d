"""A document whose resource type stands in `type` may have any text as its `kind`."""

from trundle.codegen import generate_package
from trundle.evolution import Evolution
from trundle.schema import ObjectType, Property, Resource, Scalar, Schema
from trundle.verify._hops import forget_packages, imported
from trundle.version import ApiVersion

TEXT = Scalar("string")


def test_the_type_of_a_document_names_it_before_its_kind() -> None:
    one = ObjectType("One", True, (Property("kind", TEXT), Property("type", TEXT)))
    other = ObjectType("Other", True, (Property("type", TEXT),))
    schema = Schema(
        ApiVersion.parse("2020-01-01"),
        {"One": one, "Other": other},
        (
            Resource("My.Own/ones", "One", name_property="type"),
            Resource("My.Own/others", "Other", name_property="type"),
        ),
    )
    files = generate_package(Evolution((schema,)), package="named_by_type")
    try:
        scheme = imported("named_by_type", files)
        document = {"apiVersion": "2020-01-01", "type": "My.Own/ones", "kind": "My.Own/others"}
        assert scheme.convert(document, "2020-01-01") == document
    finally:
        forget_packages({"named_by_type"})
