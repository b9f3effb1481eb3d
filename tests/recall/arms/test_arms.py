"""Each arm finds what it is there for, and says at which rank."""

from __future__ import annotations

import numpy as np
import pytest

from recollect import Query
from recollect.schemas.events import Attachment
from tests.memory import Memory
from tests.recall import oracle
from tests.recall.conftest import Open
from tests.recall.kit import DAY, MINUTE, START, ask, embedded, say, talk, tell, vector_of
from tests.recall.oracle import Line


def by_arm(memory: Memory, arm: str, text: str, **fields: object) -> list[str]:
    """Return the source's ids of what an arm found, by the arm's rank."""
    results = ask(memory, text, explain=True, max_results=1_000, scope=("events",), **fields)
    found = [result for result in results if arm in (result.arms or {})]
    found.sort(key=lambda result: (result.arms or {})[arm])
    return [result.source_event_ids[0] for result in found]


def test_the_keyword_arm_finds_other_forms_of_a_word(words_only: Memory) -> None:
    tell(words_only, [say("The hiking trails were muddy.", "a"), say("Nothing.", "b", peer_id="x")])
    assert by_arm(words_only, "keyword", "hikes on a trail") == ["a"]


def test_the_keyword_arm_folds_accents_and_case(words_only: Memory) -> None:
    tell(words_only, [say("We met at the CAFÉ.", "a")])
    assert by_arm(words_only, "keyword", "cafe") == ["a"]


def test_the_keyword_arm_reads_what_attachments_show(words_only: Memory) -> None:
    shown = Attachment(type="image", caption="a heron at dawn")
    tell(words_only, [say("Look!", "a", attachments=(shown,))])
    (result,) = ask(words_only, "heron")
    assert result.text == "Look! [a heron at dawn]"


def test_the_keyword_arm_finds_the_answer_beside_the_question(words_only: Memory) -> None:
    tell(
        words_only,
        talk(("Bob", "Which instrument did you pick?"), ("Ada", "The cello."))
        + talk(("Ada", "The oboe."), id="other", peer_id="elsewhere")
        + talk(("Ada", "The lute."), id="later", start=START + DAY),
    )
    assert by_arm(words_only, "keyword", "instrument") == ["m1", "m2"]


def test_the_statement_arm_finds_resolved_dates(words_only: Memory) -> None:
    tell(words_only, talk(("Ada", "I adopted a hound yesterday."), ("Bob", "I sold my boat.")))
    assert by_arm(words_only, "statement", "2026-01-04") == ["m1"]
    assert by_arm(words_only, "keyword", "2026-01-04") == []


def test_the_statement_arm_finds_who_spoke(words_only: Memory) -> None:
    tell(words_only, talk(("Ada", "I adopted a hound."), ("Bob", "I sold my boat.")))
    assert by_arm(words_only, "statement", "bob") == ["m2"]


def test_the_semantic_arm_finds_what_shares_no_word(memory: Memory) -> None:
    tell(memory, [say("We bought a retriever.", "a"), say("Rain again.", "b", peer_id="x")])
    assert by_arm(memory, "semantic", "dog", budget="low") == ["a"]


def test_the_semantic_arm_counts_the_neighbours(memory: Memory) -> None:
    tell(
        memory,
        [
            *talk(("Bob", "Tell me about your dog"), ("Ada", "Rex, eight"), ("Bob", "Ah")),
            say("Ice cream is cold", "far", peer_id="x"),
        ],
    )
    order = by_arm(memory, "semantic", "dog", budget="low")
    assert order[0] == "m1"
    assert order.index("m2") < 3


def test_the_sentence_arm_finds_a_turn_by_its_best_sentence(memory: Memory) -> None:
    long = "I went to the market. I bought bread. I own a retriever. I paid the rent late."
    tell(memory, [say(long, "long"), say("I bought bread and paid.", "short", peer_id="x")])
    assert by_arm(memory, "sentence", "own dog")[0] == "long"


