"""Run other people's checks and clients against a service, and print what came of each.

    python -m tests.suites

Their packages are installed into `build/suites`, apart from our own environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.service.kit import Served, served

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "suites"
HERE = Path(__file__).resolve().parent
REDOCLY = "@redocly/cli@2.77.0"
_OUR_TESTS = re.compile(r"(?:(\d+) failed, )?(\d+) passed")


class Outcome(NamedTuple):
    """What came of a suite: how many of its checks passed and failed, and what it said."""

    passed: int
    failed: int
    said: str = ""


class Bench(NamedTuple):
    """What suites run against."""

    service: Served
    document: Path
    python: Path
    place: Path


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    own = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{own}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def once(done: subprocess.CompletedProcess[str]) -> Outcome:
    """Return the outcome of a program that is one check."""
    if done.returncode == 0:
        return Outcome(1, 0)
    return Outcome(0, 1, (done.stdout + done.stderr)[-2_000:])


def spec_validator(bench: Bench) -> Outcome:
    """openapi-spec-validator finds the document valid."""
    return once(run(bench.python, "-m", "openapi_spec_validator", bench.document))


def redocly(bench: Bench) -> Outcome:
    """Redocly's linter finds no error in the document."""
    npm = bench.place / "npm"
    installed = run("npm", "install", "--silent", "--no-audit", "--prefix", npm, REDOCLY)
    if installed.returncode:
        return once(installed)
    return once(run(npm / "node_modules" / ".bin" / "redocly", "lint", bench.document))


def generated_client(bench: Bench) -> Outcome:
    """A client made by openapi-python-client ingests, recalls, and reads a problem.

    It warns of NDJSON, which it cannot send.
    """
    client = bench.place / "client"
    generated = run(
        bench.python.parent / "openapi-python-client",
        *("generate", "--overwrite"),
        *("--path", bench.document, "--output-path", client),
    )
    if generated.returncode:
        return once(generated)
    with bench.service.client("a") as http:
        token = http.headers["Authorization"].removeprefix("Bearer ")
    return once(run(bench.python, HERE / "generated_client.py", client, bench.service.url, token))


def ours(*paths: str) -> Callable[[Bench], Outcome]:
    """Return a suite that our own tests drive, with the published package."""

    def suite(_: Bench) -> Outcome:
        done = run(sys.executable, "-m", "pytest", "--quiet", *paths)
        counted = _OUR_TESTS.search(done.stdout)
        if counted is None:
            return Outcome(0, 1, done.stdout[-2_000:])
        failed = int(counted[1] or 0)
        return Outcome(int(counted[2]), failed, done.stdout[-2_000:] if failed else "")

    return suite


SUITES: dict[str, Callable[[Bench], Outcome]] = {
    "openapi-spec-validator": spec_validator,
    "redocly lint": redocly,
    "openapi-python-client": generated_client,
    "schemathesis": ours("tests/service/test_schemathesis.py"),
    "hindsight-client": ours("tests/integrations/test_hindsight_client.py"),
    "mem0ai": ours(
        "tests/integrations/test_mem0_client.py", "tests/integrations/test_mem0_memory.py"
    ),
    "langgraph": ours("tests/integrations/test_langgraph.py"),
    "langchain-tests": ours("tests/integrations/test_langchain.py"),
    "openai-agents": ours("tests/integrations/test_openai_agents.py"),
    "openai": ours("tests/integrations/test_openai_client.py"),
    "anthropic": ours("tests/integrations/test_anthropic.py"),
}


def main() -> int:
    """Run every suite; return 1 if a check of any failed."""
    PLACE.mkdir(parents=True, exist_ok=True)
    python = PLACE / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(PLACE / "venv", with_pip=True)
    installed = run(python, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt")
    if installed.returncode:
        sys.stderr.write(installed.stderr)
        return 1
    failed = 0
    with tempfile.TemporaryDirectory() as home, served(Path(home) / "home") as service:
        document = PLACE / "openapi.json"
        with service.bare() as http:
            document.write_bytes(http.get("/openapi.json").content)
        bench = Bench(service, document, python, PLACE)
        print(f"{'suite':24} {'passed':>6} {'failed':>6}")
        for name, suite in SUITES.items():
            outcome = suite(bench)
            failed += outcome.failed
            print(f"{name:24} {outcome.passed:6} {outcome.failed:6}", flush=True)
            if outcome.failed:
                print(outcome.said)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
