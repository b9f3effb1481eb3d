"""What came of the checks of suites: read from their reports, and written as a table."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from tests.suites.installed import ROOT

REPORT = Path(__file__).resolve().parent / "report.md"
PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "not applicable"
_MOST_SAID = 2_000


class Check(NamedTuple):
    """A check: whether it passed, failed or does not apply, and why."""

    name: str
    status: str
    reason: str = ""


class Outcome(NamedTuple):
    """What came of a suite."""

    name: str
    version: str
    checks: Sequence[Check]

    def count(self, status: str) -> int:
        """Return how many checks have a status."""
        return sum(check.status == status for check in self.checks)

    def row(self) -> str:
        """Return the suite's row of the table."""
        counts = (self.count(status) for status in (PASSED, FAILED, NOT_APPLICABLE))
        return f"| {self.name} | {self.version} | {' | '.join(map(str, counts))} |"


def program(name: str, done: subprocess.CompletedProcess[str]) -> list[Check]:
    """Return the one check that a program is."""
    if done.returncode == 0:
        return [Check(name, PASSED)]
    return [Check(name, FAILED, (done.stdout + done.stderr)[-_MOST_SAID:])]


def junit(report: Path, done: subprocess.CompletedProcess[str]) -> list[Check]:
    """Return the checks of a report in JUnit's form, as pytest and Node write it."""
    cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
    report.unlink(missing_ok=True)
    # Without a case, the runner itself failed.
    return [_case(case) for case in cases] or [*program("run", done), Check("tests", FAILED)]


def _case(case: ElementTree.Element) -> Check:
    name = case.get("name", "")
    for inner in case:
        said = inner.get("message", "")
        if inner.tag == "skipped":
            return Check(name, NOT_APPLICABLE, said)
        if inner.tag in ("failure", "error"):
            return Check(name, FAILED, f"{said}\n{inner.text or ''}"[:_MOST_SAID])
    return Check(name, PASSED)


def version(package: str) -> str:
    """Return the version of a package in our locks; `npm:NAME` is one of npm."""
    if package.startswith("npm:"):
        npm = json.loads((ROOT / "tests" / "suites" / "npm" / "package-lock.json").read_text())
        return str(npm["packages"][f"node_modules/{package.removeprefix('npm:')}"]["version"])
    # What both have, the ordinary tests use as our own lock names it.
    locks = ("requirements-dev.lock", "tests/suites/requirements.lock")
    pins = "\n".join((ROOT / lock).read_text() for lock in locks)
    (pin, *_) = re.findall(rf"^{re.escape(package)}==(\S+)", pins, re.MULTILINE)
    return str(pin)


HEADER = """\
| suite | version | passed | failed | not applicable |
|---|---|---|---|---|"""


def report_text(outcomes: Iterable[Outcome]) -> str:
    """Return the report: the table, what failed, and why checks do not apply."""
    found = list(outcomes)
    lines = [
        "# Other people's suites and clients",
        "",
        "`make suites` installs these packages, unmodified and pinned with hashes, runs them",
        "against `recollect serve` and `recollect mcp` on loopback, and writes this page.",
        "",
        HEADER,
        *(outcome.row() for outcome in found),
        "",
    ]
    failed = [(one.name, check) for one in found for check in one.checks if check.status == FAILED]
    if failed:
        lines += ["## Failed", "", *(f"- {suite}: {check.name}" for suite, check in failed), ""]
    lines += ["## Not applicable", ""]
    for one in found:
        reasons = Counter(c.reason for c in one.checks if c.status == NOT_APPLICABLE)
        for reason, count in reasons.items():
            names = [c.name for c in one.checks if (c.status, c.reason) == (NOT_APPLICABLE, reason)]
            shown = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
            lines.append(f"- {one.name}, {count} ({reason}): {shown}")
    return "\n".join(lines) + "\n"
