import pytest

from trundle.registry import InvalidReferenceError, Reference, tag_for, version_of

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "registry", "repository", "tag", "digest"),
    [
        ("oci:packages", "oci:packages", "", None, None),
        ("oci:/var/packages/crm:1.0.0", "oci:/var/packages/crm", "", "1.0.0", None),
        ("oci:packages//acme/crm:1.0.0", "oci:packages", "acme/crm", "1.0.0", None),
        (f"oci:packages//acme/crm@{DIGEST}", "oci:packages", "acme/crm", None, DIGEST),
        ("oci:/tmp/a:b/c", "oci:/tmp/a:b/c", "", None, None),
        ("oci:/tmp/a@b/c:1", "oci:/tmp/a@b/c", "", "1", None),
        ("registry.example.com/crm:1.0.0", "registry.example.com", "crm", "1.0.0", None),
        ("localhost:5000/acme/crm", "localhost:5000", "acme/crm", None, None),
        ("[::1]:5000/crm:x", "[::1]:5000", "crm", "x", None),
        ("http://10.0.0.1:5000/crm:x", "http://10.0.0.1:5000", "crm", "x", None),
        (f"a.example/crm:1.0.0@{DIGEST}", "a.example", "crm", "1.0.0", DIGEST),
    ],
)
def test_a_reference_is_taken_apart_and_put_together(text, registry, repository, tag, digest):
    found = Reference.parse(text)
    assert found == Reference(registry=registry, repository=repository, tag=tag, digest=digest)
    assert str(found) == text


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("crm", "write the host"),
        ("acme/crm:1.0.0", "write the host"),
        ("", "write the host"),
        ("registry.example.com", "write the host"),
        ("registry.example.com/", "another name"),
        ("registry.example.com/Acme", "another name"),
        ("registry.example.com/a:1.0.0+2", "write `_` for `\\+`"),
        ("registry.example.com/a:", "another tag"),
        ("registry.example.com/a@sha256:123", "correct the digest"),
        ("registry.example.com/a@md5:" + "0" * 32, "correct the digest"),
        ("oci:", "name the folder"),
        ("oci://acme", "name the folder"),
        ("oci:packages//Acme", "another name"),
        ("ftp://registry.example.com/a", "write the host"),
        ("user:password@registry.example.com/a", "host"),
    ],
)
def test_what_is_no_reference_is_refused_with_advice(text, advice):
    with pytest.raises(InvalidReferenceError, match=advice):
        Reference.parse(text)


def test_a_plus_is_written_as_an_underscore_and_back():
    assert tag_for("1.2.3-beta+123") == "1.2.3-beta_123"
    assert version_of("1.2.3-beta_123") == "1.2.3-beta+123"
