"""A project on disk: its `trundle.yaml`, its documents, and the folder that Trundle generates."""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.documents import UnreadableError
    from trundle.errors import Finding, errors_among
    from trundle.project._class_sources import holds_packages
    from trundle.project._config_admission import (
        AdmissionOperation,
        AdmissionRule,
        AdmissionWebhook,
    )
    from trundle.project._expected import ExpectedDifference, read_expected
    from trundle.project._lock_file import LOCK_NAME, LockFile, lock_path, read_lock
    from trundle.project._output_places import MANIFEST
    from trundle.project._output_tree import TreeComparison, compare_tree
    from trundle.project._package_files import generated_files
    from trundle.project._proof_run import ProofOptions, ProofRun
    from trundle.project._proof_works import chosen_resources
    from trundle.project.admission import AdmissionHook, load_admission
    from trundle.project.carried import CarriedProject, CarriedProjects
    from trundle.project.checking import check
    from trundle.project.client_documents import ClientGroup, client_group
    from trundle.project.config import Config, config_schema, load_config, parse_config
    from trundle.project.conforming import Conformance, ConformanceEntry, PairVersions, conform
    from trundle.project.documents import (
        Document,
        elements,
        parse_documents,
        read_documents,
        write_documents,
        write_nodes,
        write_values,
    )
    from trundle.project.errors import (
        AlreadyExistsError,
        ConfigError,
        ConfigMissingError,
        OutputBusyError,
        OutputError,
        OutputRefusedError,
        ProjectError,
    )
    from trundle.project.findings import FindingsError
    from trundle.project.generated import NotGeneratedError, generated_scheme
    from trundle.project.generating import (
        GenerateResult,
        changed_sources,
        generate,
        package_folder,
    )
    from trundle.project.init import CONFIG_NAME, plan_init, write_new_files
    from trundle.project.loading import Project, evolution_of, load_parts, load_project
    from trundle.project.lock_change import LockChange, lock
    from trundle.project.naming import NamedKind, name_clashes, named_kind, preference
    from trundle.project.next_release import NextRelease, Wanted, plan_release, write_release
    from trundle.project.output import TreeChange, write_tree
    from trundle.project.pairs import Pair, PairsError, read_pairs
    from trundle.project.proving import (
        prove_classes,
        prove_groups,
        prove_project,
        prove_schemas,
    )
    from trundle.project.releasing import (
        Brought,
        Review,
        brought_by,
        bump_to_plain,
        compare_packages,
        projects_in,
        resources_in,
        review,
    )
    from trundle.project.shipping import ShippedPackage, ship, shipped_scheme
    from trundle.project.suggesting import suggest_rules

__all__ = [
    "CONFIG_NAME",
    "LOCK_NAME",
    "MANIFEST",
    "AdmissionHook",
    "AdmissionOperation",
    "AdmissionRule",
    "AdmissionWebhook",
    "AlreadyExistsError",
    "Brought",
    "CarriedProject",
    "CarriedProjects",
    "ClientGroup",
    "Config",
    "ConfigError",
    "ConfigMissingError",
    "Conformance",
    "ConformanceEntry",
    "Document",
    "ExpectedDifference",
    "Finding",
    "FindingsError",
    "GenerateResult",
    "LockChange",
    "LockFile",
    "NamedKind",
    "NextRelease",
    "NotGeneratedError",
    "OutputBusyError",
    "OutputError",
    "OutputRefusedError",
    "Pair",
    "PairVersions",
    "PairsError",
    "Project",
    "ProjectError",
    "ProofOptions",
    "ProofRun",
    "Review",
    "ShippedPackage",
    "TreeChange",
    "TreeComparison",
    "UnreadableError",
    "Wanted",
    "brought_by",
    "bump_to_plain",
    "changed_sources",
    "check",
    "chosen_resources",
    "client_group",
    "compare_packages",
    "compare_tree",
    "config_schema",
    "conform",
    "elements",
    "errors_among",
    "evolution_of",
    "generate",
    "generated_files",
    "generated_scheme",
    "holds_packages",
    "load_admission",
    "load_config",
    "load_parts",
    "load_project",
    "lock",
    "lock_path",
    "name_clashes",
    "named_kind",
    "package_folder",
    "parse_config",
    "parse_documents",
    "plan_init",
    "plan_release",
    "preference",
    "projects_in",
    "prove_classes",
    "prove_groups",
    "prove_project",
    "prove_schemas",
    "read_documents",
    "read_expected",
    "read_lock",
    "read_pairs",
    "resources_in",
    "review",
    "ship",
    "shipped_scheme",
    "suggest_rules",
    "write_documents",
    "write_new_files",
    "write_nodes",
    "write_release",
    "write_tree",
    "write_values",
]

on_demand(__name__)
