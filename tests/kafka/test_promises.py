"""E9 and D1 on a real broker, as a user meets them; the other promises are in tests/promises."""

from __future__ import annotations

from pathlib import Path

from tests.kafka.conftest import Make
from tests.kafka.kit import START, Recollect, line, wait_until, write


def test_E9_query_nodes_follow_the_change_topics(make: Make, tmp_path: Path) -> None:
    """Two replicas answer as the node that decided, by hash; test_replica has the details."""
    home = make("a")
    token = home.ask("ingest", write(tmp_path / "e.jsonl", [line("m1", "The box is green.")]))
    replicas = [make(name) for name in ("b", "c")]
    running = [replica.replica() for replica in replicas]
    for replica in replicas:
        found = replica.ask("recall", "Which box?", "--wait-for", token["token"])["results"]
        assert "green" in found[0]["text"]
        assert replica.hashes() == home.hashes()
    home.ask("forget", "m1")
    for replica in replicas:
        wait_until(lambda home=replica: answers(home) == [], "the replica forgets")  # type: ignore[misc]
    assert [process.stop() for process in running] == [0, 0]


def test_D1_kafka_and_the_embedded_ledger_mean_the_same(make: Make, tmp_path: Path) -> None:
    """The same events give the same files, by hash; test_parity has many."""
    told = [
        line("m1", "I live in Turin.", ingested_at=START + 1),
        line("m2", "I work for Larch with Bob.", ingested_at=START + 2),
        line(
            "m3",
            "The storm flooded the bridge. Therefore, the road was closed.",
            ingested_at=START + 3,
        ),
    ]
    path = write(tmp_path / "e.jsonl", told)
    homes = make("kafka"), make("embedded", url="embedded")
    for home in homes:
        assert home.ask("ingest", path)["new"] == 3
        assert home.ask("verify")["ok"]
    assert homes[0].hashes() == homes[1].hashes()
    results = [home.ask("recall", "Where does Ada live?")["results"] for home in homes]
    assert results[0] == results[1]


def test_C10_tiers_are_the_same_on_both_ledgers(make: Make) -> None:
    homes = make("kafka"), make("embedded", url="embedded")
    found = []
    for home in homes:
        ids = [home.ask("remember", f"Box {n} is red.")["event_id"] for n in range(3)]
        home.ask("tiers", "archive", ids[0], ids[1])
        home.ask("tiers", "restore", ids[1])
        assert home.ask("verify")["ok"]
        sizes = home.ask("tiers")["tiers"]
        hits = home.ask("tiers", "search", "Which box is red?")
        texts = {tier: [hit["memory"]["content"] for hit in hits[tier]] for tier in sorted(hits)}
        found.append(([size["memories"] for size in sizes], texts))
    assert found[0] == found[1]
    assert found[0][0] == [2, 0, 1]


def answers(home: Recollect) -> list[str]:
    results = home.ask("recall", "Which box?")["results"]
    return [result["text"] for result in results]
