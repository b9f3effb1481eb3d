"""The seed's TestKnowledgeGraph (004, memory/021): entities, relationships, hops, retrieval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from recollect import Recollect, Zone
from recollect.home.home_directory import Home
from recollect.projections.recall.ranking.profiles import PROFILES
from recollect.projections.sqlite import rows
from recollect.streams.encoder.encoder import Encoder
from tests.library.kit import said
from tests.memory import Memory
from tests.recall.kit import ConceptEncoder, EncodedHome, Floats, say, tell, vector_of

TALK = (
    said("m1", "Grace Hopper works at Larch Labs.", peer_id="a"),
    said("m2", "Larch Labs is based in Oslo.", minute=1, peer_id="b"),
    said("m3", "Oslo is in Norway.", minute=2, peer_id="c"),
    said("m4", "The kettle leaks again.", by="Bob", minute=3, peer_id="d"),
)


class SameEncoder(ConceptEncoder):
    """An encoder that cannot tell one text from another."""

    def encode(self, texts: Sequence[str]) -> Floats:
        return np.stack([vector_of("dog") for _ in texts])

    def encode_query(self, text: str) -> Floats:
        return vector_of("dog")


class SameHome(EncodedHome):
    """A home with this encoder."""

    def load_encoder(self) -> Encoder:
        return SameEncoder()


def opened(directory: Path, home: type[EncodedHome]) -> Memory:
    Home.create_or_open(directory / "home", without_encoder=True)
    return Memory(home(directory / "home"))


class TestKnowledgeGraph:
    """By the names of the seed's tests."""

    @pytest.fixture
    def zone(self, tmp_path: Path) -> Iterator[Zone]:
        with Recollect(tmp_path / "home", encoder="none") as opened:
            zone = opened.zone("ada")
            zone.ingest(TALK)
            yield zone

    def test_the_graph_of_a_name_is_that_of_all_its_namesakes(self, zone: Zone) -> None:
        zone.ingest(
            [
                said("n1", "Hello from me.", by="Norway", minute=5, peer_id="e"),
                said("n2", "Grace Hopper lives in Norway.", minute=6, peer_id="f"),
            ]
        )
        types = {each.type for each in zone.neighbors("Norway", hops=0).entities}
        assert {"person", "place"} <= types
        assert "Oslo" in {each.name for each in zone.neighbors("Norway", hops=1).entities}

    def test_entities_are_extracted_with_their_types(self, zone: Zone) -> None:
        types = {one.name: one.type for one in zone.entities()}
        assert types["Grace Hopper"] == "person"
        assert types["Oslo"] == "place"
        assert "Larch Labs" in types

    def test_relationships_are_stored_with_type_weight_and_confidence(self, zone: Zone) -> None:
        found = {(one.source, one.type, one.target): one for one in zone.relationships("Oslo")}
        assert ("Larch Labs", "LOCATED_IN", "Oslo") in found
        assert all(one.weight == 1 and 0 < one.confidence < 1 for one in found.values())

    def test_each_type_between_two_entities_is_stored_once(self, tmp_path: Path) -> None:
        with opened(tmp_path, EncodedHome) as memory:
            tell(memory, [say("I live in Oslo.", "a"), say("I moved to Oslo in May.", "b")])
            node = memory.node
            with node.open(memory.zone, node.current(memory.zone)) as files:
                found = rows(
                    files.memory.connection,
                    "SELECT relationship_type, weight FROM relationships",
                )
        assert [kind for kind, _ in found] == ["LOCATED_IN"]

    def test_n_hops_are_traversed(self, zone: Zone) -> None:
        hops = {one.name: one.hops for one in zone.neighbors("Grace Hopper", hops=3).entities}
        assert hops["Larch Labs"] == 1
        assert hops["Oslo"] == 2
        assert hops["Norway"] == 3

    def test_the_graph_enhances_retrieval(self, zone: Zone) -> None:
        def found(mode: str) -> list[str]:
            answer = zone.recall(
                {
                    "query": "Where is Grace Hopper?",
                    "graph_mode": mode,
                    "profile": "graph",
                    "scope": ["events"],
                }
            )
            return [one.source_event_ids[0] for one in answer.results]

        assert "m2" not in found("none")
        assert "m2" in found("low")
        assert "m4" not in found("dual")

    def test_the_weights_are_the_seeds(self) -> None:
        weights = {arm: weight for arm, weight in PROFILES["graph"].weights.items() if weight}
        assert weights == {"semantic": 0.4, "keyword": 0.3, "graph": 0.3}

    def test_F4_equal_vectors_alone_merge_nothing(self, tmp_path: Path) -> None:
        with opened(tmp_path, SameHome) as memory:
            tell(
                memory,
                [
                    say("I met Grace Hopper in Oslo.", "a", by="Ann Lee"),
                    say("I met Alan Turing in Rome.", "b", by="Zoe Park"),
                ],
            )
            node = memory.node
            with node.open(memory.zone, node.current(memory.zone)) as files:
                identity = files.identity.connection
                names = {
                    str(name)
                    for (name,) in rows(
                        identity, "SELECT name FROM entities WHERE merged_into IS NULL"
                    )
                }
                proposed = rows(identity, "SELECT id FROM merge_candidates")
        assert {"Grace Hopper", "Alan Turing", "Ann Lee", "Zoe Park", "Oslo", "Rome"} <= names
        assert proposed == []
