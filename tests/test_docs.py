"""Documentation is held to the code: what is not documented fails."""

import re
from pathlib import Path

import click
import pytest

from recollect import Query
from recollect.cli.app import cli
from recollect.cli.batch_queries import BatchQuery
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import OWN_AGENTS
from recollect.projections.sqlite import rows
from recollect.schemas.attributes import MULTI_VALUED, SINGLE_VALUED
from recollect.schemas.events import KINDS
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.wire import SCOPES
from recollect.streams.adapters import FORMATS
from recollect.streams.agents import BY_NAME
from recollect.streams.ledger import TOPICS
from recollect.streams.ledger.kafka.topics import NAMES, topic_settings
from recollect.streams.system.failpoints import FAILPOINTS

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
COMMANDS = (REFERENCE / "commands.md").read_text()
STORAGE = (REFERENCE / "storage.md").read_text()
COMMIT = (ROOT / "docs" / "commit.md").read_text()
README = (ROOT / "README.md").read_text()
#: Every page that is written for people to read.
PAGES = sorted(
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "lab/**/*.md",
        "docker/*.md",
        "tests/*.md",
        "examples/*.md",
    )
    for path in ROOT.glob(pattern)
)
SHARED = {"--home", "--config", "--zone", "--json", "--help"}
PACKAGES = ("schemas", "projections", "streams", "recollect")
#: Every folder at the top.
TOPS = (
    *PACKAGES,
    *("tests", "bench", "training", "corpus", "demo", "docker", "docs", "examples", "lab"),
)


def documented_row(name):
    rows = [line for line in COMMANDS.splitlines() if re.match(rf"\| `{name}[ `]", line)]
    assert len(rows) == 1, f"docs/reference/commands.md needs one row for the command {name}"
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


def test_every_format_that_can_be_imported_is_in_the_reference():
    """In a table a bar is written with a backslash."""
    assert f"`--format {'|'.join(FORMATS)}`".replace("|", "\\|") in documented_row("ingest")


def test_every_documented_command_exists():
    names = re.findall(r"^\| `([a-z]+)", COMMANDS, re.MULTILINE)
    assert sorted(names) == sorted(cli.commands)


def test_every_topic_kind_scope_and_event_field_is_in_the_reference():
    for page, names in (
        ("storage", (*TOPICS, *NAMES)),
        ("events", (*KINDS, *InboundEvent.__struct_fields__)),
        ("recall", SCOPES),
    ):
        text = (REFERENCE / f"{page}.md").read_text()
        for name in names:
            assert f"`{name}`" in text, name


def test_every_field_of_a_query_is_in_the_reference():
    page = (REFERENCE / "library.md").read_text("utf-8")
    (listed,) = re.findall(r"A `Query` has ([^.]+)\.", page)
    assert sorted(re.findall(r"`(\w+)`", listed)) == sorted(Query.__struct_fields__)


def test_every_option_of_a_line_of_a_batch_is_in_the_reference():
    page = (REFERENCE / "recall.md").read_text("utf-8")
    (listed,) = re.findall(r"A line of a `--batch` file is ([^-]+?), which override", page)
    assert set(BatchQuery.__struct_fields__) <= set(re.findall(r"\w+", listed))


def test_every_attribute_of_people_is_in_the_reference():
    page = (REFERENCE / "memory.md").read_text()
    for attributes, held in ((SINGLE_VALUED, "one"), (MULTI_VALUED, "several")):
        for name, what in attributes.items():
            assert f"| `{name}` | {what} | {held} |" in page


def test_every_agent_is_in_the_reference_in_its_order():
    section = (REFERENCE / "agents.md").read_text().split("\n## ")[0]
    assert re.findall(r"^\| `([a-z]+)` \|", section, re.MULTILINE) == [*OWN_AGENTS, *BY_NAME]


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("topic", sorted(NAMES))
def test_every_setting_of_a_topic_is_in_the_reference(topic, replicas):
    table = [line for line in STORAGE.splitlines() if line.startswith("|")]
    rows = [line for line in table if f"`{topic}`" in line]
    for setting, value in topic_settings(topic, replicas, 600).items():
        assert any(f"`{setting}={value}`" in row for row in rows), f"{topic}: {setting}={value}"


def test_every_file_and_table_of_a_read_model_is_in_the_reference(tmp_path):
    section = STORAGE.split("## Tables")[1].split("\n## ")[0]
    told = set(re.findall(r"`([a-z_.]+)`", section))
    with ZoneFiles(tmp_path, "model", 8) as files:
        for model in files.all:
            assert f"{model.name}.db`" in STORAGE
            listed = rows(model.connection, "SELECT name, type FROM pragma_table_list")
            indexes = tuple(f"{name}_" for name, kind in listed if kind == "virtual")
            made = {name for name, _ in listed if not name.startswith(("sqlite_", *indexes))}
            assert made <= told, made - told


def test_every_failpoint_is_in_the_story_of_a_commit():
    for name in FAILPOINTS:
        assert f"`{name}`" in COMMIT, name


def test_make_demo_and_make_test_are_at_the_top_of_the_readme():
    top = README.split("## ")[0]
    commands = re.findall(r"^\$ (make \w+)", top, re.MULTILINE)
    assert commands == ["make demo", "make test"]
    assert top.count("\n") <= 15


@pytest.mark.parametrize(("page", "most"), [("README.md", 53), ("CHANGELOG.md", 40)])
def test_a_short_page_stays_short(page, most):
    """Neither more lines nor longer ones."""
    lines = (ROOT / page).read_text("utf-8").splitlines()
    assert len(lines) <= most
    assert max(map(len, lines)) <= 120


