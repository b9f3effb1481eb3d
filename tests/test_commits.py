"""Commits say in one form what they change: `area: imperative subject`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# The last commit before every subject was held to the form.
BEFORE = "f605e53aacfe66cf271debe4cf649b166c721fe7"
LONGEST = 72
AREA = re.compile(r"[a-z0-9_.-]+(?:(?:, |/)[a-z0-9_.-]+)*: (?=\S)")
# "added", "moving"; "feed" and "bring" differ from them in their vowels.
NOT_IMPERATIVE = re.compile(r"(?!embed\b)\w*[aeiouy]\w*(?:(?<!e)ed|ing)\b")


def faults(message: str) -> list[str]:
    """Return what is wrong with a commit's message."""
    subject, _, rest = message.strip().partition("\n")
    area = AREA.match(subject)
    verb = subject[area.end() :] if area else ""
    wrong = {
        f"longer than {LONGEST} characters": len(subject) > LONGEST,
        "no area": not area,
        "a capital after the area": verb[:1].isupper(),
        "no imperative": bool(NOT_IMPERATIVE.match(verb.lower())),
        "a full stop at its end": subject.endswith("."),
        "no empty line after the subject": bool(rest) and not rest.startswith("\n"),
    }
    return [what for what, is_so in wrong.items() if is_so]


def git(*arguments: str) -> str | None:
    """Return what git prints about this repository, None where it cannot."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def test_commits_say_area_and_subject() -> None:
    # Neither in an unpacked archive nor in a shallow clone.
    if git("merge-base", "--is-ancestor", BEFORE, "HEAD") is None:
        pytest.skip("the history since the form was agreed is not here")
    log = git("log", "--no-merges", "--format=%h%n%B%x00", f"{BEFORE}..HEAD")
    assert log is not None
    found = (entry.strip().partition("\n") for entry in log.split("\0") if entry.strip())
    assert {commit: faults(message) for commit, _, message in found if faults(message)} == {}


@pytest.mark.parametrize(
    "message",
    [
        "facts: add image captions to statements that only refer to a picture",
        "ledger, kafka: read a batch once\n\nTwice the records came twice.",
        "tests/cli: bring the terminal's width",
        "ci: feed the log to the summary",
    ],
)
def test_a_message_in_the_form_passes(message: str) -> None:
    assert faults(message) == []


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("What only shows a picture is told with what is on it", "no area"),
        ("Facts: add captions", "no area"),
        ("facts:add captions", "no area"),
        ("facts: Add captions", "a capital after the area"),
        ("facts: added captions", "no imperative"),
        ("facts: moving captions", "no imperative"),
        ("facts: add captions.", "a full stop at its end"),
        ("facts: add captions\nof pictures", "no empty line after the subject"),
        (f"facts: add {'long ' * 13}captions", "longer than 72 characters"),
    ],
)
def test_a_message_in_another_form_is_found(message: str, fault: str) -> None:
    assert faults(message) == [fault]
