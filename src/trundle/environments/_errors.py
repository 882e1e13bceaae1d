"""What can go wrong with environments."""

from collections.abc import Iterable

from trundle.errors import Code, ExpectationError, Finding, Kind, TrundleError


class EnvironmentCode(Code):
    """What can be wrong with environments."""

    MISSING = "environment-not-found"
    EXISTS = "environment-exists"
    DEPLOYMENT = "deployment-not-found"
    DRAFT = "draft-not-found"
    OUTDATED = "draft-outdated"
    BUSY = "environment-busy"
    SUPERSEDED = "run-superseded"
    IN_USE = "provider-in-use"
    NO_SECRET = "secret-not-found"  # noqa: S105 - a code, not a secret
    OBJECT = "object-not-in-model"
    NAME = "invalid-environment"
    SECRET = "invalid-secret"  # noqa: S105 - a code, not a secret
    UNFINISHED = "environment-unfinished"
    MAJOR = "several-major-versions"
    ACTION = "action-not-found"
    CHOICE = "invalid-application"


class EnvironmentsError(TrundleError):
    """Base of the errors of environments; those of the database are `trundle.database.DatabaseError`."""


class InvalidNameError(EnvironmentsError, ExpectationError):
    """Nothing can be called so."""

    kind = Kind.USAGE
    code = EnvironmentCode.NAME


class InvalidSecretError(EnvironmentsError, ExpectationError):
    """A secret cannot be kept."""

    kind = Kind.USAGE
    code = EnvironmentCode.SECRET


class NoSuchEnvironmentError(EnvironmentsError, ExpectationError):
    """The tenant has no such environment."""

    kind = Kind.NOT_FOUND
    code = EnvironmentCode.MISSING


class EnvironmentExistsError(EnvironmentsError, ExpectationError):
    """The tenant has such an environment already."""

    kind = Kind.EXISTS
    code = EnvironmentCode.EXISTS


class NoSuchDeploymentError(EnvironmentsError, ExpectationError):
    """The environment has no such deployment."""

    kind = Kind.NOT_FOUND
    code = EnvironmentCode.DEPLOYMENT


class NoSuchActionError(EnvironmentsError, ExpectationError):
    """The environment has no such action."""

    kind = Kind.NOT_FOUND
    code = EnvironmentCode.ACTION


class NoSuchDraftError(EnvironmentsError, ExpectationError):
    """The environment has no such draft."""

    kind = Kind.NOT_FOUND
    code = EnvironmentCode.DRAFT


class NoSuchSecretError(EnvironmentsError, ExpectationError):
    """The environment keeps no such secret."""

    kind = Kind.NOT_FOUND
    code = EnvironmentCode.NO_SECRET


class NoSuchObjectError(EnvironmentsError, ExpectationError):
    """The model has no such object."""

    kind = Kind.NOT_FOUND
    code = EnvironmentCode.OBJECT


class OutdatedDraftError(EnvironmentsError, ExpectationError):
    """The environment or the draft has changed since it was read; nothing was written."""

    kind = Kind.CONFLICT
    code = EnvironmentCode.OUTDATED


class EnvironmentBusyError(EnvironmentsError, ExpectationError):
    """Another process deploys the environment."""

    kind = Kind.CONFLICT
    code = EnvironmentCode.BUSY


class SupersededError(EnvironmentsError, ExpectationError):
    """A run has lost its environment to a later one, and does nothing more."""

    kind = Kind.CONFLICT
    code = EnvironmentCode.SUPERSEDED


class ProviderInUseError(EnvironmentsError, ExpectationError):
    """A provider is to reach another place, while there are effects of it at the one where it is."""

    kind = Kind.REFUSED
    code = EnvironmentCode.IN_USE


class UnfinishedError(EnvironmentsError, ExpectationError):
    """The environment is not deployed as it is wanted."""

    kind = Kind.REFUSED
    code = EnvironmentCode.UNFINISHED


class MajorError(EnvironmentsError, ExpectationError):
    """A package has objects in several major versions, and one is to be chosen."""

    kind = Kind.REFUSED
    code = EnvironmentCode.MAJOR


class ChoiceError(EnvironmentsError, ExpectationError):
    """What is to be added to a model is not said so that it can be."""

    kind = Kind.USAGE
    code = EnvironmentCode.CHOICE


class ArrivalError(EnvironmentsError):
    """The catalog does not take the packages that are installed; nothing was stored.

    Attributes:
        findings: why.
    """

    kind = Kind.REFUSED

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("; ".join(each.coded for each in self.findings))
