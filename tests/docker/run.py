"""Builds the images, starts the Compose file, uses it, kills in it, and takes it down.

    python -m tests.docker.run

Uses the Docker daemon that answers; where none does, root starts one for the time of the run.
The exit status is 1, with a plain message, as soon as a step does not give what it should.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from demo.run import HERE as DEMO
from demo.run import TOP, Failed, Json, expect, judge, read_lines, say, seconds, title, value
from tests.broker.jars import BrokerError
from tests.docker import images
from tests.docker.daemon import daemon
from tests.docker.shell import Docker

# In all, but for taking down.
LIMIT_SECONDS = 720
HEALTH_SECONDS = 120.0
HTTP_SECONDS = 150.0
WORKERS = ("worker-1", "worker-2")
REPLICA = "replica"
SERVICE = "service"
ZONE = "default"

Files = dict[str, str]


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is done, and how long it took."""
    title(what)
    started = time.monotonic()
    yield
    say("took", seconds(time.monotonic() - started))


@dataclass(frozen=True)
class System:
    """The services of the Compose file, as one project."""

    docker: Docker
    project: str
    port: int

    def compose(self, *words: str) -> str:
        file = images.ROOT / "docker" / "compose.yaml"
        return self.docker.compose("--project-name", self.project, "--file", str(file), *words)

    def up(self, *services: str) -> None:
        """Start services of images that are there, and return when each is healthy."""
        self.compose("up", "--detach", "--no-build", *services)
        for service in services:
            self.wait(service)

    def wait(self, service: str, restarts: int = 0) -> None:
        """Return when a service is healthy, after `restarts` by the daemon.

        Raises:
            Failed: it does not become so in time, or is restarted more often.
        """
        deadline = time.monotonic() + HEALTH_SECONDS
        container = self.container(service)
        while True:
            found = json.loads(self.docker("inspect", "--format", "{{json .}}", container))
            restarted, health = found["RestartCount"], found["State"]["Health"]
            if restarted == restarts and health["Status"] == "healthy":
                return
            if restarted > restarts or time.monotonic() > deadline:
                checks = [check["Output"].strip() for check in health["Log"]]
                raise Failed(
                    f"{service} is {found['State']['Status']} after {restarted} restarts, and "
                    f"{health['Status']}: {checks[-1:]}"
                )
            time.sleep(0.5)

    def container(self, service: str) -> str:
        found = self.compose("ps", "-q", service)
        expect(bool(found), f"{service} has no container")
        return found

    def answer(self, service: str, *words: str, files: Files | None = None) -> Json:
        """Return what a command answers in a service's container, with `files` put there first."""
        answers = self.stream(service, *words, files=files)
        expect(len(answers) == 1, f"{words[0]} --json gave {len(answers)} documents, not one")
        return answers[0]

    def stream(self, service: str, *words: str, files: Files | None = None) -> list[Json]:
        """Return what a command answers with one JSON document a line."""
        container = self.container(service)
        for path, text in (files or {}).items():
            write = ("sh", "-c", 'cat >"$0"', path)
            self.docker("exec", "--interactive", container, *write, stdin=text.encode())
        said = self.docker("exec", container, "recollect", *words, "--json")
        return [json.loads(line) for line in said.splitlines()]


@dataclass(frozen=True)
class Client:
    """Asks the service over the port that is published on this machine."""

    port: int
    token: str | None = None

    def ask(self, path: str, body: Json) -> tuple[int, Json]:
        """Return the status and the body of the answer to a POST."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/zones/{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        if self.token is not None:
            request.add_header("Authorization", f"Bearer {self.token}")
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=HTTP_SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def answer(self, path: str, body: Json) -> Json:
        """Return what a POST is answered.

        Raises:
            Failed: it is refused.
        """
        status, said = self.ask(path, body)
        expect(status == 200, f"POST {path} is answered with {status}: {said}")
        return said


@dataclass(frozen=True)
class Part:
    """Some of the demo's events, and the questions that they have answers to."""

    events: list[Json]
    questions: list[Json]


