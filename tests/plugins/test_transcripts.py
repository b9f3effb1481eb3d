"""What the hook sends of a transcript: all of it, once, as an import of the transcript would."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from tests.plugins.kit import HOOKS, hook_command
from tests.service.kit import served


class Service:
    """A service that keeps events as the real one does: by their ids, those that are new."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.requests: list[list[str]] = []
        self.answered = 0
        self.status = 200
        self.answers = threading.Event()
        self.answers.set()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.requests.append([event["id"] for event in body.get("events", [])])
                service.answers.wait(60)
                if service.status == 200 and self.path.endswith("/events"):
                    service.keep(body["events"])
                service.answered += 1
                self.send_response(service.status)
                self.end_headers()
                self.wfile.write(json.dumps({"token": f"0:{len(service.events)}:1"}).encode())

            def log_message(self, *given: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def keep(self, events: list[dict[str, Any]]) -> None:
        known = {event["id"] for event in self.events}
        self.events += [event for event in events if event["id"] not in known]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def texts(self) -> list[str]:
        return [event["content"] for event in self.events]


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.answers.set()
    made.server.shutdown()
    made.server.server_close()


class Session:
    """A transcript that grows, and the hook on it."""

    def __init__(self, place: Path, url: str, name: str = "s1", **environment: str) -> None:
        self.path = place / f"{name}.jsonl"
        self.name = name
        self.patient = True
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "XDG_STATE_HOME": str(place / "state"),
            "RECOLLECT_URL": url,
            **environment,
        }
        self._count = 0

    def add(self, kind: str, said: Any, **fields: Any) -> dict[str, Any]:
        """Append a record, and return it."""
        self._count += 1
        uuid = f"{self.name}-{self._count}"
        made = {
            "parentUuid": None,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/ada/boat",
            "sessionId": self.name,
            "version": "2.1.220",
            "gitBranch": "main",
            "type": kind,
            "message": {"role": kind, "content": said},
            "uuid": uuid,
            "timestamp": f"2026-05-08T13:{self._count // 60:02d}:{self._count % 60:02d}.000Z",
            **fields,
        }
        if kind == "assistant":
            made["message"] |= {"id": f"msg_{uuid}", "model": "claude-opus-5", "usage": {}}
        if kind == "attachment":
            del made["message"]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(made) + "\n")
        return made

    def says(self, text: str, **fields: Any) -> dict[str, Any]:
        return self.add("user", text, **fields)

    def answers(self, text: str, **fields: Any) -> dict[str, Any]:
        return self.add("assistant", [{"type": "text", "text": text}], **fields)

    def turn(self, question: str, answer: str = "Noted.") -> None:
        self.says(question)
        self.answers(answer)

    def start(self, event: str = "Stop", **fields: Any) -> subprocess.Popen[bytes]:
        payload = {
            "session_id": self.name,
            "transcript_path": str(self.path),
            "cwd": "/home/ada/boat",
            "hook_event_name": event,
            **fields,
        }
        started = subprocess.Popen(
            hook_command(patient=self.patient),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
        )
        assert started.stdin is not None
        started.stdin.write(json.dumps(payload).encode())
        started.stdin.close()
        started.stdin = None
        return started

    def hook(self, event: str = "Stop", **fields: Any) -> str:
        """Run the hook, and return what it prints."""
        started = self.start(event, **fields)
        output, errors = started.communicate(timeout=90)
        assert (started.returncode, errors) == (0, b"")
        return output.decode()

    def rewrite(self, *records: dict[str, Any]) -> None:
        self.path.write_text("".join(json.dumps(record) + "\n" for record in records))

    def age(self) -> None:
        """Make it look as if its session ended an hour ago."""
        then = time.time() - 3_600
        os.utime(self.path, (then, then))


@pytest.fixture
def session(tmp_path: Path, service: Service) -> Session:
    return Session(tmp_path, service.url)


def positions(place: Path) -> list[Path]:
    return sorted((place / "state" / "recollect" / "claude_code").glob("*.json"))


