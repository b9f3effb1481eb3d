"""The seed's tests of memories, by their names: storing, querying, and how memories evolve."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import DecisionTimeout, InvalidInput, Recollect, UnknownId
from recollect.home.open_zone import unix_ms
from recollect.library.library_zone import Zone
from recollect.operations.ingestion.ingesting import command
from recollect.operations.memories.stored import memory_reading
from recollect.projections.memory.listing.stored_memory_list import MemoryFilter, memories
from recollect.schemas.events import RecallCount, RecallsCounted
from recollect.schemas.wire import MemoryInput, StoredMemory
from tests.library.kit import said

DAY = 86_400_000
#: What a memory is to earlier ones.
EVOLUTION = ("updates_ids", "extends_ids", "derived_from_ids")


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home") as recollect:
        yield recollect.zone("acme")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("plain") / "home", encoder="none") as recollect:
        yield recollect


@pytest.fixture
def plain(home: Recollect, request: pytest.FixtureRequest) -> Zone:
    """A zone of a home without an encoder, which tests share."""
    return home.zone(hashlib.sha256(request.node.name.encode()).hexdigest()[:16])


def store(zone: Zone, content: str, **attributes: object) -> str:
    (receipt,) = zone.store_memories([MemoryInput(content=content, **attributes)])  # type: ignore[arg-type]
    return receipt.event_id


def contents(found: object) -> list[str]:
    return [memory.content for memory in found]  # type: ignore[attr-defined]


def recalled(zone: Zone, question: str) -> list[str]:
    return [result.text for result in zone.recall(question, max_results=20).results]


class TestMemoryStore:
    def test_a_memory_comes_back_with_its_attributes(self, zone: Zone) -> None:
        id_ = store(
            zone,
            "Alice joined Google as a senior engineer",
            scope="user",
            user_id="alice",
            memory_type="fact",
            importance=0.8,
            namespace="/people/alice",
            path_key="job",
        )
        found = zone.stored_memory(id_)
        assert found.content == "Alice joined Google as a senior engineer"
        assert (found.scope, found.visibility, found.state) == ("user", "private", "active")
        assert (found.namespace, found.path_key, found.user_id) == ("/people/alice", "job", "alice")
        assert (found.importance, found.version, found.supersedes_id) == (0.8, 1, None)
        assert found.effective_importance == pytest.approx(0.8, abs=0.001)

    def test_enrichment_finds_entities_dates_and_stability(self, zone: Zone) -> None:
        id_ = store(zone, "Bob Stone moved to Oslo on 3 March 2024.", at="2024-05-01T10:00:00Z")
        found = zone.stored_memory(id_)
        assert found.person_refs == ["Bob Stone"]
        assert {"PERSON", "LOCATION", "DATE"} <= set(found.entity_types)
        assert (found.earliest_date, found.latest_date) == ("2024-03-03", "2024-03-03")
        assert [(each.text, each.first) for each in found.temporal_refs] == [
            ("3 March 2024", "2024-03-03")
        ]
        assert found.temporal_stability is not None
        place = found.entities[0]
        assert found.content[place.start : place.end] == place.text

    @pytest.mark.parametrize(
        ("text", "stability", "days"),
        [
            ("Alice was born on January 1, 1990.", "static", None),
            ("Alice works at Google.", "semi_dynamic", 365),
            ("Alice is currently in London.", "dynamic", 30),
        ],
    )
    def test_stability_has_the_lifetimes_of_the_seed(
        self, zone: Zone, text: str, stability: str, days: int | None
    ) -> None:
        found = zone.stored_memory(store(zone, text))
        assert (found.temporal_stability, found.estimated_ttl_days) == (stability, days)
        assert not found.is_stale

    def test_what_was_not_asked_for_is_not_shown(self, zone: Zone) -> None:
        found = zone.stored_memory(store(zone, "Bob moved to Oslo in May 2024.", enrichments=[]))
        assert not found.entities
        assert not found.temporal_refs
        assert found.temporal_stability is found.earliest_date is found.resolved_content is None

    def test_relative_dates_become_days(self, zone: Zone) -> None:
        id_ = store(
            zone,
            "Meeting scheduled for tomorrow at 2pm",
            at="2025-01-10T10:00:00Z",
            enrichments=["resolve_temporal"],
        )
        found = zone.stored_memory(id_)
        assert found.resolved_content == "Meeting scheduled for 2025-01-11 at 14:00"
        assert found.content == "Meeting scheduled for tomorrow at 2pm"

    def test_pronouns_become_names(self, zone: Zone) -> None:
        store(zone, "John Smith joined Google as a senior engineer.")
        id_ = store(zone, "He went to the store", enrichments=["resolve_coreferences"])
        assert zone.stored_memory(id_).resolved_content == "John Smith went to the store"

    @pytest.mark.parametrize(
        ("text", "words", "kind"),
        [
            ("Mary Jones plays the cello.", "Mary Jones", "PERSON"),
            ("Ada works at Acme Ltd.", "Acme Ltd", "ORG"),
            ("We met in Oslo.", "Oslo", "LOCATION"),
            ("It began on 3 March 2024.", "3 March 2024", "DATE"),
            ("The train leaves at 14:30.", "14:30", "TIME"),
            ("It cost 250 euros.", "250 euros", "NUMBER"),
            ("I speak German.", "German", "CONCEPT"),
            ("We ran at the Berlin Marathon.", "Berlin Marathon", "EVENT"),
            ("My new iPhone 15 broke.", "iPhone 15", "PRODUCT"),
            ("The service uses PostgreSQL.", "PostgreSQL", "TECHNOLOGY"),
            ("Write to ada@example.org.", "ada@example.org", "EMAIL"),
            ("See https://example.org/plan for more.", "https://example.org/plan", "URL"),
            ("I drive a Toyota Corolla.", "Toyota Corolla", "OTHER"),
        ],
    )
    def test_C5_each_of_the_thirteen_types_has_its_place(
        self, plain: Zone, text: str, words: str, kind: str
    ) -> None:
        found = plain.stored_memory(store(plain, text))
        (entity,) = [each for each in found.entities if each.text == words]
        assert entity.type == kind
        assert text[entity.start : entity.end] == words
        assert 0 < entity.confidence <= 1
        assert text in contents(plain.query_memories(entity_type=kind))

    def test_C4_relationships_are_triples_of_names(self, plain: Zone) -> None:
        asked = ["extract_relationships"]
        id_ = store(plain, "Alice manages Bob Stone.", enrichments=asked, scope="user")
        found = plain.stored_memory(id_)
        triples = [(each.subject, each.predicate, each.object) for each in found.relationships]
        assert triples == [("Alice", "MANAGES", "Bob Stone")]
        assert found.relationship_count == 1
        assert 0 < found.relationships[0].confidence <= 1
        silent = plain.stored_memory(store(plain, "Alice manages Tim Lane.", enrichments=[]))
        assert not silent.relationships

    def test_C4_a_memory_updates_the_one_whose_fact_it_replaces(self, plain: Zone) -> None:
        old = store(plain, "Bob lives in Rome.")
        new = store(plain, "Actually, Bob lives in Oslo.", enrichments=["detect_evolution"])
        assert plain.stored_memory(new).updates_ids == [old]
        plain.forget(old)
        assert plain.stored_memory(new).updates_ids == []

    @pytest.mark.parametrize("scope", ["zone", "user"])
    @pytest.mark.parametrize(
        ("earlier", "later", "relation"),
        [
            ("Maya Lund works at Volvo.", "Maya Lund also leads a team at Volvo.", "extends_ids"),
            ("Nils plays the cello.", "Additionally, Nils plays the piano.", "extends_ids"),
            ("Olga is allergic to nuts.", "Therefore Olga cannot eat satay.", "derived_from_ids"),
            ("The deploy runs on Monday.", "Actually, the deploy runs on Friday.", "updates_ids"),
        ],
    )
    def test_C9_a_memory_says_what_it_is_to_the_one_before(
        self, plain: Zone, earlier: str, later: str, relation: str, scope: str
    ) -> None:
        view = plain.acting_as(user="ada")
        asked: dict[str, object] = {"scope": scope, "enrichments": ["detect_evolution"]}
        old = store(view, earlier, **asked)
        store(plain.acting_as(user="bob"), "The sky was grey.", scope="user")
        new = view.stored_memory(store(view, later, **asked))
        found = {name: getattr(new, name) for name in EVOLUTION}
        assert found == {name: [old] if name == relation else [] for name in EVOLUTION}
        current = {fact.text for fact in view.facts()}
        assert (earlier in current) == (relation != "updates_ids")
        plain.forget(old)
        assert not getattr(view.stored_memory(new.memory_id), relation)
        assert plain.verify().ok

    @pytest.mark.parametrize(
        "earlier",
        ["The deploy runs on Monday. The office door is red.", "The lunch is on Tuesday."],
    )
    def test_C9_a_correction_ends_no_text_that_says_more_or_something_else(
        self, plain: Zone, earlier: str
    ) -> None:
        store(plain, earlier)
        store(plain, "Actually, the deploy runs on Friday.")
        assert earlier in {fact.text for fact in plain.facts()}

    def test_C9_a_private_memory_corrects_and_extends_no_public_one(self, plain: Zone) -> None:
        told = ("The deploy runs on Monday.", "I sing in the choir in Porto.")
        old = [store(plain, text) for text in told]
        view = plain.acting_as(user="ada")
        for text in ("Actually, the deploy runs on Friday.", "I also sing in a choir in Rome."):
            store(view, text, scope="user", enrichments=["detect_evolution"])
        assert set(told) <= {fact.text for fact in plain.facts()}
        assert not any(plain.stored_memory(id_).extended_by_ids for id_ in old)

    def test_C7_a_memory_is_stale_after_its_time_to_live(
        self, plain: Zone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        id_ = store(plain, "Alice is currently in London.")
        now = unix_ms()
        for days, is_stale in ((29, False), (31, True)):
            at = now + days * DAY
            monkeypatch.setattr(memory_reading, "unix_ms", lambda at=at: at)
            assert plain.stored_memory(id_).is_stale == is_stale, days
        found = plain.query_memories(temporal_stability="dynamic")
        assert [each.memory_id for each in found] == [id_]
        assert not plain.query_memories(temporal_stability="static").memories

    def test_C11_a_read_restores_the_importance(
        self, plain: Zone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        id_ = store(plain, "Tea.", importance=0.8)
        later = unix_ms() + 10 * DAY
        monkeypatch.setattr(memory_reading, "unix_ms", lambda: later)
        found = plain.stored_memory(id_)
        assert found.effective_importance == pytest.approx(0.8 * 0.95**10, abs=0.001)
        assert found.importance == 0.8
        read = RecallsCounted(source_id="r", accesses=(RecallCount("memory", id_, 3),))
        command(plain._zone, read, later - DAY)
        found = plain.stored_memory(id_)
        assert found.effective_importance == pytest.approx(0.8 * 0.95, abs=0.001)
        assert found.access_count == 3

    def test_a_text_just_stored_has_the_importance_that_was_given(self, plain: Zone) -> None:
        assert plain.stored_memory(store(plain, "Tea.", importance=0.8)).effective_importance == 0.8

    def test_importance_decays_by_a_twentieth_a_day(self, zone: Zone) -> None:
        from recollect.schemas.memory_terms import decayed_importance

        assert decayed_importance(0.8, 0, 10 * DAY) == pytest.approx(0.48, abs=0.005)
        assert decayed_importance(0.8, 0, 400 * DAY) == 0.1

    def test_a_batch_is_stored_whole_or_not_at_all(self, zone: Zone) -> None:
        with pytest.raises(InvalidInput, match="importance is 2"):
            zone.store_memories(
                [MemoryInput(content="Tea."), MemoryInput(content="Coffee.", importance=2)]
            )
        assert not zone.exists()

    @pytest.mark.parametrize(
        "wrong", [{"namespace": "x" * 513}, {"path_key": "x" * 257}, {"importance": -0.1}]
    )
    def test_values_out_of_range_are_refused(self, zone: Zone, wrong: dict[str, object]) -> None:
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            store(zone, "Tea.", **wrong)


class TestMemoryQuery:
    def test_every_filter_narrows(self, zone: Zone) -> None:
        store(zone, "Bob Stone met Mary Jones in Oslo in May 2024.", memory_type="experience")
        store(zone, "Tea is better than coffee.", memory_type="preference", namespace="/likes/tea")
        assert contents(zone.query_memories(memory_type="preference")) == [
            "Tea is better than coffee."
        ]
        bob = ["Bob Stone met Mary Jones in Oslo in May 2024."]
        assert contents(zone.query_memories(person="bob stone")) == bob
        assert contents(zone.query_memories(entity_type="location")) == bob
        assert contents(zone.query_memories(first="2024-05-01", last="2024-06-01"))
        assert not contents(zone.query_memories(first="2024-05-02"))
        assert not contents(zone.query_memories(person="Bob", memory_type="preference"))

    def test_many_ids_find_no_other_memory(self, zone: Zone) -> None:
        wanted = store(zone, "Tea.")
        store(zone, "Coffee.")
        chosen = MemoryFilter(ids=[wanted, *(f"unknown-{n}" for n in range(3_000))])
        with zone._zone.files() as files:
            found = memories(files.memory.connection, chosen, None, 10)
        assert [each.memory.id for each in found] == [wanted]

    def test_namespaces_are_listed_exactly_and_by_prefix(self, zone: Zone) -> None:
        for name in ("/p/a", "/p/a/x", "/p/b", "/q"):
            store(zone, f"In {name}.", namespace=name)
        assert contents(zone.query_memories(namespace="/p/a")) == ["In /p/a."]
        assert set(contents(zone.query_memories(namespace_prefix="/p/"))) == {
            "In /p/a.",
            "In /p/a/x.",
            "In /p/b.",
        }

    def test_pages_go_on_after_a_thousand(self, zone: Zone) -> None:
        for start in range(0, 1_200, 400):
            zone.store_memories(
                [MemoryInput(content=f"Number {n}.") for n in range(start, start + 400)]
            )
        seen: list[str] = []
        cursor = None
        while True:
            page = zone.query_memories(cursor=cursor, limit=500)
            seen += contents(page)
            if (cursor := page.cursor) is None:
                break
        assert sorted(seen) == sorted(f"Number {n}." for n in range(1_200))

    def test_during_is_a_year_a_month_or_a_day(self, zone: Zone) -> None:
        store(zone, "Tea.")
        made = zone.query_memories()[0].created_at
        for period in (made[:4], made[:7], made[:10]):
            assert contents(zone.query_memories(during=period)) == ["Tea."]
        assert not contents(zone.query_memories(during="2019-02"))
        with pytest.raises(InvalidInput, match="during"):
            zone.query_memories(during="2019-13")

    def test_relationships_follow_the_names_behind_pronouns(self, plain: Zone) -> None:
        text = "Alice Smith joined Acme Corp. She works with Bob Stone."
        flags = ["extract_entities", "extract_relationships"]
        for enrichments, expected in (
            (flags, set()),
            ([*flags, "resolve_coreferences"], {("Alice Smith", "WORKS_WITH", "Bob Stone")}),
        ):
            id_ = store(plain, text, enrichments=enrichments, path_key="who")
            stated = plain.stored_memory(id_).relationships
            of_people = {(e.subject, e.predicate, e.object) for e in stated if "Bob" in e.object}
            assert of_people == expected

    def test_points_in_time_give_what_was_true_or_known_then(self, zone: Zone) -> None:
        store(
            zone,
            "The office is in Rome.",
            valid_at="2020-01-01T00:00:00Z",
            invalid_at="2022-01-01T00:00:00Z",
        )
        assert not contents(zone.query_memories())
        assert contents(zone.query_memories(superseded=True))
        assert contents(zone.query_memories(valid_at="2021-01-01"))
        assert not contents(zone.query_memories(valid_at="2022-01-01"))
        assert not contents(zone.query_memories(known_at="2021-06-01"))

    def test_what_was_known_then_is_the_version_of_then(self, zone: Zone) -> None:
        first = store(zone, "The code is 1.", namespace="/door", path_key="code")
        then = zone.stored_memory(first).created_at
        store(zone, "The code is 2.", namespace="/door", path_key="code")
        assert contents(zone.query_memories(known_at=then)) == ["The code is 1."]
        assert contents(zone.query_memories()) == ["The code is 2."]
        both = ["The code is 2.", "The code is 1."]
        assert contents(zone.query_memories(superseded=True)) == both

    @pytest.mark.parametrize(
        ("name", "known"),
        [
            ("scope", "global"),
            ("memory_type", "preference"),
            ("state", "deleted"),
            ("tier", "archival"),
            ("temporal_stability", "semi_dynamic"),
            ("entity_type", "TECHNOLOGY"),
        ],
    )
    def test_a_query_for_a_value_that_does_not_exist_names_those_that_do(
        self, zone: Zone, name: str, known: str
    ) -> None:
        with pytest.raises(InvalidInput, match=f"^{name} .*: choose from .*{known}"):
            zone.query_memories(**{name: "PREFERRED"})  # type: ignore[arg-type]
        assert not contents(zone.query_memories(**{name: known}))  # type: ignore[arg-type]

    def test_inactive_memories_are_nowhere_until_approved(self, zone: Zone) -> None:
        id_ = store(zone, "The deploy key is in the blue safe.")
        store(zone, "Bob plays the cello.")
        assert any("blue safe" in text for text in recalled(zone, "Where is the deploy key?"))
        zone.set_memory_state([id_], "inactive")
        assert not any("blue" in text for text in recalled(zone, "Where is the deploy key?"))
        assert "blue" not in zone.context("Where is the deploy key?").block
        assert not any("blue" in fact.text for fact in zone.facts())
        assert not any("blue" in text for text in contents(zone.query_memories()))
        assert contents(zone.query_memories(state="inactive")) == [
            "The deploy key is in the blue safe."
        ]
        assert zone.set_memory_state([id_], "active").changed == [id_]
        assert any("blue safe" in text for text in recalled(zone, "Where is the deploy key?"))
        assert any("blue" in fact.text for fact in zone.facts())

    def test_states_are_set_in_one_command(self, zone: Zone) -> None:
        ids = [store(zone, f"Number {n}.") for n in range(3)]
        before = int(zone.head().partition(":")[0])
        report = zone.set_memory_state([*ids, "unknown"], "deleted")
        assert int(zone.head().partition(":")[0]) == before + 1
        assert (report.changed, report.unknown) == (ids, ["unknown"])
        assert zone.set_memory_state(ids, "active").unchanged == ids
        assert zone.stored_memory(ids[0]).state == "deleted"


class TestMemoryEvolution:
    def test_a_path_key_makes_versions_of_one_memory(self, zone: Zone) -> None:
        first = store(zone, "Ada lives in Turin.", namespace="/ada", path_key="home")
        second = store(zone, "Ada lives in Oslo.", namespace="/ada", path_key="home")
        other = store(zone, "Bob lives in Rome.", namespace="/bob", path_key="home")
        old, new = zone.stored_memory(first), zone.stored_memory(second)
        assert (old.superseded_by_id, new.supersedes_id) == (second, first)
        assert (old.version, new.version, new.first_id) == (1, 2, first)
        assert zone.stored_memory(first, current=True).memory_id == second
        assert zone.stored_memory(other).version == 1
        assert [fact.text for fact in zone.facts(entity="Ada")] == ["Ada lives in Oslo."]

    def test_versions_come_a_page_at_a_time(self, zone: Zone) -> None:
        for n in range(5):
            id_ = store(zone, f"Number {n}.", namespace="n", path_key="k")
        pages, cursor = [], None
        while True:
            page = zone.memory_versions(id_, limit=2, cursor=cursor)
            pages.append([each.version for each in page])
            if (cursor := page.cursor) is None:
                break
        assert pages == [[1, 2], [3, 4], [5]]
        for wrong in ("x", "-1", "1.5"):
            with pytest.raises(InvalidInput, match="cursor"):
                zone.memory_versions(id_, cursor=wrong)

    def test_what_is_not_decided_yet_is_not_unknown(self, zone: Zone) -> None:
        store(zone, "First.")
        report = zone.ingest(said("m1", "Later."), wait=False)
        with pytest.raises(DecisionTimeout, match="not processed yet"):
            zone.trajectory("01KR3XZBC0BAQNHSCT9EJ4NDPT")
        with pytest.raises(UnknownId):
            zone.stored_memory("01KR3XZBC0BAQNHSCT9EJ4NDPT")
        zone.wait_for(report.token)
        with pytest.raises(UnknownId):
            zone.trajectory("01KR3XZBC0BAQNHSCT9EJ4NDPT")

    def test_the_chain_has_all_versions_from_any_of_them(self, zone: Zone) -> None:
        ids = [store(zone, f"The code is {n}.", namespace="/d", path_key="c") for n in range(4)]
        for id_ in ids:
            chain = zone.memory_versions(id_)
            assert [version.memory_id for version in chain] == ids
            assert [version.version for version in chain] == [1, 2, 3, 4]

    def test_a_rollback_is_a_new_version_with_the_old_text(self, zone: Zone) -> None:
        first = store(zone, "Ada lives in Turin.", namespace="/ada", path_key="home")
        second = store(zone, "Ada lives in Oslo.", namespace="/ada", path_key="home")
        back = zone.roll_back_memory(second, 1).event_id
        chain = zone.memory_versions(first)
        assert contents(chain) == [
            "Ada lives in Turin.",
            "Ada lives in Oslo.",
            "Ada lives in Turin.",
        ]
        assert chain[-1].memory_id == back
        assert [fact.text for fact in zone.facts(entity="Ada")] == ["Ada lives in Turin."]
        with pytest.raises(InvalidInput, match="versions 1 to 3"):
            zone.roll_back_memory(back, 9)

    def test_an_update_keeps_the_attributes(self, zone: Zone) -> None:
        id_ = store(zone, "Tea.", memory_type="preference", importance=0.9, namespace="/likes")
        new = zone.stored_memory(zone.update_memory(id_, "Coffee.").id)
        assert (new.memory_type, new.importance, new.namespace) == ("preference", 0.9, "/likes")
        assert (new.version, new.supersedes_id) == (2, id_)

    def test_a_diff_shows_the_lines_that_differ(self, zone: Zone) -> None:
        first = store(zone, "one\ntwo\nthree", namespace="/n", path_key="k")
        second = store(zone, "one\n2\nthree", namespace="/n", path_key="k")
        lines = zone.diff_memories(first, second).diff.splitlines()
        assert lines[:2] == [f"--- {first}", f"+++ {second}"]
        assert lines[3:] == [" one", "-two", "+2", " three"]

    def test_owners_do_not_share_a_path_key(self, zone: Zone) -> None:
        keys = {"namespace": "/n", "path_key": "k", "scope": "user"}
        store(zone, "Tea.", user_id="ada", **keys)
        bob = store(zone, "Coffee.", user_id="bob", **keys)
        assert zone.stored_memory(bob).version == 1

    def test_a_version_of_an_inactive_memory_is_inactive(self, zone: Zone) -> None:
        first = store(zone, "The code is 4711.", namespace="/d", path_key="c")
        zone.set_memory_state([first], "inactive")
        second = store(zone, "The code is 4712.", namespace="/d", path_key="c")
        assert zone.stored_memory(second).state == "inactive"
        assert not zone.facts()
        zone.set_memory_state([first], "active")
        assert [fact.text for fact in zone.facts()] == ["The code is 4712."]

    def test_unknown_ids_are_told_apart_from_none(self, zone: Zone) -> None:
        store(zone, "Tea.")
        for call in (zone.stored_memory, zone.memory_versions):
            with pytest.raises(UnknownId):
                call("01KR3XZBC0BAQNHSCT9EJ4NDPT")

    def test_everything_survives_a_rebuild(self, zone: Zone) -> None:
        first = store(zone, "Ada lives in Turin.", namespace="/ada", path_key="home")
        store(zone, "Ada lives in Oslo.", namespace="/ada", path_key="home")
        gone = store(zone, "Bob plays the cello.", scope="user", user_id="bob")
        zone.set_memory_state([gone], "inactive")
        before = _all(zone)
        assert zone.verify().ok
        for level in ("project", "derive"):
            zone.rebuild(level)
            assert _all(zone) == before
        assert [memory.memory_id for memory in zone.memory_versions(first)]
        assert zone.verify().ok

    @pytest.mark.parametrize("gone", [0, 1, 2])
    def test_forgetting_one_version_is_as_if_it_never_was(self, tmp_path: Path, gone: int) -> None:
        texts = ["Ada lives in Turin.", "Ada lives in Oslo.", "Ada lives in Rome."]

        def told(home: str, kept: list[str]) -> tuple[Zone, list[str]]:
            zone = opened.enter_context(Recollect(tmp_path / home)).zone("acme")
            ids = [
                store(zone, text, namespace="/ada", path_key="home", at=f"2026-05-0{n}T10:00:00Z")
                for n, text in enumerate(kept, 1)
            ]
            return zone, ids

        from contextlib import ExitStack

        with ExitStack() as opened:
            zone, ids = told("whole", texts)
            zone.forget(ids[gone])
            kept = [text for n, text in enumerate(texts) if n != gone]
            chain = zone.memory_versions(ids[0 if gone else 1])
            assert contents(chain) == kept
            assert [version.version for version in chain] == [1, 2]
            assert [fact.text for fact in zone.facts(entity="Ada")] == kept[-1:]
            assert zone.verify().ok


def _all(zone: Zone) -> list[StoredMemory]:
    from msgspec.structs import replace

    found = zone.query_memories(state="any", superseded=True)
    return [replace(memory, effective_importance=0.0) for memory in found]