def parts(count: int) -> list[Part]:
    """Return the demo's export in parts of about the same length."""
    events, questions = (read_lines(DEMO / f"{name}.jsonl") for name in ("export", "questions"))
    size = math.ceil(len(events) / count)
    found = []
    for start in range(0, len(events), size):
        part = events[start : start + size]
        ids = {event["id"] for event in part}
        found.append(Part(part, [asked for asked in questions if ids & set(asked["expect"])]))
    return found


def lines(entries: list[Json]) -> str:
    return "".join(f"{json.dumps(entry)}\n" for entry in entries)


def bring_in(system: System, service: str, part: Part) -> str:
    """Publish events through a service's container; return the token to wait for."""
    path = "/tmp/part.jsonl"
    answer = system.answer(service, "ingest", path, "--no-wait", files={path: lines(part.events)})
    read, rejected = value(answer, "read"), value(answer, "rejected")
    say("published", f"{read} events through {service}")
    expect(read == len(part.events), f"{read} events were read, not {len(part.events)}")
    expect(rejected == 0, f"{rejected} good events were rejected")
    return str(value(answer, "token"))


def ask(system: System, part: Part, token: str) -> None:
    """Ask the replica, which waits for what was published last."""
    started = time.monotonic()
    waiting = ("--wait-for", token, "--timeout", "90")
    system.answer(REPLICA, "recall", part.questions[0]["query"], *waiting)
    say("recallable", seconds(time.monotonic() - started))
    path = "/tmp/questions.jsonl"
    batch = ("recall", "--batch", path, "-k", str(TOP))
    answers = system.stream(REPLICA, *batch, files={path: lines(part.questions)})
    sources = {
        value(answer, "id"): {
            source
            for result in value(answer, "results")
            for source in value(result, "source_event_ids")
        }
        for answer in answers
    }
    hits = sum(
        bool(sources.get(asked["id"], set()) & set(asked["expect"])) for asked in part.questions
    )
    judge(hits, len(part.questions))


def use_service(system: System, part: Part) -> Client:
    """Make a token, publish and ask over HTTP, and try what the token does not allow."""
    made = system.answer(SERVICE, "token", "create", "--zone", ZONE, "--rights", "read,write")
    client = Client(system.port, str(value(made, "token")))
    report = client.answer(f"{ZONE}/events?wait=true", {"events": part.events})
    say("published", f"{value(report, 'new')} events over HTTP")
    expect(report["new"] == len(part.events), f"{report['new']} are new, not {len(part.events)}")
    ask_service(client, part)
    question = {"query": part.questions[0]["query"]}
    for who, path, body, wanted in (
        (Client(system.port), f"{ZONE}/memories/recall", question, 401),
        (Client(system.port, "rct_0_0"), f"{ZONE}/memories/recall", question, 401),
        (client, "another/memories/recall", question, 404),
        (client, f"{ZONE}/forget", {"ids": [part.events[0]["id"]]}, 404),
    ):
        status, said = who.ask(path, body)
        expect(status == wanted, f"POST {path} is answered with {status}, not {wanted}: {said}")
    return client


def ask_service(client: Client, part: Part) -> None:
    hits = 0
    for asked in part.questions:
        question = {"query": asked["query"], "max_results": TOP}
        results = value(client.answer(f"{ZONE}/memories/recall", question), "results")
        sources = {source for result in results for source in value(result, "source_event_ids")}
        hits += bool(sources & set(asked["expect"]))
    judge(hits, len(part.questions))