def test_each_stop_goes_on_from_the_last(session: Session, service: Service) -> None:
    """FAULTS 13."""
    session.turn("I live in Turin.", "A fine town.")
    session.hook()
    session.turn("My dog is called Rex.", "Hello Rex.")
    session.hook()
    session.hook()
    assert service.texts == [
        *("I live in Turin.", "A fine town.", "My dog is called Rex.", "Hello Rex."),
    ]
    # The last answer goes again with what follows it, and nothing else does.
    assert len(service.requests) == 2
    assert session.path.stem + "-1" not in service.requests[1]


def test_what_was_said_outside_of_a_finished_turn_is_sent(
    session: Session, service: Service
) -> None:
    """FAULTS 13."""
    session.says("My boat is called Nina.")
    session.add("user", [{"type": "text", "text": "[Request interrupted by user]"}])
    session.says("Use metric units.")
    queued = {"type": "queued_command", "prompt": "And never inches.", "commandMode": "prompt"}
    session.add("attachment", None, attachment=queued)
    session.answers("Metric it is.")
    session.says("My berth is number 7.")
    session.hook()
    assert service.texts == [
        *("My boat is called Nina.", "Use metric units.", "And never inches."),
        *("Metric it is.", "My berth is number 7."),
    ]


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart"])
def test_an_interrupted_turn_is_sent_with_the_next_event(
    session: Session, service: Service, event: str
) -> None:
    """FAULTS 13."""
    session.says("My boat is called Nina.")
    session.hook(event, prompt="Where was I?")
    assert service.texts == ["My boat is called Nina."]


@pytest.mark.parametrize("status", [500, 503, 401, 404, 429])
def test_a_service_that_was_down_gets_everything_later(
    session: Session, service: Service, status: int
) -> None:
    """FAULTS 13."""
    service.status = status
    for number in range(3):
        session.turn(f"Berth {number} is mine.", f"So {number} is.")
        session.hook()
    assert service.events == []
    service.status = 200
    session.hook()
    assert service.texts == [
        text for number in range(3) for text in (f"Berth {number} is mine.", f"So {number} is.")
    ]


def test_a_later_session_sends_what_an_earlier_one_could_not(
    tmp_path: Path, service: Service
) -> None:
    """FAULTS 13."""
    first, second = (Session(tmp_path, service.url, name) for name in ("s1", "s2"))
    service.status = 503
    first.turn("My boat is called Nina.")
    first.hook()
    first.age()
    service.status = 200
    second.hook("SessionStart", source="startup")
    assert service.texts == ["My boat is called Nina.", "Noted."]


def test_an_answer_that_may_grow_waits_for_its_session(tmp_path: Path, service: Service) -> None:
    """FAULTS 13."""
    first, second = (Session(tmp_path, service.url, name) for name in ("s1", "s2"))
    first.turn("My boat is called Nina.")
    first.hook()
    first.turn("I sail on Sundays.", "Ahoy, and")
    for number in range(2):
        second.turn(f"Berth {number} is mine.", f"So {number} is.")
        second.hook()
    assert service.texts == [
        *("My boat is called Nina.", "Noted."),
        *("Berth 0 is mine.", "So 0 is.", "I sail on Sundays.", "Berth 1 is mine.", "So 1 is."),
    ]
    first.age()
    second.hook("SessionStart")
    assert service.texts[-1] == "Ahoy, and"


def test_two_sessions_have_positions_of_their_own(tmp_path: Path, service: Service) -> None:
    """FAULTS 13."""
    sessions = [Session(tmp_path, service.url, name) for name in ("s1", "s2")]
    for number in range(2):
        for one in sessions:
            one.turn(f"{one.name} {number}", f"So {one.name} {number}.")
            one.hook()
    assert len(positions(tmp_path)) == 2
    assert sorted(service.texts) == sorted(
        text for one in ("s1", "s2") for n in "01" for text in (f"{one} {n}", f"So {one} {n}.")
    )


