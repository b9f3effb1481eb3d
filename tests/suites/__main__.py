"""Run other people's checks and clients against a service, and show what came of each.

    python -m tests.suites [SUITE ...]

Without names all of them run, and `tests/suites/report.md` is written anew.
"""

from __future__ import annotations

import os
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.suites.installed import NODE_MODULES, NPM, PYTHON, install, node, run
from tests.suites.mcp_conformance import checks as conformance_checks
from tests.suites.real_service import RealService, real_service
from tests.suites.suite_report import (
    FAILED,
    HEADER,
    REPORT,
    Check,
    Outcome,
    junit,
    program,
    report_text,
    version,
)

HERE = Path(__file__).resolve().parent


class Bench(NamedTuple):
    """What suites run against: a service that wants tokens, and one that wants none."""

    service: RealService
    open_service: RealService
    document: Path
    place: Path

    def environment(self, zone: str) -> dict[str, str]:
        """Return where checks find the service, with a token for a zone; nothing phones home."""
        return {
            "RECOLLECT_URL": self.service.url,
            "RECOLLECT_TOKEN": self.service.token(zone),
            "RECOLLECT_HOME": str(self.service.home),
            "HOME": str(self.place),
            "MEM0_TELEMETRY": "false",
            "REDOCLY_TELEMETRY": "off",
            "LANGSMITH_TRACING": "false",
        }


Suite = Callable[[Bench], list[Check]]


def spec_validator(bench: Bench) -> list[Check]:
    """openapi-spec-validator finds the document valid."""
    return program("document", run([PYTHON, "-m", "openapi_spec_validator", bench.document]))


def redocly(bench: Bench) -> list[Check]:
    """Redocly's linter finds no error in the document."""
    command = NODE_MODULES / "@redocly" / "cli" / "bin" / "cli.js"
    return program("lint", run([node(), command, "lint", bench.document], bench.environment("a")))


def generated_client(bench: Bench) -> list[Check]:
    """A client made by openapi-python-client ingests, recalls, and reads a problem."""
    client = bench.place / "client"
    command = PYTHON.parent / "openapi-python-client"
    given = ("--path", bench.document, "--output-path", client)
    made = run([command, "generate", "--overwrite", *given])
    token = bench.service.token("a")
    used = run([PYTHON, HERE / "generated_client.py", client, bench.service.url, token])
    return program("generate", made) + program("use", used)


def conformance(package: str) -> Suite:
    """Return MCP's conformance suite against `/mcp`; it cannot send a token."""

    def suite(bench: Bench) -> list[Check]:
        results = bench.place / package
        command = NODE_MODULES / package / "dist" / "index.js"
        url = f"{bench.open_service.url}/mcp"
        # Its exit status is 1, since some scenarios do not apply.
        done = run([node(), command, "server", "--url", url, "--suite", "all", "-o", results])
        return list(conformance_checks(results)) or [Check("run", FAILED, done.stdout[-2_000:])]

    return suite


def tests(*paths: str) -> Suite:
    """Return tests of ours that drive a published package, and are among the ordinary ones."""

    def suite(bench: Bench) -> list[Check]:
        report = bench.place / "report.xml"
        return junit(report, run([*_pytest(sys.executable, report), *paths]))

    return suite


def checks(path: str, zone: str, python: Path | str = sys.executable) -> Suite:
    """Return checks of ours that use a published package against the service."""
    # The environment of the suites lacks what the ordinary tests configure.
    bare = ("--noconftest", "-c", os.devnull, "--rootdir", ".") if python == PYTHON else ()

    def suite(bench: Bench) -> list[Check]:
        report = bench.place / "report.xml"
        command = [*_pytest(python, report), *bare, HERE / path]
        return junit(report, run(command, bench.environment(zone)))

    return suite


def node_checks(file: str, zone: str) -> Suite:
    """Return checks of ours that Node's test runner runs beside the packages."""

    def suite(bench: Bench) -> list[Check]:
        report = bench.place / "report.xml"
        to = ("--test-reporter=junit", f"--test-reporter-destination={report}")
        return junit(report, run([node(), "--test", *to, NPM / file], bench.environment(zone)))

    return suite


def _pytest(python: Path | str, report: Path) -> Sequence[str | Path]:
    return (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junit-xml", report)


#: By name: the package whose version is shown (as `version` takes it), and the suite.
SUITES: dict[str, tuple[str, Suite]] = {
    "openapi-spec-validator": ("openapi-spec-validator", spec_validator),
    "redocly lint": ("npm:@redocly/cli", redocly),
    "openapi-python-client": ("openapi-python-client", generated_client),
    "schemathesis": ("schemathesis", tests("tests/service/http/test_schemathesis.py")),
    "MCP conformance": (
        "npm:@modelcontextprotocol/conformance",
        conformance("@modelcontextprotocol/conformance"),
    ),
    "MCP conformance, next": ("npm:conformance-next", conformance("conformance-next")),
    "Hindsight, Python": (
        "hindsight-client",
        tests("tests/integrations/test_hindsight_client.py"),
    ),
    "Hindsight, npm": (
        "npm:@vectorize-io/hindsight-client",
        node_checks("hindsight.test.mjs", "*"),
    ),
    "Mem0, Python": (
        "mem0ai",
        tests("tests/integrations/test_mem0_client.py", "tests/integrations/test_mem0_memory.py"),
    ),
    "Mem0, npm": ("npm:mem0ai", node_checks("mem0.test.mjs", "mem0-npm")),
    "Mem0, command": ("npm:@mem0/cli", checks("mem0_cli_checks.py", "mem0-command")),
    "LangGraph": ("langgraph-checkpoint", tests("tests/integrations/test_langgraph.py")),
    "langmem": ("langmem", checks("langmem_checks.py", "*", PYTHON)),
    "langchain-tests": ("langchain-tests", tests("tests/integrations/test_langchain.py")),
    "OpenAI Agents": ("openai-agents", tests("tests/integrations/test_openai_agents.py")),
    "OpenAI": ("openai", tests("tests/integrations/test_openai_client.py")),
    "Anthropic": ("anthropic", tests("tests/integrations/test_anthropic.py")),
    "Claude Code": ("npm:@anthropic-ai/claude-code", checks("claude_code_checks.py", "*")),
}


def main(names: Sequence[str]) -> int:
    """Run suites; return 1 if a check of any failed."""
    if unknown := set(names) - set(SUITES):
        print(f"no suite is named {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}")
        return 2
    install()
    outcomes = []
    with (
        tempfile.TemporaryDirectory() as place,
        real_service(Path(place) / "home") as service,
        real_service(Path(place) / "home", "--no-auth") as open_service,
    ):
        document = Path(place) / "openapi.json"
        with urllib.request.urlopen(f"{open_service.url}/openapi.json") as answer:
            document.write_bytes(answer.read())
        bench = Bench(service, open_service, document, Path(place))
        print(HEADER, flush=True)
        for name in names or SUITES:
            package, suite = SUITES[name]
            outcome = Outcome(name, version(package), suite(bench))
            outcomes.append(outcome)
            print(outcome.row(), flush=True)
            for check in outcome.checks:
                if check.status == FAILED:
                    print(f"{check.name}: {check.reason}", flush=True)
    if not names:
        REPORT.write_text(report_text(outcomes))
    return 1 if any(outcome.count(FAILED) for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
