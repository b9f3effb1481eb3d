"""A model's proposals: its tool calls about one event, validated before they are decided.

`recall` is a query; each call of another tool is a proposal, which writes nothing by itself. No
tool deletes: what a fact retracts or supersedes stays in the history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.ids import entity_id, fact_id, time_of
from recollect.schemas.names import normalise_name
from recollect.schemas.times import parse_query_time
from recollect.streams.agents.identity.entity_resolver import ENTITY_TYPES
from recollect.streams.agents.writer.model.proposed_slots import (
    ATTRIBUTES,
    EarlierMessage,
    ProposedSlot,
    Quotation,
    Shown,
    read_days,
    read_retracted,
    read_slot,
    require_own_words,
    takes_back,
)
from recollect.streams.agents.writer.model.quotations import plain_form, quoted_span
from recollect.streams.agents.writer.model.refusals import Refused, text_argument, unit_argument
from recollect.streams.language.relations.grounding import Said, evidence_span, fault, occurs

#: The version of the rules for new answers; answers are always decided by the version under which
#: they were recorded. Under version 1, quotations must match the message's characters exactly, and
#: restated facts are dropped. Before version 3, a fact gives no slot value, no days and no
#: retraction, and sentences that fill a slot are left to the rules.
CURRENT_RULES = 3
SLOT_RULES = 3

#: The name of the query tool, and of the one that proposes a version of the writer's own texts.
RECALL, PROPOSE_TEXT = "recall", "propose_writer_text"
#: The maximum number of proposals of a kind that are accepted for one event.
MAX_FACTS, MAX_OTHER_PROPOSALS = 20, 60
#: How far a fact's time may differ from the message's.
_MAX_TIME_DIFFERENCE_MS = 86_400_000
_MAX_NAME_LENGTH, _MAX_REASON_LENGTH, _MAX_TEXT_LENGTH = 100, 300, 8_000

#: Entity types that a model may give -> mention type (C5).
_MENTION_TYPES = {
    **{kind.casefold(): kind for kind in ENTITY_TYPES},
    "organisation": "ORG",
    "organization": "ORG",
    "company": "ORG",
    "place": "LOCATION",
    "project": "CONCEPT",
    "unknown": "OTHER",
}


class ProposedFact(msgspec.Struct, frozen=True):
    """A fact: its id, its sentence, and the span of its evidence in the message.

    Attributes:
        slot: the slot value that it states, or ends.
        days: the first and the last day that it is about (ISO dates).
        retracts: the earlier statement that it corrects or ends: a fact's id, or a quotation.
        takes_back: whether the rules read a correction, a denial or an end in its evidence.
    """

    id: str
    text: str
    start: int
    end: int
    slot: ProposedSlot | None = None
    days: tuple[str, str] | None = None
    retracts: str | Quotation | None = None
    takes_back: bool = False


class ProposedEntity(msgspec.Struct, frozen=True):
    """An entity: its id, its name and its mention type."""

    id: str
    name: str
    mention_type: str


class ProposedMerge(msgspec.Struct, frozen=True):
    """A proposed merge of two entities, with the model's confidence (0 to 1) and reason."""

    entity_a: str
    entity_b: str
    confidence: float
    reason: str


class ProposedText(msgspec.Struct, frozen=True):
    """A proposed version of the writer's role (`role`) or of a note, and why."""

    name: str
    text: str
    reason: str


class Proposed(msgspec.Struct, frozen=True):
    """All accepted proposals about one event, and the refused ones counted.

    `links` are (fact id, entity id), `causes` (cause, effect, strength), `refused` is reason ->
    count.
    """

    facts: dict[str, ProposedFact]
    entities: dict[str, ProposedEntity]
    links: tuple[tuple[str, str], ...]
    causes: tuple[tuple[str, str, float], ...]
    merges: tuple[ProposedMerge, ...]
    texts: tuple[ProposedText, ...]
    refused: dict[str, int]


