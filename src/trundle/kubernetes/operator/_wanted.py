"""What an `Installation` asks for, and a document of the older kind `StackInstall`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from trundle.channels import Policy, PolicyError, read_policy
from trundle.errors import Finding, Kind, Place, TrundleError, listed
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes.operator._applying import Leftover
from trundle.registry import InvalidReferenceError, Reference
from trundle.version import SemVer, VersionError

GROUP, VERSION, KIND, PLURAL = "trundle.dev", "v1", "Installation", "installations"
APPROVE, HOLD, ROLL_BACK = (f"{GROUP}/{each}" for each in ("approve", "hold", "roll-back"))
TRUST = f"{GROUP}/trust"
"""The annotation for documents without `trust`: the name of a Secret, or `unsigned`."""
REGISTRIES = "trundle-registries"
"""The Secret in the operator's namespace with the credentials of registries, of the type `kubernetes.io/dockerconfigjson`."""
SERVER_TOKEN = "trundle-server"  # noqa: S105 - the name of a Secret
"""The Secret in the operator's namespace with the token of a server whose channels it reads."""
STACK_GROUP, STACK_VERSION, STACK_KIND = "stacks.crossplane.io", "v1alpha1", "StackInstall"
_REGISTRY = "registry-1.docker.io"
_ROOT = "root.json"


class SpecError(TrundleError):
    """An `Installation` that asks for nothing that can be done.

    Attributes:
        findings: everything that is wrong.
    """

    kind = Kind.USAGE

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(each.coded for each in findings))


@dataclass(frozen=True)
class Wanted:
    """What is to be installed.

    Attributes:
        reference: the repository of the package; with a tag or a digest it is pinned to that.
        pinned: whether it is.
        channel: the channel to follow; None for the default.
        policy: when which versions are installed; None for the default.
        secret: the name of the Secret with the publisher's root; empty for none.
        key: the key in it.
        unsigned: whether a channel without signatures is accepted.
        leftover: what becomes of CRDs that are no longer needed.
        approved: the version that is approved; None for none.
        hold: why nothing is to be changed; empty where it may be.
        roll_back: the version that is to be left for the one before; None for none.
        misread: what is wrong with annotations that name no version, by their names; they ask for nothing.
    """

    reference: str
    pinned: bool
    channel: str | None
    policy: Policy | None
    secret: str
    key: str
    unsigned: bool
    leftover: Leftover
    approved: SemVer | None
    hold: str
    roll_back: SemVer | None
    misread: Mapping[str, Finding]


class _Trust(msgspec.Struct, rename="camel"):
    secret_name: str | None = None
    key: str | None = None
    unsigned: bool | None = None


class _Spec(msgspec.Struct):
    """What a spec says; API servers hold an `Installation` to its types, and a `StackInstall` to none."""

    registry: str | None = None
    source: str | None = None
    package: str | None = None
    channel: str | None = None
    version: str | None = None
    digest: str | None = None
    policy: Any = None
    trust: _Trust | None = None
    crds: Leftover | None = None


def wanted_of(document: Mapping[str, Any]) -> Wanted:
    """What an `Installation` at `v1`, or a `StackInstall`, asks for.

    Raises:
        SpecError: it cannot be understood.
    """
    return _Reader(document).wanted()


class _Reader:
    def __init__(self, document: Mapping[str, Any]) -> None:
        metadata = document["metadata"]
        self._notes: Mapping[str, str] = metadata.get("annotations") or {}
        self._where = (
            f"{document.get('kind', KIND)} {metadata.get('namespace', '')}/{metadata['name']}"
        )
        self._findings: list[Finding] = []
        self._misread: dict[str, Finding] = {}
        self._spec = self._typed(document.get("spec") or {})

    def wanted(self) -> Wanted:
        reference = self._reference()
        trust = self._spec.trust or self._trust()
        pinned = reference is not None and (reference.tag or reference.digest) is not None
        found = Wanted(
            reference=str(reference or ""),
            pinned=pinned,
            channel=self._spec.channel or None,
            policy=self._policy(),
            secret=trust.secret_name or "",
            key=trust.key or _ROOT,
            unsigned=bool(trust.unsigned),
            leftover=self._spec.crds or Leftover.UNUSED,
            approved=self._version(APPROVE),
            hold=self._notes.get(HOLD, ""),
            roll_back=self._version(ROLL_BACK),
            misread=self._misread,
        )
        if found.secret and found.unsigned:
            advice = "a channel with a root is verified"
            self._wrong("spec.trust", "secretName or unsigned", "both", advice)
        if self._findings:
            raise SpecError([*self._findings, *self._misread.values()])
        return found

    def _typed(self, spec: Any) -> _Spec:
        if isinstance(spec, dict):  # What is empty counts as absent.
            spec = {name: each for name, each in spec.items() if each}
        try:
            return msgspec.convert(spec, _Spec)
        except msgspec.ValidationError as error:
            said, _, path = str(error).partition(" - at `$")
            expected, _, found = said.partition(", got ")
            expected = expected.removeprefix("Expected ").replace(" | null", "")
            if not found:
                expected, found = f"one of {listed(Leftover)}", said
            self._wrong(f"spec{path.rstrip('`')}", expected, found, "correct the document")
            raise SpecError(self._findings) from None

    def _reference(self) -> Reference | None:
        registry = self._spec.registry or self._spec.source or _REGISTRY
        text = f"{registry.rstrip('/')}/{self._spec.package or ''}"
        version, digest = self._spec.version or None, self._spec.digest or None
        try:
            found = Reference.parse(text)
        except InvalidReferenceError as error:
            self._wrong("spec.package", error.expected, error.found, error.advice)
            return None
        given = [each for each in (version, digest) if each]
        named = [*given, *(each for each in (found.tag, found.digest) if each)]
        if given and (len(named) > 1 or self._spec.channel):
            expected = "a channel, a version or a digest"
            self._wrong("spec", expected, "two of them", "leave all but one out")
            return None
        if version is not None:
            found = msgspec.structs.replace(found, tag=version.replace("+", "_"))
        if digest is not None:
            found = msgspec.structs.replace(found, digest=digest)
        try:
            return Reference.parse(str(found))
        except InvalidReferenceError as error:
            place = "spec.version" if version else "spec.digest"
            self._wrong(place, error.expected, error.found, error.advice)
            return None

    def _trust(self) -> _Trust:
        named = self._notes.get(TRUST, "")
        return _Trust(unsigned=True) if named == "unsigned" else _Trust(secret_name=named)

    def _policy(self) -> Policy | None:
        given = self._spec.policy
        if not given:
            return None
        try:
            return read_policy(given, "spec.policy")
        except PolicyError as error:
            self._findings += error.findings
            return None

    def _version(self, name: str) -> SemVer | None:
        text = self._notes.get(name)
        if not text:
            return None
        try:
            return SemVer.parse(text)
        except VersionError:
            advice = "write one such as 2.0.0, or remove the annotation"
            found = self._finding(f"annotation {name}", "a version", repr(text), advice)
            self._misread[name] = found
            return None

    def _wrong(self, path: str, expected: str, found: str, advice: str) -> None:
        self._findings.append(self._finding(path, expected, found, advice))

    def _finding(self, path: str, expected: str, found: str, advice: str) -> Finding:
        place = Place(object=self._where, path=path)
        return Finding(KubernetesCode.SPEC, place, expected, found, advice)
