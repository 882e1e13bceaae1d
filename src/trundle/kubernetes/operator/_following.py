"""Follows the installations of one namespace: decides as `installation` does, and has what was decided brought into the cluster."""

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from trundle.channels import RefusalCode, RefusedError, refusal
from trundle.errors import Finding, Place, TrundleError
from trundle.installation import (
    Install,
    Installation,
    InstalledPackage,
    check_root,
    complete,
    foresee,
    install,
    uninstall_together,
    unpacked_before,
    upgrade,
)
from trundle.kubernetes._cluster import Cluster, ClusterError
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes.operator._advice import foreseen, words_of
from trundle.kubernetes.operator._annotations import carry_out, hold, not_carried_out
from trundle.kubernetes.operator._applying import Leftover
from trundle.kubernetes.operator._delivering import Delivery, name_of, owner_of
from trundle.kubernetes.operator._installations import Installations, MissingRootError
from trundle.kubernetes.operator._leadership import LostLeaseError
from trundle.kubernetes.operator._releases import OtherReleaseError
from trundle.kubernetes.operator._remembered import Keeper, SupersededError
from trundle.kubernetes.operator._reporting import Report
from trundle.kubernetes.operator._rolling import Rolling
from trundle.kubernetes.operator._schemas import SchemasError, packed
from trundle.kubernetes.operator._serving import DamagedRecordError
from trundle.kubernetes.operator._wanted import SpecError, Wanted, wanted_of
from trundle.registry import Reference
from trundle.version import SemVer

_WAIT = "wait; the condition Migrated says how far it is"


