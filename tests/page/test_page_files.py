"""The page's files: their licences and hashes, their size, and what they must not contain."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.service.kit import Served

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "recollect" / "page" / "static"
VENDOR = STATIC / "vendor"
MANIFEST = json.loads((VENDOR / "manifest.json").read_text("utf-8"))["packages"]
OWN = sorted(path for path in STATIC.rglob("*.js") if VENDOR not in path.parents)
MAX_SCRIPT_BYTES = 100_000
# What makes markup, code or styles of texts.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc"
    r"|\beval\(|new Function|javascript:|setHTML|DOMParser|localStorage|document\.cookie"
)


@pytest.fixture(scope="module")
def scripts() -> list[Path]:
    return [path for path in STATIC.rglob("*") if path.suffix in (".js", ".mjs")]


@pytest.mark.parametrize("package", MANIFEST, ids=lambda each: str(each["package"]))
def test_a_vendored_file_is_the_one_that_the_manifest_names(package: dict[str, str]) -> None:
    content = (VENDOR / package["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == package["sha256"]
    licence = (VENDOR / package["licence_file"]).read_text("utf-8")
    assert {"MIT": "MIT License", "Apache-2.0": "Apache License"}[package["licence"]] in licence
    assert package["package"] in (ROOT / "NOTICE").read_text("utf-8")


def test_every_vendored_file_is_in_the_manifest() -> None:
    named = {"manifest.json"}
    for package in MANIFEST:
        named |= {package["file"], package["licence_file"]}
    assert {path.name for path in VENDOR.iterdir()} == named


def test_all_script_is_at_most_a_hundred_kilobytes(scripts: list[Path]) -> None:
    size = sum(len(gzip.compress(path.read_bytes(), 9)) for path in scripts)
    assert 10_000 < size <= MAX_SCRIPT_BYTES


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.relative_to(STATIC)))
def test_no_script_makes_markup_or_code_of_texts(path: Path) -> None:
    assert not FORBIDDEN.findall(path.read_text("utf-8"))


def test_the_document_has_neither_script_nor_style_of_its_own() -> None:
    document = (STATIC / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)", document) == []
    assert re.findall(r"<style|\bstyle=|\bon\w+=", document) == []
    assert re.findall(r"(?:src|href)=\"(?!/page/)", document) == []


def test_every_imported_module_is_there(scripts: list[Path]) -> None:
    for path in scripts:
        for name in re.findall(r'\bfrom ?"([^"]+)";', path.read_text("utf-8")):
            assert name.startswith("."), f"{path}: {name}"
            assert (path.parent / name).resolve().is_file(), f"{path}: {name}"


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.relative_to(STATIC)))
def test_every_imported_name_is_used(path: Path) -> None:
    text = path.read_text("utf-8")
    for names in re.findall(r"^import \{([^}]+)\} from", text, re.MULTILINE):
        for name in re.findall(r"\w+", names):
            assert len(re.findall(rf"\b{name}\b", text)) > 1, name


@pytest.mark.parametrize("path", ["/", "/page/shell/main.js", "/page/page.css"])
def test_an_answer_of_the_page_has_a_strict_policy(service: Served, path: str) -> None:
    with service.bare() as client:
        answer = client.get(path)
    assert answer.status_code == 200
    policy = dict(
        part.strip().partition(" ")[::2]
        for part in answer.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["object-src"] == "'none'"
    assert not {"script-src", "style-src", "connect-src", "img-src"} & set(policy)
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_document_loads_every_module_at_once(service: Served, scripts: list[Path]) -> None:
    with service.bare() as client:
        linked = re.findall(r'"modulepreload" href="/page/([^"]+)"', client.get("/").text)
    assert linked == sorted(path.relative_to(STATIC).as_posix() for path in scripts)


@pytest.mark.parametrize("path", ["/page/", "/page/nothing.js", "/page/../page_routes.py"])
def test_the_page_has_no_other_files(service: Served, path: str) -> None:
    with service.bare() as client:
        assert client.get(path).status_code == 404


def test_access_tells_the_rights_to_each_zone_that_has_events(service: Served) -> None:
    event = {"id": "1", "platform": "chat", "sender_id": "u", "content": "Hello."}
    with service.client(("b", "c")) as client:
        client.post("/v1/zones/b/events", json={**event, "occurred_at": "2026-05-08T13:56:00Z"})
    with service.client(("b", "c"), ("read", "forget"), user="Ada") as client:
        found = client.get("/v1/access").json()
    assert found["user"] == "Ada"
    assert found["authentication"] is True
    assert found["zones"] == [{"zone": "b", "rights": ["read", "forget"], "stalled": False}]
    with service.client("c") as client:
        assert client.get("/v1/access").json()["zones"] == []
    with service.bare() as client:
        assert client.get("/v1/access").status_code == 401
