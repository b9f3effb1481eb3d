"""What of MCP's conformance suite says something of our server, and what does not, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.suites.suite_report import FAILED, NOT_APPLICABLE, PASSED, Check

_FIXTURE = "needs a tool, prompt or resource of the suite's own example server"
_NO_REQUESTS = "needs a tool of the suite's own example server that asks the client for input"
_NOT_DECLARED = "optional, and the server does not declare it"

#: Scenarios, or checks of one, that do not apply, with the reason.
INAPPLICABLE = {
    "logging-set-level": _NOT_DECLARED,
    "completion-complete": _NOT_DECLARED,
    "resources-subscribe": _NOT_DECLARED,
    "resources-unsubscribe": _NOT_DECLARED,
    **dict.fromkeys(
        (
            *("tools-call-simple-text", "tools-call-image", "tools-call-audio"),
            *("tools-call-embedded-resource", "tools-call-mixed-content"),
            *("tools-call-with-logging", "tools-call-error", "tools-call-with-progress"),
            *("json-schema-2020-12", "resources-read-text", "resources-read-binary"),
            *("resources-templates-read", "prompts-get-simple", "prompts-get-with-args"),
            *("prompts-get-embedded-resource", "prompts-get-with-image"),
            *("http-custom-header-server-validation", "sep-2575-missing-capability-http-400"),
            "sep-2575-server-rejects-undeclared-capability",
        ),
        _FIXTURE,
    ),
    **dict.fromkeys(
        (
            *("tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults"),
            *("elicitation-sep1330-enums", "input-required-result-basic-elicitation"),
            *("input-required-result-basic-sampling", "input-required-result-basic-list-roots"),
            *("input-required-result-request-state", "input-required-result-multi-round"),
            *("input-required-result-multiple-input-requests", "input-required-result-result-type"),
            *(
                "input-required-result-missing-input-response",
                "input-required-result-tampered-state",
            ),
            *("input-required-result-non-tool-request", "input-required-result-capability-check"),
            *("input-required-result-unsupported-methods", "input-required-result-validate-input"),
            "input-required-result-ignore-extra-params",
        ),
        _NO_REQUESTS,
    ),
    **dict.fromkeys(
        (
            *("tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields"),
            *("tasks-request-state-removal", "tasks-mrtr-input", "tasks-request-headers"),
            *("tasks-dispatch-and-envelope", "tasks-status-notifications"),
            *("tasks-required-task-error", "tasks-mrtr-composition"),
        ),
        "optional: the extension of tasks, which the server does not declare",
    ),
    "server-sse-polling": "the server is stateless, and has no streams to resume",
    "server-sse-multiple-streams": "the server is stateless, and has no streams to resume",
}


def checks(results: Path) -> Iterator[Check]:
    """Yield the checks of a run; its notes, which judge nothing, are left out."""
    for file in sorted(results.glob("server-*/checks.json")):
        # server-NAME-2026-11-26T09-06-25-527Z
        scenario = file.parent.name.removeprefix("server-")[:-25]
        for found in json.loads(file.read_text()):
            reason = INAPPLICABLE.get(scenario) or INAPPLICABLE.get(found["id"])
            name = f"{scenario}: {found['id']}"
            said = found.get("errorMessage") or found.get("description") or ""
            if found["status"] == "INFO":
                continue
            if reason is not None:
                yield Check(name, NOT_APPLICABLE, reason)
            elif found["status"] == "SUCCESS":
                yield Check(name, PASSED)
            elif found["status"] == "SKIPPED":
                yield Check(name, NOT_APPLICABLE, found.get("errorMessage") or "the suite skips it")
            else:
                yield Check(name, FAILED, said)
