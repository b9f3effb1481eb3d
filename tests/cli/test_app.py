"""The command as a whole: what it knows, what it makes of a slip, and that its examples work."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from recollect.cli import options, query_options
from recollect.cli.app import cli
from recollect.cli.command_table import COMMAND_TABLE
from recollect.cli.commands import export_command, ingest_commands
from recollect.home.home_directory import Home
from recollect.operations.exporting.zone_export import EXPORT_FORMATS
from recollect.projections.recall import PROFILES
from recollect.streams.adapters import FORMATS
from recollect.streams.adapters.formats import MEMORY_ADAPTERS
from recollect.streams.encoder.catalog import ModelSource, Precision
from tests.cli.kit import Shell, said

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ROOT / "recollect" / "cli" / "commands"
EVENT = {
    "id": "m1",
    "platform": "chat",
    "sender_id": "u1",
    "sender_name": "Ada",
    "occurred_at": "2026-05-08T13:56:00Z",
    "content": "I live in Turin.",
}


def test_what_may_be_chosen_is_what_there_is() -> None:
    assert tuple(PROFILES) == query_options.PROFILES
    assert options.FORMATS == FORMATS
    assert export_command.EXPORT_FORMATS == EXPORT_FORMATS
    assert tuple(one.name for one in MEMORY_ADAPTERS) == options.MEMORY_SYSTEMS
    assert get_args(Precision) == ingest_commands.PRECISIONS
    assert get_args(ModelSource) == ingest_commands.ENCODER_SOURCES


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["recal", "x"], "Did you mean recall or "),
        (["Facts"], "Did you mean facts?"),
        (["entitys"], "Did you mean entities?"),
        (["recall", "x", "--befor", "2026-05-08"], "--before"),
        (["forget", "--entitiy", "Ada"], "--entity"),
        (["why is the sky blue"], "See recollect --help."),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(
    shell: Shell, arguments: list[str], meant: str
) -> None:
    done = shell(*arguments)
    assert (done.status, done.out) == (2, "")
    assert meant in done.err


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_is_empty(shell: Shell, closed: str) -> None:
    command = f'"{sys.executable}" -m recollect'
    script = f"{command} ingest - {closed} && {command} facts --json {closed}"
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=shell.room,
        env=shell.environment,
        input=json.dumps(EVENT).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
    kept = shell("facts", "--json").out
    assert ("Turin" in kept) == ("<&-" not in closed)


def test_no_command_at_all_shows_the_commands_in_lines(shell: Shell) -> None:
    done = shell()
    assert done.status == 2
    for name in cli.commands:
        assert any(line.strip().startswith(f"{name} ") for line in done.err.splitlines()), name


def test_the_first_line_of_each_help_fits_the_list(shell: Shell) -> None:
    shell.environment["COLUMNS"] = "80"
    assert "..." not in shell("--help").out.split("Commands:")[1]


@pytest.mark.parametrize("name", COMMAND_TABLE)
def test_the_table_has_the_first_line_of_each_help(name: str) -> None:
    assert COMMAND_TABLE[name].summary == cli.commands[name].get_short_help_str(limit=1_000)


@pytest.mark.parametrize(
    "arguments",
    [
        ["ingest", ""],
        ["ingest", "chats.jsonl", ""],
        ["ingest", "", "--dry-run"],
        ["ingest", "", "--follow"],
        ["import", "", "--from", "mem0"],
        ["extract", ""],
        ["export", ""],
        ["export", "", "--as", "markdown", "--force"],
        ["backup", ""],
        ["restore", ""],
        ["init", "--encoder-directory", ""],
        ["forget", "m1", "--certificate", ""],
        ["recall", "--batch", ""],
        ["evaluate", ""],
        ["recall", "Turin", "--home", ""],
        ["--home", "", "forget", "m1"],
        ["facts", "--config", ""],
    ],
)
def test_an_empty_path_is_not_the_current_directory(shell: Shell, arguments: list[str]) -> None:
    """The value of a variable that a script forgot to set."""
    (shell.room / "chats.jsonl").write_text(json.dumps(EVENT))
    assert shell("init", "--encoder", "none").status == 0
    before = sorted(shell.room.iterdir())
    done = shell(*arguments)
    assert (done.status, done.out) == (2, "")
    assert "is empty; give " in done.err
    assert sorted(shell.room.iterdir()) == before
    assert shell("status", "--json").json()[0]["events"] == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_output_is_readable_in_every_locale(shell: Shell, encoding: str) -> None:
    shell.ingest({**EVENT, "content": "Zoë lives in Kraków \U0001f600."})
    (event,) = shell("records", "--json").json()

    def piped(*arguments: str) -> bytes:
        done = subprocess.run(
            [sys.executable, "-m", "recollect", *arguments],
            env={**shell.environment, "PYTHONIOENCODING": encoding},
            capture_output=True,
            check=True,
        )
        assert not done.stderr
        return done.stdout

    assert json.loads(piped("records", "--json").decode("ascii")) == event
    assert "lives in Krak" in piped("records").decode(encoding, "replace")


def actions_of(name: str) -> list[str]:
    """Return the actions that the reference lists for a command, as `a|b` or `[a|b]`."""
    page = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| `{name}\b([^`]*)` \|", page, re.MULTILINE)
    found = re.match(r" \[?((?:[a-z]+\\\|)+[a-z]+)", row)
    return found.group(1).split("\\|") if found else []


@pytest.mark.parametrize("name", [name for name in COMMAND_TABLE if name != "skip"])
def test_every_action_has_a_line_in_help(shell: Shell, name: str) -> None:
    """And no other; the actions are those of the reference."""
    shell.environment["COLUMNS"] = "100"
    section = re.search(
        r"^(?:Actions.*|Commands):\n((?:  .+\n)+)", shell(name, "--help").out, re.MULTILINE
    )
    lines = re.findall(r"^  (\w+).*?  \S", section.group(1), re.MULTILINE) if section else []
    assert sorted(lines) == sorted(actions_of(name))


@pytest.mark.parametrize("name", COMMAND_TABLE)
def test_help_gives_ranges_in_words(shell: Shell, name: str) -> None:
    assert not re.search("[<>]=", shell(name, "--help").out)


def test_every_command_of_a_module_is_in_the_table() -> None:
    modules = {entry.module for entry in COMMAND_TABLE.values()}
    listed = [
        (module, command.name)
        for module in modules
        for command in import_module(f"recollect.cli.commands.{module}").COMMANDS
    ]
    assert sorted(listed) == sorted((entry.module, name) for name, entry in COMMAND_TABLE.items())
    assert modules == {
        str(path.relative_to(COMMANDS).with_suffix("")).replace("/", ".")
        for path in COMMANDS.rglob("*.py")
        if path.stem != "__init__"
    }


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A home about which every example can ask."""
    room = tmp_path_factory.mktemp("examples")
    Home.create_or_open(room / "home", without_encoder=True, writer="model")
    # Its price is told without asking anybody.
    (room / "home" / "recollect.toml").write_text(
        '[model]\naccounts = ["http://127.0.0.1:9/v1 small-model"]\n'
    )
    shell = Shell(room)
    export = (ROOT / "demo" / "export.jsonl").read_bytes()
    (room / "chats.jsonl").write_bytes(export)
    question = {"query": "When did Ada move?", "sources": ["m-17"]}
    (room / "questions.jsonl").write_text(json.dumps(question))
    (room / "mail.jsonl.gz").write_bytes(export)
    memory = {"id": "1", "memory": "Ada owns a boat.", "created_at": "2026-01-01T00:00:00Z"}
    (room / "memories.json").write_text(json.dumps([{**memory, "user_id": "ada"}]))
    shell.ingest(
        said("m-17", "I moved to Lisbon on 3 May 2026."),
        said("m-18", "I was born in Turin."),
        {**said("em-0010", "Ada moved.", "Ada Moreau"), "sender_id": "ada@example.org"},
    )
    assert shell("rebuild", "--level", "derive").status == 0
    return shell


