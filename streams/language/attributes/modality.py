"""The modality of a clause: whether it asserts that its value holds now.

"I used to live in Rome", "I might move to Oslo", "If I lived in Paris" and "I don't eat pork" have
values that do not hold, or not yet.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.streams.language.grammar.text_reading import ReadWord, ValueType
from recollect.streams.language.grammar.verbs import base_form
from recollect.text.lexicon import word_set

#: Tags between the first and the last verb of a group: "am not really thinking of moving".
_IN_GROUP = frozenset({"MD", "RB", "TO", "IN", "RP"})
_LINKS, _PARTICIPLES = frozenset({"IN", "TO"}), frozenset({"VBD", "VBN", "VBG"})
#: After a verb of any tense, these say that one has left: "is back from", "gets home from".
_RETURNED = word_set("back home away out")
_DENIALS = word_set("not never hardly almost nearly cannot")
_POSSIBLE = word_set("would might may could should 'd ’d")
#: Verbs of wishes and plans, in their base forms.
_WISHES = word_set("want wish hope plan think consider dream intend try imagine pretend")
#: Verbs of states, which are over in the past tense, and verbs that end one, in their base forms.
STATES = word_set("be live work have own study attend belong rent play drive teach eat drink smoke")
_ENDS = word_set("leave quit lose resign sell stop")
#: Verbs of looking at or buying something that one has not, or not yet, with their other forms if
#: these are not known as verbs; and the types of values that one can look at.
_LOOKS = word_set(
    """see look show check browse visit buy consider view views viewed viewing inspect inspects
    inspected inspecting tour tours toured touring"""
)
_VIEWED = frozenset[ValueType]({"home", "address", "school", "employer"})
_SUPPOSES = word_set("if unless wish suppose imagine")
_FORMER = word_set("ex former previous")
#: How far before the verb, in words, "if" makes it a supposition, and before the value, in words,
#: "former" ends it.
_SUPPOSED_WITHIN, _FORMER_WITHIN = 5, 4
#: Types whose values last. A past tense does not end the time, place or price of a thing.
_LASTING = frozenset[ValueType](
    {
        *("home", "address", "employer", "job", "school", "partner", "family", "relation"),
        *("pet", "diet", "allergy", "health", "language", "possession", "habit", "skill"),
        *("membership", "like", "dislike"),
    }
)


def is_asserted(words: Sequence[ReadWord], lowers: Sequence[str], type_: ValueType) -> bool:
    """Whether the words before a value assert that it holds now; without a verb, they do.

    `words` and `lowers`: the words of the clause up to the value, as read and in lower case;
    `type_`: the type of the value.
    """
    if any(map(is_former, lowers[-_FORMER_WITHIN:])):
        return False
    verbs = [place for place, each in enumerate(words) if each.tag.startswith("VB")]
    if not verbs:
        return True
    last = verbs[-1]
    first, end = verb_group(words, last)
    group = lowers[first:end]
    if not _POSSIBLE.isdisjoint(group) or (type_ != "dislike" and any(map(denies_verb, group))):
        return False
    if not _SUPPOSES.isdisjoint(lowers[max(0, first - _SUPPOSED_WITHIN) : first]):
        return False
    before = {base_form(lowers[place]) for place in verbs if first <= place < last}
    if not _WISHES.isdisjoint(before) or "used" in lowers[first:last]:
        return False
    if not _ENDS.isdisjoint(before) or ("give" in before and "up" in group):
        return False
    base = base_form(lowers[last])
    if type_ in _VIEWED and base in _LOOKS and "after" not in lowers[last + 1 : last + 2]:
        return False
    is_past = words[last].tag == "VBD" and base in STATES
    # "We moved from Ghent", "We are back from Ghent": what follows the last preposition is left.
    links = [place for place in range(end, len(words)) if words[place].tag in _LINKS]
    leaves = words[last].tag in _PARTICIPLES or not _RETURNED.isdisjoint(lowers[last + 1 :])
    is_left = leaves and bool(links) and lowers[links[-1]] == "from"
    return type_ not in _LASTING or not (is_past or is_left or base in _ENDS)


def verb_group(words: Sequence[ReadWord], verb: int) -> tuple[int, int]:
    """Return the bounds of the group of verbs that ends with a verb, with adverbs around it."""
    first, end = verb, verb + 1
    while first > 0 and (
        words[first - 1].tag in _IN_GROUP or words[first - 1].tag.startswith("VB")
    ):
        first -= 1
    while end < len(words) and words[end].tag == "RB":
        end += 1
    return first, end


def denies_verb(lower: str) -> bool:
    """Whether a lower-case word in a group of verbs negates it: "never", "don't"."""
    return lower in _DENIALS or lower.endswith(("n't", "n’t"))


def is_former(lower: str) -> bool:
    """Whether a lower-case word or value names something former: "ex-wife"."""
    return lower in _FORMER or lower.startswith("ex-")
