"""`recall` shows a reader at once what was said, by whom, when, and how surely it answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.kit import STYLE, Shell, said

MOVED = "I moved from Bergen to Lisbon in March, because the rent there was half of what I had paid"


@pytest.fixture
def held(shell: Shell) -> Shell:
    shell.ingest(
        said("m-1", f"{MOVED}{', and my brother lives around the corner' * 3}."),
        said("m-2", "My sister likes tea.", name="Bob", at="2026-05-09T00:00:00Z"),
        *(said(f"n-{number}", f"Bicycle number {number} is blue.") for number in range(30)),
    )
    return shell


def numbered(out: str) -> list[str]:
    """Return the lines that begin an answer."""
    return [line for line in out.splitlines() if line[:2].strip().isdigit() and line[2:3] == "."]


def test_a_reader_gets_five_and_a_program_twenty(held: Shell) -> None:
    asked = ("recall", "Which bicycle is blue?")
    assert len(numbered(held(*asked).out)) == 5
    assert len(numbered(held(*asked, "-k", "9").out)) == 9
    assert len(held(*asked, "--json").json()[0]["results"]) == 20
    batch = json.dumps({"id": "q", "query": asked[1]}).encode()
    (answer,) = held("recall", "--batch", "-", given=batch).json()
    assert answer["id"] == "q"
    assert len(answer["results"]) == 20
    (answer,) = held("recall", "--batch", "-", "-k", "3", given=batch).json()
    assert len(answer["results"]) == 3


def test_a_byte_order_mark_is_no_part_of_a_batch(held: Shell) -> None:
    """Some editors and shells write one."""
    given = b'\xef\xbb\xbf{"id": 1, "query": "tea"}\r\n{"id": 2, "query": "tea"}\r\n'
    assert [one["id"] for one in held("recall", "--batch", "-", given=given).json()] == [1, 2]


def test_what_a_batch_line_ignores_is_said_once(held: Shell) -> None:
    lines = [{"id": number, "query": "tea", "max_results": 1} for number in range(3)]
    done = held("recall", "--batch", "-", given="\n".join(map(json.dumps, lines)).encode())
    assert [one["id"] for one in done.json()] == [0, 1, 2]
    assert done.err == "note: -:1: the field 'max_results' is ignored\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"query": "tea", "budget": "all"}, "budget: invalid enum value 'all'; choose from low, "),
        ({"query": 5}, "query: expected `str`, got `int`"),
    ],
)
def test_a_wrong_line_of_a_batch_is_told_what_is_right(held: Shell, line: Any, told: str) -> None:
    done = held("recall", "--batch", "-", given=json.dumps({"id": 1, **line}).encode())
    assert done.status == 2
    assert done.err.startswith("recollect: -:1: ")
    assert told in done.err


def test_it_says_who_spoke_and_when(held: Shell) -> None:
    done = held("recall", "Who likes tea?", "-k", "1")
    assert "Bob · 2026-05-09 00:00 UTC · slack · score 0." in done.out
    assert "from m-2" in done.out
    (answer,) = held("recall", "Who likes tea?", "-k", "1", "--json").json()
    assert answer["results"][0]["sender_name"] == "Bob"


def test_an_answer_and_a_batch_line_say_whether_the_memory_is_relevant(held: Shell) -> None:
    question = "What does my sister like?"
    (answer,) = held("recall", question, "-k", "3", "--json").json()
    batch = json.dumps({"id": "q", "query": question, "k": 3}).encode()
    (line,) = held("recall", "--batch", "-", given=batch).json()
    assert set(answer) == {"query", "results", "ms", "relevant"}
    assert set(line) == {"id", "results", "ms", "relevant"}
    assert 0 < answer["relevant"] == line["relevant"] <= 1


def test_a_weak_answer_is_marked_as_such(held: Shell) -> None:
    asked = ("recall", "quantum chromodynamics of the sister", "-k", "20")
    (answer,) = held(*asked, "--json").json()
    weak = [result["score"] for result in answer["results"] if result["score"] < 0.3]
    done = held(*asked)
    assert weak
    assert answer["relevant"] < 0.5
    assert done.out.count(", weak") == len(weak)
    assert ("low confidence" in done.err) == (len(weak) == len(answer["results"]))


@pytest.mark.parametrize("columns", [30, 50, 80, 200])
def test_lines_fit_the_terminal(held: Shell, columns: int) -> None:
    written = held.on_a_terminal(columns, "recall", "Why did Ada move to Lisbon?", "-k", "2")
    lines = STYLE.sub("", written).splitlines()
    # An id is not broken, but where there is no room for it.
    assert max(map(len, lines)) <= max(min(columns, 100), 34)
    first = lines[: next(place for place, line in enumerate(lines) if "UTC" in line)]
    assert len(first) <= 4
    full = STYLE.sub("", held.on_a_terminal(columns, "recall", "Lisbon?", "-k", "1", "--full"))
    words = " ".join(full.split())
    assert words.count("around the corner") == 3


def test_a_long_text_is_cut_on_a_terminal_and_whole_in_a_pipe(held: Shell) -> None:
    asked = ("recall", "Why did Ada move to Lisbon?", "-k", "1", "--scope", "events")
    shown = STYLE.sub("", held.on_a_terminal(60, *asked))
    assert "…" in shown
    assert shown.count("around the corner") < 3
    first = held(*asked).out.splitlines()[0]
    assert first.count("around the corner") == 3


def test_signs_of_two_columns_are_counted_as_two(shell: Shell) -> None:
    shell.ingest(said("m-1", "山" * 60 + " tea"))
    lines = STYLE.sub("", shell.on_a_terminal(40, "recall", "tea", "--full")).splitlines()
    assert all(len(line) + line.count("山") <= 40 for line in lines)
    assert sum(line.count("山") for line in lines) == 60


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_are_for_terminals_that_want_them(held: Shell, environment: dict[str, str]) -> None:
    asked = ("recall", "Who likes tea?", "-k", "1")
    assert STYLE.search(held.on_a_terminal(80, *asked))
    assert not STYLE.search(held.on_a_terminal(80, *asked, **environment))
    assert not STYLE.search(held(*asked).out)
    assert not STYLE.search(held.on_a_terminal(80, *asked, "--json"))


def test_a_date_alone_is_its_first_moment(held: Shell) -> None:
    def ids(*options: str) -> set[str]:
        (answer,) = held("recall", "tea Lisbon", *options, "--json").json()
        return {id_ for result in answer["results"] for id_ in result["source_event_ids"]}

    assert {"m-1", "m-2"} <= ids("--after", "2026-05-08")
    assert "m-2" not in ids("--before", "2026-05-09")
    assert "m-1" in ids("--before", "2026-05-09")
    # Neither end is included: what was said at midnight is not after it.
    assert ids("--after", "2026-05-09") == set()
    assert "m-2" not in ids("--valid-at", "2026-05-08")
    done = held("recall", "tea", "--after", "2026-05-08 13:56")
    assert done.status == 2
    assert "has no time zone" in done.err
    done = held("recall", "tea", "--before", "last week")
    assert done.status == 2
    assert "'last week' is not a time; write 2026-05-08T13:56:00Z" in done.err


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (("--zone", "defualt"), "zone defualt is empty; did you mean default?"),
        (("--entity", "Bbo"), "no entity is called 'Bbo'; did you mean Bob?"),
        (("--platform", "slcak"), "the platform 'slcak'; did you mean slack?"),
        (("--platform", "mail"), "the platform 'mail'; events came from slack"),
    ],
)
def test_a_mistyped_name_is_named(held: Shell, options: tuple[str, str], hint: str) -> None:
    done = held("recall", "tea", *options)
    assert done.status == 0
    assert done.out == "nothing found\n"
    assert hint in done.err
    done = held("recall", "tea", *options, "--json")
    assert done.json()[0]["results"] == []
    assert hint in done.err


def test_a_first_name_of_several_people_is_answered_with_their_names(shell: Shell) -> None:
    people = ("Ada Moreau", "Ada Lind", "Adam Poe")
    lines = [
        json.dumps({**said(f"m{at}", "I live in Turin."), "sender_id": name, "sender_name": name})
        for at, name in enumerate(people)
    ]
    assert shell("ingest", "-", given="\n".join(lines).encode()).status == 0
    unknown = "no entity is called 'Ada'; did you mean Ada Lind or Ada Moreau?"
    assert unknown in shell("recall", "home", "--entity", "Ada").err
    done = shell("graph", "list", "Ada")
    assert (done.status, unknown in done.err) == (2, True)


def test_a_name_that_is_known_is_not_questioned(held: Shell) -> None:
    done = held("recall", "tea", "--entity", "Bob", "--platform", "slack")
    assert done.err == ""
    assert "My sister likes tea." in done.out or "likes tea" in done.out


def test_why_and_forget_name_what_was_meant(held: Shell) -> None:
    done = held("forget", "--entity", "Adda", "--dry-run")
    assert done.status == 2
    assert "no entity is called 'Adda'; did you mean Ada?" in done.err
    assert "the event itself, 'm-2' of slack" in held("why", "m-2").out
    done = held("--zone", "defalt", "why", "m-2")
    assert done.status == 2
    assert "zone defalt is empty; did you mean default?" in done.err


def test_events_that_are_not_processed_are_named(held: Shell) -> None:
    (held.room / "more.jsonl").write_text(json.dumps(said("m-9", "I keep nine llamas.")) + "\n")
    assert held("ingest", "more.jsonl", "--no-wait").status == 0
    pending = "1 record of zone default cannot be recalled yet"
    asked = ("recall", "llamas", "--min-score", "0.99")
    assert pending in held(*asked).err
    assert held("worker", "--once").status == 0
    assert "cannot be recalled" not in held(*asked).err


def test_a_message_without_words_is_no_result(held: Shell) -> None:
    picture = {**said("m-9", "", at="2026-05-20T10:00:00Z"), "attachments": [{"type": "image"}]}
    named = {**picture, "id": "m-10", "attachments": [{"type": "image", "caption": "My llama"}]}
    held.ingest(picture, named)
    (answer,) = held("recall", "Ada", "--after", "2026-05-19", "--scope", "events", "--json").json()
    assert [result["text"] for result in answer["results"]] == ["[My llama]"]
    shown = held("episodes", "--strategy", "day", "--from", "2026-05-20").out
    assert not shown.startswith("\n")


def test_a_day_that_does_not_exist_is_quoted_as_given(held: Shell) -> None:
    done = held("recall", "tea", "--known-at", "2026-02-30")
    assert done.status == 2
    assert "there is no day '2026-02-30'" in done.err
    done = held("recall", "tea", "--known-at", "2200-01-01")
    assert done.status == 2
    assert "is outside 1970-01-01 to 2200-01-01" in done.err


def test_a_file_is_no_home(held: Shell) -> None:
    (held.room / "file").write_text("words")
    done = held("--home", str(held.room / "file"), "recall", "tea")
    assert done.status == 2
    assert "file is not a directory" in done.err
    assert "backup" not in done.err