def test_the_entity_arm_ranks_the_speaker_first(words_only: Memory) -> None:
    tell(
        words_only,
        talk(
            ("Ada Byron", "I sold my boat."),
            ("Bob", "Ada Byron came by."),
            ("Bob", "It rained."),
            ("Bob", "I visited Grace Hopper."),
        ),
    )
    assert by_arm(words_only, "entity", "What did Ada Byron do?") == ["m1"]
    assert by_arm(words_only, "entity", "Who knows Grace Hopper?") == ["m4"]


def test_the_entity_arm_takes_a_first_name_that_is_one_persons(words_only: Memory) -> None:
    tell(words_only, talk(("Bob", "Grace Hopper visited Paris."), ("Bob", "It rained.")))
    assert by_arm(words_only, "entity", "Who knows Grace?") == ["m1"]


def test_the_entity_arm_is_silent_where_two_who_take_part_are_named(words_only: Memory) -> None:
    tell(words_only, talk(("Ada", "I sold my boat."), ("Bob", "It rained.")))
    assert by_arm(words_only, "entity", "What did Ada tell Bob?") == []


@pytest.mark.parametrize("encoder", [True, False])
def test_the_causal_arm_follows_links_from_what_was_found_at_budget_high_alone(
    open_memory: Open, encoder: bool
) -> None:
    memory = open_memory(encoder=encoder)
    tell(memory, talk(("Ada", "I broke my wrist. That's why I sold the piano.")))
    question = "broke my wrist"
    assert by_arm(memory, "causal", question, budget="mid") == []
    assert by_arm(memory, "causal", question, budget="high") == ["m1"]


def test_the_vector_of_a_question_leaves_out_who_takes_part(memory: Memory) -> None:
    tell(memory, talk(("Ada", "I visited Grace Hopper."), ("Bob", "It rained.")))
    ask(memory, "anything")
    assert embedded(memory, "Where did Ada's uncle live?") == "Where did uncle live?"
    assert embedded(memory, "Where does Grace Hopper live?") == "Where does Grace Hopper live?"
    assert embedded(memory, "Ada") == "?"


def kept_of(text: str) -> np.ndarray:
    """Return the unit vector that is kept of a text, each number in one of sixteen steps."""
    vector = vector_of(text)
    steps = np.floor(8 * vector / np.abs(vector).max()).clip(-8, 7) + 0.5
    unit: np.ndarray = steps / np.linalg.norm(steps)
    return unit


def test_explained_ranks_are_those_of_brute_force(memory: Memory) -> None:
    words = ["dog", "car", "stone", "tree", "moon", "river", "bread", "boat"]
    random = np.random.default_rng(5)
    drafts, lines, said = [], [], {}
    for place in range(40):
        mine = random.choice(words, 3).tolist()
        conversation, at = "ab"[place % 2], START + place * MINUTE
        text = f"the {mine[0]} {mine[1]} {mine[2]}"
        drafts.append(say(text, f"m{place}", at=at, peer_id=conversation))
        lines.append(Line(conversation, at, ("the", *mine), len(text)))
        said[f"m{place}"] = text
    tell(memory, drafts)
    question = "dog river moon"

    asked = vector_of(question)
    raw = oracle.min_max({id_: float(kept_of(text) @ asked) for id_, text in said.items()})
    expected = {
        "keyword": oracle.ranks(dict(zip(said, oracle.bm25(lines, question.split()), strict=True))),
        "semantic": oracle.ranks(
            dict(zip(said, oracle.around(lines, [raw[id_] for id_ in said]), strict=True))
        ),
    }
    results = ask(memory, question, explain=True, max_results=100, scope=("events",))
    for arm, wanted in expected.items():
        found = {item.source_event_ids[0]: (item.arms or {}).get(arm) for item in results}
        assert {id_: rank for id_, rank in found.items() if rank} == wanted


def test_a_question_that_is_asked_ranks_below_its_answer(words_only: Memory) -> None:
    tell(
        words_only,
        [
            say("Is the old lighthouse closed? Is it?", "asks", peer_id="x"),
            say("The old lighthouse is closed now, it is.", "tells", peer_id="y"),
        ],
    )
    first = words_only.recall(Query("lighthouse closed", scope=("events",))).results[0]
    assert first.source_event_ids == ["tells"]
