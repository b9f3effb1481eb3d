"""The files of tokens and of operations: whole whatever dies, and not given up for a full disk."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recollect.home.access_tokens import AccessTokens
from recollect.schemas.errors import RecollectError
from recollect.service import query_service
from tests.library.kit import said
from tests.service.kit import Served, served

MAKES_TOKENS = """
import sys
from pathlib import Path
from recollect.home.access_tokens import AccessTokens
tokens = AccessTokens(Path(sys.argv[1]))
while True:
    print(tokens.create(["a"], ["read"], user="u" * 200).id, flush=True)
    tokens.revoke(tokens.create(["a"], ["read"]).id)
"""


class FullDisk:
    """Lets nothing be made durable while it is full, as the system says it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = True
        fsync = os.fsync

        def tried(descriptor: int) -> None:
            if self.full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            fsync(descriptor)

        monkeypatch.setattr(os, "fsync", tried)


def left_over(home: Path) -> list[str]:
    return [path.name for path in home.iterdir() if path.suffix == ".tmp"]


def test_a_token_that_was_printed_is_there_after_a_kill(tmp_path: Path) -> None:
    acknowledged: set[str] = set()
    for round_ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", MAKES_TOKENS, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(3 + 4 * round_):
            acknowledged.add(process.stdout.readline().strip())
        os.kill(process.pid, signal.SIGKILL)
        acknowledged |= {line.strip() for line in process.stdout if line.endswith("\n")}
        process.wait()
        found = {token.id for token in AccessTokens(tmp_path).tokens()}
        assert acknowledged <= found


def test_a_token_that_cannot_be_kept_is_not_made_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = AccessTokens(tmp_path)
    kept = tokens.create(["a"], ["read"])
    disk = FullDisk(monkeypatch)
    with pytest.raises(OSError, match="No space left"):
        tokens.create(["a"], ["read"])
    with pytest.raises(OSError, match="No space left"):
        tokens.revoke(kept.id)
    assert not left_over(tmp_path)
    assert [token.id for token in tokens.tokens()] == [kept.id]
    assert tokens.find(kept.token) is not None
    disk.full = False
    tokens.revoke(kept.id)
    assert tokens.find(kept.token) is None


def test_a_file_of_tokens_that_is_damaged_is_named(tmp_path: Path) -> None:
    tokens = AccessTokens(tmp_path)
    kept = tokens.create(["a"], ["read"])
    (tmp_path / "tokens.json").write_bytes(b'[{"id": ')
    with pytest.raises(RecollectError, match=r"tokens\.json"):
        tokens.find(kept.token)


def test_when_a_token_was_used_is_noted_once_the_disk_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_service, "_SAVE_TOKENS_SECONDS", 0.02)
    with served(tmp_path / "home") as running, running.client("a") as client:
        disk = FullDisk(monkeypatch)
        client.get("/v1/zones")
        until_logged(running, "the last use of tokens cannot be saved")
        assert AccessTokens(running.home).tokens()[0].used_at is None
        disk.full = False
        while AccessTokens(running.home).tokens()[0].used_at is None:
            time.sleep(0.02)


def test_an_operation_is_done_where_it_cannot_be_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    with served(home) as running, running.client("a") as client:
        client.post("/v1/zones/a/events?wait=true", json=said("m1", "Hello.")).raise_for_status()
        first = client.post("/v1/zones/a/verify").headers["location"]
        file = home / "operations.json"
        while not file.exists() or b'"succeeded"' not in file.read_bytes():
            time.sleep(0.02)
        before = file.read_bytes()
        disk = FullDisk(monkeypatch)
        place = client.post("/v1/zones/a/verify").headers["location"]
        while (state := client.get(place).json()["state"]) in ("queued", "running"):
            time.sleep(0.02)
        until_logged(running, "operations cannot be saved")
        assert state == "succeeded"
        assert file.read_bytes() == before
        assert not left_over(home)
        disk.full = False
    with served(home) as running, running.client("a") as client:
        assert client.get(first).json()["state"] == "succeeded"


def until_logged(running: Served, event: str) -> None:
    """Return when the service has logged an event."""
    while event not in [json.loads(line)["event"] for line in running.log.getvalue().splitlines()]:
        time.sleep(0.02)