def test_hooks_at_the_same_time_lose_nothing(session: Session, service: Service) -> None:
    """FAULTS 13."""
    for number in range(5):
        session.turn(f"Berth {number} is mine.", f"So {number} is.")
        for started in [session.start() for _ in range(3)]:
            started.communicate(timeout=90)
    assert len(service.texts) == 10
    assert service.texts[-1] == "So 4 is."


def test_a_hook_that_is_killed_loses_nothing(session: Session, service: Service) -> None:
    """FAULTS 13."""
    service.answers.clear()
    session.turn("My boat is called Nina.")
    started = session.start()
    while not service.requests:
        time.sleep(0.01)
    started.kill()
    started.communicate(timeout=90)
    service.status = 500
    service.answers.set()
    while not service.answered:
        time.sleep(0.01)
    assert service.events == []
    service.status = 200
    session.hook()
    assert service.texts == ["My boat is called Nina.", "Noted."]


def test_what_takes_over_a_second_is_sent_in_the_background(
    session: Session, service: Service, tmp_path: Path
) -> None:
    """FAULTS 13."""
    service.answers.clear()
    session.turn("My boat is called Nina.")
    session.patient = False
    session.hook()
    while not service.requests:
        time.sleep(0.01)
    assert service.answered == 0
    service.answers.set()
    (position,) = positions(tmp_path)
    while json.loads(position.read_text().splitlines()[0])["end"] != session.path.stat().st_size:
        time.sleep(0.01)
    assert service.texts == ["My boat is called Nina.", "Noted."]


def test_a_line_that_is_still_being_written_comes_later(session: Session, service: Service) -> None:
    """FAULTS 13."""
    session.turn("My boat is called Nina.")
    record = json.dumps(session.says("My berth is number 7.")).encode()
    whole = session.path.read_bytes()
    for cut in (1, 40, len(record) - 5):
        session.path.write_bytes(whole[: len(whole) - 1 - len(record) + cut])
        session.hook()
        assert service.texts == ["My boat is called Nina.", "Noted."]
    session.path.write_bytes(whole)
    session.hook()
    assert service.texts == ["My boat is called Nina.", "Noted.", "My berth is number 7."]


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_a_transcript_that_was_truncated_is_read_from_its_beginning(
    session: Session, service: Service, kept: int
) -> None:
    """FAULTS 13."""
    first = [session.says("My boat is called Nina."), session.answers("A fine name.")]
    first += [session.says("My berth is number 7."), session.answers("Seven.")]
    session.hook()
    session.rewrite(*first[:kept])
    session.says("I sail on Sundays.")
    session.hook()
    assert service.texts[-1] == "I sail on Sundays."
    assert len(service.texts) == 5


def test_a_transcript_rewritten_in_the_same_length_is_read_anew(
    session: Session, service: Service
) -> None:
    """FAULTS 13."""
    records = [session.says("My boat is called Nina."), session.answers("A fine name.")]
    session.hook()
    other = {**records[0], "uuid": "s1-x"}
    other["message"] = {"role": "user", "content": "My goat is called Nina."}
    session.rewrite(other, records[1])
    session.hook()
    assert "My goat is called Nina." in service.texts


def test_a_compaction_adds_only_what_is_new(session: Session, service: Service) -> None:
    """FAULTS 13."""
    kept = [session.says("My boat is called Nina."), session.answers("A fine name.")]
    session.hook()
    session.add("system", None, subtype="compact_boundary", content="Conversation compacted")
    session.says("This session is being continued.", isCompactSummary=True)
    with session.path.open("a") as file:
        file.write("".join(json.dumps(record) + "\n" for record in kept))
    session.turn("My berth is number 7.", "Seven.")
    session.hook()
    assert service.texts == [
        *("My boat is called Nina.", "A fine name.", "My berth is number 7.", "Seven."),
    ]