class Proposals:
    """The proposals of a model about one event so far.

    `rules` is the version of the rules; `earlier` are the messages before it that the model was
    shown. `knows_entity` and `knows_fact` check ids that were not proposed here.
    """

    def __init__(
        self,
        event_id: str,
        said: Said,
        rules: int,
        earlier: Sequence[EarlierMessage] = (),
        knows_entity: Callable[[str], bool] = lambda _: True,
        knows_fact: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._event_id = event_id
        self._text = said.text
        #: Under the current rules, with one form of each mark.
        self._said = _in_plain_form(said) if rules > 1 else said
        self._shown = Shown(self._said, said.text, earlier)
        self._rules = rules
        self._knows_entity = knows_entity
        self._knows_fact = knows_fact
        self.facts: dict[str, ProposedFact] = {}
        self.entities: dict[str, ProposedEntity] = {}
        self.links: list[tuple[str, str]] = []
        self.causes: dict[tuple[str, str], float] = {}
        self.merges: list[ProposedMerge] = []
        self.texts: list[ProposedText] = []
        #: reason -> number of refused calls
        self.refused: Counter[str] = Counter()

    def all(self) -> Proposed:
        """Return all accepted proposals."""
        return Proposed(
            dict(self.facts),
            dict(self.entities),
            tuple(self.links),
            tuple((*pair, strength) for pair, strength in self.causes.items()),
            tuple(self.merges),
            tuple(self.texts),
            dict(self.refused),
        )

    def accept(self, name: str, arguments: str) -> dict[str, Any]:
        """Accept the call of a tool that proposes; return the tool's result.

        Raises:
            Refused: the call is invalid; it is counted in `refused`.
        """
        try:
            if name not in _TOOLS or (name == PROPOSE_TEXT and self._rules < SLOT_RULES):
                raise Refused("tool", f"there is no tool {name[:40]!r}")
            try:
                given = msgspec.json.decode(arguments)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                given = None
            if not isinstance(given, dict):
                raise Refused("form", "the arguments are not a JSON object")
            return _TOOLS[name](self, given)
        except Refused as refused:
            self.refused[refused.reason] += 1
            raise

    def _insert_fact(self, given: dict[str, Any]) -> dict[str, Any]:
        text = self._in_form(" ".join(text_argument(given, "text").split()))
        metadata = given.get("metadata")
        evidence = metadata.get("evidence") if isinstance(metadata, dict) else None
        if self._rules > 1 and evidence is None:
            # Some models put it next to the metadata instead of inside.
            evidence = given.get("evidence")
        if not isinstance(evidence, str):
            raise Refused("evidence", "metadata.evidence must quote this message, word for word")
        if given.get("source_event_id") not in (None, self._event_id):
            raise Refused("source", f"source_event_id must be {self._event_id}, this message")
        if given.get("as_of") is not None and not self._is_near(given["as_of"]):
            raise Refused("date", "as_of is when this message was said; leave it out")
        span = self._span(evidence)
        evidence = "" if span is None else self._in_form(self._text[slice(*span)])
        wrong = fault(text, evidence, self._said)
        if wrong is not None:
            raise Refused(*wrong)
        if len(self.facts) >= MAX_FACTS:
            raise Refused("many", f"at most {MAX_FACTS} facts from one message")
        assert span is not None
        id_ = model_fact_id(self._event_id, text, self._said.at_ms)
        fact = ProposedFact(id_, text, *span)
        if self._rules >= SLOT_RULES:
            fact = self._with_details(fact, given)
            self._link_subject(fact)
        self.facts.setdefault(id_, fact)
        return {"fact_id": id_}

    def _with_details(self, fact: ProposedFact, given: dict[str, Any]) -> ProposedFact:
        """Return a fact with its slot value, its days and what it retracts."""
        span, shown = (fact.start, fact.end), self._shown
        require_own_words(fact.text, span, shown)
        retracts = read_retracted(given.get("retracts"), shown)
        if isinstance(retracts, str) and not self._knows_fact(retracts):
            raise Refused("retracts", "retracts must be a fact_id or quote an earlier message")
        return msgspec.structs.replace(
            fact,
            slot=read_slot(given, fact.text, shown),
            days=read_days(given.get("days"), fact.text, span, shown),
            retracts=retracts,
            takes_back=retracts is not None and takes_back(self._text, span, self._said),
        )

    def _link_subject(self, fact: ProposedFact) -> None:
        """Link a fact to the subject of its value, unless that is the sender or unnamed."""
        slot, sender = fact.slot, self._said.names[:1]
        if slot is None or slot.attribute not in ATTRIBUTES:
            return
        is_name = slot.subject[0].isupper() and "'s " not in slot.subject
        subject = normalise_name(slot.subject)
        if not is_name or subject in map(normalise_name, sender):
            return
        id_ = entity_id(ENTITY_TYPES["PERSON"], subject, 0)
        self.entities.setdefault(id_, ProposedEntity(id_, slot.subject, "PERSON"))
        if (fact.id, id_) not in self.links:
            self.links.append((fact.id, id_))

    def _span(self, evidence: str) -> tuple[int, int] | None:
        """Return the span of evidence in the message, or None."""
        span = evidence_span(self._text, evidence)
        return quoted_span(self._text, evidence) if span is None and self._rules > 1 else span

    def _in_form(self, text: str) -> str:
        return plain_form(text) if self._rules > 1 else text

    def _is_near(self, given: Any) -> bool:
        try:
            at = parse_query_time(given)
        except InvalidInput:
            return False
        return abs(at - self._said.at_ms) <= _MAX_TIME_DIFFERENCE_MS

    def _create_entity(self, given: dict[str, Any]) -> dict[str, Any]:
        name = self._in_form(" ".join(text_argument(given, "name").split()))
        kind = _MENTION_TYPES.get(text_argument(given, "type").casefold())
        if kind is None:
            raise Refused("type", f"type must be one of {', '.join(sorted(_MENTION_TYPES))}")
        if len(name) > _MAX_NAME_LENGTH or not normalise_name(name) or not name.isprintable():
            raise Refused(
                "form", "name must consist of printable characters, one of them a letter or digit"
            )
        if not occurs(name, (self._said.text, *self._said.thread, *self._said.names)):
            raise Refused("name", f"{name!r} is neither in this message nor in those before it")
        if len(self.entities) >= MAX_OTHER_PROPOSALS:
            raise Refused("many", "too many entities for one message")
        id_ = entity_id(ENTITY_TYPES[kind], normalise_name(name), 0)
        self.entities.setdefault(id_, ProposedEntity(id_, name, kind))
        return {"entity_id": id_}

    def _link_fact_entity(self, given: dict[str, Any]) -> dict[str, Any]:
        fact, entity = text_argument(given, "fact_id"), text_argument(given, "entity_id")
        if fact not in self.facts:
            raise Refused("id", "fact_id must be one that insert_fact returned for this message")
        self._require_entity(entity)
        if len(self.links) >= MAX_OTHER_PROPOSALS:
            raise Refused("many", "too many links for one message")
        if (fact, entity) not in self.links:
            self.links.append((fact, entity))
        return {"ok": True}

    def _insert_causal_link(self, given: dict[str, Any]) -> dict[str, Any]:
        cause, effect = text_argument(given, "from_fact_id"), text_argument(given, "to_fact_id")
        strength = unit_argument(given, "strength")
        if cause == effect or not {cause, effect} & self.facts.keys():
            raise Refused(
                "id", "the two facts must differ, and at least one must be new in this message"
            )
        for fact in (cause, effect):
            if fact not in self.facts and not self._knows_fact(fact):
                raise Refused("id", f"there is no fact {fact[:40]!r} of this conversation")
        if len(self.causes) >= MAX_OTHER_PROPOSALS:
            raise Refused("many", "too many causes for one message")
        self.causes.setdefault((cause, effect), strength)
        return {"ok": True}

    def _propose_merge(self, given: dict[str, Any]) -> dict[str, Any]:
        one, other = text_argument(given, "entity_a_id"), text_argument(given, "entity_b_id")
        confidence = unit_argument(given, "confidence")
        reason = " ".join(text_argument(given, "reason").split())[:_MAX_REASON_LENGTH]
        if one == other:
            raise Refused("id", "these are the same entity")
        self._require_entity(one)
        self._require_entity(other)
        if len(self.merges) >= MAX_OTHER_PROPOSALS:
            raise Refused("many", "too many merges for one message")
        self.merges.append(ProposedMerge(one, other, confidence, reason))
        return {"status": "waits for review"}

    def _propose_writer_text(self, given: dict[str, Any]) -> dict[str, Any]:
        name = " ".join(text_argument(given, "name").split())
        text = text_argument(given, "text").strip()
        reason = " ".join(text_argument(given, "reason").split())[:_MAX_REASON_LENGTH]
        if len(name) > _MAX_NAME_LENGTH or not name.isprintable():
            raise Refused("form", "name must be role, or the name of a note")
        if len(text) > _MAX_TEXT_LENGTH or not text.replace("\n", " ").isprintable():
            raise Refused(
                "form", f"text must be plain text of at most {_MAX_TEXT_LENGTH:,} characters"
            )
        if self.texts:
            raise Refused("many", "only one proposal per message")
        self.texts.append(ProposedText(name, text, reason))
        return {"status": "waits for review"}

    def _require_entity(self, entity: str) -> None:
        if entity not in self.entities and not self._knows_entity(entity):
            raise Refused("id", f"there is no entity {entity[:40]!r}")


def _in_plain_form(said: Said) -> Said:
    return msgspec.structs.replace(
        said,
        text=plain_form(said.text),
        thread=tuple(map(plain_form, said.thread)),
        names=tuple(map(plain_form, said.names)),
    )


def model_fact_id(event_id: str, text: str, at_ms: int) -> str:
    """Return the id of a fact that a model wrote, which differs from the id of any rule's fact."""
    return fact_id(event_id, f"model: {text.casefold()}", at_ms)


def is_of_model(id_: str, event_id: str, text: str) -> bool:
    """Whether a fact of an event was written by a model, not by the rules."""
    return id_ == model_fact_id(event_id, text, time_of(id_))


_TOOLS: dict[str, Callable[[Proposals, dict[str, Any]], dict[str, Any]]] = {
    "insert_fact": Proposals._insert_fact,
    "create_entity": Proposals._create_entity,
    "link_fact_entity": Proposals._link_fact_entity,
    "insert_causal_link": Proposals._insert_causal_link,
    "propose_merge": Proposals._propose_merge,
    PROPOSE_TEXT: Proposals._propose_writer_text,
}
