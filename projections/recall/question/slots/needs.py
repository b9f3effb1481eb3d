"""Kinds of need, and the attributes of a person that serve them.

"Book a table for Ada" shares no word with "I'm vegetarian", and to an encoder they are hardly
similar. So a task that has a word of a kind of need is served by what is known of certain
attributes of the persons that it names or mentions as relatives or friends of the zone's owner, or
of the owner if it is about them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.entity_names import NamedEntity, entity_ids
from recollect.projections.recall.question.owner import owner_ids
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.slots.readable_claims import readable_claims
from recollect.projections.recall.question.slots.relatives_meant import (
    MeantRelative,
    own_relatives_in,
    persons_meant,
)
from recollect.projections.recall.question.times.past import asks_what_was

#: The maximum length of a task with a need, in characters; longer ones are about more than this.
MAX_NEED_LENGTH = 160
#: The maximum number of facts that serve the needs of a question.
MAX_NEEDED_FACTS = 8


def _words(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words.split(', '))})\b", re.IGNORECASE)


class Need(NamedTuple):
    """A kind of need: words of tasks of this kind, and the attributes that serve it, best first.

    `ambiguous` words count only in a task that names a person or mentions a relative: they have
    other senses in work on software ("third-party package", "call the function").
    """

    words: re.Pattern[str]
    ambiguous: re.Pattern[str]
    attributes: tuple[str, ...]

    def has_word(self, text: str, *, names_person: bool) -> bool:
        """Return whether a task is of this kind."""
        return self.words.search(text) is not None or (
            names_person and self.ambiguous.search(text) is not None
        )


NEEDS = {
    "food": Need(
        _words(
            "foods?, meals?, recipes?, cook(?:s|ing)?, bak(?:e|es|ing), restaurants?, dinners?, "
            "lunch(?:es)?, breakfasts?, brunch, supper, barbecue, cater(?:er|ers|ing)?, picnics?, "
            "snacks?, takeaway, groceries, dessert, cakes?, eat(?:s|ing)?, dine, dining"
        ),
        _words("menus?, dish(?:es)?, buffet, part(?:y|ies)"),
        ("diet", "health"),
    ),
    "gift": Need(_words("gifts?"), _words("presents?"), ("likes", "activity", "dislikes")),
    "delivery": Need(
        _words("parcels?, postcards?, courier"),
        _words(
            "packages?, letters?, deliver(?:y|ies|s)?, send(?:ing)?, visit(?:s|ing)?, route, "
            "directions, address"
        ),
        ("address", "home"),
    ),
    "travel": Need(
        _words(
            "travel(?:s|ling|ing)?, trips?, journeys?, flights?, holidays?, vacations?, hotels?"
        ),
        _words("fly(?:ing)?"),
        ("home", "fears"),
    ),
    "contact": Need(
        _words("my (?:phone )?number, my e-?mail(?: address)?"),
        _words("calls?, phone, ring, contact, e-?mails?, message, invite, invitations?"),
        ("phone", "email"),
    ),
    "medicine": Need(
        _words(
            "doctors?, gp, hospital, clinic, medicines?, medications?, pharmacy, painkillers?, "
            "pills?, prescriptions?, vaccin(?:e|es|ation|ations), antibiotics?"
        ),
        _words("treatments?"),
        ("health", "age"),
    ),
    "leisure": Need(
        _words(
            "films?, movies?, cinema, concerts?, theatre, outings?, excursions?, weekend, "
            "hobb(?:y|ies), playlists?"
        ),
        _words("games?"),
        ("likes", "dislikes", "activity", "fears"),
    ),
    "work": Need(
        _words("cv, résumé, my resume, career, recruiters?, job interview, job applications?"),
        _words("resume, interviews?, job, applications?, hir(?:e|ing)"),
        ("role", "employer", "work", "skill", "studies", "school", "language"),
    ),
    "pet": Need(_words("pets?, vets?, veterinary, kennels?"), _words("animals?"), ("pet",)),
    "birthday": Need(_words("birthdays?"), _words("cakes?"), ("birthday", "age")),
}

# What a need for food has to do with health.
_FOOD_HEALTH = re.compile(r"\b(?:allerg|intoleran|coeliac|celiac|diabet|pregnan)", re.IGNORECASE)
_OWN = re.compile(
    r"\b(?:i|i'm|i've|my|mine|myself|we|our|us|(?:for|with|and|find|book|order|cook|get) me)\b",
    re.IGNORECASE,
)
# A question with a person as its subject asks about that person, and its answer is similar to it.
_ASKED_ABOUT = re.compile(r"\b(?:did|does|do|has|had|is|are|was|were)\s+\Z", re.IGNORECASE)
# The owner beside a named person.
_ALSO_OWN = re.compile(r"\b(?:and (?:me|i)|me and|we|our|us)\b", re.IGNORECASE)
_OTHERS = _words(
    "friends?, guests?, colleagues?, boss, neighbours?, neighbors?, clients?, customers?, teams?, "
    "kids?, child(?:ren)?, babies, baby, mothers?, mum, mom, fathers?, dad, parents?, sisters?, "
    "brothers?, siblings?, sons?, daughters?, aunts?, uncles?, cousins?, nieces?, nephews?, "
    "grand\\w+, wife, husband, partner, girlfriend, boyfriend, fiancée?, teachers?, people, "
    "somebody, someone, them, their, him, his, her"
)


class NeededFact(NamedTuple):
    """A fact that serves a kind of need, and the place of its turn."""

    fact_id: str
    place: int
    need: str


def needs_of(text: str, *, names_person: bool) -> list[str]:
    """Return the kinds of need of a task; a question about the past has none."""
    if asks_what_was(text):
        return []
    return [kind for kind, need in NEEDS.items() if need.has_word(text, names_person=names_person)]


def needed_facts(question: ParsedQuestion, index: Index, files: ZoneFiles) -> list[NeededFact]:
    """Return the current facts that serve the needs of a question, the most needed first.

    Each fact is about a person that the question names, about a relative or friend of the zone's
    owner, or about the owner. Persons with an ambiguous name have none, and a long task has no
    needs.
    """
    if not index.row_kinds.claims or len(question.text) > MAX_NEED_LENGTH:
        return []
    persons = [item for item in question.named if item.senders or item.entity.type == "person"]
    relatives = own_relatives_in(question.text)
    kinds = needs_of(question.text, names_person=bool(persons or relatives))
    if not kinds:
        return []
    found: dict[str, tuple[int, int, NeededFact]] = {}
    for subjects in _subjects(question, persons, relatives, index, files):
        claims = readable_claims(
            subjects, index, valid_at=question.query.until, allowed=question.eligible
        )
        for place, claim in claims:
            for kind in kinds:
                attributes = NEEDS[kind].attributes
                if (
                    claim.attribute in attributes
                    and claim.fact_id not in question.ended.facts
                    and not _is_beside(kind, claim.attribute, claim.value)
                ):
                    rank = attributes.index(claim.attribute)
                    at = int(index.turns.occurred_at[place])
                    fact = NeededFact(claim.fact_id, place, kind)
                    found.setdefault(claim.fact_id, (rank, -at, fact))
    return [fact for *_, fact in sorted(found.values())][:MAX_NEEDED_FACTS]


def _is_beside(kind: str, attribute: str, value: str) -> bool:
    """Return whether a value has nothing to do with the need, though others of its attribute do."""
    return (kind, attribute) == ("food", "health") and not _FOOD_HEALTH.search(value)


def _subjects(
    question: ParsedQuestion,
    persons: Sequence[NamedEntity],
    relatives: Sequence[MeantRelative],
    index: Index,
    files: ZoneFiles,
) -> list[set[str]]:
    """Return the subjects of claims, a set for each person that a question is about.

    `persons`: those that it names; `relatives`: those that it mentions as the owner's.
    """
    text, identity = question.text, files.identity.connection
    starts = [*(item.start for item in persons), *(item.start for item in relatives)]
    if any(_ASKED_ABOUT.search(text[:start]) for start in starts):
        return []
    subjects = [
        {item.entity.normalized, *item.ids}
        for item in persons
        if entity_ids(identity, [item.entity]) == item.ids
    ]
    is_alone = not persons and not relatives
    is_own = _OWN.search(text) and not _OTHERS.search(text) if is_alone else _ALSO_OWN.search(text)
    owner = owner_ids(index.turns, identity) if is_own or relatives else set()
    for relative in relatives if owner else ():
        subjects += persons_meant(relative, owner, question, index, files)
    return [*subjects, owner] if is_own and owner else subjects
