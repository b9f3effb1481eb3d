"""The memory of a chat agent: queried before each answer, updated after it.

python examples/chat_agent.py
"""

import tempfile
from datetime import UTC, datetime, timedelta

from recollect import Recollect, Zone

START = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)


def model(prompt: str) -> str:
    """A stand-in for a language model, which repeats what it was given."""
    known = prompt.partition("You remember: ")[2].partition("\n")[0]
    return f"I remember that {known}" if known else "I do not know yet."


def context(zone: Zone, question: str) -> str:
    """Return the memories relevant to a question; empty if there are none."""
    results = zone.recall(question, max_results=3, scope=("facts",), min_score=0.3).results
    return " ".join(result.text for result in results)


def turn(zone: Zone, number: int, words: str) -> str:
    """One turn: recall, answer, and put both sides into the ledger."""
    answer = model(f"You remember: {context(zone, words)}\nUser: {words}")
    at = START + timedelta(minutes=number)
    said = {"platform": "chat", "thread_id": "t1", "turn_id": f"turn-{number}"}
    zone.ingest(
        [
            {
                **said,
                "id": f"user-{number}",
                "sender_id": "user",
                "sender_name": "Ada",
                "occurred_at": at.isoformat(),
                "content": words,
            },
            # The agent's messages are stored and can be found, but no facts about Ada come from
            # them.
            {
                **said,
                "id": f"agent-{number}",
                "sender_id": "assistant",
                "direction": "out",
                "occurred_at": (at + timedelta(seconds=5)).isoformat(),
                "content": answer,
                "kind": "turn_completed",
            },
        ]
    )
    return answer


with tempfile.TemporaryDirectory() as home, Recollect(home, encoder="none") as memory:
    zone = memory.zone("ada")
    for number, words in enumerate(
        ["Where do I live?", "I live in Turin.", "Where do I live?", "Where do I live?"]
    ):
        print("Ada:  ", words)
        print("Agent:", turn(zone, number, words))
    # > Ada:   Where do I live?
    # > Agent: I do not know yet.
    # > Ada:   I live in Turin.
    # > Agent: I do not know yet.
    # > Ada:   Where do I live?
    # > Agent: I remember that Ada lives in Turin.
    # > Ada:   Where do I live?
    # > Agent: I remember that Ada lives in Turin.
    print("facts:", zone.status().facts)
    # > facts: 1
