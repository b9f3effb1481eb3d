"""The records of a ledger on Kafka: sought, filtered, followed and stepped through."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.kafka.conftest import Make
from tests.kafka.kit import MINUTE, START, Recollect, line, write

_TEXTS = ("I live in Turin.", "My dog is called Rex.", "I moved to Oslo.", "I play the cello.")


def records(home: Recollect, *options: str) -> list[dict[str, Any]]:
    """Return what `records` lists."""
    ended = home.run("records", *options, "--json")
    assert ended.status == 0, ended
    return [json.loads(each) for each in ended.output.splitlines()]


def numbers(home: Recollect, *options: str) -> list[int]:
    return [each["number"] for each in records(home, *options)]


def test_records_are_sought_filtered_and_followed_on_every_node(make: Make, tmp_path: Path) -> None:
    home = make("a")
    told = [line(f"m{number}", text, number=number) for number, text in enumerate(_TEXTS)]
    home.ask("ingest", write(tmp_path / "e.jsonl", told))
    home.ask("retract", "m1")
    home.ask("forget", "m3")
    # One node has decided; the other has nothing but the topics.
    for asked in (home, make("late")):
        kinds = [each["kind"] for each in records(asked)]
        assert kinds == ["message"] * 4 + ["retract", "forget"]
        assert numbers(asked, "--from", "3", "--limit", "2") == [3, 4]
        assert numbers(asked, "--newest", "--limit", "2") == [6, 5]
        assert numbers(asked, "--kind", "retract") == [5]
        # A minute and a half after the first: the third is the first that came in later.
        at = str(START + MINUTE + MINUTE // 2)
        assert numbers(asked, "--at", at) == [3, 4, 5, 6]
        assert numbers(asked, "--at", at, "--newest") == [2, 1]
        assert [each["readable"] for each in records(asked)] == [True] * 3 + [False, True, True]
        followed = [asked.ask("records", str(number)) for number in range(1, 7)]
        for before, after in pairwise(followed):
            assert after["previous"] == before["hash"]
            assert after["offset"] > before["offset"]
            assert after["decision"]["previous"] == before["decision"]["hash"]
        assert {each["last"] for each in followed} == {6}
        written = {row["table"]: row["written"] for row in followed[0]["decision"]["rows"]}
        assert written["facts"] == 1
        assert followed[3]["payload"] is None
        assert followed[5]["decision"]["erased"] == [4]
        id_ = followed[1]["record"]["id"]
        assert numbers(asked, "--about", id_) == [5]
        assert followed[4]["record"]["given_by"] == "owner"
