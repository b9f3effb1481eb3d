"""Whatever a person wrote is forgotten by any id that is shown of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.schemas.events import CreateMentalModel, Draft, Message
from recollect.schemas.ids import event_id
from recollect.schemas.times import parse_time
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.publishing.inbox import InboxRecord, ingest_records
from tests.forget.kit import ZONE, Recollect, line
from tests.memory import Memory

AT = "2026-01-05T10:00:00Z"
AT_MS = parse_time(AT)[0]


def post(recollect: Recollect, *bodies: bytes, zone: str = ZONE) -> None:
    """Let the sequencer take records in, as it does from the inbox."""
    ledger = EmbeddedLedger(recollect.home)
    try:
        ingest_records(ledger, [InboxRecord(zone.encode(), body, AT_MS) for body in bodies])
    finally:
        ledger.close()


def letters(recollect: Recollect) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = recollect.run("deadletters")["dead_letters"]
    return found


def body(id: str, content: str, **fields: Any) -> bytes:
    return json.dumps(line(id, content, **fields)).encode()


def _written(memory: Memory, name: str, text: str) -> str:
    """Keep a mental model; return the id of the command that wrote it."""
    model = CreateMentalModel(source_id="written", name=name, description=text)
    return memory.command(model).event_id


def test_an_event_by_the_id_that_recall_and_why_print(recollect: Recollect) -> None:
    recollect.ingest(line("m1", "The qwxyz code is 7."), line("m2", "The box is green."))
    results = recollect.run("recall", "qwxyz code", "--scope", "events")["results"]
    assert recollect.run("why", results[0]["id"])["source_event_ids"] == ["m1"]
    gone = recollect.run("forget", results[0]["id"])
    assert gone["forgotten"] == [results[0]["id"]]
    assert gone["events"] == 1
    assert not recollect.left("qwxyz")
    assert recollect.left("green")
    assert recollect.whole()


def test_a_fact_goes_with_the_event_that_it_comes_from_and_all_that_repeat_it(
    recollect: Recollect,
) -> None:
    recollect.ingest(
        line("m1", "I moved to Qwxyzville."),
        line("m2", "I moved to Qwxyzville.", occurred_at="2026-01-05T11:00:00Z"),
        line("m3", "The box is green."),
    )
    (fact,) = [
        result
        for result in recollect.run("recall", "Qwxyzville", "--scope", "facts")["results"]
        if "Qwxyzville" in result["text"]
    ]
    gone = recollect.run("forget", fact["id"])
    assert (gone["events"], gone["facts"]) == (2, 1)
    assert not recollect.left("Qwxyzville", "qwxyzville")
    assert recollect.whole()


def test_a_mental_model_goes_with_all_its_versions(recollect: Recollect) -> None:
    recollect.ingest(line("m1", "The box is green."))
    with recollect.memory() as memory:
        event = _written(memory, "Qwxyz", "It is in the old safe.")
    asked = ("recall", "old safe", "--scope", "mental_models")
    (first,) = recollect.run(*asked)["results"]
    with recollect.memory() as memory:
        memory.update_mental_model(first["id"], "It is in the qwxyzian vault.")
        (second,) = [
            result["id"]
            for result in recollect.run("recall", "vault", "--scope", "mental_models")["results"]
        ]
        memory.update_mental_model(second, "It is in the third qwxyzium.")
    assert recollect.left("Qwxyz")
    gone = recollect.run("forget", second)
    assert gone["events"] == 3
    assert not recollect.left("Qwxyz", "qwxyz", "old safe")
    assert recollect.run("recall", "safe vault", "--scope", "mental_models")["results"] == []
    assert recollect.whole()
    assert recollect.run("forget", event)["already_forgotten"] == [event]


def test_a_mental_model_by_the_id_of_the_command_that_wrote_it(recollect: Recollect) -> None:
    with recollect.memory() as memory:
        event = _written(memory, "Qwxyz", "It is in the old safe.")
    assert recollect.run("forget", event)["events"] == 1
    assert not recollect.left("Qwxyz")


def test_a_remembered_text(recollect: Recollect) -> None:
    answer = recollect.run("remember", "The qwxyz key is in the blue safe.")
    assert recollect.run("forget", answer["event_id"])["events"] == 1
    assert not recollect.left("qwxyz")
    assert recollect.whole()


def test_an_edit_that_was_parked_goes_with_the_message(recollect: Recollect) -> None:
    """Trace: edited, parked, then the message forgotten, and the parked record dropped."""
    post(recollect, body("m1", "My PIN is 11118888."), body("m1", "My PIN is qwxyz."))
    post(recollect, body("m2", "The box is green."), body("m2", "The box is red."))
    recollect.run("worker", "--once")
    first, second = letters(recollect)
    assert "'m1'" in first["reason"]
    gone = recollect.run("forget", "m1")
    assert gone["events"] == 2
    assert not recollect.left("qwxyz", "11118888", "'m1'")
    assert [letter["number"] for letter in letters(recollect)] == [second["number"]]
    assert recollect.whole()


def test_an_edit_that_was_dropped_before_goes_with_the_message(recollect: Recollect) -> None:
    post(recollect, body("m1", "My PIN is 11118888."), body("m1", "My PIN is qwxyz."))
    recollect.run("worker", "--once")
    (letter,) = letters(recollect)
    assert recollect.run("deadletters", "drop", f"#{letter['number']}")["done"]
    assert recollect.left("qwxyz"), "dropping is not forgetting"
    recollect.run("forget", "m1")
    assert not recollect.left("qwxyz", "11118888")
    assert recollect.whole()


def test_an_edit_that_was_refused_for_something_else_goes_too(recollect: Recollect) -> None:
    post(
        recollect,
        body("m1", "My PIN is 11118888."),
        body("m1", "My PIN is qwxyz.", occurred_at="tomorrow"),
        body("m1", "My PIN is qwxyz.", platform="mail", occurred_at="tomorrow"),
    )
    recollect.run("worker", "--once")
    assert len(letters(recollect)) == 2
    recollect.run("forget", "m1")
    ((_, reason),) = [(letter["number"], letter["reason"]) for letter in letters(recollect)]
    assert "tomorrow" in reason, "that of another platform is another message"


@pytest.mark.parametrize(
    "parked", [b"{qwxyz", b"qwxyz \xff\xfe", b'{"content": "qwxyz"}', b'["qwxyz"]'], ids=str
)
def test_a_record_that_could_not_be_parsed_by_its_number(
    recollect: Recollect, parked: bytes
) -> None:
    post(recollect, body("m1", "The box is green."), parked)
    recollect.run("worker", "--once")
    (letter,) = letters(recollect)
    assert recollect.left("qwxyz")
    id_ = f"#{letter['number']}"
    gone = recollect.run("forget", id_)
    assert (gone["forgotten"], gone["events"]) == ([id_], 1)
    assert not recollect.left("qwxyz")
    assert letters(recollect) == []
    assert recollect.whole()
    assert recollect.run("forget", id_)["already_forgotten"] == [id_]
    # It is not parked again when it comes once more.
    post(recollect, parked)
    assert not recollect.left("qwxyz")


def test_the_number_is_printed_as_it_is_taken(
    recollect: Recollect, capfd: pytest.CaptureFixture[str]
) -> None:
    from recollect.cli.app import run

    post(recollect, b"{qwxyz")
    recollect.run("worker", "--once")
    assert run(["--home", str(recollect.home), "deadletters"]) == 0
    assert "#1 " in capfd.readouterr().out


def test_a_number_of_nothing_that_anybody_wrote_is_refused(recollect: Recollect) -> None:
    recollect.ingest(line("m1", "The box is green."))
    recollect.run("forget", "m1")
    for id_, why in (("#2", "is a forget"), ("#3", "has no record"), ("#0", "has no record")):
        ended = recollect.end("forget", id_)
        assert (ended.status, why in ended.said) == (2, True), ended.said


def test_a_number_is_a_number_whatever_a_source_calls_its_events(recollect: Recollect) -> None:
    """Nobody can give an event the id of a parked record and have it stand in the way."""
    post(recollect, b"{qwxyz")
    recollect.ingest(line("#1", "Mine."), line("#1", "Mine too.", platform="mail"))
    assert recollect.run("forget", "#1")["events"] == 1
    assert not recollect.left("qwxyz")
    assert recollect.run("forget", "#1", "--platform", "mail")["events"] == 1
    assert not recollect.left("Mine too")
    assert recollect.left("Mine.")


def test_an_id_of_ours_is_ours_whatever_a_source_calls_its_events(recollect: Recollect) -> None:
    recollect.ingest(line("m1", "The qwxyz code is 7."))
    id_ = event_id(ZONE, "chat", "m1", AT_MS)
    recollect.ingest(line(id_, "Mine."), line(id_, "Mine too.", platform="mail"))
    recollect.run("forget", id_)
    assert not recollect.left("qwxyz")
    assert recollect.left("Mine.")


def test_a_name_in_the_end_of_a_turn_that_says_nothing(recollect: Recollect) -> None:
    """It stands in no file of turns, but its name is somebody's."""
    done = line("done", "", kind="turn_completed", turn_id="T", sender_name="Qwxyz Smith")
    other = line(
        "other", "", kind="turn_completed", turn_id="U", sender_id="eveqx", platform="mail"
    )
    recollect.ingest(line("m1", "The box is green."), done, other)
    assert recollect.left("Qwxyz")
    assert recollect.run("forget", "done")["events"] == 1
    assert not recollect.left("Qwxyz", "qwxyz")
    id_ = event_id(ZONE, "mail", "other", AT_MS)
    assert recollect.run("forget", id_)["events"] == 1
    assert not recollect.left("eveqx")
    assert recollect.whole()


