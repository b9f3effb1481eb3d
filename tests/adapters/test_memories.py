"""G3: exports of other memory systems, each in the form that its documentation gives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.library.library_zone import Zone
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Remember
from recollect.schemas.times import format_time
from tests.adapters.kit import Opened, opened


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(home) as found:
        yield found.zone("ada")


def written(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


def times(found: Opened) -> list[str]:
    return [format_time(draft.occurred_at) for draft in found.drafts]


def current(zone: Zone) -> list[str]:
    return sorted(fact.text for fact in zone.facts())


def mem0(id: str, memory: str, created: str, updated: str | None = None) -> dict[str, Any]:
    """A memory as Mem0's get_all returns it."""
    return {
        "id": id, "memory": memory, "hash": "5a7b", "metadata": {"topic": "sport"},
        "created_at": created, "updated_at": updated, "user_id": "alice", "run_id": "run-1",
    }  # fmt: skip


BADMINTON = mem0("19d6", "Alice loves playing badminton", "2024-10-15T21:52:11.474901-07:00")
COOKS = mem0("8557", "Alice cooks at home", "2024-10-16T00:00:00+00:00", "2024-11-01T00:00:00Z")


def test_mem0s_memories_keep_owner_time_and_id(tmp_path: Path) -> None:
    found = opened(written(tmp_path / "a.json", {"results": [BADMINTON, COOKS]}))
    assert found.formats == ["mem0"]
    assert not found.rejections
    assert times(found) == ["2024-10-16T04:52:11.475Z", "2024-11-01T00:00:00.000Z"]
    first, second = found.contents
    assert isinstance(first, Remember)
    assert (first.source_id, first.sender_id, first.session_id) == ("19d6", "alice", "run-1")
    assert first.content == "Alice loves playing badminton"
    assert first.utc_offset == -420
    assert first.metadata["topic"] == "sport"
    assert "updated_at" not in first.metadata
    assert second.metadata["created_at"] == "2024-10-16T00:00:00+00:00"
    assert {draft.platform for draft in found.drafts} == {"mem0"}


@pytest.mark.parametrize("wrap", [lambda all: all, lambda all: {"count": 2, "results": all}])
def test_mem0s_other_forms_are_read_too(tmp_path: Path, wrap: Any) -> None:
    found = opened(written(tmp_path / "a.json", wrap([BADMINTON, COOKS])))
    assert found.formats == ["mem0"]
    assert len(found.drafts) == 2


