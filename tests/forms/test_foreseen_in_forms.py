"""What `check_forms` says of expressions before anything is asked: what filling the form says, and nothing where that says nothing."""

import pytest
from engines import package

from trundle.forms import FormError, Sources, check_forms, fill, form_of_package
from trundle.packages import Package

MANIFEST = "Format: 1.4\nType: Application\nFullName: acme.web\nVersion: 1.0.0\nClasses: {acme.Web: w.yaml}\n"
FORM = """
Version: 2.4
Parameters:
  most: 9
Templates:
  node: {{'?': {{type: acme.Web}}, at: $index}}
Application:
  ?: {{type: acme.Web}}
  size: {model}
Forms:
  - main:
      fields:
        - name: size
          type: integer
          initial: {initial}
          validators: [{{expr: {rule}, message: no}}]
        - {{name: password, type: password, required: false}}
      validators:
        - {{expr: {whole}, message: no}}
"""
GOOD = {"model": "$.main.size", "initial": "2", "rule": "$ > 1", "whole": "$.main.size < 9"}


def made(**parts):
    form = FORM.format(**GOOD | parts)
    return Package.from_files(
        {"manifest.yaml": MANIFEST, "Classes/w.yaml": "Name: acme.Web", "UI/ui.yaml": form}
    )


def filled(found):
    return fill(form_of_package(found).form, {}, Sources.random())


@pytest.mark.parametrize(
    ("parts", "code", "line", "words"),
    [
        ({"model": "lenn(x)"}, "unknown-function", 9, "Application: `lenn(x)`: unknown function"),
        ({"model": "sise.lenn()"}, "no-method", 9, 'unknown method "lenn"; did you mean len?'),
        ({"model": "encryptData($.main.password)"}, "unknown-function", 9, "is kept as a secret"),
        ({"model": "new(App)"}, "unknown-function", 9, "new is known in classes only"),
        ({"model": "$.main.size.bind(x)"}, "unknown-function", 9, "bind is known in classes only"),
        (
            {"model": "str(ab).substring()"},
            "no-match",
            9,
            "substring(start, length=), found `substring()`",
        ),
        ({"model": "repeat($node)"}, "no-match", 9, "missing a required argument: 'n'"),
        ({"model": "name(1)"}, "no-match", 9, "too many positional arguments"),
        ({"model": "repeat($node, lenn(1))"}, "unknown-function", 9, "lenn"),
        ({"initial": "mosst()"}, "unknown-function", 15, "main.size"),
        ({"rule": "$ > lenn(1)"}, "unknown-function", 16, "main.size"),
        ({"whole": "$.main.size < lenn(1)"}, "unknown-function", 19, "main"),
    ],
)
def test_a_call_that_always_fails_is_an_error(parts, code, line, words):
    found = made(**parts)
    (finding,) = check_forms(found)
    assert (finding.code, finding.severity, finding.place.line) == (code, "error", line)
    assert finding.place.file == "UI/ui.yaml"
    assert words in str(finding)
    with pytest.raises(FormError) as caught:
        filled(found)
    assert code in [each.code for each in caught.value.findings]


def test_a_switch_without_the_value_before_its_conditions_is_an_error():
    """YAQL takes the first one for the value, and goes on to the next."""
    (finding,) = check_forms(made(model="switch($.main.size > 1 => 2, true => 3)"))
    assert (finding.code, finding.severity, finding.place.line) == ("no-match", "error", 9)
    assert "the value before the conditions" in str(finding)
    assert "found `$.main.size > 1 => 2`" in str(finding)


@pytest.mark.parametrize(
    ("parts", "line", "words"),
    [
        ({"model": "str($.man)"}, 9, "expected a step, found man; did you mean main?"),
        ({"model": "$.main.sise"}, 9, "expected a field of main, found sise; did you mean size?"),
        ({"model": "$forms.main.sise"}, 9, "expected a field of main, found sise"),
        ({"model": "list(1).select($forms.main.sise)"}, 9, "found sise"),
        ({"model": "repeat($nod, 1)"}, 9, "expected a template or a parameter, found nod; did you"),
        ({"model": "ref(nod)"}, 9, "expected a template, found nod; did you mean node?"),
        ({"initial": "$mosst"}, 15, "expected a parameter, found mosst; did you mean most?"),
        ({"initial": "$node"}, 15, "expected a parameter, found node"),
        ({"rule": "$ != $mosst"}, 16, "expected a parameter, found mosst"),
        ({"whole": "$.main.sise != 9"}, 19, "main: `$.main.sise != 9`: expected a field of main"),
    ],
)
def test_a_name_of_what_there_is_not_is_a_warning(parts, line, words):
    (finding,) = check_forms(made(**parts))
    assert (finding.code, finding.severity) == ("form-unknown-name", "warning")
    assert finding.place.line == line
    assert words in str(finding)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"model": "repeat($node, $.main.size)"},
        {"model": "[ref(node), ref(node)]"},
        {"model": "generateHostname('n#', 1) + name() + str($most)"},
        {"model": "list({a => 1}).select($.a)"},
        {"model": "$.main.select($)"},
        {"model": "let(a => 1) -> $a + 1"},
        {"model": "$.workflowManagement.application_name"},
        {"model": "switch($.main.size, $ > 1 => 2)"},
        {"model": "concat('{0}', '-{1}').format(1, 2)"},
        {"initial": "$most - 2", "rule": "$ < $most", "whole": "$.main.size < $most"},
    ],
)
def test_what_can_be_filled_has_no_finding(parts):
    found = made(**parts)
    assert check_forms(found, ()) == ()
    filled(found)