def test_a_turn_goes_with_our_command_that_ended_it(recollect: Recollect) -> None:
    from tests.forget.test_commands import tick_after

    recollect.ingest(
        line("m1", "My bicycle is blue.", turn_id="qwxyz-turn"),
        line("m2", "My boat is red.", turn_id="qwxyz-turn"),
    )
    tick_after(recollect, 2)
    recollect.run("forget", "m2")
    assert recollect.left("qwxyz-turn"), "the turn has another message"
    recollect.run("forget", "m1")
    assert not recollect.left("qwxyz-turn")
    assert recollect.whole()


def test_several_platforms_have_the_id(recollect: Recollect) -> None:
    recollect.ingest(line("m1", "Green."), line("m1", "Crimson.", platform="mail"))
    ended = recollect.end("forget", "m1")
    assert ended.status == 2
    assert "chat, mail" in ended.said
    recollect.run("forget", "m1", "--platform", "mail")
    assert not recollect.left("Crimson.")
    assert recollect.left("Green.")


def test_an_unknown_id_erases_nothing(recollect: Recollect) -> None:
    recollect.ingest(line("m1", "The qwxyz code is 7."))
    ended = recollect.end("forget", "m1", "m2")
    assert ended.status == 2
    assert "holds no event 'm2'" in ended.said
    assert recollect.left("qwxyz")


