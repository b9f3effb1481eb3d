"""Foreign records that a command of the zone tells its readers to skip.

Any producer that may write to a topic on Kafka can write records under a zone's name. Readers stop
at such a record, because it may be a damaged record of recollect. The command states the record's
offset and hash. From then on every reader skips it, on every node and in every rebuild.
"""

from __future__ import annotations

from recollect.schemas.errors import IntegrityError
from recollect.schemas.events import SkipRecord
from recollect.schemas.ledger.records import read_event, record_hash, unseal_event
from recollect.streams.ledger import Ledger

SKIP_RECORD = "skip_record"


def is_skipped(ledger: Ledger, zone: str, topic: str, offset: int, value: bytes) -> bool:
    """Return whether a command of the zone skips a record.

    Raises:
        IntegrityError: the key of such a command is missing, although it is never destroyed.
    """
    for _, _, command in ledger.events_of_kind(zone, SKIP_RECORD, 0):
        envelope, record = read_event(command)
        key = ledger.keys.get([envelope.key_id]).get(envelope.key_id)
        if key is None:
            raise IntegrityError(
                f"the key of command {envelope.number} is missing, so the record that it skips is "
                "unknown; run recollect verify"
            )
        payload = unseal_event(envelope, record, key).payload
        assert isinstance(payload, SkipRecord)
        if (payload.topic, payload.offset) == (topic, offset) and payload.hash == record_hash(
            value
        ):
            return True
    return False
