"""The papers of the project: licence, metadata, changelog, decisions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from recollect.streams.reader.head_file import OWN, read_heads, sha256_of

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_package_says_whose_it_is_and_under_which_licence() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert PROJECT["authors"] == [{"name": "The recollect authors"}]
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert text.split()[:5] == ["Apache", "License", "Version", "2.0,", "January"]
    assert "END OF TERMS AND CONDITIONS" in text
    for name in (*PROJECT["license-files"], PROJECT["readme"]):
        assert (ROOT / name).is_file(), name


def test_the_image_is_built_with_every_file_that_the_package_names() -> None:
    dockerfile = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
    copied = {
        word for line in re.findall(r"^COPY (.+) \./$", dockerfile, re.M) for word in line.split()
    }
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]} <= copied


def test_the_changelog_begins_with_what_is_not_released() -> None:
    sections = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert sections[0] == "Unreleased"


def test_every_decision_stands_in_the_list_of_decisions() -> None:
    pages = {path.name for path in (ROOT / "docs" / "decisions").glob("*.md")} - {"README.md"}
    listed = re.findall(
        r"^\| \[.+?\]\((.+?)\) \|", (ROOT / "docs/decisions/README.md").read_text("utf-8"), re.M
    )
    assert sorted(listed) == sorted(pages)


def test_the_parts_that_were_agreed_are_dependencies() -> None:
    """D3, by the names that the package registry has for them."""
    wanted = {
        *("faust-streaming", "aiokafka", "sqlite-vec", "onnxruntime", "tokenizers", "msgspec"),
        *("pytest", "testcontainers"),
    }
    extras = PROJECT["optional-dependencies"]
    named = [*PROJECT["dependencies"], *extras["kafka"], *extras["dev"]]
    assert wanted <= {re.split(r"[<>=; ]", requirement)[0] for requirement in named}


def test_the_model_card_is_of_the_heads_that_ship() -> None:
    card = (ROOT / "training" / "README.md").read_text("utf-8")
    notice = " ".join((ROOT / "NOTICE").read_text("utf-8").split())
    heads = read_heads(OWN, sha256_of(OWN))
    assert f"`{sha256_of(OWN)}`" in card
    assert f"{OWN.stat().st_size:,} bytes" in card
    assert f"| version | {heads.version} |" in card
    assert f"`{heads.encoder}`" in card
    for name, head in heads.heads.items():
        layers = ", ".join(map(str, head.layers))
        assert re.search(rf"^\| `{name}` \| .+ \| {layers} \| .+ \|$", card, re.M), name
    for source in heads.sources[:-1]:
        name = re.split(r"[ :(]", source)[0]
        assert name in card, name
        assert name in notice, name
