"""Forms of English verbs: a table of irregular verbs, and rules for the others."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.text.lexicon import BE_PRESENT, NOT_PAST, word_set

#: Base, past and participle of verbs whose last two forms do not end in -ed.
_IRREGULAR = """
arise arose arisen|awake awoke awoken|bear bore born|beat beat beaten|become became become
begin began begun|bend bent bent|bet bet bet|bind bound bound|bite bit bitten|bleed bled bled
blow blew blown|break broke broken|breed bred bred|bring brought brought|build built built
burn burnt burnt|buy bought bought|catch caught caught|choose chose chosen|come came come
cost cost cost|creep crept crept|cut cut cut|deal dealt dealt|dig dug dug|do did done
draw drew drawn|dream dreamt dreamt|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found|fit fit fit
flee fled fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten
forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone
grind ground ground|grow grew grown|hang hung hung|have had had|hear heard heard|hide hid hidden
hit hit hit|hold held held|hurt hurt hurt|keep kept kept|kneel knelt knelt|know knew known
lay laid laid|lead led led|leap leapt leapt|learn learnt learnt|leave left left|lend lent lent
let let let|lie lay lain|light lit lit|lose lost lost|make made made|mean meant meant
meet met met|mistake mistook mistaken|overcome overcame overcome|pay paid paid|put put put
quit quit quit|read read read|rebuild rebuilt rebuilt|ride rode ridden|ring rang rung
rise rose risen|run ran run|say said said|see saw seen|seek sought sought|sell sold sold
send sent sent|set set set|sew sewed sewn|shake shook shaken|shine shone shone|shoot shot shot
show showed shown|shrink shrank shrunk|shut shut shut|sing sang sung|sink sank sunk|sit sat sat
sleep slept slept|slide slid slid|smell smelt smelt|speak spoke spoken|spend spent spent
spill spilt spilt|spin spun spun|split split split|spoil spoilt spoilt|spread spread spread
stand stood stood|steal stole stolen|stick stuck stuck|sting stung stung|strike struck struck
swear swore sworn|sweep swept swept|swim swam swum|swing swung swung|take took taken
teach taught taught|tear tore torn|tell told told|think thought thought|throw threw thrown
understand understood understood|undergo underwent undergone|wake woke woken|wear wore worn
weave wove woven|weep wept wept|win won won|withdraw withdrew withdrawn|write wrote written
"""
_TABLE = [row.split() for row in _IRREGULAR.replace("|", "\n").split("\n") if row]
#: Past form -> base form.
_PAST = {past: base for base, past, _ in _TABLE}
_PARTICIPLES = frozenset(participle for _, _, participle in _TABLE) | {"been"}
_BASES = frozenset(base for base, _, _ in _TABLE)
#: Verbs whose past equals their present: "I put" may be either.
UNCERTAIN = frozenset(base for base, past, _ in _TABLE if base == past)
#: Past forms of irregular verbs, except those that may also be present forms.
PAST_FORMS = frozenset(_PAST) - UNCERTAIN - {"lay", "found", "ground", "wound"} | {
    "was",
    "were",
    "found",
}

#: Regular verbs that people use of themselves.
_REGULAR = word_set(
    """accept ache adapt add admire admit adopt adore agree aim allow answer appreciate apply
    approve argue arrange arrive ask attend avoid bake bark battle believe belong bike blame book
    borrow bother brew call camp cancel care carry celebrate change chat check clean climb close
    coach code collect come commute compete complain complete compose consider contact continue
    cook copy cough count cover crave create cry cycle dance date decide deliver deny depend
    deserve design despise develop die dine disagree discover discuss dislike dive donate doubt
    download draft dress drop dye earn edit eliminate embroider employ end enjoy enter escape
    examine exchange exercise exist expect experience explain explore express fail faint fancy
    farm fast fear film finish fish fix focus follow garden gather graduate guard guess guide handle
    happen harvest hate head heat help hike hire hope host hug hunt hurry imagine import improve
    include inherit injure insist install intend introduce invest invite itch jog join joke juggle
    jump kick kiss knit knock label lack land last laugh lecture lift like limit listen live load
    lock log look love lower mail maintain manage march marry master matter measure mention mentor
    mind miss mix move need note notice nurse obey observe offer open operate order organise
    organize owe own pack paint park participate pass pause perform phone pick plan plant play
    plead point polish post practice practise pray prefer prepare present press print produce
    promise pronounce propose protect provide publish pull push question race raise reach realise
    realize receive recommend record recover recycle reduce refuse regret relate relax rely
    remain remember remind renovate rent repair repeat replace reply report request rescue research
    rest retire return review risk rock row rush sail save schedule scream seem serve settle sew
    share ship shop shower sign ski skip smile smoke snore solve sort sound spray start
    stay stop stress stretch struggle study suffer suggest supervise supply support suppose
    surf swap switch talk taste test thank tolerate touch track trade train translate travel
    treat trust try turn tutor type unpack update upgrade use vacuum value visit vlog volunteer
    vote wait walk want warn wash waste watch water weigh welcome wish wonder work worry worship
    wrap yell"""
)
#: Base forms of common verbs.
BASES = _BASES | _REGULAR
#: Verbs that are as often nouns, so after "and" they may be either.
NOUNS_TOO = word_set(
    """ache answer bake battle bike blame book call camp care change chat check clean climb
    coach code copy cough count cover craft cry cycle dance date deal design doubt
    download draft dream dress drink drive drop dye end escape exchange exercise
    experience fall farm fast fear feed feel fight film finish fish fit fly garden guard
    guess guide handle head heat help hike hope host hug hunt hurt itch jog joke jump kick
    kiss knock label lack land laugh lead lecture lift light limit load lock log look love
    mail march master matter measure mind mix move need note nurse offer order own pack
    paint park pass pause phone plan plant play point polish post practice present press
    print promise question race raise reach read record regret request rescue research
    rest return review ride ring risk rock row run rush sail save schedule scream shake
    share ship shop show shower sign ski sleep smell smile smoke sort sound spray stand
    start stay stop stress stretch struggle study supply support surf swim swing switch
    talk taste test thank touch track trade train travel treat trust try turn tutor type
    update upgrade use value visit volunteer vote wait walk wash waste watch water welcome
    win wish wonder work worry wrap"""
)

_THIRD = {"be": "is", "am": "is", "are": "is", "have": "has", "do": "does", "go": "goes",
          "undergo": "undergoes", "were": "was", "don't": "doesn't", "haven't": "hasn't",
          "aren't": "isn't", "dont": "doesn't", "havent": "hasn't",
          "weren't": "wasn't"}  # fmt: skip
_SIBILANT = ("s", "x", "z", "ch", "sh", "o")


def third_person(base: str) -> str:
    """Return the third-person form of the present: "studies" for "study"."""
    if base in _THIRD:
        return _THIRD[base]
    if base.endswith("y") and base[-2:-1] not in ("a", "e", "i", "o", "u"):
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(_SIBILANT) else "s")


#: The third-person forms; the second set has none that may be the plural of a noun.
THIRDS = frozenset(map(third_person, BASES))
THIRDS_ALONE = frozenset(map(third_person, BASES - NOUNS_TOO))

#: Words that are verbs in the present, unlike "last" in "last week".
_PRESENT = (
    THIRDS_ALONE | (BASES - NOUNS_TOO - {"last"}) | BE_PRESENT | {"has", "i've", "we've", "they've"}
)


def is_past(word: str) -> bool:
    """Whether a word, if it is a verb, is a past form, which is the same for every person."""
    return word in PAST_FORMS or (word.endswith("ed") and word not in ("need", "feed", "bleed"))


def begins_in_past(lowers: Sequence[str]) -> bool:
    """Whether the first verb of a sentence, given as lower-case words, is in the simple past.

    "Ada joined the choir" is; "Ada has joined it" and "Ada lives where she was born" are not.
    """
    for lower in lowers:
        if lower in _PRESENT:
            return False
        if is_past(lower) and lower not in NOT_PAST:
            return True
    return False


def is_participle(word: str) -> bool:
    """Whether a word may be a participle after "have"."""
    return word in _PARTICIPLES or word.endswith("ed")


def base_form(word: str) -> str:
    """Return the base form of a lower-case verb; an unknown word is returned unchanged."""
    if word in _TO_BASE:
        return _TO_BASE[word]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word:
            found = {stem, f"{stem}e", stem[:-1]} & BASES
            if found:
                return max(found, key=lambda base: (len(base), base))
    return word


_TO_BASE = (
    {participle: base for base, _, participle in _TABLE}
    | _PAST
    | {third_person(base): base for base in BASES}
    | {f"{base[:-1]}ied": base for base in BASES if base.endswith("y")}
    | {base: base for base in BASES}
    | dict.fromkeys(("be", "am", "is", "are", "was", "were", "been", "being"), "be")
    | dict.fromkeys(("'m", "’m", "'re", "’re", "'s", "’s"), "be")
    | dict.fromkeys(("'ve", "’ve"), "have")
)
