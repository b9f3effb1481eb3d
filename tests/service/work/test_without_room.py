"""Served where nothing can be written: questions are answered, and a refusal says why."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from recollect import DiskFull, ReadOnlyHome, Recollect
from tests.home.directory.test_read_only import MOUNTS
from tests.library.kit import said
from tests.service.work.test_serve import recollect, serving

ZONES = ("a", "b")
ASKED = {"query": "Where does Ada live?"}
EVENTS = {"events": [said("m9", "Ada moved to Oslo.")]}
#: Mounts a copy of the home on a disk with room for it.
SMALL = (
    'mount --make-rprivate / && cp -a "$0" "$0.copy" && mount -t tmpfs -o size=40m none "$0" '
    '&& cp -a "$0.copy/." "$0" && rm -r "$0.copy" && {} exec "$@"'
)
FILL = 'dd if=/dev/zero of="$0/filler" bs=1k 2>/dev/null;'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two zones."""
    made = tmp_path / "home"
    assert recollect(made, "init", "--encoder", "none").returncode == 0
    with Recollect(made) as opened:
        for zone in ZONES:
            opened.zone(zone).ingest(said("m1", "Ada moved to Turin."))
    return made


@contextmanager
def mounted(home: Path, script: str) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    before = ["unshare", "--mount", "sh", "-c", script, str(home)]
    with (
        serving(home, "--no-auth", before=before) as (process, url),
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield process, client


def fill(path: Path) -> None:
    """Write a file until the disk is full."""
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(1 << 12)):
            pass


def answers(client: httpx.Client, zone: str) -> str:
    answer = client.post(f"/v1/zones/{zone}/memories/recall", json=ASKED)
    assert answer.is_success, answer.text
    return str(answer.json()["results"][0]["text"])


def refused(client: httpx.Client, zone: str = "a") -> tuple[int, str, str]:
    """Return how each way of writing is refused, which is the same for all."""
    writes = (
        ("events", EVENTS),
        ("forget", {"ids": ["m1"]}),
    )
    found = set()
    for path, body in writes:
        answer = client.post(f"/v1/zones/{zone}/{path}", json=body)
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        found.add((answer.status_code, problem["type"], problem["detail"]))
    (one,) = found
    return one


def test_a_read_only_home_is_served_and_says_so(home: Path) -> None:
    """FAULTS 26."""
    with mounted(home, MOUNTS["bind"]) as (_, client):
        assert "Turin" in answers(client, "a")
        status, kind, detail = refused(client)
        assert (status, kind) == (503, "urn:recollect:problem:read-only")
        assert "queries are answered" in detail
        with Recollect(str(client.base_url)) as remote, pytest.raises(ReadOnlyHome):
            remote.zone("a").remember("Ada has a dog.")
        # These write to files of the home other than the ledger.
        body = {"zones": ["a"], "rights": ["read"]}
        for path, sent in (("/v1/tokens", body), ("/v1/zones/a/backfill/pause", {})):
            answer = client.post(path, json=sent)
            assert (answer.status_code, answer.json()["type"]) == (503, kind)


def test_a_disk_that_fills_up_answers_and_goes_on_with_room(home: Path) -> None:
    """FAULTS 26."""
    with mounted(home, SMALL.format("")) as (process, client):
        assert "Turin" in answers(client, "a")
        there = Path(f"/proc/{process.pid}/root{home}")
        fill(there / "filler")
        # One that was asked before, and one that is opened only now.
        assert "Turin" in answers(client, "a")
        assert "Turin" in answers(client, "b")
        status, kind, detail = refused(client)
        assert (status, kind) == (507, "urn:recollect:problem:disk-full")
        assert "free some space" in detail
        with Recollect(str(client.base_url)) as remote, pytest.raises(DiskFull):
            remote.zone("a").remember("Ada has a dog.")
        (there / "filler").unlink()
        for zone in ZONES:
            told = client.post(f"/v1/zones/{zone}/events", params={"wait": "true"}, json=EVENTS)
            assert told.is_success, told.text
            assert "Oslo" in answers(client, zone)


@pytest.mark.slow
def test_a_service_that_starts_on_a_full_disk_goes_on_with_room(home: Path) -> None:
    """FAULTS 26."""
    with mounted(home, SMALL.format(FILL)) as (process, client):
        for zone in ZONES:
            assert "Turin" in answers(client, zone)
        assert refused(client)[0] == 507
        Path(f"/proc/{process.pid}/root{home}/filler").unlink()
        for zone in ZONES:
            told = client.post(f"/v1/zones/{zone}/events", params={"wait": "true"}, json=EVENTS)
            assert told.is_success, told.text
            assert "Oslo" in answers(client, zone)
