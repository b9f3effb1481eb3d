"""Commands: events that recollect itself publishes, on a platform reserved for them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import msgspec

from recollect.schemas.decoder_errors import decoder_message
from recollect.schemas.errors import CommandConflict, InvalidInput
from recollect.schemas.events import RESERVED_PLATFORM, AnyPayload, Draft, kind_of
from recollect.schemas.text_sanitising import encodable
from recollect.schemas.wire import Receipt
from recollect.streams.ledger import Ledger

# Enough random bytes that an id cannot be guessed.
_ID_BYTES = 16


def random_id(name: str) -> str:
    """Return a new random source id for a command."""
    return f"{name}:{secrets.token_hex(_ID_BYTES)}"


def command(payload: AnyPayload, occurred_at: int, *, ingested_at: int | None = None) -> Draft:
    """Return the draft of a command. Times are unix ms; a lone surrogate becomes U+FFFD.

    Raises:
        InvalidInput: a field has a value that is not of its type.
    """
    payload = encodable(payload)
    try:
        # As the ledger does: it could never read such a record, nor any later one of the zone.
        msgspec.msgpack.decode(msgspec.msgpack.encode(payload), type=type(payload))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        reason = decoder_message(error, type(payload))
        raise InvalidInput(f"{reason}; {kind_of(payload)} was not recorded") from None
    return Draft(
        platform=RESERVED_PLATFORM,
        occurred_at=occurred_at,
        ingested_at=ingested_at,
        payload=payload,
    )


def publish_commands(ledger: Ledger, zone: str, drafts: Sequence[Draft]) -> list[Receipt]:
    """Publish commands; those already in the ledger are not published again.

    Raises:
        CommandConflict: the ledger has an event with the id of a command, but other content.
    """
    receipts = ledger.publish(zone, drafts)
    for draft, receipt in zip(drafts, receipts, strict=True):
        if receipt.status == "conflict":
            raise CommandConflict(
                f"zone {zone}: the command {kind_of(draft.payload)} was rejected and nothing was "
                f"done, because record {receipt.number} already has the id "
                f"{draft.payload.source_id!r} with different content; inspect that record "
                "(recollect records)"
            )
    return receipts
