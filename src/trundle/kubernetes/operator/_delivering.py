"""Brings releases into the cluster, in the order that they need, and keeps the one before up where a release cannot be applied."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from trundle.channels import RefusedError
from trundle.documents import plain
from trundle.errors import Finding, TrundleError, listed
from trundle.installation import Installation, InstalledPackage, unpacked_release
from trundle.kubernetes._cluster import BUSY, Cluster, RequestError
from trundle.kubernetes._errors import DefinitionError
from trundle.kubernetes.operator._advice import rejections, words_of
from trundle.kubernetes.operator._applying import Applier, Leftover
from trundle.kubernetes.operator._dry_run import RejectedError
from trundle.kubernetes.operator._leadership import LostLeaseError
from trundle.kubernetes.operator._objects import Objects, OwnedError
from trundle.kubernetes.operator._ordering import DEFINITION, Part, parts_of
from trundle.kubernetes.operator._readiness import unready
from trundle.kubernetes.operator._releases import OtherReleaseError
from trundle.kubernetes.operator._remembered import SupersededError
from trundle.kubernetes.operator._reporting import Report
from trundle.kubernetes.operator._rolling import Rolling
from trundle.kubernetes.operator._schemas import SchemasError
from trundle.kubernetes.operator._storage import unreadable
from trundle.kubernetes.operator._wanted import KIND
from trundle.project import UnreadableError, parse_documents
from trundle.version import SemVer, VersionRange

_SUFFIXES = frozenset({".json", ".yaml", ".yml"})
_FOLDER = "manifests"


def parts_in(folder: Path) -> list[Part]:
    """All objects of a folder with manifests, without a kustomization; none where there is no folder.

    Raises:
        DefinitionError: a document is no object, or an object is there twice.
        UnreadableError: a file cannot be read as YAML or JSON.
    """
    files = sorted(each for each in folder.glob("*") if each.suffix in _SUFFIXES)
    files = [each for each in files if each.stem != "kustomization"]
    documents = {
        file: [plain(each.root) for each in parse_documents(file.read_bytes(), str(file))]
        for file in files
    }
    for file, some in documents.items():
        parts_of(some, str(file))  # What is wrong in one is said of that.
    return parts_of([each for some in documents.values() for each in some], str(folder))


class Delivery:
    """Brings what is installed in a namespace into the cluster.

    Args:
        cluster: the cluster.
        installation: what is installed.
        check: raises an error where this operator is no longer the one that acts.
        rolling: brings resource types into the cluster.
        yielding: the owners whose objects may be taken over.
    """

    def __init__(
        self,
        cluster: Cluster,
        installation: Installation,
        check: Callable[[], None],
        rolling: Rolling,
        yielding: Collection[str] = (),
    ) -> None:
        self._cluster = cluster
        self._installation = installation
        self._check = check
        self._rolling = rolling
        self._yielding = yielding
        self._unready: dict[str, SemVer | None] = {}
        self._applied: set[str] = set()

    def has_applied(self, repository: str) -> bool:
        """Whether the package of a repository is in the cluster and ready, as `put` has found."""
        return repository in self._applied

    def release_of(self, document: Mapping[str, Any]) -> tuple[str, str, str]:
        """The version, the digest and the repository of the release that an installation has in the cluster; empty where it has none."""
        applier = self.applier(document)
        applier.earlier()
        return _parts_of(applier.release)

    def applier(self, document: Mapping[str, Any]) -> Applier:
        """What writes the objects of an installation."""
        return Applier(self._objects(document), name_of(document), yielding=self._yielding)

    def _objects(self, document: Mapping[str, Any]) -> Objects:
        return Objects(self._cluster, document["metadata"]["namespace"], self._check)

    def put(
        self,
        document: Mapping[str, Any],
        package: InstalledPackage,
        report: Report,
        *,
        leftover: Leftover,
        back: bytes | None,
    ) -> None:
        """Applies what a package carries, and prunes when it is ready; the report says how far that is.

        Args:
            document: the installation.
            package: the package that is installed.
            report: the report.
            leftover: what becomes of objects that no release has any more.
            back: the packed schemas of an earlier release that is to be gone back to; None for none.
        """
        missing = [
            each.name
            for each in package.manifest.requirements
            if each.name in self._unready and not self._will_do(each.name, each.range)
        ]
        applier, objects = self.applier(document), self._objects(document)
        applier.earlier()  # Reads which release is in the cluster.
        report.version, report.digest, _ = _parts_of(applier.release)
        self._unready[package.name] = None
        if missing:
            self.keep_up(document)
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
        found = applier.finish(parts, leftover)
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

    def leave(
        self,
        document: Mapping[str, Any],
        package: InstalledPackage,
        report: Report,
        findings: Iterable[Finding],
    ) -> None:
        """Keeps up what is in the cluster, where the content of what is installed is not here.

        Args:
            document: the installation.
            package: the package that is installed.
            report: gets what is there, and whether that is ready.
            findings: why the content is not here.
        """
        self._unready[package.name] = None
        report.version, report.digest, _ = self.release_of(document)
        self._stays(document, package, report, findings)

    def _written(
        self,
        applier: Applier,
        parts: list[Part],
        report: Report,
        release: str,
        *,
        is_new: bool,
    ) -> bool:
        """Writes the objects of a release; whether all of it is written. Where one is refused of the release that is there, the report says so.

        Raises:
            RejectedError: one is refused of another release.
        """
        try:
            applier.put(parts, release=release)
        except (RequestError, OwnedError) as error:
            is_busy = isinstance(error, RequestError) and error.status in BUSY
            if is_new and not is_busy:
                raise RejectedError([error], "what comes before it was applied") from None
            version = _parts_of(release)[0]
            report.says("Failed", words_of(error) + (_in_part(version) if is_new else ""))
            return False
        return True

    def _will_do(self, name: str, allowed: VersionRange) -> bool:
        """Whether a release that is kept up, in place of one that is not there yet, is among the versions that a package requires."""
        version = self._unready[name]
        return version is not None and version in allowed

    def _brought_in(
        self,
        document: Mapping[str, Any],
        package: InstalledPackage,
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
                self.keep_up(document)
        except RejectedError as error:
            self._stays(document, package, report, rejections(error, version))
        except OtherReleaseError as error:
            self._stays(document, package, report, error.findings)
        except SchemasError:
            self.keep_up(document)
            raise
        report.migration = self._rolling.migrated(owner_of(document))
        return None

    def _stays(
        self,
        document: Mapping[str, Any],
        package: InstalledPackage,
        report: Report,
        findings: Iterable[Finding],
    ) -> None:
        """Says why a release is not applied, keeps the one before up, and says whether that is ready."""
        report.stops(findings, ready=bool(report.version))
        report.away = True  # What refuses it may let it in soon.
        waiting, beyond = self.keep_up(document)
        partly = f"; of {package.release.version} there is {beyond}" if beyond else ""
        if not report.version:
            report.message += partly
        elif waiting:
            report.says("Waiting", waiting + partly)
        else:
            report.says("Applied", f"{report.version} stays in the cluster{partly}", ready=True)

    def keep_up(self, document: Mapping[str, Any]) -> tuple[str, str]:
        """Puts back what was deleted or changed by hand of the release that is in the cluster, where another one cannot be applied now.

        CRDs of its manifests that are there stay as they are: the other release may have brought them.

        Returns:
            Why it is not ready, and what is there of other releases; empty where there is nothing to say.
        """
        applier, objects = self.applier(document), self._objects(document)
        parts = applier.earlier()
        version, digest, repository = _parts_of(applier.release)
        if not version:
            return "", listed(map(str, applier.beyond([])))
        try:
            with unpacked_release(self._installation, repository, version, digest) as folder:
                own = parts_in(folder / _FOLDER)
                parts = [*self._rolling.standing(owner_of(document), folder), *own]
            kept = [each for each in parts if each not in own or not _is_crd(objects, each)]
            applier.put(kept, release=applier.release)
        except (SupersededError, LostLeaseError):
            raise
        except RefusedError as error:
            # It cannot be had any more, and is looked at all the same.
            if applier.refused.release:  # But what is there may be of the release that was begun.
                return words_of(error) + _begun(applier), ""
        except (TrundleError, OSError) as error:
            return words_of(error) + _begun(applier), ""
        waiting = _unready(objects, parts)
        if not waiting:
            for each in self._installation.packages():
                if each.subscription.repository == repository:
                    self._unready[each.name] = SemVer.parse(version)
        return waiting, listed(map(str, applier.beyond(parts)))

    def _parts(
        self,
        document: Mapping[str, Any],
        package: InstalledPackage,
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
            RejectedError: the cluster does not take some of them, or they cannot be read.
        """
        folder, objects = self._installation.folders.of(package), self._objects(document)
        own = _readable_parts(folder)
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


