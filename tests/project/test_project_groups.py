"""Projects of several groups: two that share versions and type names, and one of Azure's namespaces."""

import json
import os
import sys
import textwrap

import pytest

import trundle.project._each_part as each_part_module
import trundle.project.generating as generating_module
from trundle.project import (
    FindingsError,
    ProjectError,
    check,
    generate,
    generated_scheme,
    load_config,
    load_project,
    lock,
    read_lock,
)
from trundle.report import ReportError, explain, version_map
from trundle.runtime import AnyScheme, ConversionError, JoinedScheme, UnknownVersionError
from trundle.schema import SchemaError

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: {group}
  names: {{kind: Account}}
  scope: Namespaced
  versions:
"""
VERSION = """\
  - name: {version}
    served: true
    storage: {storage}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {properties}
"""
STRING = "{type: string}"
INTEGER = "{type: integer}"
GROUPS = "groups:\n  crm: crm.example.com\n  shop: shop.example.com\n"


class Groups:
    """A project with an `Account` of the same versions in two groups."""

    def __init__(self, folder):
        self.folder = folder
        self.crd("crm", v1=f"{{name: {STRING}}}", v2=f"{{title: {STRING}}}")
        self.crd("shop", v1=f"{{name: {STRING}, items: {INTEGER}}}", v2=f"{{name: {STRING}}}")
        self.configure()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def crd(self, name, **versions):
        text = CRD.format(group=f"{name}.example.com")
        for version, properties in versions.items():
            storage = str(version == max(versions)).lower()
            text += VERSION.format(version=version, storage=storage, properties=properties)
        self.write(f"schemas/{name}.yaml", text)

    def configure(self, more="", groups=GROUPS):
        self.write("trundle.yaml", f"package: all\n{groups}sources: [schemas]\n{more}")

    @property
    def config(self):
        return load_config(self.folder / "trundle.yaml")

    def generate(self, **options):
        return generate(self.config, **options)

    def problems(self):
        with pytest.raises(FindingsError) as caught:
            self.generate()
        return [str(each).replace(f"{self.folder}/", "") for each in caught.value.findings]

    def lock_names(self):
        return list(read_lock(self.folder / "trundle.lock").resources)


@pytest.fixture
def groups(tmp_path):
    return Groups(tmp_path)


def account(group, version, **spec):
    return {"apiVersion": f"{group}.example.com/{version}", "kind": "Account", "spec": spec}


def tree(folder):
    return {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# What is generated


def test_each_group_is_a_package_of_its_own(groups):
    result = groups.generate()
    assert result.generated == ("all.crm", "all.shop")
    names = {path.relative_to(result.root).as_posix() for path in tree(result.root)}
    for group in ("crm", "shop"):
        assert {
            f"{group}/__init__.py",
            f"{group}/storage/v2.py",
            f"{group}/tests/test_v1.py",
        } <= names
    assert {name for name in names if "/" not in name} == {
        ".trundle-generated.json",
        "__init__.py",
        "py.typed",
    }
    assert groups.generate(check=True).comparison.same


def test_groups_know_nothing_of_each_other(groups):
    groups.generate()
    alone = groups.folder / "alone"
    (alone / "schemas").mkdir(parents=True)
    (alone / "schemas/shop.yaml").write_bytes((groups.folder / "schemas/shop.yaml").read_bytes())
    (alone / "trundle.yaml").write_text(
        "package: all\ngroups: {shop: shop.example.com}\nsources: [schemas]\n"
    )
    root = generate(load_config(alone / "trundle.yaml")).root
    assert {p.relative_to(root): x for p, x in tree(root / "shop").items()} == {
        p.relative_to(groups.folder / "all"): x for p, x in tree(groups.folder / "all/shop").items()
    }


def test_one_scheme_is_over_all_groups_and_imports_what_it_needs(groups):
    groups.generate()
    with generated_scheme(groups.config) as scheme:
        assert isinstance(scheme, JoinedScheme)
        assert list(scheme.resources) == ["crm.example.com/Account", "shop.example.com/Account"]
        assert scheme.served == ("v1", "v2")
        assert not {"all.crm", "all.shop"} & sys.modules.keys()
        read = scheme.convert(account("shop", "v1", name="a", items=3), "v2")
        assert read["apiVersion"] == "shop.example.com/v2"
        assert "all.shop" in sys.modules
        assert "all.crm" not in sys.modules
        with pytest.raises(
            UnknownVersionError, match=r"did you mean crm.example.com/Account or shop"
        ):
            scheme.convert({"apiVersion": "v1", "kind": "Account"}, "v2")
        again = scheme.convert(
            {"apiVersion": "v1", "spec": {"name": "a"}}, "v2", resource="crm.example.com/account"
        )
        assert again["apiVersion"] == "crm.example.com/v2"


def test_many_documents_of_several_groups_convert_one_by_one(groups):
    groups.generate()
    with generated_scheme(groups.config) as scheme:
        assert isinstance(scheme, AnyScheme)
        foreign = {**account("crm", "v1", name="a"), "apiVersion": "bank.example.com/v1"}
        first, second, third = scheme.convert_many(
            [account("crm", "v1", name="a"), foreign, account("shop", "v1", name="b", items=3)],
            "v2",
            losses=True,
        )
        assert first.result == account("crm", "v2")
        assert list(map(str, first.lost)) == ['lost: "a" - at $.spec.name']
        assert "'Account' of the API group 'bank.example.com'" in str(second.error)
        assert third.result == account("shop", "v2", name="b")
        assert list(map(str, third.lost)) == ["lost: 3 - at $.spec.items"]
        kept = scheme.put("v1", account("shop", "v1", name="b", items=3))
        edited = scheme.put(None, account("shop", "v2", name="c"), kept)
        assert scheme.read("v1", edited) == account("shop", "v1", name="c", items=3)


def test_hubs_and_horizons_are_those_of_the_group(groups):
    groups.crd("shop", v1=f"{{name: {STRING}}}", v2=f"{{name: {STRING}}}", v3=f"{{name: {STRING}}}")
    groups.configure("horizon: {ga: 1}\n")
    groups.generate()
    with generated_scheme(groups.config) as scheme:
        assert scheme.resources["crm.example.com/Account"].hub == "v2"
        assert scheme.resources["shop.example.com/Account"].hub == "v3"
        assert scheme.served == ("v2", "v3")


def test_a_namespace_is_a_group_in_any_letter_case(groups):
    resource = """\
    {"$schema": "http://json-schema.org/draft-04/schema#", "resourceDefinitions": {"r": {"type": "object",
    "properties": {"apiVersion": {"enum": ["%s"]}, "type": {"enum": ["%s"]}, "size": {"type": "integer"}}}}}
    """
    for number, (version, name) in enumerate(
        [("2018-01-01", "Microsoft.Cache/redis"), ("2019-01-01", "microsoft.cache/Redis")]
    ):
        groups.write(f"azure/{number}.json", resource % (version, name))
    text = "package: arm\ngroups: {cache: microsoft.CACHE}\nsources: [azure]\n"
    groups.write("trundle.yaml", text)
    groups.generate()
    with generated_scheme(groups.config) as scheme:
        assert list(scheme.resources) == ["microsoft.cache/Redis"]
        document = {"apiVersion": "2018-01-01", "type": "Microsoft.Cache/REDIS", "size": 3}
        assert scheme.convert(document, "2019-01-01")["size"] == 3


# Findings


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "groups:\n  crm: crm.example.com\n",
            (
                "trundle.yaml:2: expected every group of the schemas among `groups`, found resources of "
                "shop.example.com (Account; the first in schemas/shop.yaml); "
                "add a line `name: shop.example.com` below `groups`"
            ),
        ),
        (
            GROUPS + "  cmr: cmr.example.com\n",
            (
                "trundle.yaml:5: expected resources of cmr.example.com for cmr, found none in the schemas; "
                "did you mean crm.example.com?"
            ),
        ),
    ],
)
def test_every_group_is_listed_and_has_resources(groups, text, found):
    groups.configure(groups=text)
    assert groups.problems() == [found]
    assert not (groups.folder / "all").exists()


def test_a_resource_without_a_group_is_a_finding(groups):
    groups.write(
        "schemas/v1.yaml", "title: Person\ntype: object\nproperties: {a: {type: string}}\n"
    )
    (found,) = groups.problems()
    assert "found resources of no group (Person; the first in schemas/v1.yaml)" in found
    assert 'add a line `core: ""` below `groups`, give their source a `group`' in found


def test_resources_without_a_group_are_a_group_of_their_own(groups):
    groups.write(
        "schemas/v1.yaml", "title: Account\ntype: object\nproperties: {a: {type: string}}\n"
    )
    groups.configure(groups=f'{GROUPS}  core: ""\n')
    groups.generate()
    with generated_scheme(groups.config) as scheme:
        assert list(scheme.resources) == [
            "/Account",
            "crm.example.com/Account",
            "shop.example.com/Account",
        ]
        own = {"apiVersion": "v1", "kind": "Account", "a": "x"}
        stored = scheme.convert_json(json.dumps(own).encode())
        assert json.loads(stored)["apiVersion"] == "v1"
        assert json.loads(scheme.convert_json(stored, "v1")) == own
        assert scheme.resources["crm.example.com/Account"].group == "crm.example.com"
    lock(groups.config)
    assert groups.lock_names()[0] == "/Account"
    groups.configure(groups=f'{GROUPS}  core: ""\n  other: ""\n')
    with pytest.raises(ProjectError, match="one subpackage for resources without a group"):
        load_config(groups.folder / "trundle.yaml")


def test_reports_keep_namesakes_of_several_groups_apart(groups):
    project = load_project(groups.config.path)
    maps = [version_map(project.evolution, each.name) for each in project.evolution.resources]
    assert [(each.resource, len(each.versions)) for each in maps] == [
        ("crm.example.com/Account", 2),
        ("shop.example.com/Account", 2),
    ]
    found = explain(project.evolution, "AccountSpec.title")
    assert [each.resources for each in found.properties] == [("crm.example.com/Account",)]
    with pytest.raises(
        ReportError, match=r"did you mean crm.example.com/Account or shop.example.com/Account\?"
    ):
        version_map(project.evolution, "Account")


def test_namesakes_of_several_groups_cannot_share_a_package(groups):
    groups.configure(groups="")
    assert "expected one resource type Account" in next(map(str, check(groups.config)))
    assert groups.problems() == [
        (
            "trundle.yaml: expected one resource type Account, found those of "
            "crm.example.com in schemas/crm.yaml, shop.example.com in schemas/shop.yaml; "
            "give each group a package of its own by `groups`, or leave one out"
        )
    ]


def test_a_change_goes_to_every_group_that_has_its_version_and_type(groups):
    groups.configure("changes:\n  v1:\n    AccountSpec:\n      rename: {name: title}\n")
    groups.generate()
    with generated_scheme(groups.config) as scheme:
        assert scheme.convert(account("crm", "v1", name="a"), "v2")["spec"] == {"title": "a"}
        assert scheme.convert(account("shop", "v1", name="a"), "v2")["spec"] == {"name": "a"}
    assert not [x for x in check(groups.config) if x.severity == "error" and x.kind != "stale"]


def test_a_pattern_stands_for_the_types_of_any_group(groups):
    groups.configure('changes:\n  v1:\n    "Account*":\n      rename: {"na*": "tit*"}\n')
    groups.crd("crm", v1=f"{{name: {STRING}}}", v2=f"{{titme: {STRING}}}")
    groups.crd("shop", v1=f"{{size: {STRING}}}", v2=f"{{size: {STRING}}}")
    groups.generate()
    with generated_scheme(groups.config) as scheme:
        assert scheme.convert(account("crm", "v1", name="a"), "v2")["spec"] == {"titme": "a"}
    assert not [x for x in check(groups.config) if x.severity == "error" and x.kind != "stale"]
    groups.configure('changes:\n  v1:\n    "Account*":\n      rename: {"no*": "tit*"}\n')
    (found,) = groups.problems()
    assert "`rename` names no*, which no type of v1 that Account* stands for has" in found


def test_a_pattern_that_fits_one_group_is_no_error_in_another(groups):
    groups.configure('changes:\n  v1:\n    "*":\n      rename: {name: title}\n')
    box = f"{{box: {{type: object, properties: {{name: {STRING}}}}}}}"
    groups.crd("shop", v1=box, v2=box)
    groups.generate()
    with generated_scheme(groups.config) as scheme:
        assert scheme.convert(account("crm", "v1", name="a"), "v2")["spec"] == {"title": "a"}
        spec = {"box": {"name": "a"}}
        assert scheme.convert(account("shop", "v1", **spec), "v2")["spec"] == spec
    groups.crd("crm", v1=f"{{name: {STRING}}}", v2=f"{{titles: {STRING}}}")
    assert any("no newer AccountSpec has title" in each for each in groups.problems())


def test_a_change_that_fits_no_group_is_the_error_it_is_without_groups(groups):
    groups.configure("changes:\n  v1:\n    AccountSpec:\n      rename: {name: titel}\n")
    found = groups.problems()
    assert any("no newer AccountSpec has titel; did you mean title?" in each for each in found)
    assert all(each.startswith("trundle.yaml:9:") for each in found)
    groups.configure("changes: {v3: {AccountSpec: {keep: [name]}}}\n")
    (found,) = groups.problems()
    assert "there are changes of AccountSpec under v3, which no schema has" in found
    groups.configure("changes: {v1: {Acount: {keep: [name]}}}\n")
    assert any("v1 has no type Acount" in each for each in groups.problems())


def test_a_change_loses_its_last_group_without_being_forgotten(groups):
    groups.configure("changes:\n  v1:\n    AccountSpec:\n      rename: {name: title}\n")
    groups.generate()
    groups.crd("crm", v1=f"{{name: {STRING}}}", v2=f"{{subject: {STRING}}}")
    assert any("has title" in each for each in groups.problems())


HOOK = """\
from trundle.runtime import hook

