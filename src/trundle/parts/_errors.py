"""What can go wrong with documents in folders."""

from trundle.errors import Code, ExpectationError, Kind


class PartsCode(Code):
    """What can be wrong with folders of documents."""

    NONE = "no-documents"
    FILE = "unusable-documents"
    CHANGED = "documents-changed"
    OTHER_JOB = "folder-of-another-job"
    UNREACHABLE = "folder-unreachable"


class NoDocumentsError(ExpectationError):
    """There are no documents where they should be."""

    kind = Kind.NOT_FOUND
    code = PartsCode.NONE


class UnusableFileError(ExpectationError):
    """A file that is neither JSON lines nor Parquet, or lacks what it should have."""

    kind = Kind.REFUSED
    code = PartsCode.FILE


class ChangedError(ExpectationError):
    """A file that changed since the job began."""

    kind = Kind.CONFLICT
    code = PartsCode.CHANGED


class OtherJobError(ExpectationError):
    """A folder in which another job keeps its results."""

    kind = Kind.CONFLICT
    code = PartsCode.OTHER_JOB


class UnreachableFolderError(ExpectationError):
    """A folder of another file system that does not answer, or not with what was asked."""

    kind = Kind.UNREACHABLE
    code = PartsCode.UNREACHABLE