def test_a_service_restored_from_a_backup_gets_all_again(
    session: Session, service: Service
) -> None:
    """FAULTS 13."""
    for number in range(3):
        session.turn(f"Berth {number} is mine.", f"So {number} is.")
        session.hook()
    said = service.texts
    del service.events[2:]
    session.says("I sail on Sundays.")
    session.hook()
    assert sorted(service.texts) == sorted([*said, "I sail on Sundays."])


def test_refused_events_do_not_hold_up_later_ones(session: Session, service: Service) -> None:
    """FAULTS 13."""
    session.turn("My boat is called Nina.")
    service.status = 422
    session.hook()
    service.status = 200
    session.says("My berth is number 7.")
    session.hook()
    assert service.texts[-1] == "My berth is number 7."


def test_a_damaged_position_begins_anew(session: Session, service: Service, tmp_path: Path) -> None:
    """FAULTS 13."""
    session.turn("My boat is called Nina.")
    session.hook()
    (position,) = positions(tmp_path)
    for damage in ("", "{", "[]\n[]\n", '{"version": 1}\n{}\n', "\0" * 50):
        position.write_text(damage)
        session.hook()
    session.says("My berth is number 7.")
    session.hook()
    assert service.texts == ["My boat is called Nina.", "Noted.", "My berth is number 7."]


def test_a_position_has_no_words(session: Session, service: Service, tmp_path: Path) -> None:
    """FAULTS 13."""
    session.turn("Zeppelin", "Quagga")
    session.hook()
    (position,) = positions(tmp_path)
    assert "Zeppelin" not in position.read_text()
    assert "Quagga" not in position.read_text()
    assert position.stat().st_mode & 0o077 == 0


def test_where_no_position_can_be_kept_all_is_sent(tmp_path: Path, service: Service) -> None:
    """FAULTS 13."""
    (tmp_path / "file").write_text("")
    session = Session(tmp_path, service.url, XDG_STATE_HOME=str(tmp_path / "file"))
    session.turn("My boat is called Nina.")
    session.hook()
    session.says("My berth is number 7.")
    session.hook()
    assert service.texts == ["My boat is called Nina.", "Noted.", "My berth is number 7."]


