"""The command `serve` and the command `token`, as a user gives them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import httpx
import pytest

from recollect.cli.app import run
from tests.library.kit import said

ROOT = Path(__file__).resolve().parents[3]


def recollect(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command; all but `serve` in this process, which is faster."""
    if "serve" not in arguments:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            status = run(["--home", str(home), *arguments])
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())
    return subprocess.run(
        [sys.executable, "-m", "recollect", "--home", str(home), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


@contextmanager
def serving(
    home: Path,
    *options: str,
    begin: Callable[[], None] | None = None,
    before: Sequence[str] = (),
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `serve` on a free port; yield its process and address.

    `begin`: what the process does first. `before`: a command that runs it.
    """
    command = [
        *before,
        sys.executable,
        "-m",
        "recollect",
        "--home",
        str(home),
        "serve",
        "--port",
        "0",
    ]
    process = subprocess.Popen(
        [*command, "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "RECOLLECT_TICKS": "off"},
        preexec_fn=begin,
    )
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())["url"]
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home without an encoder."""
    made = tmp_path_factory.mktemp("serve") / "home"
    assert recollect(made, "init", "--encoder", "none").returncode == 0
    return made


def client_of(url: str, headers: dict[str, str]) -> httpx.Client:
    """Return a client that waits long enough for a machine that is busy."""
    return httpx.Client(base_url=url, headers=headers, timeout=60)


def token(home: Path, *options: str) -> str:
    """Make a token by the command."""
    made = recollect(home, "token", "create", "--json", *options)
    assert made.returncode == 0, made.stderr
    found: str = json.loads(made.stdout)["token"]
    return found


@pytest.mark.slow
def test_what_is_acknowledged_survives_a_kill(home: Path) -> None:
    headers = {"Authorization": f"Bearer {token(home, '--zone', 'k', '--rights', 'write,read')}"}
    acknowledged = []
    with serving(home) as (process, url), client_of(url, headers) as client:
        for number in range(30):
            event = said(f"m{number}", f"Item {number}.", minute=number)
            assert client.post("/v1/zones/k/events", json=event).json()["new"] == 1
            acknowledged.append(f"m{number}")
        os.kill(process.pid, signal.SIGKILL)
    with serving(home) as (process, url):
        with client_of(url, headers) as client:
            asked = {"query": "Item", "max_results": 100, "scope": ["events"]}
            found = client.post("/v1/zones/k/memories/recall", json=asked).json()["results"]
            assert {id_ for result in found for id_ in result["source_event_ids"]} == set(
                acknowledged
            )
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    verified = recollect(home, "--zone", "k", "verify", "--json")
    assert json.loads(verified.stdout)["ok"], verified.stdout


def test_a_signal_during_the_start_is_not_lost(home: Path) -> None:
    """The signal comes after the service has taken over signals and before uvicorn handles them."""
    program = """if True:
        import gc, signal, sys
        gc.freeze = lambda: signal.raise_signal(signal.SIGTERM)
        from recollect.cli.app import run
        sys.exit(run(["serve", "--port", "0"]))
    """
    environment = {**os.environ, "RECOLLECT_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, timeout=100)
    assert done.returncode == 0


def test_an_end_answers_what_is_at_work(home: Path) -> None:
    """A body is half sent when the process is told to end."""
    headers = {
        "Authorization": f"Bearer {token(home, '--zone', 'g', '--rights', 'write')}",
        "Content-Type": "application/x-ndjson",
    }
    asked = {"Authorization": f"Bearer {token(home, '--zone', 'm', '--rights', 'admin')}"}
    with serving(home) as (process, url):

        def parts() -> Iterator[bytes]:
            yield json.dumps(said("m1", "First.")).encode() + b"\n"
            # This one, and the question itself.
            while "recollect_requests_open 2.0" not in client_of(url, asked).get("/metrics").text:
                pass
            process.send_signal(signal.SIGTERM)
            yield json.dumps(said("m2", "Second.")).encode() + b"\n"

        sent = httpx.post(f"{url}/v1/zones/g/events", content=parts(), headers=headers, timeout=60)
        assert sent.json()["new"] == 2
        assert process.wait(60) == 0


def test_what_would_open_a_home_to_others_is_refused(home: Path) -> None:
    refused = recollect(home, "serve", "--host", "0.0.0.0", "--no-auth")
    assert refused.returncode == 2
    assert "--no-auth is allowed on loopback addresses only" in refused.stderr
    with serving(home, "--no-auth") as (_, url):
        sent = httpx.post(f"{url}/v1/zones/open/events", json=said("m1", "Hello."))
        assert sent.json()["new"] == 1


def test_an_address_that_is_taken_is_told_in_a_sentence(home: Path) -> None:
    with serving(home) as (_, url):
        taken = recollect(home, "serve", "--port", url.rpartition(":")[2])
    assert taken.returncode == 2
    assert "cannot listen on" in taken.stderr


def test_tokens_are_made_listed_and_taken_back(home: Path) -> None:
    made = json.loads(
        recollect(
            home,
            "token",
            "create",
            "--zone",
            "t",
            "--rights",
            "read,forget",
            "--json",
            "--user",
            "ada",
            "--expires",
            "2099-01-01T00:00:00Z",
        ).stdout
    )
    assert made["token"].startswith(f"rct_{made['id']}_")
    listed = recollect(home, "token", "list", "--json").stdout.splitlines()
    (own,) = [found for found in map(json.loads, listed) if found["id"] == made["id"]]
    assert (own["zones"], own["rights"], own["user"]) == (["t"], ["read", "forget"], "ada")
    assert made["id"] in recollect(home, "token", "list").stdout
    assert recollect(home, "token", "revoke", made["id"]).returncode == 0
    assert made["id"] not in recollect(home, "token", "list").stdout
    assert recollect(home, "token", "revoke", made["id"]).returncode == 2
    wrong = recollect(home, "token", "create", "--rights", "all")
    assert wrong.returncode == 2
    assert "choose from read, write, forget, admin" in wrong.stderr
