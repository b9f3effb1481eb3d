"""G3: a zone's memory as pages to read, and as a bundle in the Open Knowledge Format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.library.library_zone import Zone
from recollect.operations.exporting.memory_pages import (
    DIRECTIVES,
    INDEX,
    SUFFIX,
    TIMELINE,
    code,
    escaped,
    page_name,
)
from recollect.schemas.errors import InvalidInput
from tests.library.kit import said

yaml = pytest.importorskip("yaml")

HOSTILE = (
    "# Heading\n- item\n<script>alert(1)</script> ![x](http://evil) [a](b) `code` ~~~ | * _ & $",
    "1. one\u202e\x1b[31m --- \u2028---\ntype: x",
    "</memory_context> ``` {{ x }} \\",
)


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(tmp_path / "home") as home:
        found = home.zone("ada")
        found.ingest([
            said("m1", "I live in Turin with a puppy."),
            said("m2", "I moved to Oslo on 3 May 2026.", minute=1),
            said("m`3", "I own a boat.", by="Bob | [x](y) #1", minute=2),
        ])  # fmt: skip
        for text in HOSTILE:
            found.remember(text, sender_id="u-Ada", at="2026-05-08T12:00:00Z")
        (ada,) = [one for one in found.entities() if one.name == "Ada"]
        found.create_mental_model("About <b>Ada</b>", f"## Home\n- Oslo\n{HOSTILE[0]}",
                                  entity_id=ada.id)  # fmt: skip
        found.create_mental_model("CON", "Boats float.")
        found.add_directive("Always answer in *French*.")
        yield found


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_pages_have_current_facts_with_days_and_sources(zone: Zone, tmp_path: Path) -> None:
    report = zone.export(tmp_path / "pages", as_="markdown")
    pages = files(tmp_path / "pages")
    assert report.pages == len(pages)
    (ada,) = [text for name, text in pages.items() if name.startswith("entities/ada-")]
    facts = ada[ada.index("## Facts") :]
    assert "* Ada moved to Oslo on 3 May 2026. (2026-05-03, Ada; `m2`)" in facts
    assert "lives in Turin" not in facts
    assert "### Home\n\n* Oslo\n" in ada.replace("\n\n\n", "\n\n")
    assert "* Always answer in \\*French\\*." in pages[DIRECTIVES]
    assert "## 2026-05-03\n\n* Ada moved to Oslo" in pages[TIMELINE]
    links = re.findall(r"\]\(([^)]+)\) - ", pages[INDEX])
    assert sorted(links) == sorted(name for name in pages if name != INDEX)


def test_pages_are_the_same_bytes_again(zone: Zone, tmp_path: Path) -> None:
    zone.export(tmp_path / "a", as_="okf")
    zone.export(tmp_path / "b", as_="okf")
    assert files(tmp_path / "a") == files(tmp_path / "b")


def tokens(text: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        yield token
        yield from token.children or ()


def test_hostile_text_shows_as_it_is(zone: Zone, tmp_path: Path) -> None:
    zone.export(tmp_path / "pages", as_="markdown")
    pages = files(tmp_path / "pages")
    ours = {"heading", "paragraph", "bullet_list", "list_item"}
    shown = ""
    for name, text in pages.items():
        assert all(ord(character) >= 32 or character == "\n" for character in text), name
        assert "\u202e" not in text
        for token in tokens(text):
            kind = token.type.removesuffix("_open").removesuffix("_close")
            allowed = {"inline", "text", "code_inline", "softbreak", "text_special", *ours}
            if name == INDEX:
                allowed |= {"link", "html_block"}
            assert kind in allowed, (name, token)
            if kind == "html_block":
                assert token.content.strip() == "<!-- exported by recollect -->"
            if token.type == "link_open":
                assert token.attrs["href"] in pages
            if token.type == "heading_open":
                assert token.level == 0
            shown += token.content if token.type in ("text", "text_special") else ""
    assert "<script>alert(1)</script> ![x](http://evil) [a](b) `code` ~~~ | * _ & $" in shown


@pytest.mark.parametrize("text", [*HOSTILE, "+ x", "12) x", "=== x", "> x", ": x", "- x"])
def test_no_text_begins_a_block(text: str) -> None:
    line = escaped(text)
    assert "\n" not in line
    assert not re.match(r"[-+*#=>:]|\d+[.)] |```|~~~|---", line)


@pytest.mark.parametrize("text", ["m`3", "``", "`", "a\nb", "plain"])
def test_an_id_is_a_code_span(text: str) -> None:
    span = code(text)
    found = re.fullmatch(r"(?s)(`+)(?!`)( ?)(.*?)( ?)(?<!`)\1", span)
    assert found is not None
    assert found[3] == " ".join(text.split())
    assert found[1] not in found[3]


@pytest.mark.parametrize("title", ["CON", "../../etc", "Ada/Bob\\x:*?", "日本", "", "a" * 300, "."])
def test_names_of_pages_are_safe_everywhere(title: str) -> None:
    assert re.fullmatch(
        r"[a-z0-9][a-z0-9-]{9,60}\.md", page_name(title, "01KR3XZBC0BAQNHSCT9EJ4ND")
    )


@pytest.mark.parametrize(
    ("title", "start"),
    [("Annika Voß", "annika-voss-"), ("Søren Łuk", "soren-luk-"), ("İnci Çağ", "inci-cag-")],
)
def test_names_of_pages_keep_their_letters(title: str, start: str) -> None:
    assert page_name(title, "01KR3XZBC0BAQNHSCT9EJ4ND").startswith(start)


def test_a_bundle_conforms_to_the_open_knowledge_format(zone: Zone, tmp_path: Path) -> None:
    """Each page but the index has a head with a type; only the index names the version."""
    zone.export(tmp_path / "pages", as_="okf")
    pages = files(tmp_path / "pages")
    assert pages.pop(INDEX).startswith('---\nokf_version: "0.2"\n---\n')
    assert not [name for name in pages if name.endswith((INDEX, "log" + SUFFIX))]
    for name, text in pages.items():
        opening, head, body = text.split("---\n", 2)
        assert (opening, body[:1]) == ("", "\n"), name
        fields = yaml.safe_load(head)
        assert fields["type"], name
        assert isinstance(fields["type"] + fields["title"] + fields["description"], str)
        assert fields["generated"]["by"].startswith("recollect/")
        assert all(set(source) == {"resource"} for source in fields.get("sources", ()))


def test_a_folder_that_is_no_export_is_not_replaced(zone: Zone, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "letter.txt").write_text("Dear Ada")
    with pytest.raises(InvalidInput, match="exists"):
        zone.export(folder, as_="markdown")
    with pytest.raises(InvalidInput, match="not an earlier export"):
        zone.export(folder, as_="markdown", force=True)
    assert (folder / "letter.txt").read_text() == "Dear Ada"
    zone.export(tmp_path / "pages", as_="markdown")
    (bob,) = (tmp_path / "pages" / "entities").glob("bob-*")
    zone.forget("m`3")
    zone.export(tmp_path / "pages", as_="markdown", force=True)
    assert not bob.exists()
    assert not list(tmp_path.glob(".*"))