def links(page: Path) -> set[Path]:
    """Return the pages to which a page links."""
    found = re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", page.read_text("utf-8"))
    return {(page.parent / target).resolve() for target in found}


def test_the_readme_leads_to_every_page():
    """Directly, or through the indexes of the documentation, the reference and the decisions."""
    docs = ROOT / "docs"
    indexes = [docs / "README.md", REFERENCE / "README.md", docs / "decisions" / "README.md"]
    assert indexes[0] in links(ROOT / "README.md")
    assert set(indexes[1:]) <= links(indexes[0])
    reached = links(ROOT / "README.md").union(*map(links, indexes))
    for path in (*ROOT.glob("*.md"), *docs.rglob("*.md"), *ROOT.glob("[a-z]*/README.md")):
        if path not in (ROOT / "README.md", *(ROOT / name / "README.md" for name in NOT_LISTED)):
            assert path in reached, path


#: Folders whose README the page on contributing or the model card links to, for developers only.
NOT_LISTED = ("corpus", "tests", "training")


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


ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()


def test_every_folder_is_in_the_architecture():
    for folder in TOPS:
        assert f"`{folder}/`" in ARCHITECTURE, folder


def test_every_package_is_in_the_architecture():
    for package in PACKAGES:
        for init in (ROOT / package).rglob("__init__.py"):
            name = f"{init.parent.relative_to(ROOT).as_posix()}/"
            assert f"`{name}`" in ARCHITECTURE, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_that_a_page_names_are_there(page):
    """A path in backticks that begins with a folder of ours, but for patterns and made-up names."""
    for path in re.findall(r"`((?:[\w.-]+/)+[\w.-]*)(?:::\w+)?`", page.read_text()):
        # The builder's own certificates, which are nowhere but there.
        if path.split("/")[0] in TOPS and path != "docker/ca.crt":
            assert (ROOT / path).exists(), path


#: Every promise, by group: how many there are. What is promised stands in lab/promises.md.
PROMISES = {"A": 29, "B": 12, "C": 23, "D": 6, "E": 11, "F": 12}


def promises():
    """Return id -> what stands under it in lab/promises.md."""
    text = (ROOT / "lab" / "promises.md").read_text().replace("\n## ", "\n**end")
    parts = re.split(r"^\*\*([A-F]\d+)(?=[. ])", text, flags=re.MULTILINE)[1:]
    return [
        (name, part.partition("\n**end")[0])
        for name, part in zip(parts[::2], parts[1::2], strict=True)
    ]


def test_every_promise_stands_once_in_its_order():
    wanted = [f"{group}{n}" for group, count in PROMISES.items() for n in range(1, count + 1)]
    assert [name for name, _ in promises()] == wanted


@pytest.mark.parametrize(("name", "text"), promises(), ids=[name for name, _ in promises()])
def test_a_promise_has_tests_that_exist_or_says_not_yet(name, text):
    cited = re.findall(r"^- `(.+?)::(.+?)`$", text, re.MULTILINE)
    assert cited or re.search(r"^- Not yet[.:]", text, re.MULTILINE)
    listed = re.findall(r"^- ", text, re.MULTILINE)
    assert len(listed) == len(cited) + len(re.findall(r"^- Not yet", text, re.MULTILINE))
    for path, test in cited:
        assert (ROOT / path).is_file(), path
        assert re.search(rf"^ *def {test}\(", (ROOT / path).read_text(), re.MULTILINE), test


def written():
    """Return every file that people read or that cites a page, but for data."""
    kinds = ("*.py", "*.sql", "*.md", "*.toml", "*.yaml", "*.sh", "Makefile", "Dockerfile")
    return [
        path
        for kind in kinds
        for path in ROOT.rglob(kind)
        if not any(part.startswith(".") or part == "build" for part in path.relative_to(ROOT).parts)
    ]


def test_only_pages_that_are_here_are_cited():
    """ROLE.md comes with the writer on a language model (A22); the others are exports."""
    here = {path.name for path in written()} | {"ROLE.md", "chat.md", "index.md", "history.md"}
    for path in written():
        for page in re.findall(r"\b[\w-]+\.md\b", path.read_text()):
            assert page in here, f"{path.relative_to(ROOT)}: {page}"


def test_nothing_is_cited_that_is_not_here():
    """What the project was planned with: its papers are not in the repository."""
    for path in written():
        if path.name != "test_agreed.py" and path != Path(__file__):
            found = re.findall(r"\bseeds? 00\d|\b(?:CONTRACT|SPEC|TRACES)\b", path.read_text())
            assert not found, path.relative_to(ROOT)


def test_only_rules_that_are_written_down_are_cited():
    section = COMMIT.split("## The rules")[1]
    rules = set(re.findall(r"^(\d+)\. \*\*", section, re.MULTILINE))
    assert len(rules) == 12
    for path in written():
        for numbers in re.findall(r"\brules? ((?:\d+)(?:(?:, | and )\d+)*)", path.read_text()):
            assert set(re.findall(r"\d+", numbers)) <= rules, f"{path.relative_to(ROOT)}: {numbers}"


def test_the_map_of_the_tests_names_every_folder_and_file():
    shown = (ROOT / "tests" / "README.md").read_text()
    for path in (ROOT / "tests").iterdir():
        if path.is_dir() and path.name != "__pycache__":
            assert f"[`{path.name}/`]({path.name})" in shown, path.name
        if path.name.startswith("test_"):
            assert f"`{path.name}`" in shown, path.name


def test_the_glossary_is_in_order():
    rows = re.findall(r"^\| ([a-z].*?) \|", (ROOT / "docs" / "glossary.md").read_text(), re.M)
    words = rows[1:]
    assert words == sorted(words)
    assert len(words) == len(set(words))
