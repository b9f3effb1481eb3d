"""A process that is killed while it consolidates: the next one repeats at most one cluster."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.home.kit import Home

TOPICS = ("horse", "pottery", "violin")
SENTENCES = (
    "I signed up for a {} class in Oslo.",
    "I showed my {} at the winter market.",
    "I keep my {} in the shed.",
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home with facts on three topics, and no observation yet; tests use copies."""
    path = tmp_path_factory.mktemp("told") / "home"
    home = Home(path)
    home.well("init", "--encoder", "none")
    events = [
        {
            "platform": "chat",
            "id": f"{topic}-{day}",
            "sender_id": "ada",
            "sender_name": "Ada",
            "occurred_at": f"2026-05-{day:02}T10:0{place}:00Z",
            "ingested_at": f"2026-05-{day:02}T10:0{place}:00Z",
            "content": sentence.format(topic),
        }
        for day, sentence in enumerate(SENTENCES, 1)
        for place, topic in enumerate(TOPICS)
    ]
    file = path.with_suffix(".jsonl")
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    home.well("ingest", str(file), RECOLLECT_TICKS="off")
    return home


def copy_of(home: Home, directory: Path) -> Home:
    """Return a copy of a home that no process has open."""
    return Home(Path(shutil.copytree(home.path, directory / "home")))


def consolidated(home: Home) -> tuple[list[Any], Counter[str]]:
    """Return what each observation says and how often it was written, and the commands' ids."""
    home.well("observations", "consolidate")
    lines = home.well("observations", "list", "--all", "--json").stdout.splitlines()
    found = [json.loads(line) for line in lines]
    told_by = home.well("records", "--json", "--limit", "200").stdout.splitlines()
    records = [json.loads(line) for line in told_by]
    commands = Counter(each["source_id"] for each in records if each["kind"] == "consolidate")
    return sorted((each["topic"], each["text"]) for each in found), commands


@pytest.fixture(scope="module")
def whole(told: Home, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], Counter[str]]:
    """What a process gives that nobody kills."""
    return consolidated(copy_of(told, tmp_path_factory.mktemp("whole")))


def test_the_whole_run_writes_each_topic_once(whole: tuple[list[Any], Counter[str]]) -> None:
    observations, commands = whole
    assert [topic for topic, _ in observations] == list(TOPICS)
    assert sorted(commands.values()) == [1, 1, 1]


@pytest.mark.parametrize("place", ["append.committed", "commit.memory", "outbox.appended"])
def test_a_kill_during_a_tick_repeats_at_most_one_cluster(
    tmp_path: Path, told: Home, whole: tuple[list[Any], Counter[str]], place: str
) -> None:
    home = copy_of(told, tmp_path)
    kills = 0
    for count in (1, 2, 3):
        ended = home.run("observations", "consolidate", RECOLLECT_FAILPOINT=f"{place}:{count}")
        kills += ended.status == -9
    assert kills
    # The same versions, each written once, by the same commands.
    assert consolidated(home) == whole
    assert home.well("verify").status == 0
