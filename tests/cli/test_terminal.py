"""What is remembered, asked or named never acts on a terminal, and forges no line there.

The home of these tests holds text that no input accepts today, but an earlier build may have.
"""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect.cli
from recollect import Query
from recollect.cli.app import cli, run
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, Draft, Message, Park, Payload
from recollect.schemas.text_sanitising import (
    escape_invisible,
    escape_invisible_json,
    first_invisible_character,
)
from tests.memory import Memory
from tests.protocol.kit import in_memory
from tests.recall.kit import START

ATTACK = (
    "\x1b[2J\x1b]0;title\x07\x9b31m\x9d8;;x\x9c\x85\x08\x7f\u202ekcatta\u2066\u200f\u061c\u200b\xad"
    "\ufeff\U000e0041\u2028\n 7. forged\r\n    fact forged  2026-01-01  score 0.99\n"
)
# Every kind of format character that is seen, or is part of what is seen.
SEEN = {0x200C, 0x200D, *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
#: What click itself writes around a progress bar on a terminal, and our styles.
OF_OURS = re.compile(r"\x1b\[K|\x1b\[\?25[lh]|\r|\x1b\[(?:0|1|2|31|32|33)m")


def acts(text: str) -> list[str]:
    """Return what in a text acts on a terminal or hides, but for line feeds."""
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return [
        f"{ord(sign):x}"
        for sign in text
        if sign != "\n" and unicodedata.category(sign) in kinds and ord(sign) not in SEEN
    ]


# The text


@pytest.mark.parametrize("start", range(0, 0x110000, 0x11000))
def test_every_character_that_cannot_be_seen_is_shown(start: int) -> None:
    for code in range(start, start + 0x11000):
        sign = chr(code)
        kind = unicodedata.category(sign)
        if kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and code not in SEEN and code >> 4 != 0x1343:
            assert first_invisible_character(f"a{sign}b") == f"U+{code:04X}"
            assert escape_invisible(f"a{sign}b").isascii()
            assert escape_invisible(f"a{sign}b").isprintable()
        elif kind != "Cn":
            assert first_invisible_character(sign) is None
            assert escape_invisible(sign) == sign


ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    "text", ["Ada Lovelace", "👩‍👩‍👧 ❤️", "می‌خواهم", "क्‍ष", "e\u0301", "a\u00a0b", ENGLAND]
)
def test_what_people_write_is_shown_as_it_is(text: str) -> None:
    assert escape_invisible(text) == text


def test_a_flag_hides_no_other_tags() -> None:
    assert escape_invisible("🏴\U000e0061\U000e007f") == "🏴\\U000e0061\\U000e007f"


def test_json_says_the_same_and_shows_everything() -> None:
    value = {"a": ATTACK + "\U0001f600é", ATTACK: [ATTACK]}
    document = escape_invisible_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(document) == value
    assert acts(document) == []
    assert "\U0001f600é" in document


# Every command


@pytest.fixture
def room() -> Iterator[Path]:
    with in_memory() as path:
        yield path


