"""Who may do what: users by tokens and certificates, rules in the form of Kubernetes' RBAC, and what clients ask about both."""

from trundle.api.access._attributes import (
    Attributes,
    ChannelPlace,
    attributes_of,
    channel_place,
    parameters_of,
)
from trundle.api.access._certificates import Tls, certificate_files, user_of
from trundle.api.access._errors import AccessCode, AccessFileError
from trundle.api.access._guard import (
    PEER,
    Access,
    Application,
    Gate,
    Guard,
    Receive,
    Scope,
    Send,
    UnaskedError,
    refusal,
)
from trundle.api.access._refusals import unauthorized
from trundle.api.access._reloading import Reloaded
from trundle.api.access._rules import Binding, Decision, Rule, Rules, Subject
from trundle.api.access._rules_file import read_rules
from trundle.api.access._tokens import read_tokens
from trundle.api.access._users import ANONYMOUS, MASTERS, UNSECURED, User, with_default_group

__all__ = [
    "ANONYMOUS",
    "MASTERS",
    "PEER",
    "UNSECURED",
    "Access",
    "AccessCode",
    "AccessFileError",
    "Application",
    "Attributes",
    "Binding",
    "ChannelPlace",
    "Decision",
    "Gate",
    "Guard",
    "Receive",
    "Reloaded",
    "Rule",
    "Rules",
    "Scope",
    "Send",
    "Subject",
    "Tls",
    "UnaskedError",
    "User",
    "attributes_of",
    "certificate_files",
    "channel_place",
    "parameters_of",
    "read_rules",
    "read_tokens",
    "refusal",
    "unauthorized",
    "user_of",
    "with_default_group",
]
