"""Documentation is held to the code: what is not documented fails."""

import re
from pathlib import Path

import click
import pytest

from projections.recall import SCOPES
from recollect.cli.app import cli
from schemas.events import KINDS
from schemas.inbound import InboundEvent
from streams.ledger import TOPICS
from streams.ledger.kafka.topics import NAMES, topic_settings
from streams.system.failpoints import FAILPOINTS

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
COMMIT = (ROOT / "docs" / "commit.md").read_text()
README = (ROOT / "README.md").read_text()
#: Every page that is written for people to read.
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "docker/*.md", "tests/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)
SHARED = {"--home", "--zone", "--json", "--help"}
PACKAGES = ("schemas", "projections", "streams", "recollect")


def documented_row(name):
    rows = [line for line in REFERENCE.splitlines() if re.match(rf"\| `{name}[ `]", line)]
    assert len(rows) == 1, f"docs/reference.md needs one row for the command {name}"
    return rows[0]


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_and_option_is_in_the_reference(name):
    row = documented_row(name)
    for parameter in cli.commands[name].params:
        if isinstance(parameter, click.Option) and not SHARED & set(parameter.opts):
            assert any(option in row for option in parameter.opts), parameter.opts


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_has_help_with_an_example(name):
    command = cli.commands[name]
    assert command.help
    assert command.epilog is not None
    assert command.epilog.startswith("Example: recollect ")


def test_every_documented_command_exists():
    section = REFERENCE.split("## Commands")[1].split("## Settings")[0]
    names = re.findall(r"^\| `([a-z]+)", section, re.MULTILINE)
    assert sorted(names) == sorted(cli.commands)


def test_every_setting_is_in_the_reference():
    found = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            found |= set(re.findall(r"[\"'](RECOLLECT_[A-Z_]+|HF_[A-Z_]+)[\"']", path.read_text()))
    assert {"RECOLLECT_HOME", "RECOLLECT_LEDGER", "RECOLLECT_CACHE"} <= found
    section = REFERENCE.split("## Settings")[1].split("\n## ")[0]
    assert found <= set(re.findall(r"`((?:RECOLLECT|HF)_[A-Z_]+)`", section))


def test_every_topic_kind_scope_and_event_field_is_in_the_reference():
    for name in (*TOPICS, *NAMES, *KINDS, *SCOPES, *InboundEvent.__struct_fields__):
        assert f"`{name}`" in REFERENCE, name


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("topic", sorted(NAMES))
def test_every_setting_of_a_topic_is_in_the_reference(topic, replicas):
    table = [line for line in REFERENCE.splitlines() if line.startswith("|")]
    rows = [line for line in table if f"`{topic}`" in line]
    for setting, value in topic_settings(topic, replicas, 600).items():
        assert any(f"`{setting}={value}`" in row for row in rows), f"{topic}: {setting}={value}"


def test_every_file_of_a_read_model_is_in_the_reference():
    for path in (ROOT / "projections").glob("*/schema.sql"):
        assert f"{path.parent.name}.db`" in REFERENCE


def test_every_failpoint_is_in_the_story_of_a_commit():
    for name in FAILPOINTS:
        assert f"`{name}`" in COMMIT, name


def test_the_two_commands_stand_at_the_top_of_the_readme():
    top = README.split("## ")[0]
    assert "$ make demo" in top
    assert "$ make test" in top


def test_the_readme_ends_with_a_map_of_the_folders():
    section = README.split("## Map")[1]
    for folder in (*PACKAGES, "demo", "docker", "tests", "bench", "docs"):
        assert f"`{folder}/`" in section, folder


def anchors(page: Path) -> set[str]:
    """Return the names under which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^):]+)\)", page.read_text()):
        path, _, heading = target.partition("#")
        other = page.parent / path if path else page
        assert other.exists(), target
        if heading:
            assert heading in anchors(other), target
