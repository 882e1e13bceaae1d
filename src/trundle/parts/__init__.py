"""Converts documents in folders part by part, each exactly once, by as many processes and machines as there are."""

from trundle.parts._errors import (
    ChangedError,
    NoDocumentsError,
    OtherJobError,
    UnusableFileError,
)
from trundle.parts._jobs import ConversionOptions
from trundle.parts._running import PART_SIZE, ConvertedFolder, FolderConversion

__all__ = [
    "PART_SIZE",
    "ChangedError",
    "ConversionOptions",
    "ConvertedFolder",
    "FolderConversion",
    "NoDocumentsError",
    "OtherJobError",
    "UnusableFileError",
]