class Names:
    @hook(reads=("name",), writes=("title",))
    def assign_to(self, source):
        return {"title": source.name.upper()}
"""


def test_a_hook_stands_in_the_groups_that_it_fits(groups):
    groups.write("names.py", HOOK)
    groups.configure("hooks: [{type: AccountSpec, between: [v1, v2], use: 'names:Names'}]\n")
    groups.generate()
    with generated_scheme(groups.config) as scheme:
        assert scheme.convert(account("crm", "v1", name="a"), "v2")["spec"]["title"] == "A"
    groups.write("names.py", HOOK.replace("title", "titel"))
    assert any("does not have" in each for each in groups.problems())
    groups.write("names.py", "import all.crm\n")
    (found,) = groups.problems()
    assert "found an import of the generated package all" in found


def test_every_file_must_be_of_use_to_some_group(groups):
    groups.write("schemas/more.yaml", "openapi: 3.1.0\ninfo: {version: v1}\n")
    with pytest.raises(SchemaError, match=r"more\.yaml"):
        groups.generate()


@pytest.mark.full
def test_unreadable_schemas_of_all_groups_are_reported_together(groups):
    for name in ("crm", "shop"):
        groups.crd(name, v1='{a: {$ref: "#/nowhere"}}')
    for jobs in (1, 2):
        with pytest.raises(SchemaError) as caught:
            groups.generate(jobs=jobs)
        assert {each.file.rpartition("/")[2] for each in caught.value.errors} == {
            "crm.yaml",
            "shop.yaml",
        }


# Only what is stale


@pytest.fixture
def done(groups):
    groups.generate()
    return groups


def test_what_is_unchanged_is_not_even_read(done, monkeypatch):
    monkeypatch.setattr(generating_module, "Catalogue", None)
    result = done.generate()
    assert result.generated == result.change.written == ()
    assert done.generate(check=True).comparison.same


def test_a_touched_schema_generates_just_the_groups_it_feeds(done):
    done.crd("shop", v1=f"{{name: {STRING}}}", v2=f"{{name: {STRING}, new: {STRING}}}")
    assert done.generate(check=True).generated == ("all.shop",)
    result = done.generate()
    assert result.generated == ("all.shop",)
    assert all(name.startswith("shop/") for name in result.change.written)
    assert done.generate().generated == ()


def test_a_touched_schema_that_changes_nothing_is_remembered(done):
    path = done.folder / "schemas/crm.yaml"
    path.write_text(path.read_text() + "# a comment\n")
    result = done.generate()
    assert (result.generated, result.change.written) == (("all.crm",), ())
    assert done.generate().generated == ()


def test_a_new_file_is_read(done):
    text = (done.folder / "schemas/crm.yaml").read_text()
    done.write("schemas/person.yaml", text.replace("Account", "Person"))
    assert done.generate().generated == ("all.crm",)
    with generated_scheme(done.config) as scheme:
        assert "Person" in scheme.resources


def test_a_file_that_is_gone_takes_its_group_along(done):
    (done.folder / "schemas/shop.yaml").unlink()
    assert "expected resources of shop.example.com" in done.problems()[0]
    done.configure(groups="groups: {crm: crm.example.com}\n")
    result = done.generate()
    assert result.generated == ()
    assert "shop/__init__.py" in result.change.removed
    with generated_scheme(done.config) as scheme:
        assert list(scheme.resources) == ["Account"]


@pytest.mark.parametrize(
    ("more", "generated"),
    [
        ("title: Accounts\n", ("all.crm", "all.shop")),
        ("changes: {v1: {AccountSpec: {keep: [items]}}}\n", ("all.crm", "all.shop")),
        ("# nothing\n", ()),
    ],
)
def test_what_the_project_file_says_counts(done, more, generated):
    done.configure(more)
    if "keep" in more:
        done.crd("shop", v1=f"{{items: {INTEGER}}}", v2=f"{{items: {STRING}}}")
    assert done.generate(check=True).generated == generated


def test_changes_count_for_groups_that_have_their_version(done):
    versions = {"v1beta1": f"{{old: {STRING}}}", "v1": f"{{name: {STRING}}}"}
    done.crd("shop", **versions)
    done.generate()
    done.configure("changes: {v1beta1: {AccountSpec: {rename: {old: name}}}}\n")
    assert done.generate().generated == ("all.shop",)
    with generated_scheme(done.config) as scheme:
        read = scheme.convert(account("shop", "v1beta1", old="a"), "v1")
        assert read["spec"] == {"name": "a"}


@pytest.mark.parametrize("action", ["edit", "remove"])
def test_a_file_that_is_not_as_it_was_written_is_noticed(done, action):
    path = done.folder / "all/shop/storage/v2.py"
    before = path.read_bytes()
    if action == "edit":
        path.write_bytes(before + b"# mine\n")
        with pytest.raises(ProjectError, match="an edit by hand"):
            done.generate()
    else:
        path.unlink()
    result = done.generate(check=True)
    assert result.stale
    assert result.generated == ("all.shop",)
    assert done.generate(force=True).change.written == ("shop/storage/v2.py",)
    assert path.read_bytes() == before


def test_a_hooks_own_imports_count(done):
    done.write("words.py", "def loud(text):\n    return text.upper()\n")
    done.write("names.py", "from words import loud\n" + HOOK)
    done.configure("hooks: [{type: AccountSpec, between: [v1, v2], use: 'names:Names'}]\n")
    done.generate()
    assert done.generate().generated == ()
    done.write("words.py", "def loud(text):\n    return text\n")
    assert "all.crm" in done.generate().generated


def test_a_damaged_manifest_means_nothing_is_known(done):
    manifest = done.folder / "all/.trundle-generated.json"
    data = json.loads(manifest.read_text())
    data["made"] = {"parts": 3}
    manifest.write_text(json.dumps(data))
    assert done.generate().generated == ("all.crm", "all.shop")


def test_a_url_that_leads_elsewhere_counts(tmp_path):
    groups = Groups(tmp_path)
    (tmp_path / "schemas/shop.yaml").unlink()
    groups.configure(groups="groups: {crm: crm.example.com}\n")
    groups.write(
        "schemas/v1.yaml",
        """\
        title: Person
        type: object
        properties: {home: {$ref: "https://example.com/place"}}
        """,
    )
    text = "$id: https://example.com/place\ntype: object\nproperties: {%s: {type: string}}\n"
    groups.write("more/z.yaml", text % "old")
    groups.write(
        "trundle.yaml",
        "package: all\ngroups: {crm: crm.example.com}\nsources:\n"
        "- {path: schemas, group: crm.example.com}\n- {path: more, version: v1, group: crm.example.com}\n",
    )
    groups.generate()
    assert groups.generate().generated == ()
    groups.write(
        "more/a.yaml", (text % "new").replace("type: object", "title: Place\ntype: object")
    )
    assert groups.generate(check=True).generated == ("all.crm",)


# In several processes


@pytest.mark.full
def test_several_processes_generate_the_same(groups, tmp_path):
    steps = []
    one = tree(groups.generate(jobs=1).root)
    groups.write("trundle.yaml", (groups.folder / "trundle.yaml").read_text() + "output: other\n")
    two = groups.generate(jobs=2, progress=lambda *step: steps.append(step))
    assert {p.relative_to(groups.folder / "all"): x for p, x in one.items()} == {
        p.relative_to(two.root): x for p, x in tree(two.root).items()
    }
    assert ("", 0, 2) in steps
    assert {("all.crm", 2, 2), ("all.shop", 2, 2)} & set(steps)


@pytest.mark.full
def test_check_and_lock_work_in_several_processes(groups):
    groups.generate()
    lock(groups.config, jobs=2)
    assert not check(groups.config, jobs=2)


@pytest.mark.full
def test_much_is_done_in_several_processes_by_itself(groups, monkeypatch):
    used = []

    def work_in_processes(work, pieces, jobs, done):
        used.append((len(pieces), jobs))
        return [work(piece) for piece in pieces]

    monkeypatch.setattr(each_part_module, "work_in_processes", work_in_processes)
    groups.generate(check=True)
    assert used == []
    monkeypatch.setattr(each_part_module, "_LITTLE", 0)
    groups.generate(check=True)
    assert used == [(2, len(os.sched_getaffinity(0)))] or len(os.sched_getaffinity(0)) == 1


# The lock


def test_the_lock_keeps_namesakes_of_groups_apart(groups):
    change = lock(groups.config)
    assert change.recorded == ("crm.example.com/Account v2", "shop.example.com/Account v2")
    assert groups.lock_names() == ["crm.example.com/Account", "shop.example.com/Account"]
    groups.crd("shop", v1=f"{{name: {STRING}}}", v2=f"{{name: {INTEGER}}}")
    found = [each for each in check(groups.config) if each.code == "lock"]
    assert all("of shop.example.com/Account that were stored in v2" in str(x) for x in found)
    assert lock(groups.config, accept=True).replaced == ("shop.example.com/Account v2",)


def test_a_resource_type_is_locked_by_its_name_where_no_other_has_it(groups):
    (groups.folder / "schemas/shop.yaml").unlink()
    groups.configure(groups="groups: {crm: crm.example.com}\n")
    lock(groups.config)
    assert groups.lock_names() == ["Account"]
    groups.configure(groups="")
    assert not lock(groups.config).changes  # with one package for all


def test_a_lock_that_does_not_say_whose_a_namesake_is_needs_an_answer(groups):
    test_a_resource_type_is_locked_by_its_name_where_no_other_has_it(groups)
    groups.crd("shop", v1=f"{{name: {STRING}}}")
    groups.configure()
    (found,) = [
        each for each in check(groups.config) if each.severity == "error" and each.code == "lock"
    ]
    assert found.advice == (
        "write crm.example.com/Account or shop.example.com/Account in its place"
    )
    with pytest.raises(FindingsError):
        lock(groups.config)
    path = groups.folder / "trundle.lock"
    path.write_text(path.read_text().replace("Account:\n", "crm.example.com/Account:\n", 1))
    assert lock(groups.config).recorded == ("shop.example.com/Account v1",)


def test_what_no_group_has_any_more_is_refused(groups):
    lock(groups.config)
    (groups.folder / "schemas/shop.yaml").unlink()
    groups.configure(groups="groups: {crm: crm.example.com}\n")
    (found,) = [each for each in check(groups.config) if each.code == "lock"]
    assert "no schema has shop.example.com/Account any more" in str(found)
    assert lock(groups.config, accept=True).removed == ("shop.example.com/Account v2",)


# As a whole


def test_reports_look_at_the_whole(groups):
    assert load_project(groups.folder / "trundle.yaml").findings == ()


def test_an_object_of_another_package_is_an_error(groups):
    groups.generate()
    with (
        generated_scheme(groups.config) as scheme,
        pytest.raises(ConversionError, match="does not belong"),
    ):
        scheme.encode(type("Other", (), {})())
