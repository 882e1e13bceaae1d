"""What to do in a cluster about what is in the way; commands of an installation elsewhere are of no use there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from trundle.channels import Block, Blocked, Hold, RefusalCode
from trundle.errors import Code, Finding, Place
from trundle.installation import Outlook
from trundle.kubernetes._cluster import MISSING, RequestError
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes.operator._dry_run import FORBIDDEN, RejectedError
from trundle.kubernetes.operator._objects import OwnedError
from trundle.kubernetes.operator._wanted import APPROVE, HOLD, REGISTRIES, ROLL_BACK, SERVER_TOKEN
from trundle.version import SemVer

_INVALID = 422
_UNCHANGEABLE = ("immutable", "may not change once set", "updates to ")
_FINDINGS: Mapping[Code, str] = {
    RefusalCode.ACCESS_REFUSED: f"put credentials that may read it into the Secret `{REGISTRIES}` in the operator's namespace: kubectl create secret "
    f"docker-registry {REGISTRIES} --namespace NAMESPACE --docker-server=HOST --docker-username=NAME --docker-password=PASSWORD; "
    f"for a channel at a `trundle serve`, put its token into the Secret `{SERVER_TOKEN}`: kubectl create secret generic {SERVER_TOKEN} "
    "--namespace NAMESPACE --from-literal=server=URL --from-literal=token=TOKEN",
    RefusalCode.CHANNEL_NOT_FOUND: "check `spec.registry`, `spec.package` and `spec.channel`",
    RefusalCode.CONTENT_MISSING: "check `spec.version`, `spec.digest` or the tag, or ask the publisher to restore it",
    RefusalCode.PACKAGE_MISSING: "create installations of the packages that are missing in this namespace, too, or change what is installed",
    RefusalCode.HELD: f"remove the annotation `{HOLD}`",
    RefusalCode.CLOCK_WENT_BACK: "set the clock of the node that the operator runs on",
    RefusalCode.NOT_INSTALLED: f"remove the annotation `{ROLL_BACK}`",
    RefusalCode.NO_LATEST: "ask the publisher to promote a version, or name one in `spec.version`",
    RefusalCode.CHANNEL_BEHIND: "wait for a newer version, or name one in `spec.version` that the package is to go back to",
    RefusalCode.UNSIGNED_CHANNEL: "name a Secret with the publisher's root in `spec.trust.secretName`, or accept a channel that has no signatures with "
    "`spec.trust.unsigned`",
}
_GRANT = "grant it to the operator by a role with the label `trundle.dev/aggregate-to-operator`"
_OTHER_CONTENT = f"approved with other content; look at it, remove the annotation `{APPROVE}`, and put it there again"
_CORRECT = "ask the publisher for a release in which it is corrected, or change what refuses it in the cluster; it is tried again"
_LONGEST_ANSWER, _LONGEST_END = 800, 300
_PUT_BACK = "put back what the release has in them"
_DELETED_WITH = {
    "CustomResourceDefinition": "its objects",
    "Namespace": "all that is in it",
    "PersistentVolumeClaim": "its data",
}
"""What goes with an object that is deleted, by its kind."""


def advised(finding: Finding) -> Finding:
    """A finding with advice that can be followed in a cluster."""
    if finding.code is KubernetesCode.STAYS and finding.found.startswith(f"{FORBIDDEN}: "):
        return replace(finding, advice=_GRANT)
    return replace(finding, advice=_FINDINGS.get(finding.code, finding.advice))


def foreseen(outlook: Outlook, holds: Sequence[Hold]) -> Outlook:
    """What comes next, with advice that can be followed in a cluster.

    Args:
        outlook: what comes next.
        holds: what is held of the package.
    """
    plan = msgspec.structs.replace(
        outlook.plan,
        refusals=tuple(map(advised, outlook.plan.refusals)),
        blocked=tuple(reworded(each, holds) for each in outlook.plan.blocked),
    )
    return msgspec.structs.replace(outlook, plan=plan)


def reworded(blocked: Blocked, holds: Sequence[Hold]) -> Blocked:
    """Why a version is not taken, and what to do about that.

    Args:
        blocked: the version.
        holds: what is held of the package.
    """
    why = blocked.message.rpartition("; ")[0] or blocked.message
    match blocked.reason:
        case Block.APPROVAL:
            words = f"{why}; approve it with the annotation `{APPROVE}: {blocked.entry.version}`"
        case Block.NEVER | Block.NO_WINDOW:
            words = f"{why}; change `spec.policy`"
        case Block.HOLD:
            words = f"{why}; remove {_annotations_of(holds, blocked.entry.version)}"
        case Block.OTHER_DIGEST_APPROVED:
            words = _OTHER_CONTENT
        case _:
            return blocked
    return msgspec.structs.replace(blocked, message=words)


def _annotations_of(holds: Sequence[Hold], version: SemVer) -> str:
    """The annotations that hold a version: one holds everything, the other what was gone back from."""
    held = {each.version for each in holds}
    found = [name for name, what in ((HOLD, None), (ROLL_BACK, version)) if what in held]
    noun = "annotations" if len(found) > 1 else "annotation"
    return f"the {noun} {' and '.join(f'`{each}`' for each in found)}"


def words_of(error: Exception) -> str:
    """What has failed, and what to do about that."""
    match error:
        case OwnedError():
            finding = replace(error.findings[0], found=_in_short(error.found))
            return str(replace(finding, advice=_advice_for_owned(error)))
        case RequestError():
            finding = replace(error.findings[0], found=_in_short(error.found))
            return str(replace(finding, advice=_advice_for(error)))
        case _:
            return str(error)


def rejections(error: RejectedError, version: object) -> list[Finding]:
    """Which objects of a version the cluster refuses, and what to do about that."""
    found = []
    for each in error.errors:
        advice = _advice_for_owned(each) if isinstance(each, OwnedError) else each.advice
        if isinstance(each, RequestError):
            advice = _advice_for(each) or _CORRECT
        place = Place(object=f"{each.where} of {version}")
        expected = "an object that the API server takes"
        expected = expected if isinstance(each, RequestError) else each.expected
        answer = _in_short(each.found)
        found.append(Finding(KubernetesCode.REJECTED, place, expected, answer, advice))
    return found


def _in_short(answer: str) -> str:
    """An answer of an API server in a line, without the middle of a long one: some show the whole object before they say what is wrong with it."""
    answer = " ".join(answer.split())
    if len(answer) <= _LONGEST_ANSWER:
        return answer
    return f"{answer[: _LONGEST_ANSWER - _LONGEST_END]} ... {answer[-_LONGEST_END:]}"


def _advice_for_owned(error: OwnedError) -> str:
    """What to do where another owns fields of an object; nothing is to be lost by that."""
    lost = _DELETED_WITH.get(error.where.partition(" ")[0])
    if lost is None:
        return f"{_PUT_BACK}, or delete the object: it is applied anew"
    return f"{_PUT_BACK}; do not delete the object, {lost} would go with it"


def _advice_for(error: RequestError) -> str:
    if error.status == FORBIDDEN and "cannot" in error.found:
        return _GRANT
    if error.status == MISSING and "namespaces " in error.found:
        return "create the namespace, or ask the publisher to put it into the package"
    if error.status == _INVALID and any(each in error.found for each in _UNCHANGEABLE):
        return "delete the object, where nothing is lost with it: it is applied anew"
    return error.advice
