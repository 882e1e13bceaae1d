"""Which operations of a ledger count: all that can be read, in a signed channel those that its publisher signed."""

from collections.abc import Mapping, Sequence

from trundle.channels._refusals import ChannelError, RefusalCode, RefusedError, refusal
from trundle.channels.publishing._records import RecordedOperation, is_signed_by, read_record
from trundle.channels.publishing._signing import ChannelSigner, Shown
from trundle.channels.reading.signatures import role_keys
from trundle.errors import expectation
from trundle.registry import LedgerEntry


class AcceptedOperations:
    """Reads the entries of a channel's ledger, each of them once.

    Args:
        location: the channel's full name.
        signer: signs the channel; None for one without signatures.

    Attributes:
        ignored: what was read last and does not count, since the publisher never signed it.
        adopted: whether operations count because the channel was not signed so far.
    """

    def __init__(self, location: str, signer: ChannelSigner | None) -> None:
        self._location = location
        self._signer = signer
        self._read: dict[str, RecordedOperation] = {}
        self.ignored: tuple[str, ...] = ()
        self.adopted = False

    def records(
        self, entries: Sequence[LedgerEntry], shown: Shown | None
    ) -> dict[str, RecordedOperation]:
        """The operations that count, by name.

        Args:
            entries: entries of the ledger.
            shown: what the channel shows; None where nothing that it shows can be trusted.

        Raises:
            ChannelError: an operation of a channel without signatures cannot be understood.
        """
        records: dict[str, RecordedOperation] = {}
        ignored = []
        keys = None
        for entry in entries:
            where = f"{self._location}: entry {entry.id}"
            try:
                record = self._read.get(entry.id) or read_record(entry.payload, where)
                self._read[entry.id] = record
            except ChannelError as error:
                if self._signer is None:
                    raise
                ignored.append(str(error))
                continue
            if self._signer and shown and shown.operations is None:
                self.adopted = True  # A channel that was unsigned so far is signed as it is.
            elif self._signer and not (shown and record.id in (shown.operations or ())):
                keys = keys or role_keys(self._signer.keys.newest_root(), "targets").values()
                if not is_signed_by(record, keys):
                    missing = expectation("the publisher's signature", "none")
                    ignored.append(f"{where}: {missing}")
                    continue
            records[record.id] = record
        self.ignored = tuple(ignored)
        return records

    def check_signer(
        self, entries: Sequence[LedgerEntry], records: Mapping[str, RecordedOperation]
    ) -> None:
        """Refuses keys that signed none of the operations, where operations are signed.

        Args:
            entries: entries of the ledger that were read.
            records: those that count.

        Raises:
            RefusedError: the keys are others, or missing.
        """
        signed = any(self._read[each.id].envelope for each in entries if each.id in self._read)
        if not signed or (self._signer and any(each.envelope for each in records.values())):
            return
        expected = "the keys that signed the channel's operations"
        found = "others" if self._signer else "none"
        advice = "give the publisher's keys with --keys"
        code = RefusalCode.BAD_SIGNATURE
        raise RefusedError(refusal(code, self._location, expected, found, advice))
