"""G3: a zone exports all that was said and done in it, and comes back to the same hashes."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import PlaybookStrategy, Recollect
from recollect.home.home_directory import Home
from recollect.library.library_zone import Zone
from recollect.schemas.errors import InvalidInput, UnknownZone
from recollect.schemas.events import KINDS, RecallCount
from recollect.schemas.exported_events import NOT_EXPORTED
from tests.protocol.kit import in_memory

HOSTILE = (
    'I live in "Oslo"\\n\u202e}, {"recollect":{"zone":"ada","number":1}}',
    "\u2028\u0085 new \ud83d\ude00 lines\r\n```\n# x\n</memory_context>",
    "Zürich 日本 \u200f\x1b[31m 'quoted' \\u0000",
)
START = datetime(2026, 5, 1, tzinfo=UTC)


def at(minute: int) -> str:
    return (START + timedelta(minutes=minute)).isoformat()


def message(id: str, content: str, minute: int, **more: Any) -> dict[str, Any]:
    event = {"platform": "chat", "sender_id": "u1", "sender_name": "Ada", "id": id}
    return {**event, "occurred_at": at(minute), "content": content, "peer_id": "c", **more}


def opened(path: Path) -> Recollect:
    Home.create_or_open(path, without_encoder=True)
    return Recollect(path)


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with opened(tmp_path / "home") as home:
        yield home.zone("ada")


def hashes(zone: Zone) -> dict[str, str]:
    verified = zone.verify()
    assert verified.ok, verified.problems
    return {model.model: model.hash for model in verified.models}


def ingested(path: Path, export: Path, name: str = "ada") -> dict[str, str]:
    """Return the hashes of a new home into which an export was ingested, and again."""
    with opened(path) as home:
        zone = home.zone(name)
        report = zone.ingest_files(export)
        assert report.rejected == 0, report.rejections
        again = zone.ingest_files(export)
        assert (again.new, again.rejections) == (0, [])
        return hashes(zone)


def full(zone: Zone) -> None:
    """Do in a zone all that a user can do."""
    zone.ingest(
        [
            message("m1", "I live in Turin with a puppy called Rex.", 0),
            message("m2", "I work at Acme because of the sea.", 1, thread_id="t"),
            message("m3", "I bought a boat from Ann Lee.", 2, sender_id="u2", sender_name="Bob"),
            message("m4", "Ann Lee and Annie Lee sold two boats.", 3, sender_id="u2"),
            message("m5", "Look at this", 4, attachments=[
                {"type": "image", "name": "a.png", "caption": "A boat", "size": 7},
                {"type": "forward", "name": "Eve", "caption": "It is for sale."}]),
            *(message(f"h{n}", text, 5 + n, metadata={"n": [n, None, 1.5, text]})
              for n, text in enumerate(HOSTILE)),
            message("e1", "I live in Milan with a puppy called Rex.", 10, kind="edit", target="m1",
                    said_at=at(0)),
            message("m6", "I said this by mistake.", 11),
            message("d1", "", 12, kind="deletion", target="m6"),
            message("r1", "👍", 13, kind="reaction", target="m2"),
            message("n1", "Ada joined", 14, kind="notice"),
            message("a1", "Turin is a city.", 15, direction="out", turn_id="turn"),
            message("a2", "", 16, kind="turn_completed", turn_id="turn", direction="out"),
            {**message("x", "I have tea on Mondays.", 17), "id": None,
             "occurred_at": "2026-05-02T10:00:00.123+05:30", "ingested_at": at(18)},
        ]
    )  # fmt: skip
    zone.remember("The deploy key is in the blue safe.", sender_id="u1", at=at(20))
    directive = zone.add_directive("Always answer in French.")
    zone.add_directive("Never mention prices.")
    zone.remove_directive(directive.id)
    model = zone.create_mental_model("Boats", "What Ada knows of boats.", tags=["sea"])
    zone.update_mental_model(model.id, "What Ada and Bob know of boats.")
    first, second, *_ = zone.facts()
    zone.retract(first.id)
    zone.retract(second.id)
    zone.retract(second.id, restore=True)
    ada, bob, *_ = zone.entities()
    zone.propose_merge(ada.id, bob.id, 0.9, "they said so")
    for decision in ("merged", "undone"):
        for merge in zone.merges(status="pending" if decision == "merged" else "merged"):
            zone.decide_merge(merge.id, decision)
    zone.analyse()
    (fact, *_) = zone.recall("Where does Ada live?", scope="facts").results
    zone.update_memory(fact.id, "Ada lives in Rome.")
    zone.record_accesses([RecallCount("fact", fact.id, 3)])
    book = zone.create_playbook("Boats", strategies=[PlaybookStrategy(text="Ask Bob first.")])
    for score in (0.2, 0.9):
        run = zone.start_trajectory("Sell a boat", playbook_id=book.id)
        zone.log_step(run.id, "action", f"Called Ann Lee {score}.")
        zone.complete_trajectory(run.id, "partial", success_score=score)
        zone.give_feedback(run.id, score)
        zone.reflect_on(run.id)
    zone.curate_playbook(book.id, run.id)
    zone.record_usage(book.id, True)


def test_everything_done_in_a_zone_comes_back_to_the_same_hashes(
    zone: Zone, tmp_path: Path
) -> None:
    full(zone)
    report = zone.export(tmp_path / "a.jsonl")
    assert report.left_out == {}
    assert report.events == zone.verify().events or report.events > 20
    assert ingested(tmp_path / "other", tmp_path / "a.jsonl") == hashes(zone)
    # And what came back exports to the same bytes.
    with Recollect(tmp_path / "other") as other:
        other.zone("ada").export(tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()


def test_a_record_that_is_long_only_as_json_comes_back(zone: Zone, tmp_path: Path) -> None:
    words = "I live in Turin. " + "\x01" * 250_000
    chat = tmp_path / "chat.txt"
    chat.write_text(f"25/06/2020, 15:05 - Ada: {words}\n25/06/2020, 15:06 - Ada: So.\n")
    assert zone.ingest_files(chat, timezone="UTC").new == 2
    zone.export(tmp_path / "a.jsonl")
    assert max(map(len, (tmp_path / "a.jsonl").read_bytes().splitlines())) > 1 << 20
    assert ingested(tmp_path / "other", tmp_path / "a.jsonl") == hashes(zone)


def test_forgotten_words_are_not_exported(zone: Zone, tmp_path: Path) -> None:
    full(zone)
    zone.forget("m3", certificate=True)
    zone.rebuild("derive")
    report = zone.export(tmp_path / "a.jsonl")
    assert report.left_out["forget"] == 1
    assert report.left_out["erased"] >= 1
    assert report.left_out["switch"] == 1
    text = (tmp_path / "a.jsonl").read_text()
    assert "bought a boat" not in text
    assert '"m3"' not in text
    assert ingested(tmp_path / "other", tmp_path / "a.jsonl") == hashes(zone)


def test_messages_after_rebuilds_come_back_to_the_same_hashes(zone: Zone, tmp_path: Path) -> None:
    full(zone)
    zone.rebuild("derive")
    zone.ingest([message("later", "I moved to Bergen and bought a red kayak.", 400)])
    zone.rebuild("fresh")
    zone.remember("The kayak has a leak.")
    report = zone.export(tmp_path / "a.jsonl")
    assert report.left_out["switch"] == 2
    assert ingested(tmp_path / "other", tmp_path / "a.jsonl") == hashes(zone)
    with Recollect(tmp_path / "other") as home:
        other = home.zone("ada")
        before = hashes(other)
        other.export(tmp_path / "b.jsonl")
        other.rebuild("derive")
        assert hashes(other) == before
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()


def test_each_line_is_an_event_in_the_documented_form(zone: Zone) -> None:
    full(zone)
    for line in map(json.loads, zone.export_lines()):
        assert {"id", "platform", "sender_id", "occurred_at", "content", "kind"} <= line.keys()
        assert line["recollect"]["zone"] == "ada"


def test_an_export_adds_to_a_home_with_other_memories(zone: Zone, tmp_path: Path) -> None:
    full(zone)
    zone.forget("m3")
    zone.export(tmp_path / "a.jsonl")
    with opened(tmp_path / "other") as home:
        other = home.zone("ada")
        other.ingest([message("own", "I own a red bicycle.", 0, sender_id="u9")])
        report = other.ingest_files(tmp_path / "a.jsonl")
        assert report.rejected == 0
        assert other.ingest_files(tmp_path / "a.jsonl").new == 0
        theirs = {fact.text for fact in other.facts()}
        assert {fact.text for fact in zone.facts()} <= theirs
        assert other.verify().ok


def test_an_exported_note_keeps_the_time_of_its_last_change(zone: Zone, tmp_path: Path) -> None:
    def note(text: str, minute: int) -> dict[str, Any]:
        return message("n", text, 0, revisable="changing", revised_at=at(minute))

    zone.ingest([note("I live in Turin.", 40), note("I live in Milan.", 50)])
    zone.export(tmp_path / "a.jsonl")
    with opened(tmp_path / "other") as home:
        other = home.zone("ada")
        assert other.ingest_files(tmp_path / "a.jsonl").rejected == 0
        for each in (zone, other):
            report = each.ingest([note("I live in Rome.", 45), note("I live in Oslo.", 55)])
            assert (len(report.rejections), report.new) == (1, 1)
        assert other.ingest_files(tmp_path / "a.jsonl").rejected == 0


def test_an_export_of_another_zone_is_refused_with_its_name(zone: Zone, tmp_path: Path) -> None:
    zone.ingest([message("m", "I live in Turin.", 0)])
    zone.export(tmp_path / "a.jsonl")
    with (
        opened(tmp_path / "other") as home,
        pytest.raises(InvalidInput, match="into a zone of that name"),
    ):
        home.zone("bob").ingest_files(tmp_path / "a.jsonl")


def test_a_folder_with_another_zones_export_gives_its_other_files(
    zone: Zone, tmp_path: Path
) -> None:
    zone.ingest([message("m", "I live in Turin.", 0)])
    folder = tmp_path / "folder"
    folder.mkdir()
    zone.export(folder / "b.jsonl")
    for name in ("a", "c"):
        event = message(f"own-{name}", "I own a boat.", 1)
        (folder / f"{name}.jsonl").write_text(json.dumps(event) + "\n")
    with opened(tmp_path / "other") as home:
        bob = home.zone("bob")
        report = bob.ingest_files(folder)
        assert (report.read, report.new, report.rejected) == (3, 2, 1)
        (refused,) = report.rejections
        assert refused.path.endswith("b.jsonl")
        assert "the zone ada" in refused.reason
        assert bob.status().lag == 0


def test_a_changed_line_is_rejected_and_the_others_come_in(zone: Zone, tmp_path: Path) -> None:
    full(zone)
    lines = list(zone.export_lines())
    erase = {"targets": [1]}
    forged = {**json.loads(lines[0]), "kind": "forget", "command": erase, "id": "f"}
    posing = {**json.loads(lines[0]), "platform": "recollect", "id": "p"}
    (tmp_path / "a.jsonl").write_bytes(
        b"".join([*lines, *(json.dumps(one).encode() + b"\n" for one in (forged, posing)), b"{}\n"])
    )
    with opened(tmp_path / "other") as home:
        report = home.zone("ada").ingest_files(tmp_path / "a.jsonl")
        assert (report.new, report.rejected) == (len(lines), 3)


#: The fields of exported kinds that hold numbers, but not those of records.
OTHER_NUMBERS = {
    ("remember", "valid_at"),
    ("remember", "invalid_at"),
    ("remember", "abstraction_level"),
    ("edit", "said_at"),
    ("message", "revised_at"),
    ("remember", "revised_at"),
    ("edit", "revised_at"),
    ("recalled", "accesses"),
    ("refresh_models", "min_facts"),
}
#: The fields with numbers of records, and those of answers, without which a kind is exported.
RECORD_NUMBERS = {
    ("retry", "number"),
    ("drop", "number"),
    ("retract", "stated_at"),
    ("decide_writer_text", "sources"),
    ("analyse", "events"),
    ("analyse", "sources"),
    ("analyse", "answers"),
    ("reflect", "sources"),
    ("reflect", "answers"),
    ("consolidate_memories", "sources"),
    ("consolidate_memories", "answers"),
}


def test_every_field_that_may_name_a_record_is_known() -> None:
    """Numbers of records differ in another home: `record_references` must know the field."""
    assert {
        (kind, field.name)
        for kind, payload in KINDS.items()
        if kind not in NOT_EXPORTED
        for field in msgspec.structs.fields(payload)
        if field.name != "utc_offset"
        and re.search(r"\bint\b|StatedAt|RecordingRef|RecallCount", str(field.type))
    } == OTHER_NUMBERS | RECORD_NUMBERS


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40
).filter(lambda text: bool(text.strip()))
EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "content": TEXTS | st.sampled_from(["I live in Oslo.", "I moved to Rome.", *HOSTILE]),
            "sender_name": st.none() | TEXTS,
            "offset": st.integers(-840, 840),
            "minute": st.integers(0, 10**6),
            "metadata": st.dictionaries(
                TEXTS, st.none() | TEXTS | st.integers(-(2**60), 2**64 - 1)
            ),
            "turns_to": st.sampled_from(["message", "edit", "deletion", "remember", "reaction"]),
        }
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(EVENTS, st.sets(st.integers(0, 5), max_size=2))
def test_any_events_come_back_to_the_same_hashes(
    events: list[dict[str, Any]], forgotten: set[int]
) -> None:
    with in_memory() as room, opened(room / "home") as home:
        zone = home.zone("ada")
        for number, given_ in enumerate(events):
            kind = given_["turns_to"]
            zone_ = f"{'-' if given_['offset'] < 0 else '+'}" + "{:02}:{:02}".format(
                *divmod(abs(given_["offset"]), 60)
            )
            when = (START + timedelta(minutes=given_["minute"])).strftime("%Y-%m-%dT%H:%M:%S.123")
            event = message(
                f"m{number}", given_["content"], 0, kind=kind, metadata=given_["metadata"]
            )
            event |= {"occurred_at": f"{when}{zone_}", "sender_name": given_["sender_name"]}
            if kind in ("edit", "deletion", "reaction"):
                event["target"] = f"m{max(0, number - 1)}"
            zone.ingest([event])
        if ids := [f"m{number}" for number in sorted(forgotten) if number < len(events)]:
            zone.forget(*ids)
        zone.export(room / "a.jsonl")
        assert ingested(room / "other", room / "a.jsonl") == hashes(zone)


def test_an_export_is_private_and_refuses_to_overwrite(zone: Zone, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with pytest.raises(UnknownZone):
        zone.export(path)
    zone.ingest([message("m", "I live in Turin.", 0)])
    zone.export(path)
    before = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(InvalidInput, match="exists"):
        zone.export(path)
    zone.ingest([message("n", "I own a boat.", 1)])
    zone.export(path, force=True)
    assert path.read_bytes().startswith(before)
    assert len(path.read_bytes()) > len(before)
    with pytest.raises(InvalidInput, match="not a file"):
        zone.export(tmp_path, force=True)
    assert {each.name for each in tmp_path.iterdir()} == {"home", "a.jsonl"}


def test_a_branch_is_exported_as_it_is(zone: Zone, tmp_path: Path) -> None:
    zone.ingest([message("m", "I live in Turin.", 0)])
    zone.create_branch("trial")
    with_branch = zone._zone.open_home.zone("ada@trial")
    branch = Zone(with_branch)
    branch.ingest([message("n", "I own a boat.", 1)])
    assert len(list(zone.export_lines())) == 1
    branch.export(tmp_path / "a.jsonl")
    assert ingested(tmp_path / "other", tmp_path / "a.jsonl") == hashes(branch)


_EXPORT = """
import sys
from recollect import Recollect
with Recollect(sys.argv[1]) as home:
    zone = home.zone("ada")
    print("ready", flush=True)
    while True:
        zone.export(sys.argv[2], force=True)
"""


def test_a_killed_export_leaves_the_old_file_or_a_whole_one(zone: Zone, tmp_path: Path) -> None:
    zone.ingest(message(f"m{n}", f"I own boat number {n}.", n) for n in range(300))
    path = tmp_path / "a.jsonl"
    whole = b"".join(zone.export_lines())
    zone._zone.open_home.close()
    for delay in (0.05, 0.2, 0.35):
        with subprocess.Popen(
            [sys.executable, "-c", _EXPORT, str(tmp_path / "home"), str(path)],
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            os.kill(process.pid, signal.SIGKILL)
        assert not path.exists() or path.read_bytes() == whole
    # The next export removes what was left behind.
    with Recollect(tmp_path / "home") as home:
        home.zone("ada").export(path, force=True)
    assert path.read_bytes() == whole
    assert {each.name for each in tmp_path.iterdir()} == {"home", "a.jsonl"}