def _readable_parts(folder: Path) -> list[Part]:
    """The objects of a package in a folder.

    Raises:
        RejectedError: they cannot be read.
    """
    try:
        return parts_in(folder / _FOLDER)
    except (DefinitionError, UnreadableError) as error:
        named = error.where if isinstance(error, DefinitionError) else f"{error.file}:{error.line}"
        where = named.removeprefix(f"{folder}/")
        wrong = DefinitionError(where, error.expected, error.found, error.advice)
        raise RejectedError([wrong], "nothing was applied") from None


def _begun(applier: Applier) -> str:
    """What is to be said where the release before cannot be put back; nothing where none was begun after it."""
    version = _parts_of(applier.refused.release)[0]
    return _in_part(version) if version else ""


def _in_part(version: str) -> str:
    return f"; {version} may be in the cluster in part"


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
    return f"{document['metadata']['namespace']}/{name_of(document)}"


def name_of(document: Mapping[str, Any]) -> str:
    """What a document calls its release, and no other kind does."""
    name: str = document["metadata"]["name"]
    return name if document["kind"] == KIND else f"{document['kind'].lower()}-{name}"


def _parts_of(release: str) -> tuple[str, str, str]:
    """The version, the digest and the repository of a release, as they are remembered; empty where there is none."""
    version, digest, repository = (*release.split(" "), "", "", "")[:3]
    return version, digest, repository
