"""The demo runs its last chapter by kubectl, where there is one."""

import clusters
import crm_demo
import pytest

pytestmark = pytest.mark.cluster


def test_kubectl_runs_the_steps_of_the_demo():
    programs = clusters.programs()
    ran = crm_demo.run(COLUMNS="200", PYTHONIOENCODING="utf-8", PATH=str(programs))
    assert (ran.returncode, ran.stderr) == (0, "")
    chapter = ran.stdout[ran.stdout.index("8. A control plane") :]
    donald = "person.crm.example.com/donald"
    for part in (
        "> kubeconfig gives kubectl access",
        f"$ kubectl apply --server-side --field-manager team -f donald.json\n  {donald} serverside-applied",
        "$ kubectl patch person.v20160606.crm.example.com donald --field-manager clerk",
        f"{donald} patched",
        "$ kubectl get person.v20190909.crm.example.com donald --watch",
        "error: Apply failed with 2 conflicts",
        "command with the `--force-conflicts` flag.",
    ):
        assert part in chapter
    crm_demo.require_outcome(chapter)