def prove(system: System, events: int) -> None:
    """Replay on the replica, and count."""
    status = system.answer(REPLICA, "status")
    for name, wanted in (("events", events), ("dead_letters", 0), ("lag", 0)):
        expect(value(status, name) == wanted, f"{name}: {status[name]}, not {wanted}")
    answer = system.answer(REPLICA, "verify")
    for model in value(answer, "models"):
        say(value(model, "model"), f"{value(model, 'hash')[:32]}  same")
    say("ledger", f"{value(answer, 'events')} events, the chain of hashes is whole")
    expect(answer["events"] == events, f"{answer['events']} events in the ledger, not {events}")


def use(system: System) -> None:
    """Ingest, recall, kill each worker in turn, and verify."""
    first, over_http, *others = parts(2 + len(WORKERS))
    with step(f"Ingest, and recall from the {REPLICA}"):
        ask(system, first, bring_in(system, WORKERS[0], first))
    with step("Ingest and recall over HTTP, with a token and without"):
        client = use_service(system, over_http)
    for worker, part in zip(WORKERS, others, strict=True):
        with step(f"{worker} is killed: the other one takes over"):
            system.docker("kill", system.container(worker))
            ask(system, part, bring_in(system, REPLICA, part))
        with step(f"{worker} comes back"):
            system.compose("start", worker)
            system.wait(worker)
    for service in (REPLICA, SERVICE):
        with step(f"The {service}'s process dies, and is started again"):
            everyone = ("sh", "-c", "kill -KILL -1")
            system.docker("exec", system.container(service), *everyone)
            system.wait(service, restarts=1)
    with step("The token still holds, and what was published meanwhile is answered over HTTP"):
        for part in (first, over_http, *others):
            ask_service(client, part)
    with step(f"Proof on the {REPLICA}: the ledger, replayed, gives the same content"):
        prove(system, sum(len(part.events) for part in (first, over_http, *others)))


@contextmanager
def running(docker: Docker) -> Iterator[System]:
    """Start the Compose file, and take it down with all that it made."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    chosen = {
        "RECOLLECT_IMAGE": images.RECOLLECT,
        "RECOLLECT_KAFKA_IMAGE": images.KAFKA,
        "RECOLLECT_PORT": str(port),
    }
    project = f"recollect-test-{os.getpid()}"
    compose = Docker({**docker.environment, **chosen}, docker.compose_command)
    system = System(compose, project, port)
    try:
        with step("Kafka starts"):
            system.up("kafka")
        with step("The workers, the replica and the service start"):
            system.up(*WORKERS, REPLICA, SERVICE)
        yield system
    except Failed:
        print(system.compose("logs", "--no-color", "--tail", "40"), file=sys.stderr)
        raise
    finally:
        signal.alarm(0)
        with step("Everything is taken down"):
            system.compose("down", "--volumes", "--remove-orphans", "--timeout", "10")


def drive(scratch: Path) -> None:
    with ExitStack() as stack:
        with step("A Docker daemon: the one that answers, or one of our own"):
            docker = stack.enter_context(daemon(scratch))
            say("address", docker.environment.get("DOCKER_HOST", "as the environment says"))
        with step("A base for the images"):
            base = images.base(docker)
            say("image", base)
        for name, build in (("Kafka", images.build_kafka), ("recollect", images.build_recollect)):
            with step(f"The image of {name}"):
                say("size", f"{build(docker, base) / 1e6:.0f} MB")
        use(stack.enter_context(running(docker)))


def too_late(*_: object) -> NoReturn:
    raise Failed(f"not done after {LIMIT_SECONDS} s")


def main() -> int:
    started = time.monotonic()
    signal.signal(signal.SIGALRM, too_late)
    # Ended from outside, it takes everything down, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.alarm(LIMIT_SECONDS)
    scratch = Path(tempfile.mkdtemp(prefix="recollect-docker-", dir="/var/tmp"))
    try:
        drive(scratch)
    except (Failed, BrokerError, OSError, ValueError) as failure:
        sys.stdout.flush()
        print(f"\nThe Docker test failed: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"\nAll steps gave what they should, in {time.monotonic() - started:.1f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
