"""Point-in-time queries: what was true then, and what was known then.

python examples/time_travel.py
"""

import tempfile

from recollect import Recollect


def said(id: str, content: str, at: str, known: str | None = None) -> dict[str, str]:
    """Return an event of Ada's; `known`: when it was ingested, if later."""
    return {
        "id": id,
        "platform": "chat",
        "sender_id": "u1",
        "sender_name": "Ada",
        "occurred_at": at,
        "ingested_at": known or at,
        "content": content,
    }


QUESTION = "Where does Ada live?"

with tempfile.TemporaryDirectory() as home, Recollect(home, encoder="none") as memory:
    zone = memory.zone("ada")
    zone.ingest(
        [
            said("m1", "I live in Turin.", "2025-03-01T10:00:00Z"),
            said("m2", "I live in Oslo.", "2026-02-01T10:00:00Z", known="2026-04-01T10:00:00Z"),
        ]
    )

    now = zone.recall(QUESTION, max_results=1).results[0]
    print("now:", now.text)
    # > now: Ada lives in Oslo.
    print("before that:", now.supersedes[0].text)
    # > before that: Ada lives in Turin.

    # In March 2026 she had moved, but nobody had told us yet.
    march = "2026-03-01T00:00:00Z"
    print("true in March:", zone.recall(QUESTION, max_results=1, valid_at=march).results[0].text)
    # > true in March: Ada lives in Oslo.
    print("known in March:", zone.recall(QUESTION, max_results=1, known_at=march).results[0].text)
    # > known in March: Ada lives in Turin.
