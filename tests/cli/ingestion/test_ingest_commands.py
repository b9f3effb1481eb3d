"""`ingest` takes what a newcomer gives it, or says what to do with it."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from recollect.streams.adapters.jsonl import _MAX_LINES
from tests.cli.kit import Json, Shell, said

ROOT = Path(__file__).resolve().parents[3]
EVENTS = [said(f"m-{number}", f"I own {number} bicycles.") for number in range(1, 4)]


def counts(document: Json) -> tuple[int, int, int, int]:
    return tuple(document[name] for name in ("read", "new", "duplicate", "rejected"))


def lines(*events: Json) -> bytes:
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def taken(shell: Shell, given: bytes) -> tuple[int, int, int, int]:
    (report,) = shell("ingest", "-", "--json", given=given).json()
    return counts(report)


def test_events_come_by_standard_input_and_are_known_when_they_come_again(shell: Shell) -> None:
    assert taken(shell, lines(*EVENTS)) == (3, 3, 0, 0)
    assert taken(shell, lines(*EVENTS)) == (3, 0, 3, 0)
    (shell.room / "chats.jsonl").write_bytes(lines(*EVENTS))
    (report,) = shell("ingest", "chats.jsonl", "-", "--json", given=lines(EVENTS[0])).json()
    assert counts(report) == (4, 0, 4, 0)


def test_an_event_pasted_from_a_page_is_taken(shell: Shell) -> None:
    for page, block in (
        ("README.md", r"ingest - <<'END'\n(.*?)END\n"),
        ("docs/guide.md", r"ingest - <<'END'\n(.*?)END\n"),
    ):
        text = (ROOT / page).read_text("utf-8")
        (event, *_) = re.findall(block, text, re.DOTALL)
        assert taken(shell, event.encode()) == (1, 1, 0, 0), page


def test_objects_may_go_over_lines_each(shell: Shell) -> None:
    pretty = "\n".join(json.dumps(event, indent=2) for event in EVENTS)
    assert taken(shell, pretty.encode()) == (3, 3, 0, 0)
    hostile = said("m-9", 'a } in "quotes", a \\ and {"more": [')
    assert taken(shell, json.dumps(hostile, indent=1).encode()) == (1, 1, 0, 0)


def test_one_object_that_is_cut_off_takes_no_other_with_it(shell: Shell) -> None:
    pretty = [json.dumps(event, indent=2) for event in EVENTS]
    cut = "\n".join((pretty[0], pretty[1][:40], pretty[2]))
    (report,) = shell("ingest", "-", "--json", given=cut.encode()).json()
    assert counts(report) == (3, 2, 0, 1)
    assert report["rejections"][0]["line"] == 1 + len(pretty[0].splitlines())


def test_a_first_line_that_is_cut_off_takes_no_other_with_it(shell: Shell) -> None:
    first, *rest = lines(*EVENTS).splitlines(keepends=True)
    assert taken(shell, first[:50] + b"\n" + b"".join(rest)) == (3, 2, 0, 1)
    never_ends = b"{\n" + b'"a": {\n' * 2 * _MAX_LINES
    assert taken(shell, never_ends) == (2 * _MAX_LINES + 1, 0, 0, 2 * _MAX_LINES + 1)


def test_packed_files_are_unpacked_whatever_they_are_called(shell: Shell) -> None:
    packed = gzip.compress(lines(*EVENTS))
    (shell.room / "chats.jsonl.gz").write_bytes(packed)
    (shell.room / "chats").write_bytes(packed)
    (report,) = shell("ingest", "chats.jsonl.gz", "chats", "--json").json()
    assert counts(report) == (6, 3, 3, 0)
    assert taken(shell, packed) == (3, 0, 3, 0)


def test_a_packed_file_that_is_cut_off_gives_what_it_holds(shell: Shell) -> None:
    events = [said(f"m-{number}", f"{number} " + "x" * number) for number in range(2_000)]
    whole = gzip.compress(lines(*events))
    (shell.room / "cut.gz").write_bytes(whole[: len(whole) // 2])
    done = shell("ingest", "cut.gz", "--json", "--no-wait")
    (report,) = done.json()
    assert done.status == 0
    assert 100 < report["new"] < 2_000
    assert report["rejected"] == 1
    assert "damaged or cut off" in report["rejections"][0]["reason"]
    (shell.room / "bad.gz").write_bytes(b"\x1f\x8bnothing of gzip")
    done = shell("ingest", "bad.gz")
    assert done.status == 2
    assert "bad.gz is a damaged gzip file" in done.err


def advice(shell: Shell, name: str, content: bytes) -> str:
    """Return what `ingest` says of a file that it does not take, and tries again as it says."""
    (shell.room / name).write_bytes(content)
    done = shell("ingest", name)
    assert done.status == 2
    assert done.out == ""
    return done.err


@pytest.mark.parametrize("name", ["all.json", "all.jsonl", "an export.txt"])
@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_is_told_how_to_come_apart(shell: Shell, name: str, indent: int | None) -> None:
    told = advice(shell, name, json.dumps(EVENTS, indent=indent).encode())
    assert f"jq -c '.[]' {shlex.quote(name)} | recollect ingest -" in told
    piped = shell("ingest", "-", given=json.dumps(EVENTS, indent=indent).encode())
    assert piped.status == 2
    assert "standard input is one JSON array" in piped.err


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ","), ("t.tsv", "\t"), ("t", "\t")])
def test_a_table_is_told_how_to_become_lines_and_then_comes_in(
    shell: Shell, name: str, separator: str
) -> None:
    columns = ("platform", "sender_id", "occurred_at", "content")
    rows = [columns, *((event[column] for column in columns) for event in EVENTS)]
    table = "\n".join(separator.join(row) for row in rows)
    told = advice(shell, name, table.encode())
    command = re.search(r"python3 -c .*(?= \| recollect ingest -)", told)
    assert command is not None
    turned = subprocess.run(command[0], shell=True, cwd=shell.room, capture_output=True, check=True)
    assert taken(shell, turned.stdout) == (3, 3, 0, 0)


def test_a_file_of_something_else_is_named_with_what_to_do(shell: Shell) -> None:
    for name, content, what in (
        ("chats.zip", b"PK\x03\x04...", "damaged or cut-off zip archive"),
        ("chat.txt", b"Ada: hi\n", "recollect ingest --help shows"),
    ):
        assert what in advice(shell, name, content)
    done = shell("ingest", ".")
    assert done.status == 1, "the zip is refused by name, and there is nothing else"
    (shell.room / "chats.zip").unlink()
    done = shell("ingest", ".")
    assert done.status == 2
    assert "is in a known format" in done.err


def test_nothing_goes_in_where_one_of_the_files_is_none(shell: Shell) -> None:
    (shell.room / "chats.jsonl").write_bytes(lines(*EVENTS))
    (shell.room / "all.json").write_text(json.dumps(EVENTS))
    assert shell("ingest", "chats.jsonl", "all.json").status == 2
    assert shell("zones", "--json").json() == []


def test_how_far_it_is_shows_in_bytes_on_a_terminal_alone(shell: Shell) -> None:
    (shell.room / "chats.jsonl").write_bytes(lines(*EVENTS))
    size = (shell.room / "chats.jsonl").stat().st_size
    assert f"{size} B of {size} B" in shell.on_a_terminal(80, "ingest", "chats.jsonl")
    assert "B of" not in shell("ingest", "chats.jsonl").err


def test_numbers_come_with_english_nouns(shell: Shell) -> None:
    shell.ingest(said("m-1", "I live in Rome."))
    assert "1 record, 1 fact, " in shell("forget", "m-1", "--dry-run").out
    assert "would read 1 ledger record\n" in shell("rebuild", "--dry-run").out
    shell.ingest(said("m-2", "I own a dog."))
    assert "would read 2 ledger records\n" in shell("rebuild", "--dry-run").out
    assert "default  2 records\n" in shell("zones").out


def test_a_text_to_remember_may_come_by_standard_input(shell: Shell) -> None:
    assert shell("remember", "-", given="The gate code\nis 4711 – öffnen.\n".encode()).status == 0
    assert shell("remember", "-", given=b"\xff\xfe").status == 2
    (answer,) = shell("recall", "gate code", "--scope", "events", "--json").json()
    assert [one["text"] for one in answer["results"]] == ["The gate code\nis 4711 – öffnen."]