class Follower:
    """The installations of one namespace.

    Args:
        cluster: the cluster.
        installation: what is installed there.
        keeper: keeps what the installation remembers.
        check: raises an error where this operator is no longer the one that acts.
        rolling: brings resource types into the cluster.
        documents: all installations of the namespace.
        yielding: the owners, of any namespace, whose objects may be taken over.
    """

    def __init__(
        self,
        cluster: Cluster,
        installation: Installation,
        keeper: Keeper,
        check: Callable[[], None],
        rolling: Rolling,
        documents: Sequence[Mapping[str, Any]],
        yielding: Collection[str],
    ) -> None:
        self._documents = documents
        self._delivery = Delivery(cluster, installation, check, rolling, yielding)
        self._found = Installations(cluster)
        self._installation = installation
        self._keeper = keeper
        self._check = check
        self._rolling = rolling
        self._taken: dict[str, str] = {}

    def tidy(self) -> None:
        """Uninstalls what no installation asks for any more, as its package was changed; nothing where one cannot be read, or is held."""
        try:
            wanted = [wanted_of(each) for each in self._documents]
        except SpecError:
            return
        if any(each.hold for each in wanted):
            return
        asked = {_repository(each) for each in wanted}
        for each in self._installation.packages():
            if each.subscription.repository not in asked:
                with contextlib.suppress(RefusedError):  # Others need it still.
                    uninstall_together(self._installation, [each.name])

    def follow(self, document: Mapping[str, Any]) -> Report:
        """Brings one installation on as far as that goes now; what is in the way is in the report.

        Raises:
            SupersededError: another operator has written meanwhile.
            LostLeaseError: another operator acts.
        """
        report = Report()
        try:
            self._follow(document, self._wanted(document, report), report)
        except (SupersededError, LostLeaseError):
            raise
        except SpecError as error:
            report.stops(error.findings, "InvalidSpec")
        except RefusedError as error:
            report.stops(error.refusals)
        except (DamagedRecordError, MissingRootError, OtherReleaseError, SchemasError) as error:
            report.stops(error.findings)
        except (TrundleError, OSError) as error:
            report.says("Failed", words_of(error))
        return report

    def _wanted(self, document: Mapping[str, Any], report: Report) -> Wanted:
        """What an installation asks for.

        Raises:
            SpecError: it cannot be understood, or another one asks for the same; what is in the cluster is kept up.
        """
        try:
            wanted = wanted_of(document)
            report.stops(wanted.misread.values(), "InvalidAnnotation", ready=True)
            self._take(document, wanted)
        except SpecError:
            self._delivery.keep_up(document)
            raise
        return wanted

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
            if heir is not None and not self._delivery.has_applied(repository):
                report.says("Uninstalling", f"{heir} takes its package over, and is not ready")
                return
            if heir is None:
                self._uninstall(package)
                self._keeper.save()
        self._check()
        self._rolling.end(owner_of(document))
        applier = self._delivery.applier(document)
        found = applier.finish([], leftover)
        if found.held:
            names = ", ".join(map(str, found.held))
            report.says("Uninstalling", f"finalizers hold {names}")
            return
        applier.forget()
        self._rolling.forget([owner_of(document)])
        report.says("Uninstalled", "all is gone that had to go", ready=True)

    def _uninstall(self, package: InstalledPackage) -> None:
        """Uninstalls a package, and with it those that it needs, where these need it and are to go as well.

        Raises:
            RefusedError: what stays, or goes before it, needs it.
        """
        repositories = self._going()
        going = {
            each.name: each
            for each in self._installation.packages()
            if each.subscription.repository in repositories
        }
        group, waiting = {package.name}, [package]
        while waiting:
            needed = {each.name for each in waiting.pop().manifest.requirements}
            found = (needed & going.keys()) - group
            group |= found
            waiting += [going[each] for each in found]
        try:
            uninstall_together(self._installation, [package.name])
        except RefusedError as error:
            if error.code is not RefusalCode.DEPENDENCY_CONFLICT:
                raise
            with contextlib.suppress(RefusedError):
                uninstall_together(self._installation, group)
                return
            raise

    def _going(self) -> set[str]:
        """The repositories whose packages no installation asks for that stays."""
        found = set()
        for each in filter(is_leaving, self._documents):
            with contextlib.suppress(SpecError):
                found.add(_repository(wanted_of(each)))
        return found - self._taken.keys()

    def _follow(self, document: Mapping[str, Any], wanted: Wanted, report: Report) -> None:
        back = None
        self._rolling.check(owner_of(document))
        try:
            package = self._decided(document, wanted, report)
        except (RefusedError, MissingRootError) as error:
            # Until the objects are rewritten, what is installed is looked after.
            present = self._package(wanted)
            if present is None or error.code is not RefusalCode.STILL_STORED:
                self._delivery.keep_up(document)
                raise
            goes_back = wanted.roll_back is not None and wanted.roll_back == present.version
            waits = [replace(each, advice=_WAIT) for each in error.findings]
            report.stops(waits if goes_back else error.findings, ready=True)
            package = present
            if goes_back:
                with unpacked_before(self._installation, present.name) as folder:
                    back = packed(folder)
        finally:
            self._keeper.save()
        self._check()
        try:
            complete(self._installation, package.name)
        except RefusedError as error:
            self._delivery.leave(document, package, report, error.refusals)
            return
        self._delivery.put(document, package, report, leftover=wanted.leftover, back=back)

    def _decided(
        self, document: Mapping[str, Any], wanted: Wanted, report: Report
    ) -> InstalledPackage:
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
        report.stops(not_carried_out(package, wanted), ready=True)
        if package.pinned is None and self._is_trusted(document, wanted, package, report):
            back = {name: document} | self._going_back(document)

            def check_way_back(each: str) -> None:
                self._check_way_back(back[each], each)

            others = [each for each in back if each != name]
            refused = carry_out(self._installation, name, wanted, check_way_back, others)
            report.stops(refused, ready=True)
            result = upgrade(self._installation, [name])
            report.stops(result.refusals.get(name, ()), ready=True)
        outlook = foreseen(foresee(self._installation, [name])[0], self._installation.holds(name))
        package = self._installation.package(name)
        report.status = self._installation.status(package, outlook)
        report.waits(outlook.plan.blocked)
        report.changed = package.digest != before
        return package

    def _applied_version(self, document: Mapping[str, Any], wanted: Wanted) -> SemVer | None:
        """The version that is in the cluster where the operator no longer knows it: its policy decides on what comes after that."""
        version, _, repository = self._delivery.release_of(document)
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

    def _going_back(self, document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """The other installations of the namespace that are asked to go back from what they have, by their packages."""
        found: dict[str, Mapping[str, Any]] = {}
        for each in self._documents:
            if is_leaving(each) or name_of(each) == name_of(document):
                continue
            try:
                wanted = wanted_of(each)
            except SpecError:
                continue
            package = self._package(wanted)
            goes = package is not None and package.pinned is None and not wanted.hold
            if package is not None and goes and wanted.roll_back == package.version:
                found.setdefault(package.name, each)
        return found

    def _take(self, document: Mapping[str, Any], wanted: Wanted) -> None:
        """Refuses a package that another installation of the namespace asks for.

        Raises:
            SpecError: there is one.
        """
        name, repository = name_of(document), _repository(wanted)
        other = self._taken.setdefault(repository, name)
        if other != name:
            metadata = document["metadata"]
            where = f"{document['kind']} {metadata['namespace']}/{metadata['name']}"
            place = Place(object=where, path="spec.package")
            expected, found = "a package once in a namespace", f"the same as {other}"
            advice = "delete one of them, or use another namespace"
            raise SpecError([Finding(KubernetesCode.SPEC, place, expected, found, advice)])

    def _package(self, wanted: Wanted) -> InstalledPackage | None:
        """What is installed from the repository that is wanted."""
        repository = _repository(wanted)
        found = [
            each
            for each in self._installation.packages()
            if each.subscription.repository == repository
        ]
        return found[0] if found else None

    def _is_trusted(
        self, document: Mapping[str, Any], wanted: Wanted, package: InstalledPackage, report: Report
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


def is_leaving(document: Mapping[str, Any]) -> bool:
    """Whether an installation is being deleted."""
    return "deletionTimestamp" in document["metadata"]


def _held(wanted: Wanted) -> Finding:
    found = f"everything is held: {wanted.hold}"
    return refusal(RefusalCode.HELD, wanted.reference, "what is not held", found)


def _repository(wanted: Wanted) -> str:
    found = Reference.parse(wanted.reference)
    return str(msgspec.structs.replace(found, tag=None, digest=None))


def _follows(package: InstalledPackage, wanted: Wanted) -> bool:
    """Whether a package is installed as it is wanted."""
    if wanted.pinned:
        return package.pinned == wanted.reference
    follows = package.subscription
    same = (wanted.channel or "stable") == follows.channel
    return package.pinned is None and same and follows.signed != wanted.unsigned
