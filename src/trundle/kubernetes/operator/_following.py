"""Follows the installations of one namespace: decides as `installation` does, and puts what was decided into the cluster."""

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from trundle.channels import RefusalCode, RefusedError, refusal
from trundle.errors import Finding, Place, TrundleError, listed
from trundle.installation import (
    Install,
    Installation,
    Outlook,
    Package,
    check_root,
    complete,
    foresee,
    install,
    uninstall,
    unpacked_before,
    unpacked_release,
    upgrade,
)
from trundle.kubernetes._cluster import Cluster, ClusterError, RequestError
from trundle.kubernetes._errors import DefinitionError, KubernetesCode
from trundle.kubernetes.operator._advising import advised, rejections, words_of
from trundle.kubernetes.operator._applying import Applier, Leftover
from trundle.kubernetes.operator._hearing import hear, hold, unheard
from trundle.kubernetes.operator._installations import Installations
from trundle.kubernetes.operator._keeping import Keeper, SupersededError
from trundle.kubernetes.operator._leadership import LostLeaseError
from trundle.kubernetes.operator._objects import Objects, OwnedError
from trundle.kubernetes.operator._ordering import DEFINITION, Part, parts_of
from trundle.kubernetes.operator._readiness import unready
from trundle.kubernetes.operator._releases import OtherReleaseError
from trundle.kubernetes.operator._reporting import Report
from trundle.kubernetes.operator._rolling import Rolling
from trundle.kubernetes.operator._schemas import SchemasError, packed
from trundle.kubernetes.operator._serving import DamagedError
from trundle.kubernetes.operator._storage import unreadable
from trundle.kubernetes.operator._trying import RejectedError
from trundle.kubernetes.operator._wanted import KIND, SpecError, Wanted, wanted_of
from trundle.project import read_documents
from trundle.registry import Reference
from trundle.version import SemVer, VersionRange

_SUFFIXES = frozenset({".json", ".yaml", ".yml"})
_FOLDER = "manifests"
_WAIT = "wait; the condition Migrated says how far it is"


def parts_in(folder: Path) -> list[Part]:
    """All objects of a folder with manifests, without a kustomization; none where there is no folder.

    Raises:
        DefinitionError: a document is no object, or an object is there twice.
        UnreadableError: a file cannot be read as YAML or JSON.
    """
    files = sorted(each for each in folder.glob("*") if each.suffix in _SUFFIXES)
    files = [each for each in files if each.stem != "kustomization"]
    documents = [
        json.loads(each.data)
        for file in files
        for each in read_documents(file.read_bytes(), str(file))
    ]
    return parts_of(documents, str(folder))


