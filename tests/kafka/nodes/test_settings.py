"""How to reach the ledger: what is understood, what is refused, and how it fails."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.streams.ledger.kafka.settings import KafkaSettings
from tests.broker import security
from tests.broker.fixture import SCHEME
from tests.broker.kafka import Broker
from tests.kafka.kit import ROOT, Ended, Recollect, line, post_events, wait_until, write

pytestmark = pytest.mark.kafka

PROTOCOL = "RECOLLECT_KAFKA_SECURITY_PROTOCOL"
USER = {
    "RECOLLECT_KAFKA_USERNAME": security.USER,
    "RECOLLECT_KAFKA_PASSWORD": security.PASSWORD,
}


# What is understood


@pytest.mark.parametrize(
    ("url", "servers", "prefix"),
    [
        ("kafka://localhost:9092", ("localhost:9092",), ""),
        ("kafka://localhost:9092/", ("localhost:9092",), ""),
        ("kafka://a.example:1,b.example:65535", ("a.example:1", "b.example:65535"), ""),
        ("kafka://10.0.0.1:9092/team-a.memory_2", ("10.0.0.1:9092",), "team-a.memory_2"),
        ("kafka://[::1]:9092/x", ("[::1]:9092",), "x"),
    ],
)
def test_a_url_names_brokers_and_a_prefix(url: str, servers: tuple[str, ...], prefix: str) -> None:
    settings = KafkaSettings.read(url, {})
    assert (settings.servers, settings.prefix) == (servers, prefix)
    assert settings.topic("events") == (f"{prefix}.events" if prefix else "events")
    assert settings.url == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "kafka:localhost:9092",
        "kafka://",
        "kafka://localhost",
        "kafka://localhost:",
        "kafka://localhost:port",
        "kafka://localhost:0",
        "kafka://localhost:65536",
        "kafka://localhost:9092,",
        "kafka://localhost:9092;other:9092",
        "kafka://user:password@localhost:9092",
        "kafka://localhost:9092/a/b",
        "kafka://localhost:9092/a b",
        "kafka://localhost:9092/.hidden",
        f"kafka://localhost:9092/{'x' * 101}",
        "KAFKA://localhost:9092",
        "http://localhost:9092",
    ],
)
def test_another_url_is_wrong_use(room: Path, url: str) -> None:
    home = Recollect(room / "home", url)
    home.ask("init", "--encoder", "none")
    ended = home.run("status")
    assert ended.status == 2
    assert url in ended.errors
    assert "kafka://host:port" in ended.errors or "prefix" in ended.errors
    assert ended.errors.count("\n") == 1


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (PROTOCOL, "ssl"),
        (PROTOCOL, "TLS"),
        ("RECOLLECT_KAFKA_SASL_MECHANISM", "GSSAPI"),
        ("RECOLLECT_KAFKA_REPLICATION", "three"),
        ("RECOLLECT_KAFKA_REPLICATION", "0"),
        ("RECOLLECT_KAFKA_REPLICATION", "-2"),
        ("RECOLLECT_KAFKA_REPLICATION", "1.5"),
        ("RECOLLECT_KAFKA_SESSION_SECONDS", "soon"),
        ("RECOLLECT_KAFKA_SESSION_SECONDS", "0"),
        ("RECOLLECT_KAFKA_SESSION_SECONDS", "-1"),
        ("RECOLLECT_KAFKA_SESSION_SECONDS", "nan"),
        ("RECOLLECT_KAFKA_SESSION_SECONDS", "inf"),
    ],
)
def test_another_value_of_a_setting_is_wrong_use(room: Path, variable: str, value: str) -> None:
    home = Recollect(room / "home", "kafka://127.0.0.1:9", **{variable: value})
    home.ask("init", "--encoder", "none")
    ended = home.run("status")
    assert ended.status == 2
    assert variable in ended.errors
    assert value in ended.errors


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("missing", USER)
def test_who_logs_in_gives_a_name_and_a_password(room: Path, protocol: str, missing: str) -> None:
    given = {name: value for name, value in USER.items() if name != missing}
    home = Recollect(room / "home", "kafka://127.0.0.1:9", **{PROTOCOL: protocol, **given})
    home.ask("init", "--encoder", "none")
    ended = home.run("status")
    assert ended.status == 2
    assert missing in ended.errors
    assert security.PASSWORD not in ended.errors


@pytest.mark.parametrize(
    "files",
    [
        {"RECOLLECT_KAFKA_CA_FILE": "missing.pem"},
        {"RECOLLECT_KAFKA_CA_FILE": "text.pem"},
        {"RECOLLECT_KAFKA_CERTIFICATE_FILE": "missing.pem"},
        {"RECOLLECT_KAFKA_CERTIFICATE_FILE": "text.pem"},
    ],
    ids=str,
)
def test_a_file_that_holds_no_certificate_is_named(room: Path, files: dict[str, str]) -> None:
    (room / "text.pem").write_text("not a certificate")
    given = {name: str(room / value) for name, value in files.items()}
    home = Recollect(room / "home", "kafka://127.0.0.1:9", **{PROTOCOL: "SSL", **given})
    home.ask("init", "--encoder", "none")
    ended = home.run("status")
    assert ended.status == 2
    assert ended.errors.count("\n") == 1
    for name, value in given.items():
        assert name.removeprefix("RECOLLECT_KAFKA") in ended.errors
        assert value in ended.errors


# A broker that asks who is there


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with Broker(tmp_path_factory.mktemp("secure") / "broker", secure=True) as broker:
        yield broker


def reaching(broker: Broker, protocol: str, room: Path, **other: str) -> Recollect:
    """Return a home that reaches a broker as it wants to be reached."""
    settings = {PROTOCOL: protocol}
    if protocol.startswith("SASL"):
        settings |= USER
    if protocol.endswith("SSL"):
        settings["RECOLLECT_KAFKA_CA_FILE"] = str(broker.certificate)
    url = f"{SCHEME}{broker.addresses[protocol]}/{protocol.lower().replace('_', '-')}"
    home = Recollect(room / protocol, url, **{**settings, **other})
    home.ask("init", "--encoder", "none")
    return home


@pytest.mark.parametrize("protocol", security.PROTOCOLS)
def test_the_command_works_over_each_protocol(
    secure: Broker, room: Path, tmp_path: Path, protocol: str
) -> None:
    home = reaching(secure, protocol, room)
    plain = f"{SCHEME}{secure.address}/{protocol.lower().replace('_', '-')}"
    ingested = home.ask("ingest", write(tmp_path / "e.jsonl", [line("1", "The box is green.")]))
    assert ingested["new"] == 1
    post_events(plain, "default", [line("2", "The box is heavy.")])
    home.once()
    found = home.ask("recall", "box")["results"]
    assert {source for result in found for source in result["source_event_ids"]} == {"1", "2"}
    worker = home.worker()
    try:
        post_events(plain, "default", [line("3", "The box is old.")])
        wait_until(lambda: home.events() == ["1", "2", "3"], lambda: worker.errors)
        assert worker.stop() == 0
    finally:
        home.end()
    assert security.PASSWORD not in worker.errors


def in_its_own_process(home: Recollect, *arguments: str) -> Ended:
    """Run a command as a user does; fail where it takes longer than the longest patience."""
    done = subprocess.run(
        [sys.executable, "-c", "from recollect.cli import main; main()", *arguments],
        env=home.environment(),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def fails_in_one_line(home: Recollect, *arguments: str) -> str:
    """Require that a command says in one line why it cannot do anything; return the line."""
    ended = in_its_own_process(home, *arguments)
    assert ended.status == 1, ended
    assert ended.output == ""
    assert ended.errors.startswith("recollect: "), ended.errors
    assert ended.errors.count("\n") == 1, ended.errors
    return ended.errors


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("command", [("recall", "box"), ("worker",)], ids=" ".join)
def test_a_wrong_password_is_named(
    secure: Broker, room: Path, protocol: str, command: tuple[str, ...]
) -> None:
    wrong = {"RECOLLECT_KAFKA_PASSWORD": "very wrong"}
    said = fails_in_one_line(reaching(secure, protocol, room, **wrong), *command)
    assert "Invalid username or password" in said
    assert "very wrong" not in said


@pytest.mark.parametrize("command", [("recall", "box"), ("worker",)], ids=" ".join)
def test_a_certificate_of_nobody_we_know_is_named(
    secure: Broker, room: Path, command: tuple[str, ...]
) -> None:
    home = reaching(secure, "SSL", room)
    del home.settings["RECOLLECT_KAFKA_CA_FILE"]
    assert "certificate" in fails_in_one_line(home, *command)


def test_who_speaks_in_the_clear_to_a_broker_with_tls_is_told_so(
    secure: Broker, room: Path
) -> None:
    home = reaching(secure, "SSL", room)
    home.settings[PROTOCOL] = "PLAINTEXT"
    assert PROTOCOL.rpartition("_SECURITY")[0] in fails_in_one_line(home, "recall", "box")


# A broker that is not there


@pytest.mark.parametrize(
    "command", [("recall", "box"), ("worker", "--once"), ("worker",)], ids=" ".join
)
def test_a_broker_that_is_not_there_is_named(room: Path, command: tuple[str, ...]) -> None:
    with socket.socket() as taken:
        # Bound and not listening: nobody else can come to listen there.
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        home = Recollect(room / "home", f"{SCHEME}{address}")
        home.ask("init", "--encoder", "none")
        assert address in fails_in_one_line(home, *command)


def test_a_broker_that_never_answers_is_given_up(room: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        home = Recollect(room / "home", f"{SCHEME}{address}")
        home.ask("init", "--encoder", "none")
        assert address in fails_in_one_line(home, "status")
