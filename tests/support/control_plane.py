"""Builds the programs of Kubernetes' control plane, kubectl, and clients with client-go, from the Go module in `tests/cluster/programs`.

They are built once for each state of that module, into `$TRUNDLE_TEST_CACHE`, else the user's cache folder. Run as a script,
this says what it does; it does nothing where Go is missing, but fails where CI has to have it.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = Path(__file__).parents[1] / "cluster" / "programs"
VERSION = "1.36.3"
PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "informer": "./informer",
    "typed": "./typed",
}
MISSING = "needs Go 1.26 or newer, to build Kubernetes' control plane: https://go.dev/dl"


def folder() -> Path:
    """Where the programs of this state of the module are, or will be."""
    named = os.environ.get("TRUNDLE_TEST_CACHE")
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(named) if named else Path(user, "trundle-tests")
    digest = hashlib.sha256(repr(PACKAGES).encode())
    for name in ("go.mod", "go.sum", "informer/main.go", "typed/main.go"):
        digest.update((MODULE / name).read_bytes())
    return cache / f"control-plane-{VERSION}-{digest.hexdigest()[:12]}"


def programs() -> Path | None:
    """The folder with the programs, built if need be; none where there is no Go."""
    built = folder()
    if built.is_dir():
        return built
    go = shutil.which("go")
    if go is None:
        return None
    built.parent.mkdir(parents=True, exist_ok=True)
    with (built.parent / f"{built.name}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.is_dir():
            with tempfile.TemporaryDirectory(dir=built.parent, prefix="building-") as name:
                _build(go, Path(name, "programs"))
                Path(name, "programs").rename(built)
    return built


def _build(go: str, target: Path) -> None:
    sys.stderr.write(f"Building Kubernetes {VERSION} for tests takes some minutes, once.\n")
    target.mkdir()
    component = "k8s.io/component-base/version"
    major, minor, _ = VERSION.split(".")
    stamped = {"gitVersion": f"v{VERSION}", "gitMajor": major, "gitMinor": minor}
    flags = " ".join(
        ["-s -w", *(f"-X {component}.{name}={text}" for name, text in stamped.items())]
    )
    for name, package in PACKAGES.items():
        subprocess.run(
            [go, "build", "-trimpath", "-ldflags", flags, "-o", target / name, package],
            check=True, cwd=MODULE, env={**os.environ, "CGO_ENABLED": "0"},
        )  # fmt: skip


if __name__ == "__main__":
    if programs() is None:
        sys.stderr.write(f"Tests against a real cluster are left out: {MISSING}\n")
        sys.exit(os.environ.get("CI") == "true")
