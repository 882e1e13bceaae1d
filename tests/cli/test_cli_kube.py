"""`trundle kube manifests`: what is written, and for whom. tests/cluster has a real API server take it."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import warm
import yaml
from carried import project
from typer.testing import CliRunner

from trundle.cli import _adopting, _installations
from trundle.cli._app import app
from trundle.cli._printing import Format
from trundle.kubernetes._adoption_state import Adopted, ReturnStep

GROUP = "crm.example.com"
SERVICE = ("--service", "crm/hook:8443", "--image", "registry.test/crm:1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return project(tmp_path_factory.mktemp("kube") / "crm", GROUP, "v1", "v2")


@pytest.fixture
def run(folder):
    def ran(*arguments, code=0):
        shutil.rmtree(folder / "manifests", ignore_errors=True)
        command = [*warm.script(always=True), "kube", "manifests", *arguments]
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done

    return ran


@pytest.fixture
def written(folder, run):
    """The documents of each file that is written, but the recipe."""

    def found(*arguments):
        run(*arguments)
        return {
            each.name: list(yaml.safe_load_all(each.read_text()))
            for each in (folder / "manifests").glob("*.yaml")
        }

    return found


@pytest.mark.full
def test_a_service_has_all_that_it_needs(folder, written):
    files = written(*SERVICE)
    listed = files.pop("kustomization.yaml")[0]["resources"]
    assert listed == sorted(files)
    assert listed == [
        "admission.yaml",
        "certificate.yaml",
        "crds.yaml",
        "roles.yaml",
        "webhook.yaml",
    ]
    by_kind = {each["kind"]: each for documents in files.values() for each in documents}
    # cert-manager writes the authority into what says so; the certificate is for the service's name.
    inject = "cert-manager.io/inject-ca-from"
    for kind in ("CustomResourceDefinition", "MutatingWebhookConfiguration"):
        assert by_kind[kind]["metadata"]["annotations"][inject] == "crm/flows"
    certificate = by_kind["Certificate"]
    assert certificate["metadata"]["namespace"] == "crm"
    assert certificate["metadata"]["name"] == "flows"
    assert "hook.crm.svc" in certificate["spec"]["dnsNames"]
    # The service leads to the pods, and these have the certificate's secret.
    pod = by_kind["Deployment"]["spec"]["template"]
    service = by_kind["Service"]
    assert service["metadata"]["name"] == "hook"
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    assert service["spec"]["ports"][0]["port"] == 8443
    (volume,) = pod["spec"]["volumes"]
    assert volume["secret"]["secretName"] == certificate["spec"]["secretName"]
    (container,) = pod["spec"]["containers"]
    assert container["image"] == "registry.test/crm:1"
    called = by_kind["MutatingWebhookConfiguration"]["webhooks"][0]
    assert called["clientConfig"]["service"]["path"] == "/admit"
    assert called["failurePolicy"] == "Fail"
    assert called["rules"][0]["resources"] == ["members", "members/status"]


@pytest.mark.full
def test_the_deployment_runs_a_command_that_there_is(folder, written):
    files = written(*SERVICE)
    (deployment,) = [each for each in files["webhook.yaml"] if each["kind"] == "Deployment"]
    arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    command = [*warm.script(always=True), *arguments]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "/tls/tls.crt" in done.stderr  # All that is missing is the secret.
    assert "--admission=webhook" in arguments


@pytest.mark.full
def test_the_recipe_s_commands_work_in_the_project(folder, written):
    written(*SERVICE)
    lines = (folder / "manifests" / "Dockerfile").read_text().splitlines()
    commands = [each.removeprefix("RUN ") for each in lines if each.startswith("RUN trundle")]
    assert commands == ["trundle generate --check"]
    subprocess.run([*warm.script(always=True), *commands[0].split()[1:]], cwd=folder, check=True)


def test_an_authority_of_one_s_own_needs_no_cert_manager(folder, written):
    (folder / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n")
    files = written(*SERVICE, "--ca", "ca.pem", "--replicas", "1")
    assert "certificate.yaml" not in files
    assert "cert-manager" not in str(files)
    (configuration,) = files["admission.yaml"]
    assert configuration["webhooks"][0]["clientConfig"]["caBundle"]
    assert "PodDisruptionBudget" not in {each["kind"] for each in files["webhook.yaml"]}


@pytest.mark.full
def test_a_webhook_elsewhere_is_not_installed(written):
    files = written("--url", "https://hooks.test/crm/convert", "--admission", "policy")
    assert set(files) == {"admission.yaml", "crds.yaml", "kustomization.yaml", "roles.yaml"}
    kinds = [each["kind"] for each in files["admission.yaml"]]
    assert kinds == [
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ]
    for policy, binding in (files["admission.yaml"][:2], files["admission.yaml"][2:]):
        assert binding["spec"]["policyName"] == policy["metadata"]["name"]
    assert "admission.yaml" not in written("--url", "https://hooks.test/", "--admission", "none")


@pytest.mark.full
def test_an_aggregated_server_has_all_that_it_needs(folder, written):
    files = written(*SERVICE, "--aggregated")
    listed = files.pop("kustomization.yaml")[0]["resources"]
    assert listed == sorted(files)
    assert listed == ["apiservices.yaml", "certificate.yaml", "roles.yaml", "server.yaml"]
    newer, older = files["apiservices.yaml"]
    assert [newer["metadata"]["name"], older["metadata"]["name"]] == [f"v2.{GROUP}", f"v1.{GROUP}"]
    assert newer["spec"]["versionPriority"] > older["spec"]["versionPriority"]
    assert newer["spec"]["service"] == {"namespace": "crm", "name": "hook", "port": 8443}
    assert newer["metadata"]["annotations"] == {"cert-manager.io/inject-ca-from": "crm/flows"}
    assert "insecureSkipTLSVerify" not in str(files)
    by_kind = {each["kind"]: each for each in files["server.yaml"]}
    pod = by_kind["Deployment"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is True
    (container,) = pod["containers"]
    assert container["env"][0]["valueFrom"]["secretKeyRef"] == {"name": "flows-store", "key": "url"}
    arguments = [each for each in container["args"] if not each.startswith("--host")]
    nowhere = {**os.environ, "KUBECONFIG": str(folder / "none"), "HOME": str(folder)}
    done = subprocess.run(
        [*warm.script(always=True), *arguments], cwd=folder, check=False, capture_output=True, text=True, env=nowhere,
    )  # fmt: skip
    assert (done.returncode, "how to reach a cluster" in done.stderr) == (7, True), done.stderr
    assert "trundle[kube,postgres]" in (folder / "manifests" / "Dockerfile").read_text()


def test_what_an_earlier_run_wrote_is_removed_and_nothing_else(folder, monkeypatch, tmp_path):
    (folder / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n")
    monkeypatch.chdir(folder)
    to = tmp_path / "made"

    def run(*arguments):
        given = ["kube", "manifests", "--to", str(to), *arguments]
        done = CliRunner().invoke(app, given)
        assert done.exit_code == 0, done.output
        return done.output, {each.name for each in to.iterdir()}

    forms = [
        SERVICE,
        (*SERVICE, "--aggregated"),
        ("--operator", "--image", "trundle:1"),
        ("--url", "https://hooks.test/", "--admission", "none"),
    ]
    for form in forms:
        said, found = run(*form)
        listed = yaml.safe_load((to / "kustomization.yaml").read_text())["resources"]
        recipe = set() if "--url" in form else {"Dockerfile"}
        assert found == {*listed, "kustomization.yaml", *recipe}
    assert "removed Dockerfile, certificate.yaml, namespace.yaml, operator.yaml, which" in said
    assert "removed" not in run(*form)[0]
    kept = {"webhook.yaml": "mine: 1\n", "Dockerfile": "FROM scratch\n", "patch.yaml": "mine: 2\n"}
    for name, text in kept.items():
        (to / name).write_text(text)
    for former in ("resources: [patch.yaml]\n", "resources: {\n", "- 1\n", "resources:\n"):
        (to / "kustomization.yaml").write_text(former)
        assert kept.keys() < run(*form)[1]
    assert {name: (to / name).read_text() for name in kept} == kept


def test_what_was_given_back_is_said_of_one_object_and_of_several(capsys):
    for number, words in (
        (1, ["1 object,", "1 object has"]),
        (2, ["2 objects,", "2 objects have"]),
    ):
        steps = tuple(ReturnStep)
        _adopting._print(Adopted("x", steps, steps, number, number, number), Format.TABLE)
        said = capsys.readouterr().err
        assert [each in said for each in words] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--service", "crm/hook"), "--image registry.example.com"),
        (("--url", "https://x.test/convert", "--image", "crm:1"), "none beside --url"),
        ((), "expected one of them, found neither"),
        (("--aggregated", "--url", "https://x.test/convert"), "an APIService takes no URL"),
        (("--aggregated",), "--aggregated: expected --service, found none"),
        (("--aggregated", "--service", "crm/hook"), "--image registry.example.com"),
        (("--service", "crm", "--image", "crm:1"), "--service: expected NAMESPACE/NAME"),
        (("--url", "http://x.test"), "--url: expected https://HOST"),
    ],
)
def test_options_that_do_not_go_together_write_nothing(folder, run, arguments, said):
    assert said in run(*arguments, code=2).stderr
    assert not (folder / "manifests").exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "expected one of them, found neither"),
        (("--service", "crm/hook"), "--service: expected --ca with it"),
        (("--back", "--url", "https://x.test/convert"), "found one of them"),
        (("--url", "https://x.test/convert"), "members.crm.example.com"),
    ],
)
def test_what_cannot_be_adopted_is_said_before_the_cluster_is_asked(folder, arguments, said):
    config = folder / "nowhere.json"
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "it", "user": {"token": "t"}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    }))  # fmt: skip
    command = [
        *warm.script(always=True),
        "kube",
        "adopt",
        f"member.{GROUP}",
        "--kubeconfig",
        config,
    ]
    done = subprocess.run([*command, *arguments], cwd=folder, check=False, capture_output=True, text=True)  # fmt: skip
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_help_of_the_plugin_names_a_command_that_there_is():
    call = "from trundle.__main__ import kubectl_trundle as run; run()"
    done = subprocess.run(
        [sys.executable, "-c", call, "approve"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Try 'trundle kube installed approve -h' for help." in done.stderr


def test_what_to_look_at_where_nothing_waits_names_the_namespace(monkeypatch):
    found = {"metadata": {"name": "db", "namespace": "shop"}, "status": {}}
    monkeypatch.setattr(_installations, "_one", lambda *_: (None, found))
    done = CliRunner().invoke(app, ["kube", "installed", "approve", "db", "-n", "shop"])
    assert done.exit_code == 2
    assert "run `kubectl trundle plan db -n shop`" in done.output


def installation(name, *conditions, **status):
    kinds = ("type", "status", "reason", "message")
    held = [dict(zip(kinds, each, strict=True)) for each in conditions]
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"package": f"acme/{name}"},
        "status": {"conditions": held, **status},
    }


APPROVAL = "major upgrades need an approval; approve it with the annotation `trundle.dev/approve`"
REFUSED = "Service a of 2.0.0: refused; grant it\nService b of 2.0.0: refused; grant it"
LISTED = [
    installation(
        "db",
        ("Ready", "True", "Applied", "all is ready"),
        ("Blocked", "True", "Approval", f"2.0.0: {APPROVAL}"),
        blocked=[{"version": "2.0.0", "reason": "approval", "message": APPROVAL}],
    ),
    installation("ok", ("Ready", "True", "Applied", "m"), ("Blocked", "False", "NotBlocked", "n")),
    installation("waits", ("Ready", "False", "Waiting", "no pod"), ("Blocked", "False", "N", "n")),
    installation(
        "web",
        ("Ready", "False", "RejectedRelease", REFUSED),
        ("Blocked", "True", "RejectedRelease", REFUSED),
    ),
]


@pytest.fixture
def listed(monkeypatch):
    class Listing:
        def listed(self, _space):
            return LISTED

    monkeypatch.setattr(_installations, "_client", lambda *_: (Listing(), "shop"))


def test_status_says_what_is_in_the_way_of_each_installation(listed):
    done = CliRunner().invoke(app, ["kube", "installed", "status"])
    table, _, said = done.stdout.partition("\n\n")
    assert len(table.splitlines()) == 5
    assert said == (
        f"shop/db\n  blocked    2.0.0: {APPROVAL}\n"
        "shop/waits\n  not ready  no pod\n"
        "shop/web\n"
        "  blocked    Service a of 2.0.0: refused; grant it\n"
        "  blocked    Service b of 2.0.0: refused; grant it\n"
    )


def test_what_is_scheduled_says_once_when(monkeypatch):
    at = "2026-12-06T02:00:00Z"
    message = f"no window with enough time left is open; not before {at}"
    scheduled = [{"version": "1.1.0", "notBefore": at, "message": message}]
    found = installation("db", scheduled=scheduled)
    monkeypatch.setattr(_installations, "_one", lambda *_: (None, found))
    done = CliRunner().invoke(app, ["kube", "installed", "plan", "db"])
    assert done.stdout == f"scheduled  1.1.0: {message}\n"


@pytest.mark.parametrize("spec", [{}, {"spec": {}}, {"spec": ["a"]}, {"spec": {"package": None}}])
def test_status_of_a_document_that_names_no_package(monkeypatch, spec):
    found = {"metadata": {"name": "old", "namespace": "shop"}, **spec}
    monkeypatch.setattr(_installations, "_one", lambda *_: (None, found))
    done = CliRunner().invoke(app, ["kube", "installed", "status", "old"])
    assert done.stdout.splitlines()[:2] == ["old (no package)", "  installed  nothing"]


def test_status_of_one_installation_has_a_line_for_each_thing_in_its_way(listed):
    done = CliRunner().invoke(app, ["kube", "installed", "status", "web"])
    assert done.stdout.splitlines()[3:5] == [
        "  blocked    Service a of 2.0.0: refused; grant it",
        "  blocked    Service b of 2.0.0: refused; grant it",
    ]
    assert done.stdout.splitlines()[5:] == [
        "  Ready          False    RejectedRelease",
        "  Blocked        True     RejectedRelease",
    ]