@pytest.fixture
def home(room: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("RECOLLECT_HOME", "RECOLLECT_LEDGER", "RECOLLECT_FAILPOINT"):
        monkeypatch.delenv(name, raising=False)
    directory = room / f"home {ATTACK[:40]}\u202e\n".replace("/", "")
    Home.create_or_open(directory, without_encoder=True)
    return directory


def hostile(number: int, content: str, **fields: Any) -> Draft:
    given = {
        "sender_id": f"u-{ATTACK}",
        "sender_name": f"Ada{ATTACK}",
        "peer_id": f"room{ATTACK}",
        "thread_id": f"t{ATTACK}",
    }
    payload = Message(source_id=f"id-{number}{ATTACK}", content=content, **{**given, **fields})
    return draft(number, payload, platform=f"chat{ATTACK}")


def draft(number: int, payload: Payload, platform: str = "recollect") -> Draft:
    return Draft(platform=platform, occurred_at=START + number, payload=payload)  # type: ignore[arg-type]


@pytest.fixture
def held(home: Path) -> Path:
    """A zone with hostile text in every field that can hold any."""
    with Memory(home) as memory:
        memory.node.ledger.publish(
            memory.zone,
            [
                hostile(1, f"I live in Rome.{ATTACK}"),
                hostile(2, f"I live in Oslo.{ATTACK} Since May {ATTACK}, and I own a dog."),
                hostile(3, f"Where does Bob{ATTACK} live?", sender_name=f"Bob{ATTACK}"),
                hostile(
                    4,
                    f"In Bergen{ATTACK}.",
                    attachments=(Attachment(name=ATTACK, caption=f"A harbour {ATTACK}"),),
                    metadata={ATTACK: ATTACK},
                ),
                draft(5, Park(source_id="park:1", reason=f"not JSON: {ATTACK}", body=b"{")),
            ],
        )
        memory.drive()
        memory.create_mental_model(f"Homes{ATTACK}", f"Ada lives in Oslo {ATTACK}")
        for n in range(4):
            run = memory.start_trajectory(f"Release{ATTACK}", agent_id=f"a{ATTACK}", task_type="x")
            if n % 2:
                memory.log_step(run.id, "tool_call", f"Test{ATTACK}", tool=f"t{ATTACK}")
            memory.give_feedback(run.id, n % 2, comment=f"So {ATTACK}")
            status = "success" if n % 2 else "failure"
            memory.complete_trajectory(run.id, status, error_message=f"E{ATTACK}", learn=True)
    return home


def test_the_holding_is_hostile(held: Path) -> None:
    with Memory(held) as memory:
        results = memory.recall(Query("Where do Ada and Bob live?")).results
        assert {"event", "fact", "mental_model"} <= {result.type for result in results}
        assert all(acts(result.text) for result in results)


def ids(held: Path) -> list[str]:
    with Memory(held) as memory:
        everything = ("events", "facts", "mental_models", "entities")
        results = memory.recall(Query("Ada Bob live Oslo dog", scope=everything)).results  # type: ignore[arg-type]
        assert {result.type for result in results} >= {"event", "fact", "entity", "mental_model"}
        return [result.id for result in results]


def commands(held: Path, room: Path) -> dict[str, list[list[str]]]:
    """Return what each command is asked here; the file named by each is there, as is the rest."""
    attack = ATTACK.replace("\0", "")
    export = room / f"export {attack[:30]}\n.jsonl".replace("/", "")
    good = {"platform": "x", "sender_id": "u", "occurred_at": "2026-05-08T13:56:00Z"}
    lines = [
        {**good, "content": attack, "sender_name": attack},
        {**good, "content": "x", "id": attack},
        {**good, "content": "x", "kind": attack},
        {**good, "content": "x", "peer_kind": attack},
        {**good, "content": "x", "occurred_at": attack[:50]},
        {**good, "content": "x", attack: 10**40},
        {**good, "content": "x", "sender_id": None, "id": attack},
    ]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    export.write_text(f"{text}\n{attack}\n", "utf-8")
    batch = room / f"batch {attack[:30]}\n.jsonl".replace("/", "")
    batch.write_text(json.dumps({"id": attack, "query": f"Rome {attack}"}) + "\n")
    broken = room / f"broken {attack[:30]}.jsonl".replace("/", "")
    broken.write_text(json.dumps({"id": attack, "query": "x", "budget": attack}) + "\n")
    judged = room / f"questions {attack[:30]}.jsonl".replace("/", "")
    judged.write_text(json.dumps({"query": attack, "sources": [attack]}) + "\n")
    pairs = room / f"pairs {attack[:30]}.jsonl".replace("/", "")
    pairs.write_text(json.dumps({"a": {"name": attack, "type": attack}, "b": {"name": "x"}}) + "\n")
    with Memory(held) as memory:
        learned = [memory.trajectories()[0].id, memory.playbooks()[0].id]
    memories = room / f"memories {attack[:30]}\n.json".replace("/", "")
    foreign = {"id": attack, "memory": attack, "created_at": "2026-05-08T13:56:00Z"}
    memories.write_text(json.dumps([{**foreign, "user_id": "u"}, {**foreign, "owner": attack}]))
    everything = "events,facts,mental_models,entities,observations"
    asked = ["Where do Ada and Bob live?", "--scope", everything, "-k", "50"]
    return {
        "init": [["--encoder", attack], ["--encoder", "none"], ["--encoder-source", attack]],
        "ingest": [[str(export)], [str(room / attack[:20])], [str(export), "--format", attack]],
        "import": [
            [str(memories), "--from", "mem0"],
            [str(memories), "--from", "mem0", "--dry-run"],
            [str(memories), "--from", "zep"],
            [str(export), "--from", attack],
        ],
        "export": [
            ["-"],
            [str(room / f"out {attack[:30]}.jsonl".replace("/", ""))],
            [str(room / f"pages {attack[:30]}".replace("/", "")), "--as", "markdown"],
            [str(room), "--as", "okf", "--force"],
            [attack, "--as", attack],
        ],
        "recall": [
            *([*asked], [*asked, "--explain"], [attack], ["x", "--scope", attack]),
            *(
                ["x", "--after", attack[:20]],
                ["x", "--entity", attack],
                ["x", "--known-at", attack],
            ),
            *(["x", "--wait-for", attack], ["x", f"--{attack}"], ["x", "-k", attack]),
            *(["--batch", str(batch)], ["--batch", str(broken)], ["--batch", attack], []),
        ],
        "context": [["Where do Ada and Bob live?"], [attack], ["x", "--max-tokens", attack]],
        "why": [
            *([id_, "--query", f"live {attack}"] for id_ in ids(held)),
            *([f"id-1{ATTACK}"], [attack], [attack, "--platform", attack]),
        ],
        "forget": [
            [f"id-3{ATTACK}"],
            [attack],
            ["x", "--platform", attack],
            ["x", "--certificate", attack],
        ],
        "retract": [[f"id-1{ATTACK}"], [f"id-1{ATTACK}", "--restore"], [attack]],
        "remember": [[attack], [attack, "--sender", attack]],
        "rebuild": [[], ["--dry-run"], ["--level", attack]],
        "rollback": [[]],
        "verify": [[], ["--expect", attack], ["--certificate", attack]],
        "certificates": [[], [attack], ["17"]],
        "reclaim": [["--dry-run"], []],
        "zones": [[]],
        "facts": [
            ["--all"],
            ["--cursor", attack],
            ["--entity", attack],
            ["--entity", f"Ada{ATTACK}"],
        ],
        "entities": [
            *([], ["compare", attack, "x"], ["compare", f"Ada{ATTACK}", f"Bob{ATTACK}"], [attack]),
            *(["compare", "--batch", str(pairs)], ["compare", "--batch", str(broken)]),
        ],
        "dreams": [["list"], ["find"]],
        "observations": [["--all"], [attack], ["show", attack], ["history", attack]],
        "infer": [[attack], [attack, "--memory", attack], [attack, "--context", attack]],
        "memories": [
            *(["--all"], ["--namespace", attack], ["--person", attack], ["show", attack]),
            *(["versions", attack], ["diff", attack, "x"], ["approve", attack], [attack]),
            *(["rollback", attack, "--version", "1"], ["ls", f"/{attack}"], ["ls"]),
            *(["glob", f"/**{attack}"], ["glob", "/**"], ["cat", f"/{attack}"]),
        ],
        "tiers": [
            *([], ["recent"], ["search", attack], ["search", f"Ada{ATTACK}"]),
            *(["archive", attack], ["restore", attack], [attack]),
        ],
        "hierarchy": [
            *([], [attack], ["children", attack], ["search", attack]),
            *(["ancestors", attack], ["consolidate", "--namespace", attack]),
        ],
        "evaluate": [[str(judged)], [attack]],
        "graph": [
            *(["list", attack], ["neighbors", attack], ["path", attack, attack]),
            *(["list", f"Ada{ATTACK}"], ["neighbors", f"Ada{ATTACK}", "--type", attack]),
            ["subgraph", f"Ada{ATTACK}", f"Bob{ATTACK}"],
        ],
        "timeline": [[], ["--entity", attack], ["--from", attack], ["--full"]],
        "episodes": [
            *([], ["list", attack], ["show", attack], ["history", attack], [attack]),
            *(["--entity", attack], ["--from", attack], ["--strategy", attack]),
            ["--query", f"live {attack}"],
        ],
        "models": [[], ["show", attack], ["create", attack, attack], ["history", attack]],
        "trajectories": [
            *([], ["show", attack], ["--type", attack], ["--agent", f"a{ATTACK}"], [attack]),
            *(["show", id_] for id_ in learned),
        ],
        "playbooks": [
            *([], ["history", attack], ["--pattern", attack], [attack]),
            *([action, id_] for id_ in learned for action in ("show", "history")),
        ],
        "directives": [[], ["add", attack], ["remove", attack]],
        "merges": [[], [attack], ["approve", attack], ["undo", attack]],
        "branch": [
            *(["create", attack], ["create", "trial", "--at", attack], ["create", "trial"]),
            *(["list"], ["diff", "trial"], ["promote", "trial"], ["drop", attack]),
            *(["drop", "trial"],),
        ],
        "analyses": [
            *(["run"], ["run", "--type", attack], []),
            *(["facets"], ["facets", "--value", attack]),
            *(["types"], ["list", "--episode", attack], ["--cursor", attack]),
        ],
        "extract": [[str(export)], [str(room / attack[:20])], [str(export), "--format", attack]],
        "status": [[]],
        "doctor": [[]],
        "skip": [[attack, "1"], ["events", attack], ["events", "99"]],
        "records": [[], ["1"], ["--newest"], ["--kind", attack], ["--at", attack], [attack]],
        "deadletters": [[], [attack], ["retry", attack], ["retry", "5"]],
        "promote": [["--to", attack], ["--to", f"kafka://{attack}"]],
        "backup": [[str(room / attack[:20])], [str(held / attack[:20])]],
        "restore": [[attack], [str(room / attack[:20]), "--erasures-from", attack]],
        "worker": [["--once"], ["--once", f"--member{attack}"]],
        "replica": [[]],
        # It would go on: what it says when it cannot begin.
        "serve": [["--host", attack], ["--port", attack], ["--host", "192.0.2.1", "--no-auth"]],
        "config": [[]],
        "write": [[], ["--dry-run"], ["--limit", attack]],
        "backfill": [
            *([], ["--dry-run"], ["--platform", attack], ["--from", attack], ["--to", attack]),
            *(["--pause"], [], ["--resume", "--platform", f"chat{ATTACK}"], ["--status"]),
        ],
        "writer": [
            *([], ["--note", attack, attack], ["--role", attack], ["--proposals"]),
            *(["--accept", attack], ["--reject", attack], ["--compare", attack]),
        ],
        "token": [
            *(["create", "--zone", attack], ["create", "--rights", attack], ["list"]),
            *(["create", "--zone", "*", "--user", attack, "--agent", attack], ["list"]),
            *(["revoke", attack], ["create", "--expires", attack], [attack]),
        ],
        # In a home directory whose name is an attack, as the client's file is shown.
        "mcp": [["--install", "claude"], ["--install", attack], ["--tools", attack]],
    }


def test_no_command_lets_it_out(
    held: Path, room: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = commands(held, room)
    monkeypatch.setenv("HOME", str(room / f"of {ATTACK[:20]}"))
    assert asked.keys() == cli.commands.keys(), "a command is not tried here"
    said_at_all = 0
    for name, calls in asked.items():
        for arguments in calls:
            for as_json in ([], ["--json"]):
                capfd.readouterr()
                run(["--home", str(held), name, *as_json, *arguments])
                said = capfd.readouterr()
                assert acts(said.out) == [], (name, arguments)
                assert acts(said.err) == [], (name, arguments)
                assert "Traceback" not in said.err
                said_at_all += len(said.out + said.err)
                if as_json:
                    for line in said.out.splitlines():
                        json.loads(line)
    assert said_at_all > 10_000
    for arguments in ([ATTACK], ["--home", ATTACK, "status"], ["--zone", ATTACK, "status"]):
        assert run(arguments) == 2
        assert acts(capfd.readouterr().err) == []
    monkeypatch.setenv("RECOLLECT_LEDGER", f"kafka:/{ATTACK}")
    assert run(["--home", str(held), "status"]) == 2
    assert acts(capfd.readouterr().err) == []


def test_json_gives_the_text_as_it_was_said(held: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--home", str(held), "recall", "--json", "Rome", "--scope", "events"]) == 0
    results = json.loads(capfd.readouterr().out)["results"]
    said = {result["text"]: result["source_event_ids"] for result in results}
    assert said[f"I live in Rome.{ATTACK}"] == [f"id-1{ATTACK}"]


def test_text_names_and_ids_forge_no_result(held: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["recall", "Where do Ada and Bob live?", "--explain", "-k", "20"]
    assert run(["--home", str(held), *asked]) == 0
    lines = capfd.readouterr().out.splitlines()
    with Memory(held) as memory:
        results = memory.recall(Query("Where do Ada and Bob live?")).results
    heads = [line for line in lines if re.match(r" *\d+\. ", line)]
    assert [int(head.partition(".")[0]) for head in heads] == list(range(1, len(results) + 1))
    assert all(result.id in "\n".join(lines) for result in results)
    assert sum(line.startswith("    fact ") for line in lines) == sum(
        result.type == "fact" for result in results
    )


def test_the_reader_sees_that_something_was_there(
    held: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["--home", str(held), "recall", "Rome", "--scope", "events"]) == 0
    assert "I live in Rome.\\x1b[2J\\x1b]0;title\\x07\\x9b31m" in capfd.readouterr().out


def on_a_terminal(arguments: list[str]) -> str:
    """Return what a command writes on a pseudo-terminal, with both streams on it."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from recollect.cli import main; main()", *arguments]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = b""
    while True:
        try:
            some = os.read(ours, 65_536)
        except OSError:
            break
        if not some:
            break
        written += some
    os.close(ours)
    process.wait(timeout=60)
    return written.decode()


@pytest.mark.slow
def test_nothing_acts_on_a_real_terminal(held: Path, room: Path) -> None:
    export = commands(held, room)["ingest"][0]
    for arguments in (
        ["recall", "Where do Ada and Bob live?", "--explain"],
        ["ingest", *export],
        ["facts", "--all"],
        ["entities"],
        ["merges"],
        ["analyses", "run"],
        ["analyses", "facets"],
        ["extract", *export],
        ["why", f"id-1{ATTACK}"],
        ["deadletters"],
        ["remember", ATTACK],
        ["forget", ATTACK],
    ):
        written = on_a_terminal(["--home", str(held), *arguments])
        assert written.strip()
        assert acts(OF_OURS.sub("", written)) == [], arguments


def test_all_output_goes_through_one_module() -> None:
    for path in Path(recollect.cli.__file__).parent.rglob("*.py"):
        if path.name == "output.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert not re.search(r"echo|^print$|stdout\.write|stderr\.write|\.show$", called), (
                f"{path.name}:{node.lineno}: {called}; "  # type: ignore[attr-defined]
                "use print_line or print_json"
            )
