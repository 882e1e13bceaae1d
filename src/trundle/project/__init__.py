"""A project on disk: its `trundle.yaml`, its documents, and the folder that Trundle generates."""

from trundle.project.config import Config, config_schema, load_config, parse_config
from trundle.project.documents import Document, read_documents, write_documents
from trundle.project.errors import (
    AlreadyExistsError,
    ConfigError,
    ConfigMissingError,
    DocumentError,
    OutputBusyError,
    OutputError,
    OutputRefusedError,
    ProjectError,
)
from trundle.project.init import CONFIG_NAME, plan_init, write_new_files
from trundle.project.output import MANIFEST, TreeChange, TreeComparison, compare_tree, write_tree

__all__ = [
    "CONFIG_NAME",
    "MANIFEST",
    "AlreadyExistsError",
    "Config",
    "ConfigError",
    "ConfigMissingError",
    "Document",
    "DocumentError",
    "OutputBusyError",
    "OutputError",
    "OutputRefusedError",
    "ProjectError",
    "TreeChange",
    "TreeComparison",
    "compare_tree",
    "config_schema",
    "load_config",
    "parse_config",
    "plan_init",
    "read_documents",
    "write_documents",
    "write_new_files",
    "write_tree",
]
