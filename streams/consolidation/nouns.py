"""The singular of nouns, the noun of an activity, and the nouns that name no topic."""

from __future__ import annotations

from recollect.streams.consolidation.word_classes import word_class
from recollect.text.lexicon import word_set

_IRREGULAR = {
    "women": "woman",
    "men": "man",
    "children": "child",
    "grandchildren": "grandchild",
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
    "mice": "mouse",
    "wives": "wife",
    "knives": "knife",
    "lives": "life",
    "shelves": "shelf",
    "wolves": "wolf",
    "leaves": "leaf",
    "loaves": "loaf",
    "calves": "calf",
    "halves": "half",
    "thieves": "thief",
    "scarves": "scarf",
    "heroes": "hero",
    "potatoes": "potato",
    "tomatoes": "tomato",
    "echoes": "echo",
    "analyses": "analysis",
    "crises": "crisis",
    "diagnoses": "diagnosis",
    "theses": "thesis",
    "buses": "bus",
    "gases": "gas",
    "lenses": "lens",
    "viruses": "virus",
    "bonuses": "bonus",
    "campuses": "campus",
    "kids": "kid",
    "fam": "family",
    "biz": "business",
    "dice": "die",
    "headaches": "headache",
    "phenomena": "phenomenon",
    "criteria": "criterion",
}
_IN_IE = word_set(
    """movies cookies pies ties zombies selfies hoodies smoothies brownies calories rookies veggies
    foodies goalies pixies newbies goodies junkies neckties aunties sweeties cuties collies genies
    birdies walkies undies hankies besties onesies budgies"""
)
_ALSO_SINGULAR = word_set(
    """news series means species clothes politics economics physics mathematics maths gas bus lens
    jeans scissors pants shorts glasses savings thanks christmas canvas chaos diabetes atlas bias
    gymnastics electronics logistics ethics graphics athletics olympics headquarters goods earnings
    genetics acoustics ceramics robotics pajamas tights leggings surroundings belongings outskirts
    cosmos asbestos measles yes basis tennis"""
)
#: Activities; their forms in -ing and -ed count as the same activity.
_ACTIVITIES = word_set(
    """camp hike swim run jog paint draw sketch dance sing cook bake fish hunt bike cycle ride sail
    surf ski skate climb garden knit sew crochet box wrestle row dive kayak paddle travel tour
    volunteer tutor mentor coach counsel shop program code film photograph blog podcast race sprint
    stretch exercise workout train meditate diet compete farm brew craft carve
    weave sculpt print design renovate remodel repair protest campaign vote
    gamble bowl golf drum study research intern commute gym squash transition
    trek backpack snorkel scuba barbecue picnic"""
)
#: Verbs that name no topic, and nouns that are such verbs too.
_LIGHT = word_set(
    """look start help talk need try call show want love like hope plan change visit end use care
    thank share think work go get make take have do be say see come give know feel find keep let put
    set turn leave mean move run bring hold begin stay stop seem ask tell add pick check finish
    wait watch wish laugh smile focus support miss rest break catch step point touch reach spend
    feed drop chat answer meet open close offer order pay play stand lead hear become remind
    guess bet matter mind worry surprise deal fit join return sound struggle
    feature push pull process practice experience learn live
    cause cover face fill handle head lie lose pass raise rise save send sort state suit test
    trust value walk warm wonder
    follow update reply mention note message post text read write capture prepare organize relax
    spoke saw felt left found met led wore
    enjoy explore remember consider complete continue create include improve manage notice
    receive recommend replace request review schedule select sit speak stick suggest train treat
    understand welcome win dream rock blast hit cut kick hug hang strike"""
)
#: Nouns that name no topic.
_EMPTY = word_set(
    """hundred thousand million billion dozen
    thing stuff lot bit time times day week weekend month year hour minute second moment morning
    afternoon evening night today tomorrow yesterday date way kind sort type part piece side end
    start beginning middle rest half number amount couple pair set case fact idea thought reason
    point question answer problem issue matter situation example sense feeling mind heart soul
    life world place spot area person people guy man woman boy girl folk everyone everybody someone
    somebody anyone anything something nothing everything one ones other others self
    name word message text chat talk conversation reply comment mention note list item detail
    photo picture pic image video link post update news
    luck fun joy love happiness hope wish smile laugh hug thanks congrats congratulation
    step progress process change difference choice option decision goal dream challenge
    chance opportunity experience memory journey adventure
    view look sight scene
    hand eye head face body back
    help support care effort attention
    bunch ton load plenty majority rate level degree
    hey hi hello wow yeah yep yup nope ok okay lol haha hehe btw omg aw aww ah oh uh um hmm
    gonna wanna gotta kinda sorta dunno lemme
    yay yea whoa ugh oops phew awesomeness congratulations cheers
    due etc via
    rest plan use need want call try start end work deal
    thinking saying going doing being having getting making taking seeing knowing feeling looking
    talking trying wanting
    event activity stage form state condition result effect impact role
    inspiration motivation passion enthusiasm excitement dedication determination positivity
    creativity
    vibe mood spirit energy emotion
    value quality importance beauty
    bond connection relationship
    peace strength courage power
    color colour size shape
    favorite favourite
    honor honour pleasure respect pride
    ability possibility potential lack
    approach advance information direction suggestion method communication discussion requirement
    adjustment preparation parameter principle implementation increase exchange conduct contact
    track control core movement operation task procedure technique angle intensity setting
    reflection knowledge standard measure measurement data advice understanding learning teaching
    finding meaning path key voice identity growth perspective outlet wisdom balance chapter
    source reminder presence atmosphere confidence pressure priority purpose focus habit style
    yuan dollar euro pound percent kilometer kilometre metre km kg cm mile noon midnight evening
    every each several various following regarding according including due goes
    grasp wipe tip trick guidance limit limitation detail aspect factor field area region section
    site system tool equipment condition status function feature property version
    embrace build bonding sharing caring giving helping supporting being
    sir madam dear buddy pal mate dude bro
    url http https www com
    """
)
#: Nouns so frequent that a few facts with one are no evidence of a topic.
_COMMON = word_set(
    """friend family kid child home house room school team group book music game story money food
    car city company business job country mom dad mother father parent brother sister son daughter
    wife husband partner baby house water phone class course student teacher member community office
    service system movie film show song party birthday dinner lunch breakfast meal coffee trip
    store shop street town weather health"""
)
#: Nouns that are also adjectives or adverbs in the dictionary, but rarely in use.
_MAINLY_NOUNS = word_set(
    """game house party daughter piano animal plane dress chocolate vegetable camp army economy
    musical magic council marathon wood seed closet cloth cereal cherry fossil coral antique
    tutorial novel memorial detective designer radio motor twin adult patient resident immigrant
    ritual documentary diesel bay salt prize opening concrete copper beach stock trial marine
    submarine pedestrian vegetarian custom festival album rival champion ceramic collectible
    material capital medal cooler rash gala paperback comic animation orange net chief"""
)
#: Endings of adjectives and adverbs that the dictionary lacks, and of qualities.
_NO_NOUN = ("able", "ible", "ful", "ous", "less", "ness", "ivity", "ance", "ence")
_NOUNS_ALL_THE_SAME = word_set(
    """fitness illness wellness business wilderness witness harness ambulance insurance dance
    residence conference audience science allowance appliance finance furnace entrance romance
    clearance performance maintenance surveillance license fence table cable vegetable handful
    bible syllable mouthful spoonful sentence substance"""
)


