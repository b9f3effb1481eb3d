"""The side of a memory that is asked: now, or as of the past."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.generations import Generation
from projections.recall import (
    DEFAULT_PROFILE,
    Answer,
    Explanation,
    Part,
    Profile,
    Query,
    QueryTokens,
    Recaller,
    Result,
)
from projections.recall.index import array_store
from projections.recall.question.query import check_moment
from recollect.asking import by_event, in_time, parted
from recollect.home import Home
from recollect.opened import Opened, unix_ms
from recollect.past import Past
from recollect.token import Token
from schemas.errors import Busy, InvalidInput
from schemas.zones import DEFAULT_ZONE
from streams.encoder import CrossEncoder
from streams.ledger import CHANGES, EVENTS, partition_of
from streams.system.locks import exclusive

Vector = npt.NDArray[np.float32]


class Recalling(Opened):
    """Answers questions by the files of the zone, and explains what became of a memory."""

    def __init__(
        self,
        home: Home | Path | str,
        zone: str = DEFAULT_ZONE,
        *,
        profile: Profile = DEFAULT_PROFILE,
    ) -> None:
        super().__init__(home, zone)
        self._profile = profile
        self._recaller: tuple[Generation, Recaller, ZoneFiles] | None = None
        self._reranker = self._rerank if self.home.settings.reranker is not None else None
        self._cross_encoder: CrossEncoder | None = None
        self._past = Past(self._node, self.zone, profile, self._reranker)
        self._folded_to: tuple[int, ...] = ()

    def close(self) -> None:
        """Close every file."""
        self._close_recaller()
        self._past.close()
        super().close()

    def recall(self, query: Query, *, known_at: int | Token | None = None) -> Answer:
        """Return what the memory holds on a question.

        `known_at`: answer as then, at a time (unix ms) or a place in the ledger, without what
        was forgotten since.

        Raises:
            InvalidInput: the question cannot be asked, or `known_at` is no place of this zone.
        """
        query = _checked(query, known_at)
        if not self.exists():
            return Answer(query=query.text, results=[], ms=0.0)
        recaller = self._recall() if known_at is None else self._recall_at(known_at)
        if recaller is None:
            return Answer(query=query.text, results=[], ms=0.0)
        parts = self._parts(query, recaller, known_at)
        answer = recaller.recall_all(query, parts)
        self._store_index()
        return answer

    def explain(
        self, query: Query, id_: str, *, known_at: int | Token | None = None
    ) -> Explanation | None:
        """Return what became of a memory in the answer to a question; None where there is none.

        Raises:
            InvalidInput: as `recall`.
        """
        query = _checked(query, known_at)
        if not self.exists():
            return None
        recaller = self._recall() if known_at is None else self._recall_at(known_at)
        if recaller is None:
            return None
        return recaller.explain(query, self._parts(query, recaller, known_at), id_)

    def follow_files(self) -> None:
        """Bring what is kept in memory of the files to where they are, as a question would first.

        Before any was asked, nothing is.
        """
        if self._recaller is not None and self._recaller[0] == self._node.current(self.zone):
            self._recaller[1].follow()

    def _parts(self, query: Query, recaller: Recaller, known_at: int | Token | None) -> list[Part]:
        """Return the questions that are asked at once, as the encoder reads them."""

        def ask(event: Query) -> list[Result]:
            return recaller.recall(event, *self._encoded(event, recaller)).results

        parts = []
        for words, one in parted(query, recaller):
            timed = by_event(in_time(one, recaller), recaller, ask)
            asked = self._asked(timed, known_at)
            parts.append(Part(asked, *self._encoded(asked, recaller), words))
        return parts

    def _asked(self, query: Query, known_at: int | Token | None) -> Query:
        """Return a question with the moment at which it is asked: now, or then."""
        if query.asked_at is not None:
            return query
        now = unix_ms()
        if isinstance(known_at, Token):
            known_at = self._past.timeline().known_since(known_at.number)
        at = now if known_at is None else min(known_at, now)
        return msgspec.structs.replace(query, asked_at=at)

    def _rerank(self, question: str, texts: Sequence[str]) -> Vector:
        """Judge texts by the home's cross-encoder, which is loaded when it is first needed."""
        if self._cross_encoder is None:
            self._cross_encoder = self.home.load_reranker()
        assert self._cross_encoder is not None
        return self._cross_encoder.score(question, texts)

    def _encoded(
        self, query: Query, recaller: Recaller
    ) -> tuple[Vector | None, QueryTokens | None]:
        """Return a question as the encoder reads it; nothing without an encoder or a word.

        Nothing, too, where the zone is indexed by another model's vectors: those of two models
        have nothing to say to one another, and words are found all the same.
        """
        if self._gateway.model is None or not query.text.strip():
            return None, None
        if recaller.encoder != self._gateway.model:
            return None, None
        text = recaller.text_to_embed(query.text)
        encoded = self._gateway.encoder().encode_query_tokens(text)
        return encoded.pooled, QueryTokens(text, encoded.offsets, encoded.vectors)

    def _store_index(self) -> None:
        """Keep beside the files what this process read of a large zone, for the next one."""
        if self._recaller is None or not self._recaller[1].worth_storing:
            return
        _, recaller, files = self._recaller
        # Without the right or the room to write, the next process reads it again.
        with suppress(Busy, OSError), exclusive(files.directory / array_store.LOCK, wait=False):
            recaller.store()

    def _recall(self) -> Recaller:
        """Return the recaller of the generation in use, with every raw turn of the ledger."""
        if not self._followed:
            self._fold()
        generation = self._node.current(self.zone)
        if self._recaller is None or self._recaller[0] != generation:
            self._close_recaller()
            files = self._node.open_to_read(self.zone, generation)
            self._recaller = (generation, Recaller(files, self._profile, self._reranker), files)
        return self._recaller[1]

    def _recall_at(self, known_at: int | Token) -> Recaller | None:
        """Return the recaller of what was known then; None where that was nothing."""
        if isinstance(known_at, Token) and known_at.partition != partition_of(self.zone):
            raise InvalidInput(f"token '{known_at}' is not of zone {self.zone}")
        now = self._recall()
        timeline = self._past.timeline()
        if isinstance(known_at, Token):
            number = min(known_at.number, len(timeline))
        else:
            number = timeline.last_known(known_at)
        return now if number == len(timeline) else self._past.recaller(number)

    def _fold(self) -> None:
        """Bring in what the ledger holds by now."""
        ledger = self._node.ledger
        ends = tuple(
            ledger.end(topic, partition_of(self.zone))
            for topic in ((EVENTS, CHANGES) if ledger.shared else (EVENTS,))
        )
        if ends == self._folded_to:
            return
        if ledger.shared:
            # Others conclude; what they did is as much part of the answer.
            self._node.follow(self.zone)
        else:
            self._node.project_turns(self.zone)
        self._folded_to = ends

    def _close_recaller(self) -> None:
        if self._recaller is not None:
            self._recaller[2].close()
            self._recaller = None


def _checked(query: Query, known_at: int | Token | None) -> Query:
    """Return a question that can be asked; its text is one.

    A command line may hand over bytes that are none.
    """
    text = query.text.encode("utf-8", "replace").decode().replace("\0", " ")
    query = msgspec.structs.replace(query, text=text)
    query.check()
    if isinstance(known_at, int):
        check_moment(known_at, "known_at")
    return query