def test_nothing_said_is_wrong_use(recollect: Recollect) -> None:
    recollect.ingest(line("m1", "The box is green."))
    for arguments in ((), ("--platform", "chat"), ("--dry-run",)):
        assert recollect.end("forget", *arguments).status == 2


# Again


def test_what_is_forgotten_already_is_said_by_every_id_of_it(recollect: Recollect) -> None:
    recollect.ingest(line("m1", "I moved to Qwxyzville."), line("m2", "The box is green."))
    id_ = event_id(ZONE, "chat", "m1", AT_MS)
    (fact,) = [
        result["id"]
        for result in recollect.run("recall", "Qwxyzville", "--scope", "facts")["results"]
        if "Qwxyzville" in result["text"]
    ]
    assert recollect.run("forget", fact, "m1")["already_forgotten"] == []
    for again in (fact, "m1", id_, "#1"):
        answer = recollect.run("forget", again)
        assert (answer["already_forgotten"], answer["forgotten"], answer["events"]) == (
            [again],
            [],
            0,
        )
    answer = recollect.run("forget", "m1", "m2")
    assert (answer["already_forgotten"], answer["forgotten"], answer["events"]) == (
        ["m1"],
        ["m2"],
        1,
    )
    # Of no platform that the files know any more.
    assert recollect.run("forget", "m1", "--platform", "chat")["already_forgotten"] == ["m1"]
    assert recollect.end("forget", "m1", "--platform", "mail").status == 2
    assert recollect.end("forget", "never").status == 2


def test_an_erasure_that_was_interrupted_is_finished_and_said(recollect: Recollect) -> None:
    from recollect.schemas.errors import InjectedFailure
    from recollect.streams.system import failpoints

    recollect.ingest(line("m1", "I moved to Qwxyzville."), line("m2", "The box is green."))
    id_ = event_id(ZONE, "chat", "m1", AT_MS)
    for name, asked in (("commit.locked", "m1"), ("commit.locked", id_)):
        recollect.ingest(line("m1" if asked == "m1" else "m9", "I moved to Qwxyzville."))
        failpoints.arm(name)
        with pytest.raises(InjectedFailure), recollect.memory() as memory:
            memory.forget(asked if asked == "m1" else "m9")
        failpoints.disarm()
        answer = recollect.run("forget", asked if asked == "m1" else "m9")
        assert answer["resumed"] == [asked if asked == "m1" else "m9"]
        assert (answer["forgotten"], answer["already_forgotten"]) == ([], [])
        assert not recollect.left("Qwxyzville")
    assert recollect.whole()


def test_a_message_that_comes_again_after_it_was_forgotten_stays_away(
    recollect: Recollect,
) -> None:
    recollect.ingest(line("m1", "My PIN is qwxyz."))
    recollect.run("forget", "m1")
    assert recollect.ingest(line("m1", "My PIN is qwxyz."))["new"] == 0
    assert not recollect.left("qwxyz")


def test_records_of_many_are_found_among_void_copies(recollect: Recollect) -> None:
    """Records are sought by number in the partition, where other zones and void copies lie."""
    for round_ in range(6):
        recollect.publish(
            *(
                Draft(
                    platform="chat",
                    occurred_at=AT_MS,
                    payload=Message(
                        source_id=f"m{round_}-{n}", sender_id="ada", content=f"Word{round_}x{n}."
                    ),
                )
                for n in range(20)
            )
        )
        post(recollect, b"{qwxyz%d" % round_)
    recollect.run("worker", "--once")
    for round_ in range(6):
        recollect.run("forget", f"#{(round_ + 1) * 21}")
        assert not recollect.left(f"qwxyz{round_}")
    assert recollect.left("Word5x19")
    assert recollect.whole()