def test_what_a_method_gives_may_be_any_parameter():
    found = made(model="$other")
    form = (
        found.file("UI/ui.yaml").decode().replace("Parameters:", "ParametersSource: m\nParameters:")
    )
    known = {"manifest.yaml": MANIFEST, "Classes/w.yaml": "Name: acme.Web", "UI/ui.yaml": form}
    assert [each.code for each in check_forms(found)] == ["form-unknown-name"]
    assert check_forms(Package.from_files(known)) == ()


def test_patterns_without_quotes_are_no_expressions():
    form = (
        FORM.format(**GOOD)
        .replace("type: integer", "type: string\n          regexpValidator: ^a(b)$")
        .replace("$ > 1", "{regexpValidator: ^a(b)$}")
        .replace("initial: 2", "initial: ab")
    )
    files = {"manifest.yaml": MANIFEST, "Classes/w.yaml": "Name: acme.Web", "UI/ui.yaml": form}
    assert check_forms(Package.from_files(files)) == ()


def test_text_that_looks_like_an_expression_is_a_warning():
    form = FORM.format(**GOOD).replace("at: $index", "at: repeat($index, 2)")
    form = form.replace("size: $.main.size", "size: $.main.size +")
    form = form.replace(
        "required: false",
        "required: false, label: from $5 (each), regexpValidator: '^a$', description: $ (or so",
    )
    files = {"manifest.yaml": MANIFEST, "Classes/w.yaml": "Name: acme.Web", "UI/ui.yaml": form}
    texts = [str(each) for each in check_forms(Package.from_files(files))]
    assert [each.partition(" is no expression")[0].rpartition(": ")[2] for each in texts] == [
        "`repeat($index`",
        "`$.main.size +`",
    ]
    assert all("put quotes around it if it is text" in each for each in texts)


@pytest.mark.parametrize("pattern", ["^[a-z]+$", "'^(a|b)$'", "/^a b$/i"])
def test_patterns_of_forms_are_no_expressions(pattern):
    form = FORM.format(**GOOD).replace(
        "          initial: 2", f"          initial: 2\n          regexpValidator: {pattern}"
    )
    form = form.replace("type: integer", "type: string").replace("$.main.size < 9", "true = true")
    files = {"manifest.yaml": MANIFEST, "Classes/w.yaml": "Name: acme.Web", "UI/ui.yaml": form}
    assert check_forms(Package.from_files(files)) == ()


def test_classes_of_a_form_are_looked_for_among_the_packages_at_hand():
    form = (
        FORM.format(**GOOD)
        .replace("{type: acme.Web}, at", "{type: 'lib.Nod/1.0'}, at")
        .replace("type: password, required: false", "type: [far.Kept, io.murano.Application]")
    )
    files = {"manifest.yaml": MANIFEST, "Classes/w.yaml": "Name: acme.Web", "UI/ui.yaml": form}
    found = Package.from_files(files)
    assert check_forms(found) == ()
    texts = [str(each) for each in check_forms(found, [package("lib", classes={"lib.Node": ""})])]
    assert [each.partition(": expected ")[2] for each in texts] == [
        "a class of the package or of those at hand, found far.Kept; correct it, unless a package that environments use beside this one brings it",
        "a class of the package or of those at hand, found lib.Nod; did you mean lib.Node?",
    ]
    lib = package("lib", classes={"lib.Nod": "", "far.Kept": ""})
    assert check_forms(found, [lib]) == ()


def test_of_many_unknown_names_the_first_are_said_with_what_was_probably_meant():
    count = 1000
    templates = "".join(f"  note{at}: 1\n" for at in range(count))
    names = "".join(f"  at{at}: $nott{at}\n" for at in range(count))
    form = FORM.format(**GOOD).replace("Templates:\n", f"Templates:\n{templates}")
    form = form.replace("  size: $.main.size\n", f"  size: $.main.size\n{names}")
    files = {"manifest.yaml": MANIFEST, "Classes/w.yaml": "Name: acme.Web", "UI/ui.yaml": form}
    checked = check_forms(Package.from_files(files))
    found = [each.advice for each in checked if "`$nott" in str(each)]
    assert len(found) == count
    first = [each.startswith("did you mean note") for each in found].index(False)
    assert 50 < first < 150
    assert set(found[first:]) == {"correct the name"}
