"""The page in axe-core: light and dark, wide and narrow, with no serious finding in any view."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.page.kit import Page, settle, shown
from tests.service.kit import Served

pytestmark = pytest.mark.slow

NPM = Path(__file__).parent / "npm"
VIEWS = (
    "ada/ask",
    "ada/ask?query=pottery&known_at=2026-05-30T00:00:00Z",
    "ada/ask?query=pottery&show=why-not&item=Rex",
    "ada/ask?query=pottery&show=context",
    "ada/timeline?at=2026-05",
    "ada/timeline?at=2026-05&compare=1&then_known_at=2026-05-08T00:00:00Z",
    "ada/people",
    "ada/people/Ada",
    "ada/people/nobody",
    "ada/messages",
    "ada/observations",
    "ada/models",
    "ada/memory/Ada-5-1",
    "ada/merges?a=Ada&b=Bob",
    "ada/forget?entity=Ada",
    "ada/directives",
    "ada/changes",
    "ada/health",
    "ada/ledger",
    "ada/ledger/1",
    "ada/branches",
    "ada/tokens",
    "hostile/messages?by=thread",
    "ada/nothing",
)


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, from npm, as the lock has it."""
    if shutil.which("npm") is None:
        pytest.skip("no npm is installed; apt-get install npm")
    place = tmp_path_factory.mktemp("axe")
    shutil.copytree(NPM, place, dirs_exist_ok=True)
    subprocess.run(["npm", "ci", "--silent"], cwd=place, check=True, stdin=subprocess.DEVNULL)
    return (place / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def findings(page: Page, axe: str) -> list[str]:
    """Return the serious and critical findings, each with where it is."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_view_has_a_serious_finding(
    browser: Any, filled: Served, axe: str, theme: str, width: int
) -> None:
    look = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
    with shown(browser, filled, **look) as page:
        found = {}
        for place in VIEWS:
            page.goto(f"/#/{place}")
            page.get_by_role("main").wait_for()
            settle(page)
            found[place] = findings(page, axe)
        assert not {place: each for place, each in found.items() if each}


def test_details_that_are_opened_have_no_serious_finding(
    browser: Any, filled: Served, axe: str
) -> None:
    with shown(browser, filled) as page:
        for place in ("ask?query=pottery", "observations", "models"):
            page.goto(f"/#/ada/{place}")
            page.get_by_role("main").get_by_role("link").filter(has_text="").last.wait_for()
            settle(page)
            if place != "ask?query=pottery":
                page.get_by_role("main").locator("ul.rows a").first.click()
                settle(page)
            for summary in page.locator("summary:visible").all():
                summary.click()
            settle(page)
            assert findings(page, axe) == []


def test_the_sign_in_has_no_serious_finding(browser: Any, service: Served, axe: str) -> None:
    with shown(browser, service) as page:
        page.goto("/")
        page.get_by_label("Access token").wait_for()
        assert findings(page, axe) == []


def test_a_finding_is_found(browser: Any, filled: Served, axe: str) -> None:
    with shown(browser, filled) as page:
        page.goto("/#/ada/ask")
        page.get_by_label("Question").wait_for()
        page.evaluate("document.querySelector('label[for=question]').remove()")
        page.evaluate("document.querySelector('#question').removeAttribute('placeholder')")
        assert any(each.startswith("label:") for each in findings(page, axe))
