"""Splitting messages that are too long for one event into several, without loss."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from recollect.schemas.inbound import MAX_CONTENT_BYTES, InboundEvent

#: A message of more bytes is refused.
MAX_MESSAGE_BYTES = 16 * MAX_CONTENT_BYTES
# A piece is cut at a line or word end within its last quarter, if there is one.
_NEAR_END = 4
_BOUNDARIES = ("\n\n", "\n", " ")


def split_message(event: InboundEvent) -> list[InboundEvent]:
    """Return a message, or if it is too long, one event for each piece of it, in order.

    The first piece keeps the id and the attachments. If the message completes a turn, the last
    piece keeps them instead. The metadata of each piece give its number (`part`) and the number of
    pieces (`parts`).
    """
    # A character has up to four bytes.
    if len(event.content) * 4 <= MAX_CONTENT_BYTES:
        return [event]
    raw = event.content.encode(errors="surrogatepass")
    if not MAX_CONTENT_BYTES < len(raw) <= MAX_MESSAGE_BYTES:
        return [event]
    pieces = list(_pieces(raw))
    kept = len(pieces) if event.kind == "turn_completed" else 1
    return [
        _part(event, piece, number, len(pieces), keeps_id=number == kept)
        for number, piece in enumerate(pieces, 1)
    ]


def _part(
    event: InboundEvent, piece: str, number: int, count: int, *, keeps_id: bool
) -> InboundEvent:
    metadata = {**event.metadata, "part": number, "parts": count}
    if keeps_id:
        return msgspec.structs.replace(event, content=piece, metadata=metadata)
    suffix = f":part:{number}"
    return msgspec.structs.replace(
        event,
        id=None if event.id is None else f"{event.id}{suffix}",
        target=None if event.target is None else f"{event.target}{suffix}",
        kind="message" if event.kind == "turn_completed" else event.kind,
        content=piece,
        attachments=(),
        metadata=metadata,
    )


def _pieces(raw: bytes) -> Iterator[str]:
    """Yield a text in pieces that fit into an event, cut between paragraphs, lines or words."""
    while len(raw) > MAX_CONTENT_BYTES:
        # The last character may be cut off; it begins the next piece.
        piece = raw[:MAX_CONTENT_BYTES].decode(errors="ignore")
        for boundary in _BOUNDARIES:
            at = piece.rfind(boundary, len(piece) - len(piece) // _NEAR_END)
            if at > 0:
                piece = piece[: at + len(boundary)]
                break
        yield piece
        raw = raw[len(piece.encode()) :]
    yield raw.decode(errors="ignore")
