"""Operations as a channel's ledger keeps them: plain, or in an envelope that the publisher signed.

Anyone who may write to the registry can add to a ledger. So that no forged operation counts, an operation
counts in a signed channel only if the publisher's key signed it, or if the publisher has signed a state of the channel
that shows it. The envelope is DSSE, the one of The Update Framework's own library.
"""

from collections.abc import Collection

import msgspec
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import Error as SecurityError
from securesystemslib.signer import Key

from trundle.channels._refusals import RefusalCode, refusal
from trundle.channels.reading.signatures import Signer
from trundle.channels.transitions import (
    Operation,
    OperationError,
    id_of_operation,
    operation_from_json,
    operation_to_json,
)

_TYPE = "application/vnd.trundle.channel.operation.v1+json"


class RecordedOperation(msgspec.Struct, frozen=True):
    """An operation as it was found.

    Attributes:
        operation: the operation.
        id: its name.
        envelope: the signed envelope; None for a plain one.
    """

    operation: Operation
    id: str
    envelope: bytes | None = None


def write_record(operation: Operation, signer: Signer | None) -> bytes:
    """Writes an operation for the ledger, signed where there is a key."""
    content = operation_to_json(operation)
    if signer is None:
        return content
    envelope = Envelope(content, _TYPE, {})
    envelope.sign(signer)
    return msgspec.json.encode(envelope.to_dict())


def read_record(payload: bytes, where: str) -> RecordedOperation:
    """Reads what `write_record` wrote; the signature is not verified here.

    Raises:
        OperationError: it is no operation.
        ChannelFileError: it publishes a version that cannot be used.
    """
    try:
        plain = msgspec.json.decode(payload, type=dict[str, msgspec.Raw])
        signed = "payloadType" in plain
        content = _envelope(payload).payload if signed else payload
    except (ValueError, msgspec.MsgspecError) as error:
        advice = "find out who wrote it; repair reports it where the channel is signed"
        code = RefusalCode.UNKNOWN_OPERATION
        found = refusal(code, where, "an operation", str(error), advice)
        raise OperationError([found]) from None
    operation = operation_from_json(content, where)
    return RecordedOperation(operation, id_of_operation(operation), payload if signed else None)


def is_signed_by(record: RecordedOperation, keys: Collection[Key]) -> bool:
    """Whether one of some keys signed an operation."""
    if record.envelope is None:
        return False
    try:
        envelope = _envelope(record.envelope)
        if envelope.payload_type != _TYPE:
            return False
        envelope.verify(list(keys), 1)
    except (SecurityError, ValueError):
        return False
    return True


def names_of(names: Collection[str]) -> bytes:
    """The file that lists operations by name."""
    return msgspec.json.encode(sorted(names))


def read_names(content: bytes) -> frozenset[str]:
    """Reads what `names_of` wrote.

    Raises:
        ValueError: it is no such file.
    """
    return frozenset(msgspec.json.decode(content, type=list[str]))


def _envelope(payload: bytes) -> Envelope:
    try:
        return Envelope.from_dict(msgspec.json.decode(payload))
    except (KeyError, TypeError, AttributeError, SecurityError) as error:
        raise ValueError(f"not a signed envelope: {error}") from None