def test_a_position_of_a_deleted_transcript_goes(
    tmp_path: Path, session: Session, service: Service
) -> None:
    session.turn("My boat is called Nina.")
    session.hook()
    session.path.unlink()
    Session(tmp_path, service.url, "s2").hook("SessionStart")
    assert positions(tmp_path) == []


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that imports a module of the plugin."""
    monkeypatch.syspath_prepend(str(HOOKS))
    return importlib.import_module


def test_a_large_transcript_is_read_in_bounded_memory(session: Session, hooks: Any) -> None:
    """FAULTS 13."""
    sender = hooks("transcript_sender")
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "x" * 1_000_000}]
    for number in range(40):
        session.says(f"Berth {number} is mine. " + "Long. " * 10_000)
        session.add("user", result, toolUseResult={"stdout": ""})
    tracemalloc.start()
    with session.path.open("rb") as file:
        begun = sender.Position(str(session.path))
        counts = [len(events) for events, _ in sender.unsent_batches(file, begun)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(counts) == 40
    assert len(counts) > 4
    assert peak < 10_000_000


def mixed(session: Session) -> None:
    """Add what real transcripts have: commands, dialogs, refusals, compaction, blocks, pictures."""
    command = "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
    session.says(f"{command}<command-args>Only the hull, please.</command-args>")
    first = session.answers("The hull is sound.")
    tool = {"type": "tool_use", "id": "t1", "name": "AskUserQuestion", "input": {}}
    session.add("assistant", [tool], parentUuid=first["uuid"])
    outcome = {"answers": {"Which paint?": "Copper, as always"}, "questions": []}
    done = [{"type": "tool_result", "tool_use_id": "t1", "content": "answered"}]
    session.add("user", done, toolUseResult=outcome)
    session.answers("Copper it is.")
    denied = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it "
        "was a file edit, the new_string was NOT written to the file). To tell you how to proceed, "
        "the user said:\nSand it first."
    )
    refusal = {"type": "tool_result", "tool_use_id": "t2", "content": denied, "is_error": True}
    session.add("user", [refusal], toolUseResult=f"Error: {denied}")
    session.says("Half an emoji: \ud83d, and the rest.")
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    session.add("user", [picture, {"type": "text", "text": "This is her bow."}])
    session.answers("A fine bow.", cwd="/home/ada/boat/bow")
    session.says("Implement the following plan:\n\n# Plan\n\nPaint her red.")


@pytest.mark.parametrize("hook_first", [True, False])
def test_the_hook_and_an_import_agree(tmp_path: Path, hook_first: bool) -> None:
    """FAULTS 14."""
    home = tmp_path / "home"
    Home.create_or_open(home, without_encoder=True)
    with served(home) as service:
        session = Session(tmp_path, service.url, RECOLLECT_ZONE="a")
        token = dict(service.client().headers)["authorization"].removeprefix("Bearer ")
        session.environment["RECOLLECT_TOKEN"] = token
        if hook_first:
            session.turn("My boat is called Nina.", "A fine name.")
            session.hook()
            mixed(session)
            session.hook()
        else:
            session.turn("My boat is called Nina.", "A fine name.")
            mixed(session)
    with Recollect(home) as memory:
        report = memory.zone("a").ingest_files([session.path])
        assert (report.new == 0) is hook_first
        assert (report.rejected, report.read) == (0, 10)
    if not hook_first:
        with served(home) as service:
            session.environment |= {"RECOLLECT_URL": service.url}
            session.hook()
        with Recollect(home) as memory:
            assert len(memory.zone("a").list_memories("events", limit=100)) == report.new


def test_a_session_resumed_elsewhere_repeats_nothing(tmp_path: Path) -> None:
    """FAULTS 14."""
    home = tmp_path / "home"
    Home.create_or_open(home, without_encoder=True)
    with served(home) as service:
        token = dict(service.client().headers)["authorization"].removeprefix("Bearer ")
        rights = {"RECOLLECT_ZONE": "a", "RECOLLECT_TOKEN": token}
        first, second = (Session(tmp_path, service.url, one, **rights) for one in ("s1", "s2"))
        copied = [first.says("My boat is called Nina."), first.answers("A fine name.")]
        first.hook()
        second.rewrite(*({**record, "sessionId": "s2"} for record in copied))
        second.turn("My berth is number 7.", "Seven.")
        for record in (second.says("And I sail."), second.answers("Ahoy.")):
            assert record["cwd"] == "/home/ada/boat"
        second.hook()
    with Recollect(home) as memory:
        report = memory.zone("a").ingest_files([first.path, second.path])
    assert (report.new, report.rejected, report.duplicate) == (0, 0, 8)


def test_reading_in_pieces_gives_what_reading_at_once_does(tmp_path: Path, hooks: Any) -> None:
    """FAULTS 14."""
    module = hooks("transcript_parser")
    session = Session(tmp_path, "")
    session.turn("My boat is called Nina.", "A fine name.")
    mixed(session)
    records = list(enumerate(map(json.loads, session.path.read_text().splitlines())))
    whole = [event for _, event in module.Transcript().parse(records)]
    for cut in range(len(records)):
        first = module.Transcript()
        events = [event for one in records[:cut] for _, event in first.add(*one)]
        state = json.loads(json.dumps(first.state()))
        rest = records[first.resume_at(cut) :]
        events += [event for _, event in module.Transcript(state).parse(rest)]
        assert events == whole


@pytest.mark.parametrize("name", ["3.9", "3.10", "3.12", "3.13"])
def test_the_hook_runs_on_other_pythons(
    session: Session, service: Service, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    found = sorted((Path.home() / ".pyenv" / "versions").glob(f"{name}.*/bin/python3"))
    if not found:
        pytest.skip("it is not here")
    monkeypatch.setattr(sys, "executable", str(found[0]))
    session.turn("My boat is called Nina.")
    session.hook()
    assert service.texts == ["My boat is called Nina.", "Noted."]
