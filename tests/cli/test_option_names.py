"""Errors of the library name the options of the command that meets them."""

from __future__ import annotations

import json

import click
import pytest

from recollect.cli import option_names
from recollect.cli.app import cli
from recollect.cli.command_table import COMMAND_TABLE
from recollect.cli.option_names import with_option_names
from tests.cli.kit import Shell

#: Without the time zone, which its export does not give.
CHAT = "[08/05/2026, 13:56:00] Ada: I live in Turin.\n[08/05/2026, 13:57:00] Bob: Since when?\n"


def event(id_: str, platform: str, sender: str) -> str:
    return json.dumps(
        {
            "id": id_,
            "platform": platform,
            "sender_id": sender.lower(),
            "sender_name": sender,
            "content": "I live in Turin.",
            "occurred_at": "2026-05-08T13:56:00Z",
        }
    )


@pytest.fixture
def filled(shell: Shell) -> Shell:
    lines = [event("m1", "slack", "Ada"), event("m1", "email", "Bob")]
    assert shell("ingest", "-", given="\n".join(lines).encode()).status == 0
    return shell


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["recall", "Where?", "-k", "0"], "-k 0: give 1 to "),
        (["recall", "Where?", "--min-score", "2"], "--min-score 2.0: give 0 to 1"),
        (["recall", "Where?", "--scope", ","], "--scope is empty; choose from "),
        (["facts", "--cursor", "x"], "--cursor 'x' is invalid; "),
        (["context", "A trip", "--max-tokens", "0"], "--max-tokens is 0; give 1 to "),
        (["forget", "m1", "--yes"], "; give one of them as --platform: email, slack"),
        (["forget", "Bob", "--yes"], "; to forget the entity, give it as --entity"),
        (["records", "--from", "1", "--at", "2026-05-08"], "give either --from or --at, not both"),
        (["episodes", "--query", "Turin", "--cursor", "x"], "--cursor: not allowed with --query, "),
        (["timeline", "--from", "2026-05-08", "--to", "2026-05-01"], "--to is 2026-05-01, before "),
        (["rebuild", "--encoder", "minilm"], "or leave --encoder out"),
        (["models", "create", "Ada", "x", "--refresh", "by_hand"], "--refresh needs --entity, "),
        (["models", "show", "x"], "no mental model 'x'; recollect models lists them"),
    ],
)
def test_an_error_names_the_option_that_was_given(
    filled: Shell, arguments: list[str], expected: str
) -> None:
    done = filled(*arguments)
    assert done.status == 2
    assert expected in done.err


def test_a_missing_time_zone_is_asked_for_by_its_option(shell: Shell) -> None:
    (shell.room / "chat.txt").write_text(CHAT)
    done = shell("ingest", "chat.txt")
    assert "give the zone of the export as --timezone, such as " in done.err


@pytest.mark.parametrize(
    ("command", "message", "expected"),
    [
        ("backfill", "it is paused; give `resume` to continue", "it is paused; give --resume to "),
        ("backfill", "backfill_status shows its progress", "--status shows its progress"),
        ("restore", "to continue anyway, give `lose_newer`", "anyway, give --lose-newer"),
        ("export", "choose a new path, or replace it with `force`", "or replace it with --force"),
        ("models", "every_hours needs `refresh` 'schedule'", "--every-hours needs --refresh 'sch"),
        ("deadletters", "zone a has no dead letter 1; `dead_letters`", "1; recollect deadletters"),
        ("branch", "at: give an earlier head", "--at: give an earlier head"),
        ("memories", "version 3: the memory has versions 1 to 2", "--version 3: the memory has"),
    ],
)
def test_names_of_the_library_become_those_of_the_command_line(
    command: str, message: str, expected: str
) -> None:
    assert expected in with_option_names(message, cli.commands[command])


def test_every_other_name_is_one_of_the_command_line() -> None:
    variables = {
        str(parameter.name).rstrip("_")
        for name in COMMAND_TABLE
        for parameter in cli.commands[name].params
    }
    assert set(option_names._NAMES_HERE.values()) <= variables | set(COMMAND_TABLE)


@click.command()
@click.option("--from", "first")
@click.option("--limit")
@click.option("--zone")
def listing(**_: object) -> None:
    """Have the options that the messages below may mean."""


@pytest.mark.parametrize(
    "message",
    [
        "zone limit has no fact 'limit'; give another",
        "a limit was reached; try again",
        "the event 'first_id' is not from `somewhere`",
        "limit 'x' of it",
        "max_tokens is 0",
    ],
)
def test_what_names_no_option_of_the_command_stays(message: str) -> None:
    kept = message.replace("limit 'x' of it", "--limit 'x' of it")
    assert with_option_names(message, listing) == kept
