"""A retraction on Kafka: one command that every worker and replica decides alike."""

from __future__ import annotations

from tests.kafka.conftest import Make
from tests.kafka.kit import DAY, START, Recollect, line, write


def facts(home: Recollect) -> dict[str, bool]:
    """Return text -> whether it is current, of all facts."""
    sql = (
        "SELECT text, NOT EXISTS (SELECT 1 FROM fact_ends WHERE fact_ends.fact_id = facts.id) "
        "FROM facts"
    )
    return {text: bool(current) for text, current in home.query("memory", sql)}


def fact_id(home: Recollect, text: str) -> str:
    ((found,),) = (
        row[1:] for row in home.query("memory", "SELECT text, id FROM facts") if row[0] == text
    )
    return str(found)


def test_a_retraction_and_its_restoration_hold_on_every_node(make: Make) -> None:
    asking, deciding, copy = (make(name) for name in "abc")
    worker, replica = deciding.worker(), copy.replica()
    said = [
        line("m1", "I live in Turin. I like green tea.", number=1),
        line("m2", "I live in Lyon.", at=START + DAY),
    ]
    asking.ask("ingest", write(asking.home / "said.jsonl", said))
    before = facts(asking)
    assert [current for text, current in before.items() if "Turin" in text] == [False]
    lyon = next(text for text in before if "Lyon" in text)
    id_ = fact_id(asking, lyon)

    assert asking.ask("retract", id_)["status"] == "retracted"
    for home in (deciding, copy):
        home.wait_for("default", asking.decided())
        assert facts(home) == {text: "Lyon" not in text for text in before}

    assert asking.ask("retract", id_, "--restore")["status"] == "restored"
    for home in (deciding, copy):
        home.wait_for("default", asking.decided())
        assert facts(home) == before
        assert home.ask("verify")["problems"] == []
    assert (replica.stop(), worker.stop()) == (0, 0)
    assert copy.hashes()["memory"] == deciding.hashes()["memory"]
    asking.ask("retract", id_)
    deciding.once()
    held = facts(deciding)
    deciding.ask("rebuild", "--level", "derive")
    assert facts(deciding) == held
    assert not held[lyon]
