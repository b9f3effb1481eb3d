"""Many zones with few open files: the limit is raised, and what is idle is closed."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from recollect.streams.system.open_files import max_idle_zones
from tests.library.kit import said
from tests.service.work.test_serve import recollect, serving

ZONES = 40
FEW = 256


def limited(soft: int, hard: int) -> Callable[[], None]:
    """Return what a new process does before it begins."""
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    assert recollect(tmp_path / "home", "init", "--encoder", "none").returncode == 0
    return tmp_path / "home"


@pytest.mark.slow
def test_forty_zones_are_served_with_256_open_files(home: Path) -> None:
    """FAULTS 21."""
    with (
        serving(home, "--no-auth", begin=limited(FEW, FEW)) as (process, url),
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        for _ in range(2):
            for zone in range(ZONES):
                path = f"/v1/zones/z{zone}"
                events = {"events": [said("m1", f"Ada moved to Turin {zone}.")]}
                told = client.post(f"{path}/events", params={"wait": "true"}, json=events)
                assert told.is_success, told.text
                asked = {"query": "Where does Ada live?"}
                found = client.post(f"{path}/memories/recall", json=asked)
                assert found.json()["results"], found.text
        open_ = _open_files(process)
    assert open_ is None or open_ < FEW


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux tells of other processes")
def test_a_service_raises_its_soft_limit_of_open_files(home: Path) -> None:
    """FAULTS 21."""
    with serving(home, "--no-auth", begin=limited(FEW, 4_096)) as (process, _):
        assert resource.prlimit(process.pid, resource.RLIMIT_NOFILE) == (4_096, 4_096)


@pytest.mark.parametrize(
    ("soft", "zones"), [(20, 1), (FEW, 6), (1_024, 25), (10_240, 32), (resource.RLIM_INFINITY, 32)]
)
def test_idle_zones_take_half_of_the_files_that_are_allowed(
    monkeypatch: pytest.MonkeyPatch, soft: int, zones: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, soft))
    assert max_idle_zones() == zones


def _open_files(process: subprocess.Popen[str]) -> int | None:
    place = Path(f"/proc/{process.pid}/fd")
    return len(list(place.iterdir())) if place.is_dir() else None