#: What needs a broker or a model, or never ends.
ELSEWHERE = {"infer", "promote", "replica", "serve", "skip"}


@pytest.mark.parametrize("name", [name for name in cli.commands if name not in ELSEWHERE])
def test_the_example_of_a_command_works(asked: Shell, name: str) -> None:
    epilog = cli.commands[name].epilog
    assert epilog is not None
    arguments = shlex.split(epilog.removeprefix("Example: recollect "))
    if name == "init":
        arguments = [*arguments, "--encoder", "none"]
        asked.environment["HOME"] = str(asked.room)
        arguments = [argument.replace("~", str(asked.room)) for argument in arguments]
    if name in ("backup", "restore"):
        # The one needs what the other makes, and makes it in a new place.
        shutil.rmtree(asked.room / "backups", ignore_errors=True)
        if name == "restore":
            assert asked("backup", arguments[1]).status == 0
    done = asked(*arguments)
    assert done.status == 0, done.err
    assert "Error" not in done.err
    assert asked(*arguments, "--help").status == 0


def test_the_example_of_the_command_itself_works(asked: Shell) -> None:
    assert cli.epilog is not None
    for example in cli.epilog.removeprefix("Example: ").split(" && "):
        done = asked(*shlex.split(example)[1:])
        assert done.status == 0, done.err


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: Shell, shell_name: str) -> None:
    shell.environment["_RECOLLECT_COMPLETE"] = f"{shell_name}_source"
    script = shell()
    assert script.status == 0
    assert "_RECOLLECT_COMPLETE" in script.out
    page = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    assert f"_RECOLLECT_COMPLETE={shell_name}_source recollect" in page
    if shell_name != "bash":
        return
    shell.environment["_RECOLLECT_COMPLETE"] = "bash_complete"
    for words, place, expected in (
        ("recollect ent", "1", "entities"),
        ("recollect facts --ent", "2", "--entity"),
        ("recollect merges a", "2", "approve"),
    ):
        shell.environment |= {"COMP_WORDS": words, "COMP_CWORD": place}
        assert expected in shell().out


def test_commands_load_what_they_need_when_they_need_it() -> None:
    light = {"click", "recollect.cli", "recollect.schemas"}
    for path in (ROOT / "recollect" / "cli").rglob("*.py"):
        if path.stem in ("batch_queries", "json_lines_reader"):
            # Loaded by the commands that need them.
            continue
        tree = ast.parse(path.read_text("utf-8"))
        for node in tree.body:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                ours = name.split(".")[0] == "recollect"
                assert not ours or name.startswith(tuple(light)), f"{path.name}: {name}"
                assert name not in ("numpy", "apsw", "msgspec"), f"{path.name}: {name}"
