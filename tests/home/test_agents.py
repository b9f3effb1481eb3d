"""An agent of somebody else decides where a home's configuration names it, and nowhere else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.foreign_agent import RATINGS, TOY, write_package
from tests.home.kit import Home

WRONG = '''
"""What is no agent, in several ways."""


class Kinds:
    kinds = frozenset({"message"})


class Whole(Kinds):
    def extract(self, event, conversation): ...

    def resolve(self, event, extract, state): ...


class Deaf(Whole):
    kinds = frozenset()


class Odd(Whole):
    kinds = frozenset({"mesage"})


class Short(Whole):
    def resolve(self, event, state): ...


class Half(Kinds):
    def extract(self, event, conversation): ...


DEAF, ODD, SHORT, HALF = Deaf(), Odd(), Short(), Half()
'''

BOTH = f"own,{TOY}"
BOAT, TRAIN = "I give the boat 4 stars.", "I give the train 2 stars."
#: What the toy says of them.
RATED = {"Ada rates the boat 4 of 5", "Ada rates the train 2 of 5"}


@pytest.fixture(autouse=True)
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package of somebody else, on the import path."""
    folder = write_package(tmp_path / "elsewhere")
    (folder / "toys" / "wrong.py").write_text(WRONG)
    (folder / "toys" / "broken.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "toys"]:
        del sys.modules[name]


@pytest.fixture
def made(tmp_path: Path) -> Home:
    """A home that holds nothing yet."""
    return Home(tmp_path / "made")


def facts(home: Home, *options: str) -> set[str]:
    lines = home.well(*options, "facts", "--json").stdout.splitlines()
    return {json.loads(line)["text"] for line in lines}


def hashes(home: Home) -> dict[str, str]:
    """Return the hash of each file, which equals that of its replay."""
    found = home.well("verify", "--json").json
    assert found["ok"]
    return {model["model"]: model["hash"] for model in found["models"]}


def test_an_agent_of_somebody_else_decides_where_a_home_names_it(
    made: Home, tmp_path: Path
) -> None:
    made.well("init", "--encoder", "none", "--agents", BOTH)
    made.ingest(BOAT, "Ada lives in Berlin.")
    assert "Ada rates the boat 4 of 5" in facts(made)
    assert "Ada rates the boat 4 of 5" in made.found("How is the boat rated?", "--scope", "facts")
    assert any("Berlin" in fact for fact in facts(made)), "recollect's own agents decide as well"
    assert made.well("status", "--json").json["agents"] == ["own", TOY]
    assert TOY in made.well("status").stdout
    assert TOY in made.well("doctor").stdout

    other = Home(tmp_path / "other").make(BOAT)
    assert not facts(other) & RATED
    assert other.well("status", "--json").json["agents"] == ["own", "consolidation"]
    assert "agents" not in other.well("status").stdout


def test_home_json_may_name_the_agents_and_leave_some_out(made: Home, toys: Path) -> None:
    made.well("init", "--encoder", "none")
    settings = json.loads((made.path / "home.json").read_text())
    (made.path / "home.json").write_text(json.dumps(settings | {"agents": [TOY, "ticks"]}))
    made.environment["PYTHONPATH"] += f":{toys}"
    made.ingest(BOAT, "Ada lives in Berlin.")
    assert facts(made) == {"Ada rates the boat 4 of 5"}
    # As a command of its own does.
    ended = made.run("remember", "I sold the boat.", RECOLLECT_TICKS="off")
    assert ended.status == 0, ended.said
    assert facts(made) == {"Ada rates the boat 4 of 5"}


@pytest.mark.parametrize("level", ["index", "project", "derive", "fresh"])
def test_what_it_decided_is_made_again_and_verified(made: Home, level: str) -> None:
    made.well("init", "--encoder", "none", "--agents", BOTH)
    made.ingest(BOAT, TRAIN, "Ada lives in Berlin.")
    before = hashes(made)
    made.well("rebuild", "--level", level)
    assert facts(made) >= RATED
    found = hashes(made)
    if level == "project":
        made.well("rollback")
        assert hashes(made) == before
    # A derivation adds the record that tells of its chain.
    assert {name: found[name] for name in ("identity", "embeddings")} == {
        name: before[name] for name in ("identity", "embeddings")
    }


def test_what_it_decided_goes_with_what_it_rests_on(made: Home) -> None:
    made.well("init", "--encoder", "none", "--agents", BOTH)
    made.ingest(BOAT, TRAIN, "Ada lives in Berlin.")
    made.well("rebuild", "--level", "derive")
    made.well("forget", "m-1")
    assert facts(made) & RATED == {"Ada rates the train 2 of 5"}
    after = hashes(made)
    made.well("rebuild", "--level", "project")
    assert hashes(made) == after
    made.well("rebuild", "--level", "derive")
    assert facts(made) & RATED == {"Ada rates the train 2 of 5"}
    assert not [
        path for path in made.files() if path.is_file() and b"rates the boat" in path.read_bytes()
    ]


def test_other_agents_decide_nothing_until_all_is_derived(made: Home) -> None:
    made.make(BOAT, "Ada lives in Berlin.")
    said = made.well("init", "--agents", BOTH).stdout
    assert TOY in said

    refused = made.run("ingest", str(_export(made, TRAIN)))
    assert refused.status == 2
    for word in (
        "zone default",
        "the agents own,",
        BOTH,
        "rebuild --level derive",
        "init --agents",
    ):
        assert word in refused.stderr
    # What was said is kept, and found; nothing is decided.
    assert any("train" in text for text in made.found("How is the train?"))
    assert any("Berlin" in text for text in made.found("Where does Ada live?"))
    assert not facts(made) & RATED
    assert "rebuild --level derive" in made.well("status").stderr
    unwell = made.run("doctor", "--json")
    assert unwell.status == 1
    (check,) = [check for check in unwell.json["checks"] if not check["ok"]]
    assert check["check"] == "agents"
    assert "rebuild --level derive" in check["fix"]
    assert made.run("forget", "m-1").status == 2
    # The files may be made again as they were; that makes no other agents of theirs.
    made.well("rebuild", "--level", "project")
    assert not facts(made) & RATED
    assert made.run("remember", "Nothing.").status == 2

    made.well("rebuild", "--level", "derive")
    assert facts(made) >= RATED
    assert made.well("status", "--json").json["agents"] == ["own", TOY]
    assert made.well("doctor").status == 0
    derived = hashes(made)

    # The generation before is that of other agents, which have to be the home's again.
    back = made.run("rollback")
    assert back.status == 2
    assert "init --agents own,consolidation" in back.stderr
    assert hashes(made) == derived
    made.well("init", "--agents", "own,consolidation")
    made.well("rollback")
    assert not facts(made) & RATED
    assert hashes(made)
    made.ingest("Ben works at Initech.", first=4)
    assert any("Initech" in fact for fact in facts(made))


def _export(home: Home, sentence: str) -> Path:
    """Write a message into a file."""
    export = home.path.with_name("more.jsonl")
    event = {
        "id": "m-3",
        "platform": "chat",
        "sender_id": "ada",
        "sender_name": "Ada",
        "occurred_at": "2026-05-03T10:00:00Z",
        "content": sentence,
    }
    export.write_text(json.dumps(event) + "\n")
    return export


def test_a_kept_generation_of_other_agents_holds_nothing_that_was_forgotten(made: Home) -> None:
    made.make(BOAT, "Ada lives in Berlin.")
    made.well("init", "--agents", BOTH)
    made.well("rebuild", "--level", "derive")
    before = made.generation
    made.well("forget", "m-1")
    assert made.generation == before
    assert not [
        path for path in made.files() if path.is_file() and b"the boat" in path.read_bytes()
    ]
    assert made.well("verify").status == 0
    assert made.run("rollback").status == 2


@pytest.mark.parametrize(
    ("agents", "words"),
    [
        ("own,writr", ["'writr'", "did you mean writer?"]),
        ("own,zzz", ["'zzz'", "package.module:NAME", "writer, accesses, merges"]),
        ("own,nowhere.at_all:AGENT", ["nowhere.at_all:AGENT cannot be imported", "PYTHONPATH"]),
        ("own,toys.broken:AGENT", ["toys.broken:AGENT cannot be imported", "ZeroDivisionError"]),
        ("own,toys.ratings:AGNT", ["toys.ratings has no 'AGNT'"]),
        ("own,toys.ratings:Ratings", ["the class Ratings", "instance"]),
        ("own,toys.wrong:DEAF", ["no `kinds`"]),
        ("own,toys.wrong:ODD", ["'mesage'", "turn_completed"]),
        ("own,toys.wrong:HALF", ["no method resolve(event, extract, state)"]),
        ("own,toys.wrong:SHORT", ["cannot be called as resolve(event, extract, state)"]),
        ("own,own", ["own includes an agent that own already includes"]),
        ("own,writer", ["writer includes an agent that own already includes"]),
        ("toys.ratings:AGENT,toys.ratings:AGAIN", ["toys.ratings:AGAIN includes an agent"]),
        ("own,", ["''"]),
    ],
)
def test_what_is_no_agent_is_refused_by_name(made: Home, agents: str, words: list[str]) -> None:
    refused = made.run("init", "--encoder", "none", "--agents", agents)
    assert refused.status == 2
    for word in words:
        assert word in refused.stderr
    assert not made.path.exists()

    made.make("Ada lives in Berlin.")
    before = (made.path / "home.json").read_bytes()
    assert made.run("init", "--agents", agents).status == 2
    assert (made.path / "home.json").read_bytes() == before
    assert facts(made)


def test_a_slip_in_home_json_stops_deciding_alone_and_is_mended(made: Home) -> None:
    made.make("Ada lives in Berlin.")
    written = (made.path / "home.json").read_text()
    (made.path / "home.json").write_text(written.replace('"own"', '"own","toys.ratings:AGNT"'))
    assert made.found("Where does Ada live?")
    for command in (["--zone", "new"], []):
        refused = made.run(*command, "ingest", str(_export(made, BOAT)))
        assert refused.status == 2
        assert "toys.ratings" in refused.stderr
    assert "toys.ratings has no 'AGNT'" in made.run("doctor").stdout
    (made.path / "home.json").write_text(written.replace('"own"', f'"own","{TOY}"'))
    # Nobody had decided anything in the new zone.
    made.well("--zone", "new", "ingest", str(_export(made, BOAT)))
    assert "Ada rates the boat 4 of 5" in facts(made, "--zone", "new")


def test_a_home_that_says_nothing_of_agents_has_recollects_own(made: Home) -> None:
    """As those have that were made before a home could name any."""
    made.make("Ada lives in Berlin.")
    for path in (made.path / "home.json", made.generation / "generation.json"):
        said = json.loads(path.read_text())
        del said["agents"]
        path.write_text(json.dumps(said))
    made.ingest("Ben works at Initech.", first=2)
    assert len(facts(made)) == 2
    assert made.well("status", "--json").json["agents"] == ["own"]
    made.well("init", "--agents", "own")
    made.ingest("Cleo likes green tea.", first=3)
    assert len(facts(made)) == 3


def test_an_agent_that_fails_parks_the_record_and_says_why(made: Home, toys: Path) -> None:
    (toys / "toys" / "poor.py").write_text(
        RATINGS.replace("puts = []", "raise LookupError('no stars tonight')")
    )
    made.well("init", "--encoder", "none", "--agents", "own,toys.poor:AGENT")
    made.ingest(BOAT)
    (letter,) = made.well("deadletters", "list", "--json").json["dead_letters"]
    assert "no stars tonight" in letter["reason"]


def test_a_recollect_that_knows_no_agents_of_others_refuses_such_a_home(made: Home) -> None:
    """One before knew format 1 alone, and would leave them out."""

    def format_() -> int:
        found: int = json.loads((made.path / "home.json").read_text())["format"]
        return found

    made.make(BOAT)
    assert format_() == 2
    made.well("init", "--agents", BOTH)
    assert format_() == 2
    made.well("init", "--agents", "own")
    assert format_() == 1
