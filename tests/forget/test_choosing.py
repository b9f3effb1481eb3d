"""What goes is chosen by who, where and when; it is said first, and asked for on a terminal."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from recollect.cli.app import run
from recollect.schemas.errors import InvalidInput
from tests.forget.kit import ZONE, Recollect, line
from tests.forget.test_ids import body, letters, post


def at(day: int, hour: int = 10) -> str:
    return f"2026-01-{day:02}T{hour:02}:00:00Z"


@pytest.fixture(autouse=True)
def only_what_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the ticks of imports out of the ledger, so that records have the numbers of lines."""
    monkeypatch.setenv("RECOLLECT_TICKS", "off")


@pytest.fixture
def talk(recollect: Recollect) -> Recollect:
    """Two people on two platforms, in two threads, on four days; some of it parked."""
    bob = {"sender_id": "bobhandle", "sender_name": "Bob Stonefield"}
    recollect.ingest(
        line("a1", "I live in Paris.", thread_id="t1", occurred_at=at(5)),
        line("a2", "My cat is called Molly.", thread_id="t2", occurred_at=at(6)),
        line("b1", "I live in Trondheim.", thread_id="t1", occurred_at=at(6), **bob),
        line("b2", "My dog is called Rexomil.", thread_id="t2", occurred_at=at(7), **bob),
        line("b3", "I play chess.", platform="mail", occurred_at=at(8), sender_id="bobhandle"),
        line("a3", "Yesterday Bob Stonefield called me.", occurred_at=at(8)),
    )
    post(
        recollect,
        body("b1", "I live in Bergen.", thread_id="t1", occurred_at=at(6), **bob),
        body("p1", "I live in Turku.", occurred_at="someday", thread_id="t2", **bob),
        b"{Bob Stonefield",
    )
    recollect.run("worker", "--once")
    return recollect


def events(recollect: Recollect) -> int:
    return int(recollect.run("status")["events"])


@pytest.mark.parametrize(
    ("options", "forgotten", "records"),
    [
        (("--sender", "bobhandle"), "#7 #9 b1 b2 b3", 5),
        (("--sender", "bobhandle", "--platform", "chat"), "#7 #9 b1 b2", 4),
        (("--thread", "t1"), "#9 a1 b1", 3),
        (("--thread", "t2", "--sender", "ada"), "a2", 1),
        (("--before", at(6)), "#7 #8 a1", 3),
        (("--after", at(7)), "a3 b3", 2),
        (("--after", at(5), "--before", at(7), "--sender", "bobhandle"), "#9 b1", 2),
        (("b1", "a1", "--sender", "bobhandle"), "b1", 2),
        (("--sender", "nobody"), "", 0),
    ],
    ids=str,
)
def test_what_fits_all_that_is_said_goes(
    talk: Recollect, options: tuple[str, ...], forgotten: str, records: int
) -> None:
    gone = talk.run("forget", *options)
    assert (" ".join(sorted(gone["forgotten"])), gone["events"]) == (forgotten, records)
    again = talk.run("forget", *options) if "b1" not in options else {"events": 0}
    assert again["events"] == 0
    assert talk.whole()


def test_a_person_is_forgotten_with_all_that_speaks_of_them(talk: Recollect) -> None:
    gone = talk.run("forget", "--entity", "Bob Stonefield")
    assert {"b1", "b2", "a3"} <= set(gone["forgotten"])
    assert not {"a1", "a2"} & set(gone["forgotten"])
    assert not talk.left("Stonefield", "stonefield", "Trondheim", "Bergen", "Turku", "Rexomil")
    assert talk.left("Molly")
    assert events(talk) == 3, "an account of that name elsewhere is somebody else's"
    assert talk.whole()
    talk.run("rebuild", "--level", "derive")
    assert not talk.left("Stonefield", "stonefield", "Trondheim")
    assert talk.run("forget", "--entity", "Bob Stonefield")["already_forgotten"] == [
        "Bob Stonefield"
    ]


def test_a_person_by_an_id_and_by_a_handle(talk: Recollect) -> None:
    ids = {
        result["id"]
        for result in talk.run("recall", "Bob Stonefield", "--scope", "entities")["results"]
        if "Stonefield" in result["text"]
    }
    assert ids
    planned = talk.run("forget", "--entity", sorted(ids)[0], "--dry-run")
    assert {"b1", "b2", "a3"} <= set(planned["forgotten"])


def test_an_id_of_somebody_is_no_id_of_an_event(talk: Recollect) -> None:
    ended = talk.end("forget", "Bob Stonefield")
    assert ended.status == 2
    assert "give it as --entity" in ended.said


def test_somebody_unknown_is_wrong_use(talk: Recollect) -> None:
    ended = talk.end("forget", "--entity", "Nobody Known")
    assert ended.status == 2
    assert "Nobody Known" in ended.said


