"""What acts on the world for packages: folders, processes, and a journal in a file.

Each provider carries out effects of the engine, and needs nothing of an environment: `Engine(..., providers={"folder": FolderProvider(...)})`.
"""

from trundle.providers._file_journal import FileJournal
from trundle.providers._folder import FolderProvider
from trundle.providers._process import ProcessProvider

__all__ = ["FileJournal", "FolderProvider", "ProcessProvider"]