class Follower:
    """The installations of one namespace.

    Args:
        cluster: the cluster.
        installation: what is installed there.
        keeper: keeps what the installation remembers.
        check: raises an error where this operator is no longer the one that acts.
        rolling: brings resource types into the cluster.
        leaving: the installations of the namespace that are being deleted: what they have may be taken over.
    """

    def __init__(
        self,
        cluster: Cluster,
        installation: Installation,
        keeper: Keeper,
        check: Callable[[], None],
        rolling: Rolling,
        leaving: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        self._yielding = {owner_of(each) for each in leaving}
        self._cluster = cluster
        self._found = Installations(cluster)
        self._installation = installation
        self._keeper = keeper
        self._check = check
        self._rolling = rolling
        self._unready: dict[str, SemVer | None] = {}
        self._taken: dict[str, str] = {}
        self._applied: set[str] = set()

    def tidy(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Uninstalls what no installation asks for any more, as its package was changed; nothing where one cannot be read, or is held.

        Args:
            documents: all installations of the namespace.
        """
        try:
            wanted = [wanted_of(each) for each in documents]
        except SpecError:
            return
        if any(each.hold for each in wanted):
            return
        asked = {_repository(each) for each in wanted}
        for each in self._installation.packages():
            if each.subscription.repository not in asked:
                with contextlib.suppress(RefusedError):  # Others need it still.
                    uninstall(self._installation, each.name)

    def follow(self, document: Mapping[str, Any]) -> Report:
        """Brings one installation on as far as that goes now; what is in the way is in the report.

        Raises:
            SupersededError: another operator has written meanwhile.
            LostLeaseError: another operator acts.
        """
        report = Report()
        try:
            wanted = wanted_of(document)
            report.stops(wanted.misread.values(), "InvalidAnnotation", ready=True)
            self._take(document, wanted)
            self._follow(document, wanted, report)
        except (SupersededError, LostLeaseError):
            raise
        except SpecError as error:
            report.stops(error.findings, "InvalidSpec")
        except RefusedError as error:
            report.stops(error.refusals)
        except (DamagedError, OtherReleaseError, SchemasError) as error:
            report.stops(error.findings)
        except (TrundleError, OSError) as error:
            report.says("Failed", words_of(error))
        return report

    def remove(self, document: Mapping[str, Any]) -> Report:
        """Takes an installation out of the cluster; the report is ready when it is gone.

        Raises:
            SupersededError: another operator has written meanwhile.
            LostLeaseError: another operator acts.
        """
        report = Report()
        try:
            self._remove(document, report)
        except (SupersededError, LostLeaseError):
            raise
        except RefusedError as error:
            report.stops(error.refusals)
        except (TrundleError, OSError) as error:
            report.says("Failed", words_of(error))
        return report

    def _remove(self, document: Mapping[str, Any], report: Report) -> None:
        leftover = Leftover.UNUSED
        package = None
        with contextlib.suppress(SpecError):  # What is wrong in it is no reason to stay.
            wanted = wanted_of(document)
            leftover, package = wanted.leftover, self._package(wanted)
        if package is not None:
            repository = package.subscription.repository
            heir = self._taken.get(repository)
            if heir is not None and repository not in self._applied:
                report.says("Uninstalling", f"{heir} takes its package over, and is not ready")
                return
            if heir is None:
                uninstall(self._installation, package.name)
                self._keeper.save()
        self._check()
        self._rolling.end(owner_of(document))
        applier = self._applier(document)
        found = applier.finish([], leftover)
        if found.held:
            names = ", ".join(map(str, found.held))
            report.says("Uninstalling", f"finalizers hold {names}")
            return
        applier.forget()
        self._rolling.forget([owner_of(document)])
        report.says("Uninstalled", "all is gone that had to go", ready=True)

    def _follow(self, document: Mapping[str, Any], wanted: Wanted, report: Report) -> None:
        back = None
        self._rolling.check(owner_of(document))
        try:
            package = self._decided(document, wanted, report)
        except RefusedError as error:
            # Until the objects are rewritten, what is installed is looked after.
            present = self._package(wanted)
            if present is None:
                raise
            if error.code is not RefusalCode.STILL_STORED:
                self._kept_up(document, present)
                raise
            goes_back = wanted.roll_back is not None and wanted.roll_back == present.version
            waits = [replace(each, advice=_WAIT) for each in error.refusals]
            report.stops(waits if goes_back else error.refusals, ready=True)
            package = present
            if goes_back:
                with unpacked_before(self._installation, present.name) as folder:
                    back = packed(folder)
        finally:
            self._keeper.save()
        self._check()
        complete(self._installation, package.name)
        self._put(document, wanted, package, report, back)

    def _decided(self, document: Mapping[str, Any], wanted: Wanted, report: Report) -> Package:
        """Decides which version is installed, and fetches it."""
        package = self._package(wanted)
        before = None if package is None else package.digest
        if package is not None:
            hold(self._installation, package.name, wanted)
        follows = package is not None and _follows(package, wanted)
        if wanted.hold and not follows:
            held = _held(wanted)
            if package is None:
                raise RefusedError(held)
            report.stops([held], ready=True)
        elif package is None or not follows:
            asked = Install(
                reference=wanted.reference,
                channel=wanted.channel,
                root=self._root(document, wanted),
                unsigned=wanted.unsigned,
                to=None if package else self._applied_version(document, wanted),
                policy=wanted.policy,
                upgrade=True,
            )
            install(self._installation, asked)
            package = self._package(wanted)
            assert package is not None
        name = package.name
        if package.subscription.policy != wanted.policy and package.pinned is None:
            self._installation.set_policy(name, wanted.policy)
        report.stops(unheard(package, wanted), ready=True)
        if package.pinned is None and self._is_trusted(document, wanted, package, report):
            heard = hear(
                self._installation, name, wanted, lambda: self._check_way_back(document, name)
            )
            report.stops(heard, ready=True)
            result = upgrade(self._installation, [name])
            report.stops(result.refusals.get(name, ()), ready=True)
        outlook = _advised(foresee(self._installation, [name])[0])
        package = self._installation.package(name)
        report.status = self._installation.status(package, outlook)
        report.waits(outlook.plan.blocked)
        report.changed = package.digest != before
        return package

    def _applied_version(self, document: Mapping[str, Any], wanted: Wanted) -> SemVer | None:
        """The version that is in the cluster where the operator no longer knows it: its policy decides on what comes after that."""
        applier = self._applier(document)
        applier.earlier()
        version, _, repository = _parts_of(applier.release)
        known = not wanted.pinned and repository == _repository(wanted)
        return SemVer.parse(version) if known else None

    def _check_way_back(self, document: Mapping[str, Any], name: str) -> None:
        """Refuses the release before as long as the cluster serves, or may store, what that does not know.

        Raises:
            RefusedError: it does.
        """
        with unpacked_before(self._installation, name) as folder:
            back = packed(folder)
        unknown = [] if back is None else self._rolling.unknown(owner_of(document), back)
        if unknown:
            code = RefusalCode.STILL_STORED
            raise RefusedError(
                *(refusal(code, str(x.place), x.expected, x.found, _WAIT) for x in unknown)
            )

    def _put(
        self,
        document: Mapping[str, Any],
        wanted: Wanted,
        package: Package,
        report: Report,
        back: bytes | None,
    ) -> None:
        """Applies what a package carries, waits until it is ready, and prunes."""
        missing = [
            each.name
            for each in package.manifest.requirements
            if each.name in self._unready and not self._will_do(each.name, each.range)
        ]
        applier, objects = self._applier(document), self._objects(document)
        applier.earlier()  # Reads which release is in the cluster.
        report.version, report.digest, _ = _parts_of(applier.release)
        self._unready[package.name] = None
        if missing:
            self._kept_up(document, package)
            report.says("Waiting", f"{', '.join(missing)} has to be ready first")
            return
        version = str(package.release.version)
        release = f"{version} {package.digest} {package.subscription.repository}"
        parts = self._brought_in(document, package, report, back, applier, release)
        if parts is None:
            return
        report.version, report.digest = version, package.digest
        self._check()
        report.migration = self._rolling.migrated(owner_of(document), applied=True)
        waiting = _unready(objects, parts)
        if waiting:
            report.says("Waiting", waiting)
            return
        found = applier.finish(parts, wanted.leftover)
        del self._unready[package.name]
        self._applied.add(package.subscription.repository)
        number = f"{len(parts)} object{'' if len(parts) == 1 else 's'}"
        message = f"{report.version} is in the cluster, with {number}"
        for verb, some in (
            ("stays, as it has objects or is to", found.kept),
            ("is still being deleted", found.held),
        ):
            message += "".join(f"; {each} {verb}" for each in some)
        report.says("Applied", message, ready=True)

    def _written(
        self,
        applier: Applier,
        parts: list[Part],
        report: Report,
        release: str,
        *,
        is_new: bool,
    ) -> bool:
        """Writes the objects of a release; whether all of it is written. Where one is refused that was not before, the report says so."""
        try:
            applier.put(parts, release=release)
        except (RequestError, OwnedError) as error:
            version = _parts_of(release)[0]
            partly = f"; {version} may be in the cluster in part" if is_new else ""
            report.says("Failed", words_of(error) + partly)
            return False
        return True

    def _will_do(self, name: str, allowed: VersionRange) -> bool:
        """Whether a release that is kept up, in place of one that is not there yet, is among the versions that a package requires."""
        version = self._unready[name]
        return version is not None and version in allowed

    def _brought_in(
        self,
        document: Mapping[str, Any],
        package: Package,
        report: Report,
        back: bytes | None,
        applier: Applier,
        release: str,
    ) -> list[Part] | None:
        """Applies what a package carries; None where that cannot be, as the report says then, and the release before is kept up."""
        is_new, version = release != applier.release, str(package.release.version)
        try:
            parts = self._parts(document, package, report, back, applier if is_new else None)
            if parts is not None:
                is_whole = self._written(applier, parts, report, release, is_new=is_new)
                return parts if is_whole else None
            if is_new:
                self._kept_up(document, package)
        except RejectedError as error:
            self._stays(document, package, report, rejections(error, version))
        except OtherReleaseError as error:
            self._stays(document, package, report, error.findings)
        except SchemasError:
            self._kept_up(document, package)
            raise
        report.migration = self._rolling.migrated(owner_of(document))
        return None

    def _stays(
        self,
        document: Mapping[str, Any],
        package: Package,
        report: Report,
        findings: Iterable[Finding],
    ) -> None:
        """Says why a release is not applied, keeps the one before up, and says whether that is ready."""
        report.stops(findings, ready=bool(report.version))
        report.away = True  # What refuses it may let it in soon.
        waiting, beyond = self._kept_up(document, package)
        partly = f"; of {package.release.version} there is {beyond}" if beyond else ""
        if not report.version:
            report.message += partly
        elif waiting:
            report.says("Waiting", waiting + partly)
        else:
            report.says("Applied", f"{report.version} stays in the cluster{partly}", ready=True)

    def _kept_up(self, document: Mapping[str, Any], package: Package) -> tuple[str, str]:
        """Puts back what was deleted or changed by hand of the release that is in the cluster, where another one cannot be applied now.

        CRDs of its manifests that are there stay as they are: the other release may have brought them.

        Returns:
            Why it is not ready, and what is there of other releases; empty where there is nothing to say.
        """
        applier, objects = self._applier(document), self._objects(document)
        parts = applier.earlier()
        version, digest, repository = _parts_of(applier.release)
        if not version:
            return "", listed(map(str, applier.beyond([])))
        try:
            if repository == package.subscription.repository:
                found = unpacked_release(self._installation, package.name, version, digest)
                with found as folder:
                    own = parts_in(folder / _FOLDER)
                    parts = [*self._rolling.standing(owner_of(document), folder), *own]
                kept = [each for each in parts if each not in own or not _is_crd(objects, each)]
                applier.put(kept, release=applier.release)
        except (SupersededError, LostLeaseError):
            raise
        except RefusedError:
            pass  # It cannot be had any more, and is looked at all the same.
        except (TrundleError, OSError) as error:
            return words_of(error), ""
        waiting = _unready(objects, parts)
        if not waiting:
            self._unready[package.name] = SemVer.parse(version)
        return waiting, listed(map(str, applier.beyond(parts)))

    def _parts(
        self,
        document: Mapping[str, Any],
        package: Package,
        report: Report,
        back: bytes | None,
        trial: Applier | None,
    ) -> list[Part] | None:
        """All that a package carries; None where it cannot be applied yet, as the report says then.

        Args:
            document: the installation.
            package: the package.
            report: the report.
            back: the packed schemas of an earlier release that is to be gone back to; None for none.
            trial: tries the objects before webhooks and the cluster are changed; None where the release is there already.

        Raises:
            RejectedError: the cluster does not take some of them.
        """
        folder, objects = self._installation.folders.of(package), self._objects(document)
        own = parts_in(folder / _FOLDER)
        findings = list(unreadable(objects, own))
        if findings:
            report.stops(findings)
            return None
        if trial is not None:
            trial.attempt(own, self._rolling.kinds(folder))
        stage = self._rolling.brought(owner_of(document), package, folder, own, back)
        self._check()
        findings = [*stage.findings, *unreadable(objects, stage.parts)]
        report.stops(findings)
        if stage.waiting:
            report.says("Waiting", stage.waiting)
        if findings or stage.waiting:
            return None
        if trial is not None:
            trial.attempt(stage.parts)
        return [*stage.parts, *own]

    def _take(self, document: Mapping[str, Any], wanted: Wanted) -> None:
        """Refuses a package that another installation of the namespace asks for.

        Raises:
            SpecError: there is one.
        """
        name, repository = _name(document), _repository(wanted)
        other = self._taken.setdefault(repository, name)
        if other != name:
            place = Place(object=f"{document['kind']} {name}", path="spec.package")
            expected, found = "a package once in a namespace", f"the same as {other}"
            advice = "delete one of them, or use another namespace"
            raise SpecError([Finding(KubernetesCode.SPEC, place, expected, found, advice)])

    def _package(self, wanted: Wanted) -> Package | None:
        """What is installed from the repository that is wanted."""
        repository = _repository(wanted)
        found = [
            each
            for each in self._installation.packages()
            if each.subscription.repository == repository
        ]
        return found[0] if found else None

    def _is_trusted(
        self, document: Mapping[str, Any], wanted: Wanted, package: Package, report: Report
    ) -> bool:
        """Whether the Secret still has the root that the channel is verified by; one that is gone is not needed any more."""
        try:
            root = self._root(document, wanted)
            if root is not None:
                check_root(self._installation, package, root)
        except ClusterError:
            return True
        except RefusedError as error:
            report.stops(error.refusals, ready=True)
            return error.code is not RefusalCode.BAD_SIGNATURE
        return True

    def _root(self, document: Mapping[str, Any], wanted: Wanted) -> bytes | None:
        if not wanted.secret:
            return None
        return self._found.secret(document["metadata"]["namespace"], wanted.secret, wanted.key)

    def _objects(self, document: Mapping[str, Any]) -> Objects:
        return Objects(self._cluster, document["metadata"]["namespace"], self._check)

    def _applier(self, document: Mapping[str, Any]) -> Applier:
        return Applier(self._objects(document), _name(document), yielding=self._yielding)


def _is_crd(objects: Objects, part: Part) -> bool:
    """Whether an object is a CRD that is in the cluster."""
    return part.kind == DEFINITION and objects.exists(part)


def _unready(objects: Objects, parts: Iterable[Part]) -> str:
    """Which objects are not ready, and why; empty where all are."""
    whys = [(each, _why(objects, each)) for each in parts]
    return "; ".join(f"{each}: {why}" for each, why in whys if why)


def _why(objects: Objects, part: Part) -> str:
    try:
        return unready(objects.get(part))
    except DefinitionError:
        return "its CRD is not there"


def owner_of(document: Mapping[str, Any]) -> str:
    """What an installation is called as the owner of what is in the cluster: its namespace and its name."""
    return f"{document['metadata']['namespace']}/{_name(document)}"


def _name(document: Mapping[str, Any]) -> str:
    """What a document calls its release, and no other kind does."""
    name: str = document["metadata"]["name"]
    return name if document["kind"] == KIND else f"{document['kind'].lower()}-{name}"


def _advised(outlook: Outlook) -> Outlook:
    """An outlook with advice that can be followed in a cluster."""
    refusals = tuple(map(advised, outlook.plan.refusals))
    plan = msgspec.structs.replace(outlook.plan, refusals=refusals)
    return msgspec.structs.replace(outlook, plan=plan)


def _held(wanted: Wanted) -> Finding:
    found = f"everything is held: {wanted.hold}"
    return refusal(RefusalCode.HELD, wanted.reference, "what is not held", found)


def _parts_of(release: str) -> tuple[str, str, str]:
    """The version, the digest and the repository of a release, as they are remembered; empty where there is none."""
    version, digest, repository = (*release.split(" "), "", "", "")[:3]
    return version, digest, repository


def _repository(wanted: Wanted) -> str:
    found = Reference.parse(wanted.reference)
    return str(msgspec.structs.replace(found, tag=None, digest=None))


def _follows(package: Package, wanted: Wanted) -> bool:
    """Whether a package is installed as it is wanted."""
    if wanted.pinned:
        return package.pinned == wanted.reference
    follows = package.subscription
    same = (wanted.channel or "stable") == follows.channel
    return package.pinned is None and same and follows.signed != wanted.unsigned
