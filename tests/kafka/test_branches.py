"""A branch of a zone whose ledger is on Kafka: it lives on one machine, and touches no topic."""

from __future__ import annotations

from tests.kafka.conftest import Make
from tests.kafka.kit import DAY, START, line, write


def test_a_branch_touches_no_topic_until_it_is_promoted(make: Make) -> None:
    home = make("a")
    said = [line("m1", "I live in Turin."), line("m2", "I own a red kayak.", number=1)]
    home.ask("ingest", write(home.home / "said.jsonl", said))
    head = home.ask("status")["head"]
    assert home.ask("branch", "create", "trial")["forked_at"] == head

    moved = write(home.home / "moved.jsonl", [line("m3", "I live in Lyon.", at=START + DAY)])
    home.ask("--zone", "default@trial", "ingest", moved)
    assert home.ask("--zone", "default@trial", "verify")["ok"]
    assert home.ask("status")["head"] == head
    assert home.ask("branch", "diff", "trial")["facts_gained"] == 1

    home.ask("forget", "m2", "--yes")
    assert home.ask("--zone", "default@trial", "status")["facts"] == 2
    assert home.ask("branch", "promote", "trial")["published"] == 1
    assert home.ask("status")["facts"] == 2
    assert home.ask("branch", "drop", "trial")["events"] == 2
    assert home.ask("verify")["ok"]
