"""Finds what a project names under `admission`, and everything that is wrong with it.

A class has methods for what it wants to be asked about: `create`, `update` and `delete`, each with the request as its one argument.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from trundle._tls import verifying
from trundle.errors import Finding, did_you_mean, listed
from trundle.project._config_admission import OPERATIONS, AdmissionRule, AdmissionWebhook
from trundle.project._importing import importable
from trundle.project.config import Config
from trundle.project.findings import FindingsError, ProjectCode, finding
from trundle.project.hooks import load_class
from trundle.version import ApiVersion


class AdmissionHook(NamedTuple):
    """A hook that is asked before objects are written.

    Attributes:
        rule: what the project file says about it.
        hook: an instance of its class; None for a webhook.
        authorities: the file with the certificates that a webhook's is held against; None for those that the machine trusts.
    """

    rule: AdmissionRule
    hook: object = None
    authorities: Path | None = None


def load_admission(config: Config) -> tuple[AdmissionHook, ...]:
    """The hooks of a project; to be called where its modules can be imported, as within `generated_scheme`.

    Raises:
        FindingsError: a class cannot be had, or has no method that can be called.
    """
    findings: list[Finding] = []
    found = []
    for rule in config.admission:
        if rule.webhook is not None:
            findings += _untrusting(rule, rule.webhook, config)
            found.append(AdmissionHook(rule, authorities=_authorities(rule.webhook, config)))
            continue
        class_ = _usable(rule, config, findings)
        try:
            if class_ is not None:
                found.append(AdmissionHook(rule, class_()))
        except Exception as error:  # noqa: BLE001 - a constructor may raise anything
            what, advice = f"{type(error).__name__}: {error}", "correct its constructor"
            findings.append(_finding(rule, f"to make one {rule.use}", what, advice))
    if findings:
        raise FindingsError(findings)
    return tuple(found)


def admission_findings(
    config: Config, declared: Iterable[tuple[str, str, ApiVersion]]
) -> Iterator[Finding]:
    """What is wrong with the hooks of a project.

    Args:
        config: what the project's file says.
        declared: group, name and version of each resource type in each schema.
    """
    if not config.admission:
        return
    versions: dict[str, set[ApiVersion]] = {}
    names: dict[str, str] = {}
    for group, name, version in declared:
        for each in (name, f"{group}/{name}"):
            versions.setdefault(each.casefold(), set()).add(version)
        names[name.casefold()] = name
    findings: list[Finding] = []
    with importable([config.output, config.path.parent], admission_modules(config)):
        for rule in config.admission:
            findings += _misplaced(rule, versions, names)
            if rule.webhook is None:
                _usable(rule, config, findings)
            else:
                findings += _untrusting(rule, rule.webhook, config)
    yield from findings


def admission_modules(config: Config) -> Iterator[str]:
    """The modules that hold a project's admission hooks."""
    yield from dict.fromkeys(each.use.partition(":")[0] for each in config.admission if each.use)


def _authorities(webhook: AdmissionWebhook, config: Config) -> Path | None:
    return config.path.parent / webhook.ca if webhook.ca else None


def _untrusting(
    rule: AdmissionRule, webhook: AdmissionWebhook, config: Config
) -> Iterator[Finding]:
    """What keeps a webhook's certificate from being held against the authorities that are named."""
    path = _authorities(webhook, config)
    if path is None:
        return
    try:
        verifying(path)
    except OSError as error:  # It is one of SSL, too.
        what = f"{webhook.ca}: {error.strerror or error}"
        yield _finding(rule, "a file with certificates in PEM form", what, "correct `ca`")


def _misplaced(
    rule: AdmissionRule, versions: Mapping[str, set[ApiVersion]], names: Mapping[str, str]
) -> Iterator[Finding]:
    known = versions.get(rule.type.casefold())
    if known is None:
        advice = did_you_mean(rule.type, names.values())
        yield _finding(rule, "a resource type of the project", rule.type, advice)
    elif rule.version not in known:
        expected = f"a version of {rule.type}"
        advice = f"there are {listed(map(str, sorted(known)))}"
        yield _finding(rule, expected, str(rule.version), advice)


def _usable(rule: AdmissionRule, config: Config, findings: list[Finding]) -> type | None:
    """The class of a hook, if its methods can be called."""
    class_ = load_class(rule, config.path.parent, "", findings)
    if class_ is None:
        return None
    methods = [name for name in OPERATIONS if hasattr(class_, name)]
    if not methods:
        expected, advice = f"a method {', '.join(OPERATIONS)} in {rule.use}", "write one"
        findings.append(_finding(rule, expected, "none", advice))
    wrong = [name for name in methods if not _takes_request(getattr(class_, name))]
    for name in wrong:
        expected, advice = f"{rule.use}.{name}(self, request)", "give it this one parameter"
        findings.append(_finding(rule, expected, "other parameters", advice))
    return class_ if methods and not wrong else None


def _takes_request(method: object) -> bool:
    """Whether a method can be called with a request."""
    if not callable(method) or inspect.iscoroutinefunction(method):
        return False
    try:
        inspect.signature(method).bind(None, None)
    except (TypeError, ValueError):
        return False
    return True


def _finding(rule: AdmissionRule, expected: str, found: str, advice: str) -> Finding:
    return finding(ProjectCode.HOOK, rule.where, found, advice, expected=expected)