def singular(lower: str) -> str:
    """Return the singular of a noun in lower case."""
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if lower in _IN_IE:
        return lower[:-1]
    if lower in _ALSO_SINGULAR or len(lower) < 4 or not lower.endswith("s"):
        return lower
    if lower.endswith("ies"):
        return lower[:-3] + "y"
    if lower.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return lower[:-2]
    return lower if lower.endswith(("ss", "us", "is")) else lower[:-1]


def activity(lower: str) -> str | None:
    """Return the base form of an activity in -ing or -ed: camp for camping."""
    for ending in ("ing", "ed"):
        stem = lower.removesuffix(ending)
        if stem != lower and len(stem) > 2:
            doubled = stem[:-1] if stem[-1] == stem[-2] else stem
            for base in (stem, doubled, stem + "e"):
                if base in _ACTIVITIES:
                    return base
    return lower if lower in _ACTIVITIES else None


def is_noun(lower: str) -> bool:
    """Return whether a word in lower case is mostly a noun, or a noun and a verb."""
    if lower.endswith(_NO_NOUN) and lower not in _NOUNS_ALL_THE_SAME:
        return False
    return lower in _MAINLY_NOUNS or word_class(lower) in ("noun", "noun or verb")


def is_topical(lemma: str) -> bool:
    """Return whether a noun, in the singular, can name a topic."""
    stem = lemma.removesuffix("ing")
    light = stem != lemma and not _LIGHT.isdisjoint((stem, stem[:-1], stem + "e"))
    return lemma not in _EMPTY and lemma not in _LIGHT and not light


def is_common(lemma: str) -> bool:
    """Return whether a noun is so frequent in English that a few mentions mean nothing."""
    return lemma in _COMMON
