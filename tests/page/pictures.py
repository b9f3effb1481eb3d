"""Takes the pictures of docs/page.md, of the demo's export in a real Chromium.

python -m tests.page.pictures [DIRECTORY]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from recollect.cli.app import run
from tests.page.kit import Page, chromium, settle, shown
from tests.service.kit import served

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
_SIZE = {"width": 1120, "height": 700}
#: The names of the pictures, and the views they show.
VIEWS = {
    "ask": "ask?query=When+is+the+concert%3F",
    "moments": "timeline?at=2026-03&entity=seun&compare=1&then_known_at=2026-03-08T00:00:00Z",
    "person": "people?query=Tigran",
    "messages": "messages?by=thread",
}


def take(directory: Path) -> list[Path]:
    """Take all pictures, and return their files."""
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "home"
        agents = ("--agents", "own,consolidation", "--encoder", "none")
        export = str(ROOT / "demo" / "export.jsonl")
        zone = ("--home", str(home), "--zone", "family")
        for command in (("init", *agents), ("ingest", export, "--historical")):
            assert run([*zone, *command]) == 0
        with (
            served(home, no_auth=True) as service,
            chromium() as browser,
            shown(browser, service, viewport=_SIZE, locale="en-GB") as page,
        ):
            return [_picture(page, name, directory) for name in VIEWS]


def _picture(page: Page, name: str, directory: Path) -> Path:
    page.goto(f"/#/family/{VIEWS[name]}")
    page.get_by_role("main").locator("li a").first.wait_for()
    if name in ("person", "messages"):
        page.get_by_role("main").locator("ul.rows a").first.click()
        page.get_by_role("main").locator("h2.title").wait_for()
    if name == "moments":
        page.get_by_role("region", name="Difference").wait_for()
    settle(page)
    page.wait_for_timeout(300)
    path = directory / f"{name}.png"
    page.screenshot(path=path)
    return path


if __name__ == "__main__":
    for taken in take(Path(sys.argv[1]) if sys.argv[1:] else PICTURES):
        print(taken)
