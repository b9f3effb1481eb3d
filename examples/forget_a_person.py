"""Forget somebody, and prove that nothing is left.

python examples/forget_a_person.py
"""

import tempfile

from recollect import Recollect, Zone


def said(id: str, who: str, content: str) -> dict[str, str]:
    return {
        "id": id,
        "platform": "chat",
        "sender_id": who.split()[0].lower(),
        "sender_name": who,
        "occurred_at": "2026-05-08T13:56:00Z",
        "content": content,
    }


def cited(zone: Zone) -> list[str]:
    """Return the ids of all events that recall finds."""
    results = zone.recall("Ada Moreau, her boat, Turin, Acme").results
    return sorted({id for result in results for id in result.source_event_ids})


with tempfile.TemporaryDirectory() as home, Recollect(home, encoder="none") as memory:
    zone = memory.zone("team")
    zone.ingest(
        [
            said("m1", "Ada Moreau", "I live in Turin."),
            said("m2", "Bob", "Ada Moreau has a boat called Miranda."),
            said("m3", "Bob", "I work for Acme."),
        ]
    )
    head = zone.head()

    would = zone.forget(entity="Ada Moreau", dry_run=True)
    print("would go:", sorted(would.forgotten))
    # > would go: ['m1', 'm2']

    done = zone.forget(entity="Ada Moreau")
    print("events whose keys are gone:", done.events)
    # > events whose keys are gone: 2

    print("left:", cited(zone))
    # > left: ['m3']

    # The same export again does not bring it back.
    print("new:", zone.ingest(said("m1", "Ada Moreau", "I live in Turin.")).new)
    # > new: 0
    # Neither does deciding everything again.
    zone.rebuild("derive")
    print("left after a rebuild:", cited(zone))
    # > left after a rebuild: ['m3']

    # The ledger's chain is intact: no record was removed from it.
    print("verified:", zone.verify(expect=head).ok)
    # > verified: True
