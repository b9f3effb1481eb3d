"""Earlier texts of a note that come again: the sequencer reads each version once."""

from __future__ import annotations

from recollect.schemas.events import ChangingDraft, Message
from recollect.schemas.ledger.records import read_event, unseal_event
from recollect.streams.ledger.ledger import Head
from recollect.streams.ledger.sequencer import KnownEvent, sequence

AT = 1_778_248_560_000
SECRET = bytes(32)
COUNT = 60


def note(number: int) -> ChangingDraft:
    payload = Message(source_id="n", sender_id="u", content=f"text {number}")
    return ChangingDraft(platform="notes", occurred_at=AT + number, payload=payload)


def test_earlier_texts_are_read_once_however_many_come_again() -> None:
    drafts = [note(number) for number in range(COUNT)]
    held: dict[bytes, KnownEvent] = {}
    _, records, head = sequence(
        "z", drafts, Head(0, bytes(32)), secret=SECRET, now=AT + COUNT, find_known=held.get
    )
    for record in records:
        event = unseal_event(*read_event(record.value), record.key)
        held[record.source] = KnownEvent(record.number, event)
    assert len(held) == COUNT
    looked_up: list[bytes] = []

    def find(source: bytes) -> KnownEvent | None:
        looked_up.append(source)
        return held.get(source)

    receipts, again, _ = sequence("z", drafts, head, secret=SECRET, now=AT + COUNT, find_known=find)
    assert again == []
    assert [(one.status, one.number) for one in receipts] == [
        ("duplicate", number) for number in range(1, COUNT + 1)
    ]
    # Each draft looks up its id, its text and the newest version, in some steps; to read all
    # earlier versions for each takes COUNT * COUNT / 2.
    assert len(looked_up) < COUNT * 20 < COUNT * COUNT / 2
