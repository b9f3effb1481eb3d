"""FAULTS 40: an edited prompt is in the place of the one before it, for ChatGPT and claude.ai."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.library.library_zone import Zone
from recollect.schemas.events import Deletion
from recollect.streams.adapters.assistants.branches import path_to, replaced_messages
from tests.adapters.kit import opened

SPRING = 1_772_000_000


class Said(NamedTuple):
    """A message of a tree: who says what, when (s), below which other."""

    id: str
    above: str | None
    who: str
    text: str
    at: int


OSLO = Said("m1", None, "user", "I live in Oslo.", 0)
OSLO_ANSWER = Said("m2", "m1", "assistant", "Oslo! Do you have a pet?", 5)
OSLO_MORE = Said("m3", "m2", "user", "My cat is called Ludo.", 10)
BERGEN = Said("m4", None, "user", "I live in Bergen.", 60)
BERGEN_ANSWER = Said("m5", "m4", "assistant", "Bergen it is.", 65)
MORE = Said("m6", "m5", "user", "My dog is called Fenja.", 90)
EDITED = (OSLO, OSLO_ANSWER, OSLO_MORE, BERGEN, BERGEN_ANSWER, MORE)

Export = Callable[..., Path]


def chatgpt(room: Path, *said: Said, leaf: str | None = None) -> Path:
    nodes: dict[str, Any] = {"top": {"id": "top", "message": None, "parent": None, "children": []}}
    for one in said:
        nodes[one.id] = {
            "id": one.id,
            "parent": one.above or "top",
            "children": [],
            "message": {
                "id": one.id,
                "author": {"role": one.who},
                "create_time": SPRING + one.at,
                "content": {"content_type": "text", "parts": [one.text]},
                "recipient": "all",
            },
        }
    chat = {"id": "c", "title": "Home", "create_time": SPRING, "mapping": nodes}
    return written(room, chat | {"current_node": leaf})


def claude(room: Path, *said: Said, leaf: str | None = None) -> Path:
    messages = [
        {
            "uuid": one.id,
            "parent_message_uuid": one.above or "00000000-0000-4000-8000-000000000000",
            "sender": "human" if one.who == "user" else "assistant",
            "text": one.text,
            "content": [{"type": "text", "text": one.text}],
            "created_at": f"2026-02-25T06:{one.at // 60:02}:{one.at % 60:02}.5Z",
        }
        for one in said
    ]
    chat: dict[str, Any] = {"uuid": "c", "name": "Home", "chat_messages": messages}
    return written(room, chat | ({"current_leaf_message_uuid": leaf} if leaf else {}))


def written(room: Path, conversation: Any) -> Path:
    path = room / "conversations.json"
    path.write_text(json.dumps([conversation]))
    return path


@pytest.fixture(params=[chatgpt, claude])
def export(request: pytest.FixtureRequest) -> Export:
    found: Export = request.param
    return found


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(home) as found:
        yield found.zone("ada")


def facts(zone: Zone, superseded: bool = False) -> str:
    return " ".join(fact.text for fact in zone.facts(superseded=superseded).facts)


@pytest.mark.parametrize("leaf", [None, "m6"])
def test_nothing_is_concluded_from_a_prompt_that_was_edited(
    tmp_path: Path, zone: Zone, export: Export, leaf: str | None
) -> None:
    zone.ingest_files([export(tmp_path, *EDITED, leaf=leaf)])
    assert "Bergen" in facts(zone)
    assert "Fenja" in facts(zone)
    for gone in ("Oslo", "Ludo"):
        assert gone not in facts(zone, superseded=True)
        assert gone not in zone.context("Where do I live, and with which pets?").block


def test_a_prompt_that_is_edited_after_its_import_holds_no_more(
    tmp_path: Path, zone: Zone, export: Export
) -> None:
    zone.ingest_files([export(tmp_path, *EDITED[:3], leaf="m3")])
    assert "Oslo" in facts(zone)
    report = zone.ingest_files([export(tmp_path, *EDITED, leaf="m6")])
    assert (report.new, report.duplicate, report.rejected) == (6, 3, 0)
    assert "Bergen" in facts(zone)
    assert "Oslo" not in facts(zone)
    assert "Oslo" not in zone.context("Where do I live?").block
    again = zone.ingest_files([export(tmp_path, *EDITED, leaf="m6")])
    assert (again.new, again.rejected) == (0, 0)


def test_messages_keep_the_ids_that_they_had(tmp_path: Path, export: Export) -> None:
    found = opened(export(tmp_path, *EDITED, leaf="m6"))
    said = [one for one in found.contents if not isinstance(one, Deletion)]
    assert [one.source_id.removeprefix("c:") for one in said] == [one.id for one in EDITED]
    gone = [one for one in found.contents if isinstance(one, Deletion)]
    assert [one.target.removeprefix("c:") for one in gone] == ["m1", "m2", "m3"]
    assert {one.source_id for one in gone} == {f"{one.target}:replaced" for one in gone}


def test_the_branch_that_is_shown_counts_be_it_older(
    tmp_path: Path, zone: Zone, export: Export
) -> None:
    zone.ingest_files([export(tmp_path, *EDITED, leaf="m3")])
    assert "Oslo" in facts(zone)
    assert "Bergen" not in facts(zone, superseded=True)


def test_a_new_answer_to_the_same_prompt_leaves_the_prompt(
    tmp_path: Path, zone: Zone, export: Export
) -> None:
    again = Said("m7", "m1", "assistant", "Oslo is lovely.", 70)
    zone.ingest_files([export(tmp_path, OSLO, OSLO_ANSWER, again, leaf="m7")])
    assert "Oslo" in facts(zone)


def test_a_prompt_without_another_beside_it_is_kept(tmp_path: Path, export: Export) -> None:
    """A leaf that is not the last message, a parent that is missing, a circle."""
    circle = Said("m9", "m9", "user", "I own a boat.", 100)
    lost = Said("m8", "nowhere", "user", "I own a bike.", 101)
    found = opened(export(tmp_path, OSLO, OSLO_ANSWER, OSLO_MORE, circle, lost, leaf="m2"))
    assert "deletion" not in found.kinds
    assert found.kinds["message"] == 4


@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.data())
def test_only_what_left_the_path_at_a_fork_is_replaced(parents: list[int], data: Any) -> None:
    """Compared with the definition, followed message by message; parents may form circles."""
    tree = {str(id): str(parent) for id, parent in enumerate(parents)}
    path = path_to(data.draw(st.sampled_from(sorted(tree))), tree)

    def is_replaced(id: str) -> bool:
        seen: list[str] = []
        while id not in path and id in tree and id not in seen:
            seen.append(id)
            if tree[id] in {tree[one] for one in path if one in tree}:
                return True
            id = tree[id]
        return False

    assert replaced_messages(tree, tree, path) == {id for id in tree if is_replaced(id)}


def test_a_deep_tree_is_walked_in_linear_time() -> None:
    depth = 200_000
    tree = {str(id): str(id - 1) for id in range(1, depth)} | {"side": "0"}
    assert replaced_messages(tree, tree, path_to("side", tree)) == {
        str(id) for id in range(1, depth)
    }
