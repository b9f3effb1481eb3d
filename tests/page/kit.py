"""A real Chromium on the page of a real service, and a memory for it to show."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.cli.app import run
from tests.service.kit import Served, served

# Playwright's own types are there only where it is installed.
Page = Any

#: The requests under way of each tab, without the stream of the status, which never ends.
_UNDER_WAY: dict[Page, set[Any]] = {}

#: How long the page may take, on a machine that may be busy.
_PATIENCE_MS = 30_000

_NAMES = ("chromium", "chromium-browser", "google-chrome")
POTTERY = (
    "I signed up for a pottery class in Oslo.",
    "I made two bowls in the pottery class.",
    "I showed my pottery at the winter market.",
    "My pottery won a prize in Lima.",
    "I keep my pottery in the garden shed.",
)
#: Texts of somebody who wants the page to do something else than show them.
HOSTILE = (
    '<img src=x onerror="document.title=1"><script>document.title=1</script>',
    "invoice \u202egnp.exe is \u200bready\u2066",
    "W" * 3000,
    "Z" + "\u0301\u0316" * 60 + "algo",
    "</div></main><h1>Nothing</h1>",
)


def message(day: int, content: str, *, by: str = "Ada", month: int = 5, **more: Any) -> Any:
    """Return a message of a day of 2026, known since then."""
    at = f"2026-{month:02}-{day:02}T10:00:00Z"
    return {
        "platform": "chat",
        "id": f"{by}-{month}-{day}",
        "sender_id": f"u-{by}",
        "sender_name": by,
        "occurred_at": at,
        "ingested_at": at,
        "content": content,
        "thread_id": "kitchen",
        **more,
    }


def fill(home: Path) -> None:
    """Make a home in which Ada moves from Turin to Oslo and makes pottery, and others write."""
    agents = ("--agents", "own,consolidation", "--encoder", "none")
    assert run(["--home", str(home), "init", *agents]) == 0
    with Recollect(home) as opened:
        zone = opened.zone("ada")
        zone.ingest([message(1, "I live in Turin."), message(2, "My dog is called Rex.", by="Bob")])
        zone.ingest(message(day, text) for day, text in enumerate(POTTERY[:3], 3))
        zone.ingest([message(9, "I moved to Oslo."), message(10, "I met Bob in Oslo.")])
        zone.ingest(message(day, text) for day, text in enumerate(POTTERY[3:], 20))
        made = zone.create_mental_model("Homes", "Ada lives in Turin.")
        zone.update_mental_model(made.id, "Ada lives in Oslo.")
        ada = next(each for each in zone.entities() if each.name == "Ada")
        zone.create_mental_model("Ada", "", entity_id=ada.id, refresh="by_hand")
        hostile = opened.zone("hostile")
        hostile.ingest(
            message(day, text, by=f"Mallory {text[:20]}", id=f"h{day}", sender_id=f"m{day}")
            for day, text in enumerate(HOSTILE, 1)
        )
        hostile.ingest([message(9, f"My dog is called {HOSTILE[1]}.", by="Eve")])


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser; skip the test where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed; apt-get install chromium")
    with playwright.sync_playwright() as started:
        playwright.expect.set_options(timeout=_PATIENCE_MS)
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def shown(browser: Any, service: Served, **options: Any) -> Iterator[Page]:
    """Open a tab on a service's page; at the end, fail if anything went wrong in it."""
    given = {"viewport": {"width": 1280, "height": 900}, "base_url": service.url, **options}
    context = browser.new_context(**given)
    page = context.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda said: (
            wrong.append(said.text)
            # An answer that is no success is shown, and reported here too.
            if said.type == "error" and not re.search("status of (4|503)", said.text)
            else None
        ),
    )
    foreign: list[str] = []
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(service.url) else foreign.append(asked.url),
    )
    under_way = _UNDER_WAY[page] = set()
    page.on(
        "request",
        lambda asked: None if asked.url.endswith("/status/stream") else under_way.add(asked),
    )
    for ending in ("requestfinished", "requestfailed"):
        page.on(ending, lambda asked: under_way.discard(asked))
    yield page
    del _UNDER_WAY[page]
    context.close()
    assert wrong == []
    assert foreign == []


def settle(page: Page) -> None:
    """Wait until no request has been under way for half a second."""
    quiet = 0
    while quiet < 5:
        page.wait_for_timeout(100)
        quiet = 0 if _UNDER_WAY[page] else quiet + 1


def view(page: Page, place: str) -> Any:
    """Open an address, and return the part with the view."""
    page.goto(f"/#/{place}")
    main = page.get_by_role("main")
    main.wait_for()
    return main


@contextmanager
def filled_service(home: Path, **settings: Any) -> Iterator[Served]:
    """Serve a home that `fill` makes."""
    fill(home)
    with served(home, **settings) as found:
        yield found
