"""Ingest messages, ask a question, and trace the answer to its sources.

python examples/first_steps.py
"""

import tempfile

from recollect import Recollect

events = [
    {
        "id": "m1",
        "platform": "chat",
        "sender_id": "u1",
        "sender_name": "Ada",
        "occurred_at": "2026-05-08T13:56:00Z",
        "content": "I live in Turin.",
    },
    {
        "id": "m2",
        "platform": "chat",
        "sender_id": "u2",
        "sender_name": "Bob",
        "occurred_at": "2026-05-08T13:57:00Z",
        "content": "I work for Acme, and my dog is called Rex.",
    },
]

# Without an encoder, this needs no network and runs in a moment. With the default encoder, recall
# also searches by meaning.
with tempfile.TemporaryDirectory() as home, Recollect(home, encoder="none") as memory:
    zone = memory.zone("team")

    report = zone.ingest(events)
    print("new:", report.new, "duplicate:", report.duplicate)
    # > new: 2 duplicate: 0

    # Ingesting the same again adds nothing: the `id` identifies it.
    report = zone.ingest(events)
    print("new:", report.new, "duplicate:", report.duplicate)
    # > new: 0 duplicate: 2

    for question in ("Where does Ada live?", "What is the name of Bob's dog?"):
        best = zone.recall(question, max_results=1).results[0]
        print(question, "->", best.text, best.source_event_ids)
    # > Where does Ada live? -> Ada lives in Turin. ['m1']
    # > What is the name of Bob's dog? -> I work for Acme, and my dog is called Rex. ['m2']

    chain = zone.why(best.id)
    print("from:", ", ".join(chain.source_event_ids))
    # > from: m2

    print("verified:", zone.verify().ok)
    # > verified: True
