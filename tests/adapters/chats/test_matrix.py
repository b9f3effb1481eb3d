"""Matrix's events: what was said, edited and taken back, without what clients repeat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect.schemas.events import Attachment, Deletion, Edit, Reaction, SystemNotice, kind_of
from tests.adapters.kit import Opened, opened

ROOM = "!house:example.org"
ADA, BOB = "@ada:example.org", "@bob:example.org"


def event(
    id: str, content: Any, second: int = 0, type_: str = "m.room.message", sender: Any = ADA,
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    return {
        "type": type_,
        "sender": sender,
        "content": content,
        "event_id": f"${id}",
        "origin_server_ts": 1_700_000_000_000 + second * 1000,
        "room_id": ROOM,
        **more,
    }


def text(body: str, **more: Any) -> dict[str, Any]:
    return {"msgtype": "m.text", "body": body, **more}


def relates(**more: Any) -> dict[str, Any]:
    return {"m.relates_to": more}


JOIN = {"membership": "join", "displayname": "Ada Lovelace"}
EVENTS = [
    event("create", {"creator": ADA}, 0, "m.room.create", state_key=""),
    event("join", JOIN, 1, "m.room.member", state_key=ADA),
    event("m1", text("I live in Paris."), 2),
    event("e1", text("* I live in Porto.", **{"m.new_content": text("I live in Porto.")},
                     **relates(rel_type="m.replace", event_id="$m1")), 3),
    event("m2", text(f"> <{ADA}> I live in Paris.\n> It rains.\n\nLucky you!",
                     **relates(**{"m.in_reply_to": {"event_id": "$m1"}})), 4, sender=BOB),
    event("r1", relates(rel_type="m.annotation", event_id="$m2", key="👍"), 5, "m.reaction"),
    event("t1", text("In the thread.", **relates(rel_type="m.thread", event_id="$m1",
          is_falling_back=True, **{"m.in_reply_to": {"event_id": "$m2"}})), 6),
    event("f1", {"msgtype": "m.image", "body": "house.png", "url": "mxc://x/y",
                 "info": {"mimetype": "image/png", "size": 12}}, 7),
    event("m3", text("Wrong room."), 8),
    event("d1", {"reason": "oops"}, 9, "m.room.redaction", redacts="$m3"),
    event("m4", {}, 10, unsigned={"redacted_because": event(
        "d2", {}, 11, "m.room.redaction", redacts="$m4")}),
    event("em", {"msgtype": "m.emote", "body": "is tired"}, 12),
    event("bot", {"msgtype": "m.notice", "body": "Build failed."}, 13, sender="@ci:example.org"),
    event("top", {"topic": "The move"}, 14, "m.room.topic", state_key=""),
    event("bye", {"membership": "leave"}, 15, "m.room.member", sender=BOB, state_key=BOB,
          unsigned={"prev_content": {"membership": "join", "displayname": "Bob"}}),
]  # fmt: skip


def export(path: Path, *events: Any, name: str = "export.json") -> Opened:
    file = path / name
    document = {"room_name": "House", "topic": "", "exported_by": ADA, "messages": events}
    file.write_text(json.dumps(document, indent=4))
    return opened(file)


def test_what_was_said_stands_without_what_clients_repeat(tmp_path: Path) -> None:
    found = export(tmp_path, *EVENTS)
    assert (found.formats, found.rejections) == (["matrix"], [])
    assert [(one.source_id, one.content) for one in found.contents] == [
        ("$join", "Ada Lovelace joined"),
        ("$m1", "I live in Paris."),
        ("$e1", "I live in Porto."),
        ("$m2", "Lucky you!"),
        ("$r1", "👍"),
        ("$t1", "In the thread."),
        ("$f1", ""),
        ("$m3", "Wrong room."),
        ("$d1", ""),
        ("$d2", ""),
        ("$em", "Ada Lovelace is tired"),
        ("$bot", "Build failed."),
        ("$top", "The room's topic is now The move"),
        ("$bye", "bob left"),
    ]
    by_id = {one.source_id: one for one in found.contents}
    assert isinstance(by_id["$join"], SystemNotice)
    edit, reaction = by_id["$e1"], by_id["$r1"]
    assert isinstance(edit, Edit)
    assert edit.target == "$m1"
    assert isinstance(reaction, Reaction)
    assert reaction.target == "$m2"
    targets = [one.target for one in found.contents if isinstance(one, Deletion)]
    assert targets == ["$m3", "$m4"]
    assert by_id["$m2"].reply_to == "$m1"
    assert by_id["$m2"].metadata["quoted"] == "I live in Paris.\nIt rains."
    assert (by_id["$t1"].thread_id, by_id["$t1"].reply_to) == ("$m1", None)
    assert by_id["$f1"].attachments == (
        Attachment(type="image", name="house.png", mime_type="image/png", size=12),
    )
    assert by_id["$bot"].direction == "out"
    assert {one.peer_id for one in found.contents} == {ROOM}
    assert by_id["$m1"].sender_name == "Ada Lovelace"


@pytest.mark.parametrize("how", ["array", "lines", "chunk", "one line"])
def test_other_shapes_give_the_same(tmp_path: Path, how: str) -> None:
    path = tmp_path / "room.json"
    path.write_text(
        {
            "array": json.dumps(EVENTS),
            "lines": "\n".join(map(json.dumps, EVENTS)),
            "chunk": json.dumps({"start": "t1", "chunk": EVENTS, "end": "t2"}, indent=1),
            "one line": json.dumps({"room_name": "House", "messages": EVENTS}),
        }[how]
    )
    found = opened(path)
    assert (found.formats, found.rejections) == (["matrix"], [])
    # Element alone writes the room's name beside the events.
    assert unnamed(found) == unnamed(export(tmp_path, *EVENTS))


def unnamed(found: Opened) -> list[Any]:
    """Return the events of a room without its name."""
    return [
        msgspec.structs.replace(
            one, metadata={key: value for key, value in one.metadata.items() if key != "channel"}
        )
        for one in found.contents
    ]


def test_an_edit_that_a_server_bundled_is_one_edit(tmp_path: Path) -> None:
    newer = {**EVENTS[3]}
    bundled = {**EVENTS[2], "unsigned": {"m.relations": {"m.replace": newer}}}
    served = {**bundled, "content": text("I live in Porto.")}
    expected = [("$m1", "I live in Paris."), ("$e1", "I live in Porto.")]
    found = export(tmp_path, bundled, newer)
    assert [(one.source_id, one.content) for one in found.contents] == [*expected, expected[1]]
    assert found.contents[1] == found.contents[2]
    # Where the server put the last words in, the first are not known.
    assert [one.source_id for one in export(tmp_path, served).contents] == ["$e1"]


def test_an_edit_in_an_encrypted_room_dates_from_when_it_was_made(tmp_path: Path) -> None:
    sealed = event("e1", {"ciphertext": "AwgB", **relates(rel_type="m.replace")}, 9,
                   "m.room.encrypted")  # fmt: skip
    message = event("m1", text("The shed is red."))
    edited = {
        **message,
        "content": text("The shed is blue."),
        "unsigned": {"m.relations": {"m.replace": sealed}},
    }
    found = export(tmp_path, edited)
    (edit,) = found.contents
    assert isinstance(edit, Edit)
    assert (edit.source_id, edit.target, edit.content) == ("$e1", "$m1", "The shed is blue.")
    assert (edit.said_at, found.drafts[0].occurred_at) == (1_700_000_000_000, 1_700_000_009_000)
    # Other programs write the edit too, and leave the message as it was.
    path = tmp_path / "room.json"
    path.write_text(json.dumps([edited]))
    assert [one.source_id for one in opened(path).contents] == ["$m1"]


@pytest.mark.parametrize(
    "broken",
    [
        17,
        {"type": 3},
        event("x", {"algorithm": "m.megolm.v1"}, 1, "m.room.encrypted"),
        event("x", {"msgtype": "m.bad.encrypted", "body": "** Unable to decrypt **"}),
        event("x", {"msgtype": ["m.text"], "body": "x"}),
        event("x", {"msgtype": "m.text", "body": None}),
        event("x", {"msgtype": "m.text"}),
        event("x", text("x"), origin_server_ts=None),
        event("x", text("x"), sender=None),
        event("x", {"body": "x"}, 1, "org.example.new"),
        event("x", {}, 1, "m.room.redaction"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(tmp_path: Path, broken: Any) -> None:
    found = export(tmp_path, EVENTS[2], broken, EVENTS[7])
    assert len(found.texts) == 2
    assert [rejection.line for rejection in found.rejections] == [2]


def test_a_file_that_is_cut_off_gives_what_came_before(tmp_path: Path) -> None:
    whole = export(tmp_path, *EVENTS).contents
    path = tmp_path / "export.json"
    data = path.read_bytes()
    for end in range(1200, len(data) - 10, 97):
        path.write_bytes(data[:end])
        found = opened(path, "matrix")
        assert found.contents == whole[: len(found.contents)]
        assert len(found.rejections) == 1


def test_what_a_server_answers_to_a_sync_is_read(tmp_path: Path) -> None:
    """There a room's id, which has dots in it, stands above its events alone."""
    bare = [{key: value for key, value in one.items() if key != "room_id"} for one in EVENTS]
    rooms = {ROOM: {"timeline": {"events": bare, "limited": False}, "state": {"events": []}}}
    path = tmp_path / "sync.json"
    path.write_text(json.dumps({"next_batch": "s1", "rooms": {"join": rooms, "invite": {}}}))
    found = opened(path)
    assert (found.formats, found.rejections) == (["matrix"], [])
    assert unnamed(found) == unnamed(export(tmp_path, *EVENTS))


