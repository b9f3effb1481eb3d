"""What is kept in memory of a zone's files: turns, vectors, and where each fact was said."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.memory import recalls
from projections.recall.names import standing
from projections.recall.near import Targets
from projections.recall.tokens import Tokens
from projections.recall.turns import Turns
from projections.recall.vectors import Vectors

Mask = npt.NDArray[np.bool_]


class Index:
    """The files as they are at their watermarks; at others, another index must be made."""

    def __init__(self, files: ZoneFiles) -> None:
        self._files = files
        self._watermarks = _watermarks(files)
        self._standing: dict[str, str | None] = {}
        self.turns = Turns(files.events.connection)
        self.events = Targets(Vectors(files.embeddings, "event"), lambda: self.turns.place_of_id)
        self.facts = Targets(Vectors(files.embeddings, "fact"), lambda: self.place_of_fact)
        self.tokens = Tokens(files.embeddings, self.turns)
        self.observations = Vectors(files.embeddings, "observation")
        self.mental_models = Vectors(files.embeddings, "mental_model")

    def is_current(self) -> bool:
        """Return whether the files still stand where they stood when this was made."""
        return self._watermarks == _watermarks(self._files)

    def load(self) -> None:
        """Bring the vectors of turns and facts into memory, where they fit."""
        if self._files.embeddings.model is not None:
            self.events.vectors.load()
            self.facts.vectors.load()
            self.tokens.load()

    def standing(self, ids: Iterable[str]) -> dict[str, str]:
        """Return id -> id of the entity that now stands for it, of those that have one."""
        wanted = set(ids)
        if new := wanted - self._standing.keys():
            found = standing(self._files.identity.connection, new)
            self._standing |= {id_: found.get(id_) for id_ in new}
        known = ((id_, self._standing[id_]) for id_ in wanted)
        return {id_: stands for id_, stands in known if stands is not None}

    @cached_property
    def place_of_fact(self) -> dict[str, int]:
        """The turn from which each fact was drawn, of those that can be read."""
        place_of = self.turns.place_of_id
        return {
            fact: place_of[event]
            for fact, event in recalls.fact_sources(self._files.memory.connection)
            if event in place_of
        }

    @cached_property
    def gave_facts(self) -> Mask:
        """Which turns gave facts."""
        mask = np.zeros(len(self.turns), bool)
        mask[list(self.place_of_fact.values())] = True
        return mask

    @cached_property
    def unconcluded(self) -> Mask:
        """Which turns the agents have not got to: nothing is known of them but their words."""
        mask: Mask = self.turns.numbers > self._files.memory.watermark().number
        return mask


def _watermarks(files: ZoneFiles) -> list[int]:
    return [model.watermark().number for model in files.all]