def test_two_of_one_name_are_told_apart_by_id(recollect: Recollect) -> None:
    recollect.ingest(
        line("a", "I live in Paris.", sender_id="alex1", sender_name="Alex Doe"),
        line("b", "I live in Oslo.", sender_id="alex2", sender_name="Alex Doe", platform="mail"),
    )
    ended = recollect.end("forget", "--entity", "Alex Doe")
    if ended.status == 0:
        pytest.fail("two strangers of one name were taken for one")
    assert "give the id of one" in ended.said
    first = next(word for word in ended.said.split() if len(word) == 26)
    gone = recollect.run("forget", "--entity", first)
    assert len(gone["forgotten"]) == 1
    assert events(recollect) == 1


def test_a_word_that_is_also_a_name_takes_only_what_is_a_name(recollect: Recollect) -> None:
    recollect.ingest(
        line("w1", "Is Will at home?", sender_id="u1"),
        line("w2", "Will you come tomorrow?", sender_id="u1"),
        line("w3", "I live in Paris.", sender_id="will7", sender_name="Will"),
        line("w4", "I will come.", sender_id="u1"),
    )
    planned = recollect.run("forget", "--entity", "Will", "--dry-run")
    assert planned["forgotten"] == ["w1", "w3"]


def test_a_mental_model_of_somebody_goes_with_them(talk: Recollect) -> None:
    planned = talk.run("forget", "--entity", "Bob Stonefield", "--dry-run")
    with talk.memory() as memory:
        memory.create_mental_model("Chess", "He plays the qwxyz gambit, says Bob Stonefield.")
    assert talk.run("forget", "--entity", "Bob Stonefield")["events"] == planned["events"] + 1
    assert not talk.left("qwxyz")


# Said before it is done


def digest(home: Path) -> dict[str, str]:
    """Return what every file of a zone says, as SQL: a look may write no row."""
    import apsw

    said = {}
    for path in sorted(home.rglob("*.db")):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        state = hashlib.sha256()
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        ).fetchall():
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                state.update(repr(row).encode())
        connection.close()
        said[str(path.relative_to(home))] = state.hexdigest()
    return said


@pytest.mark.parametrize(
    "options",
    [("a1",), ("--entity", "Bob Stonefield"), ("--before", at(9)), ("#9",), ("--sender", "ada")],
    ids=str,
)
def test_a_dry_run_says_what_goes_and_changes_nothing(
    talk: Recollect, options: tuple[str, ...]
) -> None:
    before = digest(talk.home)
    planned = talk.run("forget", *options, "--dry-run")
    assert digest(talk.home) == before
    assert planned.pop("dry_run") is True
    status = talk.run("status")
    gone = talk.run("forget", *options)
    assert gone.pop("dry_run") is False
    assert planned == gone
    after = talk.run("status")
    assert gone["facts"] == status["facts"] - after["facts"]
    assert gone["entities"] == status["entities"] - after["entities"]


def test_on_a_terminal_it_is_asked_for(
    talk: Recollect, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer, status, left in (("n", 1, 1), ("y", 0, 0)):
        monkeypatch.setattr("click.termui.visible_prompt_func", lambda _, said=answer: said)
        assert run(["--home", str(talk.home), "forget", "a1"]) == status
        assert ("Paris" in str(talk.run("recall", "Paris")["results"])) == bool(left)
    assert "1 records" not in capfd.readouterr().out
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: pytest.fail("it asks"))
    assert run(["--home", str(talk.home), "forget", "a2", "--yes"]) == 0


def test_the_library_says_the_same(talk: Recollect) -> None:
    with talk.memory() as memory:
        planned = memory.forget(sender_id="bobhandle", platform="chat", dry_run=True)
        gone = memory.forget(sender_id="bobhandle", platform="chat")
        assert (planned.forgotten, planned.facts) == (gone.forgotten, gone.facts)
        assert gone.events == 4
        assert memory.forget("b1").already_forgotten == ["b1"]
        with pytest.raises(InvalidInput, match="say what to forget"):
            memory.forget()
        with pytest.raises(InvalidInput, match="before"):
            memory.forget(time_before="yesterday")
        assert memory.forget(time_after=at(7)).events == 2


def test_what_a_person_reads_names_some_and_counts_all(
    recollect: Recollect, capfd: pytest.CaptureFixture[str]
) -> None:
    recollect.ingest(*(line(f"m{n}", f"Box {n} is here.") for n in range(22)))
    capfd.readouterr()
    assert run(["--home", str(recollect.home), "forget", "--sender", "ada"]) == 0
    said = capfd.readouterr().out
    assert "and 2 more" in said
    assert "22 records" in said
    assert run(["--home", str(recollect.home), "forget", "--sender", "ada"]) == 0
    assert "nothing to forget" in capfd.readouterr().out


def test_other_zones_keep_theirs(recollect: Recollect) -> None:
    recollect.ingest(line("m1", "The qwxyz code is 7."), zone="one")
    recollect.ingest(line("m1", "The qwxyz code is 7."), zone="two")
    recollect.run("--zone", "one", "forget", "--sender", "ada")
    assert recollect.run("--zone", "two", "status")["events"] == 1
    assert recollect.run("--zone", "one", "status")["events"] == 0
    assert ZONE not in ("one", "two")
    assert json.dumps(letters(recollect)) == "[]"
