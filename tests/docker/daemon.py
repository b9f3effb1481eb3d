"""A Docker daemon: the one that answers, else one of our own, where we may start it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from demo.run import Failed
from tests.docker.shell import Docker, run

START_SECONDS = 60.0
STOP_SECONDS = 60.0
PACKAGES = ("docker.io", "docker-compose", "debootstrap")


@contextmanager
def daemon(scratch: Path) -> Iterator[Docker]:
    """Give a daemon; one that was started here, with its data in `scratch`, ends with it."""
    docker = Docker({})
    if docker.works("version"):
        yield with_compose(docker)
        return
    if os.geteuid() != 0:
        raise Failed(
            "no Docker daemon answers, and only root may start one: set DOCKER_HOST to one that "
            "you may use, or run this as root"
        )
    if shutil.which("dockerd") is None:
        install(*PACKAGES)
    with started(scratch) as host:
        yield with_compose(replace(docker, environment={"DOCKER_HOST": host}))


@contextmanager
def started(scratch: Path) -> Iterator[str]:
    """Start a daemon, give its address, and stop it."""
    socket, log = scratch / "docker.sock", scratch / "dockerd.log"
    host = f"unix://{socket}"
    with log.open("wb") as out:
        process = subprocess.Popen(
            (
                "dockerd",
                *("--host", host, "--pidfile", scratch / "dockerd.pid"),
                *("--data-root", scratch / "data", "--exec-root", scratch / "exec"),
                # Only networks that Compose makes, and removes.
                *("--bridge", "none"),
                # Where these may not be raised, no container would start with the defaults.
                *("--oom-score-adjust", "0", "--default-ulimit", "nofile=1000:1000"),
            ),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            # A Ctrl-C is for this process, which takes things down in order.
            start_new_session=True,
        )
    try:
        wait_for(Docker({"DOCKER_HOST": host}), process, log)
        yield host
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        unmount(scratch)


def unmount(scratch: Path) -> None:
    """Unmount what a daemon left mounted in its folder, so that it can be removed."""
    mounted = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for place in reversed(mounted):
        if Path(place).is_relative_to(scratch):
            run(("umount", place), {}, b"", 30)


def wait_for(docker: Docker, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not docker.works("version"):
        ended = process.poll()
        if ended is not None or time.monotonic() > deadline:
            what = "does not answer" if ended is None else f"ended with status {ended}"
            said = log.read_text(errors="replace")[-3000:]
            raise Failed(f"dockerd was started and {what}; this machine may not allow it:\n{said}")
        time.sleep(0.2)


def with_compose(docker: Docker) -> Docker:
    """Return `docker` with Compose in the form that is installed, or can be."""
    if docker.works("compose", "version"):
        return replace(docker, compose_command=("docker", "compose"))
    if shutil.which("docker-compose") is None:
        install("docker-compose")
    return replace(docker, compose_command=("docker-compose",))


def install(*packages: str) -> None:
    """Install Debian packages.

    Raises:
        Failed: this is not root on a Debian, or they cannot be had.
    """
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Failed(f"this needs {', '.join(packages)}; install them first")
    # In runlevel 1 the packages' own services are not started.
    quiet: Mapping[str, str] = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    run(("apt-get", "--quiet", "update"), quiet, b"", 120)
    command = ("apt-get", "--quiet", "install", "--yes", "--no-install-recommends", *packages)
    run(command, quiet, b"", 300)
