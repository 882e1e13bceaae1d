"""What a run does to the world: effects with a key, written down in a journal, carried out by providers.

An effect says what shall be there, not what to do, so it may be repeated. Before a provider acts, the journal says that it is going to;
afterwards it has the outcome. A run that was killed at any moment goes on in the next one.
"""

from trundle.engine.effects._effect import Effect
from trundle.engine.effects._effects import EffectChange, Effects
from trundle.engine.effects._journal import Journal, MemoryJournal, Record, State
from trundle.engine.effects._plain import Plain, plain_text
from trundle.engine.effects._provider import Provider, ProviderError
from trundle.engine.effects._secrets import hidden, secret_marker, secrets_in

__all__ = [
    "Effect",
    "EffectChange",
    "Effects",
    "Journal",
    "MemoryJournal",
    "Plain",
    "Provider",
    "ProviderError",
    "Record",
    "State",
    "hidden",
    "plain_text",
    "secret_marker",
    "secrets_in",
]
