"""The report of `make suites`: every suite with the version of its lock, and none that failed."""

from __future__ import annotations

import re

from tests.suites.__main__ import SUITES
from tests.suites.suite_report import (
    FAILED,
    NOT_APPLICABLE,
    PASSED,
    REPORT,
    Check,
    Outcome,
    report_text,
    version,
)

ROW = re.compile(r"^\| (.+?) \| (\S+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def test_the_report_has_every_suite_at_its_locked_version() -> None:
    rows = ROW.findall(REPORT.read_text())
    assert [(name, found) for name, found, *_ in rows] == [
        (name, version(package)) for name, (package, _) in SUITES.items()
    ]


def test_no_check_of_the_report_failed() -> None:
    for name, _, passed, failed, _ in ROW.findall(REPORT.read_text()):
        assert (int(passed) > 0, failed) == (True, "0"), name


def test_a_report_says_why_a_check_does_not_apply() -> None:
    checks = [
        *(Check("a", PASSED), Check("b", FAILED, "it broke")),
        *(Check("c", NOT_APPLICABLE, "no such thing"), Check("d", NOT_APPLICABLE, "no such thing")),
    ]
    text = report_text([Outcome("Suite", "1.2", checks)])
    assert "| Suite | 1.2 | 1 | 1 | 2 |" in text
    assert "- Suite: b" in text
    assert "- Suite, 2 (no such thing): `c`, `d`" in text