def test_a_memory_that_changed_replaces_its_text(zone: Zone, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    zone.ingest_files(written(path, [BADMINTON]))
    assert current(zone) == ["Alice loves playing badminton"]
    changed = {**BADMINTON, "memory": "Alice loves tennis", "updated_at": "2025-01-01T00:00:00Z"}
    later = zone.ingest_files(written(path, [changed]))
    assert (later.new, later.rejected) == (1, 0)
    assert current(zone) == ["Alice loves tennis"]
    # Imported again, and an older export after it: nothing is new, and nothing changes back.
    for again in ([changed], [BADMINTON]):
        report = zone.ingest_files(written(path, again))
        assert (report.new, report.duplicate, report.rejected) == (0, 1, 0)
    assert current(zone) == ["Alice loves tennis"]
    assert zone.verify().ok


def edge(id: str, fact: str, **times: str | None) -> dict[str, Any]:
    """An edge of Zep's graph."""
    return {
        "uuid": id, "group_id": "u7", "name": "LIVES_IN", "fact": fact, "episodes": ["e1"],
        "source_node_uuid": "n1", "target_node_uuid": "n2", "attributes": {},
        "created_at": "2024-08-01T00:00:00Z", "valid_at": None, "invalid_at": None,
        "expired_at": None, **times,
    }  # fmt: skip


def test_zeps_facts_keep_their_validity(zone: Zone, tmp_path: Path) -> None:
    path = written(tmp_path / "zep.json", {
        "edges": [
            edge("a", "Alice lives in Paris", valid_at="2024-01-01T00:00:00Z",
                 invalid_at="2024-06-01T00:00:00Z"),
            edge("b", "Alice lives in Rome", valid_at="2024-06-01T00:00:00Z"),
            edge("c", "Alice owns a cat"),
        ]
    })  # fmt: skip
    found = opened(path)
    assert found.formats == ["zep"]
    assert found.kinds == {"remember": 3, "deletion": 1}
    assert times(found) == [f"2024-{day}T00:00:00.000Z" for day in ("01-01", "06-01", "06-01",
                                                                    "08-01")]  # fmt: skip
    report = zone.ingest_files(path)
    assert (report.new, report.rejected) == (4, 0)
    assert current(zone) == ["Alice lives in Rome", "Alice owns a cat"]
    assert zone.recall("Where does Alice live?").results[0].text == "Alice lives in Rome"
    (ended,) = [fact for fact in zone.facts(superseded=True) if not fact.current]
    assert (ended.text, ended.as_of) == ("Alice lives in Paris", "2024-01-01T00:00:00.000Z")
    assert zone.ingest_files(path).new == 0


def test_lettas_blocks_and_passages_are_read(tmp_path: Path) -> None:
    agent_file = {
        "agents": [{"id": "agent-0", "name": "Sam", "block_ids": ["block-0", "block-1"],
                    "system": "You are Sam.", "llm_config": {}, "messages": [
                        {"id": "m", "role": "user", "content": [{"type": "text", "text": "Hi"}]}]}],
        "groups": [],
        "blocks": [{"id": "block-0", "label": "human", "value": "Her name is Sarah Johnson."},
                   {"id": "block-1", "label": "notes", "value": ""}],
        "created_at": "2025-06-01T10:00:00+00:00",
    }  # fmt: skip
    found = opened(written(tmp_path / "sam.af", agent_file))
    assert found.formats == ["letta"]
    assert found.texts == ["Her name is Sarah Johnson."]
    assert found.contents[0].sender_id == "Sam"
    assert times(found) == ["2025-06-01T10:00:00.000Z"]
    passages = [{"id": "passage-1", "text": "Sarah runs on Sundays.", "agent_id": "agent-0",
                 "created_at": "2025-05-01T08:00:00Z", "tags": ["sport"]}]  # fmt: skip
    found = opened(written(tmp_path / "passages.json", passages))
    assert found.formats == ["letta"]
    assert found.texts == ["Sarah runs on Sundays."]
    assert found.contents[0].metadata["tags"] == ["sport"]


def test_lettas_first_agent_files_are_read(tmp_path: Path) -> None:
    agent_file = {
        "agent_type": "memgpt_agent",
        "core_memory": [{"created_at": "2025-03-27T16:00:00+00:00", "label": "human",
                         "updated_at": "2025-03-28T16:00:00+00:00", "value": "Chad codes.",
                         "limit": 5000, "is_template": False}],
        "created_at": "2025-03-27T16:00:00", "llm_config": {}, "name": "Sam", "messages": [],
    }  # fmt: skip
    found = opened(written(tmp_path / "sam.af", agent_file))
    assert found.texts == ["Chad codes."]
    assert times(found) == ["2025-03-28T16:00:00.000Z"]


def test_hindsights_memories_are_read(tmp_path: Path) -> None:
    items = [{"id": "550e", "text": "Alice works at Google on the AI team", "fact_type": "world",
              "context": "Work conversation", "date": "2024-01-15T10:30:00Z",
              "mentioned_at": "2024-01-16T00:00:00+00:00",
              "entities": "Alice (PERSON), Google (ORGANIZATION)"}]  # fmt: skip
    path = written(tmp_path / "a.json", {"items": items, "total": 1, "limit": 100, "offset": 0})
    found = opened(path)
    assert found.formats == ["hindsight"]
    assert times(found) == ["2024-01-16T00:00:00.000Z"]
    assert found.contents[0].metadata["context"] == "Work conversation"


GRAPH: list[dict[str, Any]] = [
    {"type": "entity", "name": "John_Smith", "entityType": "person",
     "observations": ["Speaks fluent Spanish", "John Smith graduated in 2019"]},
    {"type": "relation", "from": "John_Smith", "to": "Anthropic", "relationType": "works_at"},
]  # fmt: skip


def test_mcps_graph_becomes_sentences_dated_by_the_file(zone: Zone, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, GRAPH)))
    os.utime(path, (1_714_564_800, 1_714_564_800))
    found = opened(path)
    assert found.formats == ["mcp-memory"]
    assert not found.rejections
    assert found.texts == [
        "John Smith: Speaks fluent Spanish",
        "John Smith graduated in 2019",
        "John Smith works at Anthropic",
    ]
    assert set(times(found)) == {"2024-05-01T00:00:00.000Z"}
    assert zone.ingest_files(path).new == 3
    # The server writes the whole file again at every change.
    with path.open("a") as file:
        file.write("\n" + json.dumps({**GRAPH[1], "to": "Rome", "relationType": "lives_in"}))
    report = zone.ingest_files(path)
    assert (report.new, report.duplicate, report.rejected) == (1, 3, 0)


def test_malformed_memories_are_rejected_one_by_one(tmp_path: Path) -> None:
    broken = [BADMINTON, {**COOKS, "memory": ""}, {**COOKS, "created_at": None, "updated_at": None},
              "text", {**COOKS, "id": 5}, COOKS]  # fmt: skip
    found = opened(written(tmp_path / "a.json", broken))
    assert [payload.source_id for payload in found.contents] == ["19d6", "8557"]
    reasons = [one.reason for one in found.rejections]
    assert len(reasons) == 4
    assert "has no text" in reasons[0]
    assert "has no time" in reasons[1]


def test_a_cut_off_export_is_read_up_to_the_cut(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", {"results": [BADMINTON, COOKS]})
    path.write_bytes(path.read_bytes()[:-40])
    found = opened(path)
    assert len(found.drafts) == 1
    assert "cut off" in found.rejections[0].reason


@pytest.mark.parametrize(
    ("value", "looks"),
    [
        ({"edges": [edge("a", "Alice lives in Paris")]}, "it looks like zep"),
        ({"users": [{"name": "Ada"}]}, "is JSON, but holds no events"),
        ([{"text": "Alice"}], "is JSON, but holds no events"),
    ],
)
def test_another_file_is_named_for_what_it_looks_like(
    tmp_path: Path, value: object, looks: str
) -> None:
    path = written(tmp_path / "a.json", value)
    with pytest.raises(InvalidInput, match=looks):
        opened(path, "mem0")


def test_memories_do_not_capture_other_formats(tmp_path: Path) -> None:
    line = {"platform": "chat", "sender_id": "u", "occurred_at": "2024-01-01T00:00:00Z",
            "content": "Hi", "id": "1", "memory": "x"}  # fmt: skip
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line))
    assert opened(path).formats == ["jsonl"]
