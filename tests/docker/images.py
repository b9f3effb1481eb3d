"""The images, built on any daemon, with or without an image hub."""

from __future__ import annotations

import ast
import io
import os
import shutil
import sys
import tarfile
import time
from datetime import date
from pathlib import Path

from demo.run import Failed
from tests.broker import jars
from tests.docker.daemon import install
from tests.docker.shell import Docker, run

ROOT = Path(__file__).parents[2]
PUBLIC_BASE = "debian:bookworm-slim"
RECOLLECT = "recollect:test"
KAFKA = "recollect-kafka:test"
BUILD_SECONDS = 480.0
# A base older than that lacks too many security updates.
BASE_KEPT_SECONDS = 30 * 24 * 3600.0

# What docker/Dockerfile copies.
SOURCES = (
    *("requirements.lock", "pyproject.toml", "README.md", "LICENSE", "NOTICE", "docker"),
    *("schemas", "projections", "streams", "recollect"),
)
# Settings of pip and of the network that a build needs where this machine needs them.
PIP_SETTINGS = ("index-url", "extra-index-url", "trusted-host", "default-timeout")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
CERTIFICATES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE")


def base(docker: Docker) -> str:
    """Return an image to build on: the public one, or one made of Debian's packages."""
    if docker.works("image", "inspect", PUBLIC_BASE) or docker.works("pull", PUBLIC_BASE):
        return PUBLIC_BASE
    made = base_archive()
    # By its day: what was built on it before stays in the daemon's cache.
    tag = f"recollect-base:{date.fromtimestamp(made.stat().st_mtime)}"
    if not docker.works("image", "inspect", tag):
        docker("import", str(made), tag)
    return tag


def base_archive() -> Path:
    """Return the tar of our own base, made if there is none, or only an old one."""
    kept = jars.cache() / "docker-base.tar"
    with jars.locked(kept.with_suffix(".lock")):
        if kept.exists() and time.time() - kept.stat().st_mtime < BASE_KEPT_SECONDS:
            return kept
        if os.geteuid() != 0:
            raise Failed(
                f"{PUBLIC_BASE} cannot be pulled, and only root can make a base in its place: "
                f"load that image, or run this as root"
            )
        if shutil.which("debootstrap") is None:
            install("debootstrap")
        part = kept.with_suffix(".part")
        script = f'sh "{ROOT}/docker/base.sh" >"{part}"'
        run(("sh", "-c", script), {}, b"", BUILD_SECONDS)
        part.replace(kept)
    return kept


def build_kafka(docker: Docker, base: str) -> int:
    """Build the broker's image from its jars; return its size in bytes."""
    parts = [(ROOT / "docker" / "kafka", "."), (jars.bring(), "libs")]
    return build(docker, KAFKA, "Dockerfile", archive(parts), {"BASE": base})


def build_recollect(docker: Docker, base: str) -> int:
    """Build the command's image from the working tree; return its size in bytes."""
    pip = pip_settings()
    parts = [(ROOT / name, name) for name in SOURCES]
    if certificate := certificates(pip):
        parts.append((certificate, "docker/ca.crt"))
    arguments = {
        f"PIP_{name.upper().replace('-', '_')}": pip[name] for name in PIP_SETTINGS if name in pip
    }
    return build(
        docker, RECOLLECT, "docker/Dockerfile", archive(parts), {"BASE": base, **arguments}
    )


def build(
    docker: Docker, tag: str, dockerfile: str, context: bytes, arguments: dict[str, str]
) -> int:
    """Build an image where the network is the host's own; return its size in bytes."""
    arguments |= {name: os.environ[name] for name in PROXIES if name in os.environ}
    # Values go through the environment: a command line can be read by every user.
    environment = {**docker.environment, **arguments}
    if not docker.works("buildx", "version"):
        environment["DOCKER_BUILDKIT"] = "0"
    given = [word for name in arguments for word in ("--build-arg", name)]
    options = ("--network", "host", "--force-rm", "--tag", tag, "--file", dockerfile)
    run(("docker", "build", *options, *given, "-"), environment, context, BUILD_SECONDS)
    return int(docker("image", "inspect", "--format", "{{.Size}}", tag))


def archive(parts: list[tuple[Path, str]]) -> bytes:
    """Return a tar of files and folders, each under its name, without what Python left there."""
    out = io.BytesIO()
    # Docker tells a tar by its first 512 bytes, which Python's default format spoils.
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, name in parts:
            tar.add(path, name, filter=lambda found: None if "__pycache__" in found.name else found)
    return out.getvalue()


def pip_settings() -> dict[str, str]:
    """Return pip's settings on this machine by name; its environment goes before its files."""
    said = run((sys.executable, "-m", "pip", "config", "list"), {}, b"", 30)
    found = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    return {
        key.removeprefix(f"{section}."): ast.literal_eval(value)
        for section in ("global", "install", ":env:")
        for key, value in found.items()
        if key.startswith(f"{section}.")
    }


def certificates(pip: dict[str, str]) -> Path | None:
    """Return the file of certificates that pip trusts here, where it is not pip's own."""
    named = [pip.get("cert"), *map(os.environ.get, CERTIFICATES)]
    return next((Path(name) for name in named if name and Path(name).is_file()), None)