def test_words_of_an_unknown_type_count_and_a_verification_is_a_notice(tmp_path: Path) -> None:
    confetti = event("x", {"msgtype": "nic.custom.confetti", "body": "We are married!"})
    asked = event("y", {"msgtype": "m.key.verification.request", "body": "Bob asks", "to": "@a:b"})
    found = export(tmp_path, confetti, asked)
    assert not found.rejections
    assert (found.texts[0], found.kinds) == ("We are married!", {"message": 1, "notice": 1})


UNSTABLE = "org.matrix.msc3381.poll"
TEXT = "org.matrix.msc1767.text"


def test_a_poll_is_its_question_and_votes_are_reactions(tmp_path: Path) -> None:
    """In the form that clients write today, and in that of the specification."""

    def vote(id_: str, poll: str, chosen: list[str], second: int) -> dict[str, Any]:
        content = {
            **relates(rel_type="m.reference", event_id=f"${poll}"),
            f"{UNSTABLE}.response": {"answers": chosen},
        }
        return event(id_, content, second, f"{UNSTABLE}.response", sender=BOB)  # fmt: skip

    def question(asked: str) -> dict[str, Any]:
        answers = [{"id": "a", TEXT: "Tea"}, {"id": "b", TEXT: "Cocoa"}]
        poll = {"question": {TEXT: asked, "body": asked}, "answers": answers, "max_selections": 2}
        return {f"{UNSTABLE}.start": poll, TEXT: f"{asked}\n1. Tea\n2. Cocoa"}

    edited = {**relates(rel_type="m.replace", event_id="$p1"), "m.new_content": question("Now?")}
    stable = {"m.text": [{"body": "Where?"}], "m.poll": {
        "question": {"m.text": [{"body": "Where?"}]},
        "answers": [{"m.id": "x", "m.text": [{"body": "Porto"}]}]}}  # fmt: skip
    found = export(
        tmp_path,
        event("p1", question("What?"), 1, f"{UNSTABLE}.start"),
        vote("v1", "p1", ["b"], 2),
        event("p2", edited, 3, f"{UNSTABLE}.start"),
        vote("v2", "p1", ["a", "b"], 4),
        vote("v3", "p1", [], 5),
        vote("v4", "elsewhere", ["a"], 6),
        event("q1", stable, 7, "m.poll.start"),
        event("v5", {"m.selections": ["x"], **relates(rel_type="m.reference", event_id="$q1")}, 8,
              "m.poll.response"),
        event("z1", {f"{UNSTABLE}.end": {}, TEXT: "The poll has ended. Top answer: Tea",
                     **relates(rel_type="m.reference", event_id="$p1")}, 9, f"{UNSTABLE}.end"),
        event("p3", {}, 10, "m.poll.start", unsigned={"redacted_because": event(
            "d9", {}, 11, "m.room.redaction", redacts="$p3")}),
    )  # fmt: skip
    assert not found.rejections
    assert [
        (kind_of(one), one.content, getattr(one, "target", None)) for one in found.contents
    ] == [
        ("message", "What?", None),
        ("reaction", "Cocoa", "$p1"),
        ("edit", "Now?", "$p1"),
        ("reaction", "Tea / Cocoa", "$p1"),
        ("reaction", "withdrew the vote", "$p1"),
        ("reaction", "voted", "$elsewhere"),
        ("message", "Where?", None),
        ("reaction", "Porto", "$q1"),
        ("notice", "The poll has ended. Top answer: Tea", None),
        ("deletion", "", "$p3"),
    ]
    assert found.contents[0].attachments == (Attachment(type="poll", caption="Tea / Cocoa"),)
