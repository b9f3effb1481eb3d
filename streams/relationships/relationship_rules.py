"""The rules that find typed relationships in a sentence: classes of verbs and nouns, as data.

A rule gives the type of the relationship that a subject, a verb and a name after the verb state.
It applies to the present tense, and to the past tense only if the result lasts: whoever founded a
company is still its founder, but whoever worked there may have left. A rule of lower priority
applies where no other does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from recollect.schemas.choices import RelationshipType
from recollect.streams.language.grammar.verbs import BASES, third_person
from recollect.streams.relationships import sentence_names
from recollect.streams.relationships.sentence_names import Name, name_at
from recollect.text.declared_rules import Grammar, Reading, Rule, rule
from recollect.text.lexicon import AUXILIARIES, RELATIONS, word_set

#: The confidence of a rule whose words state the relationship, imply it, or only show that there
#: is one.
_STATED, _IMPLIED, _VAGUE = 0.9, 0.75, 0.65


class StatedRelationship(NamedTuple):
    """A relationship that a rule found, between two names of a sentence."""

    type: RelationshipType
    source: Name
    target: Name
    confidence: float


_BOSSES = word_set("boss manager supervisor superior")
_COLLEAGUES = word_set("colleague colleagues coworker coworkers teammate teammates workmate")
_STAFF = word_set("employee employees assistant intern interns subordinate trainee secretary")
_EMPLOYERS = word_set("company employer firm")
_RELATIVES = word_set(
    """son sons daughter daughters child children kid kids toddler brother brothers
    sister sisters sibling siblings twin twins triplets parents mother father mom mum mommy
    mummy mama maman dad daddy papa stepson stepdaughter stepmother stepfather stepmom
    stepdad stepbrother stepsister half-brother half-sister grandson grandsons granddaughter
    granddaughters grandchild grandchildren grandkid grandkids grandmother grandma granny
    grandfather grandpa grandparents niece nieces nephew nephews cousin cousins aunt aunts
    auntie uncle uncles mother-in-law father-in-law sister-in-law brother-in-law son-in-law
    daughter-in-law godson goddaughter"""
)
_CLOSE = (_RELATIVES | RELATIONS | {"spouse"}) - _BOSSES - _COLLEAGUES - _STAFF - {"named"}
_PETS = word_set(
    """cat cats kitten kittens kitty dog dogs puppy puppies pup pups doggo labrador labradors
    retriever retrievers shepherd shepherds poodle poodles beagle beagles husky huskies
    corgi corgis chihuahua chihuahuas bulldog bulldogs pug pugs dachshund dachshunds terrier
    terriers collie collies spaniel spaniels rottweiler rottweilers dalmatian dalmatians
    greyhound greyhounds schnauzer doberman labradoodle goldendoodle parrot parrots parakeet
    parakeets budgie budgies cockatiel bird birds hamster hamsters gerbil gerbils
    rabbit rabbits bunny bunnies goldfish turtle turtles tortoise tortoises snake
    snakes gecko geckos lizard lizards iguana ferret ferrets horse horses pony ponies
    chicken chickens hens goat goats sheep cow cows duck ducks rat rats mouse mice tarantula
    hedgehog hedgehogs chinchilla chinchillas pet pets tabby siamese bengal mutt pig pigs
    donkey donkeys llama llamas alpaca alpacas"""
)
_HEADS = word_set(
    "head manager leader boss ceo cto cfo coo director chair chairman chairwoman president captain "
    "coach principal supervisor"
)
_MAKING = word_set(
    """create creates created creating build builds built building write writes wrote written
    writing found founds founded founding cofounded develop develops developed developing design
    designs designed designing invent invented compose composes composed composing launch launched
    launching establish established paint paints painted painting produce produces produced
    author authored code coded coding organised organized organising organizing"""
)
_CHANGING = word_set(
    """modify modifies modified modifying edit edits edited editing change changes changed changing
    refactor refactors refactored refactoring rewrite rewrites rewrote rewritten rewriting redesign
    redesigned redesigning renovate renovated renovating repair repairs repaired repairing fix
    fixes fixed fixing revise revised revising improve improved improving upgrade upgraded
    upgrading update updates updated updating patch patched migrate migrated migrating maintain
    maintains maintaining"""
)
_LEADING = word_set(
    """manage manages managing lead leads leading head heads heading supervise supervises
    supervising oversee oversees overseeing run runs direct directs coach coaches"""
)
_REPLACING = word_set(
    "replace replaces replaced supersede supersedes superseded update updates updated"
)
_DOING_TOGETHER = word_set(
    """have has had having play plays played playing go goes went going do does did doing make made
    making eat ate eating spend spent spending share shared sharing study studied studying travel
    travelled traveled travelling train trained training discuss discussed discussing practise
    practiced practised conduct conducted arrange arranged hold held watch watched watching
    run ran running take took taking live lives living hang hung hanging chat chatted chatting talk
    talked talking speak spoke speaking meet met walk walked walking cook cooked cooking enjoy
    enjoyed attend attended visit visited complete completed finish finished"""
)
_MEETING = word_set(
    """meet meets met meeting visit visits visited visiting call calls called calling help helps
    helped helping teach teaches taught teaching know knows marry married date dating love loves
    loved invite invites invited inviting thank thanked support supports supported supporting tell
    told ask asked see saw seeing hug hugged miss misses mentor mentors mentored advise advises
    advised guide guides guided congratulate congratulated interview interviewed hire hired
    join joined accompany accompanied assist assisted remind reminded like likes admire admires"""
)
_GOING = word_set(
    """go goes went gone going travel travels travelled traveled travelling traveling fly flew drive
    drove ride rode walk walked move come came return returned"""
)
#: Verbs after which the two are no longer, or perhaps never were, related.
_ENDING = word_set(
    """leave left quit lose lost sell sold stop stopped cancel cancelled avoid miss missed need
    want wish hope dream forget forgot refuse refused deny denied doubt fail failed drop dropped
    give gave return returned throw threw hate consider expect imagine suppose mean meant seem
    become became feel felt say said think thought believe find found get got let put turn turned
    try tried start started begin began keep kept understand understood remember hear heard wait
    prefer decide decided reach reached pass passed cost"""
)
#: Verbs of other rules whose past tense means that something is over.
_OF_RULES = word_set(
    """own possess manage lead head supervise oversee run direct coach replace supersede require
    work collaborate cooperate partner report depend rely block live reside cite reference quote
    refer mention use extend build derive buy acquire join adopt move belong"""
)


def _forms(bases: frozenset[str]) -> frozenset[str]:
    """Return the present and the regular past of verbs."""
    past = frozenset(base + ("d" if base.endswith("e") else "ed") for base in bases)
    return bases | past | frozenset(map(third_person, bases))


_OTHER = (
    _forms(BASES) - _forms(_OF_RULES) - _forms(_ENDING) - _MAKING - _CHANGING - _MEETING
) - AUXILIARIES

_CLASSES = {
    "making": _MAKING,
    "made": _MAKING | {"made"},
    "changing": _CHANGING,
    "leading": _LEADING,
    "replacing": _REPLACING,
    "together": _DOING_TOGETHER,
    "meeting": _MEETING,
    "going": _GOING,
    "heads": _HEADS,
    "bosses": _BOSSES,
    "colleagues": _COLLEAGUES,
    "staff": _STAFF,
    "employers": _EMPLOYERS,
    "pets": _PETS,
    "close": _CLOSE,
    "other": _OTHER,
}

Make = Callable[..., StatedRelationship | None]


def _make(type_: RelationshipType, confidence: float, *, reverse: bool = False) -> Make:
    """Return a function that makes a relationship of a pattern's first and last captured name."""

    def make(_: object, *captured: object) -> StatedRelationship | None:
        names = [each for each in captured if isinstance(each, Name)]
        source, target = (names[-1], names[0]) if reverse else (names[0], names[-1])
        if source.entity_id == target.entity_id:
            return None
        return StatedRelationship(type_, source, target, confidence)

    return make


def _states(
    id: str,
    type_: RelationshipType,
    pattern: str,
    examples: str,
    *,
    counters: tuple[str, ...] = (),
    confidence: float = _STATED,
    reverse: bool = False,
    priority: int = 0,
    unless: str = "only complete",
) -> Rule:
    """Return a rule for relationships of a type."""
    return rule(
        id,
        "relationship",
        pattern,
        _make(type_, confidence, reverse=reverse),
        examples,
        unless=(unless,),
        counters=counters,
        priority=priority,
    )


_WHO, _DET, _LINK = "<who> <adverbs>?", "<det>?", "(\\,? | is | is named|called | named|called)"

RULES: tuple[Rule, ...] = (
    _states(
        "work with",
        "WORKS_WITH",
        f"{_WHO} work|works|working|collaborate|collaborates|collaborating|collaborated|cooperate|"
        f"cooperates|cooperating|partner|partners|partnered|team|teamed up? closely|together? with "
        f"{_DET} <person|group>",
        """
        Ada works closely with Bob. -> Ada WORKS_WITH Bob
        Ada has been working with her colleague Bob on it. -> Ada WORKS_WITH Bob
        Ada, who works with Bob, is ill. -> Ada WORKS_WITH Bob
        """,
        counters=(
            "Ada used to work with Bob.",
            "Ada will work with Bob.",
            "Does Ada work with Bob?",
            "Ada never works with Bob.",
            "If Ada works with Bob, she learns more.",
            "Ada works with Bob's brother.",
            "Ada worked with Bob.",
        ),
    ),
    _states(
        "work for",
        "WORKS_WITH",
        f"{_WHO} (work|works|working|employed (at|for|by) | work|works|working as <role> "
        f"(at|for|in)) {_DET} <group>",
        """
        Ada works for Acme. -> Ada WORKS_WITH Acme
        Ada now works as a nurse at Acme. -> Ada WORKS_WITH Acme
        Ada is employed by Acme. -> Ada WORKS_WITH Acme
        """,
        counters=(
            "Ada worked at Acme.",
            "Ada wants to work at Acme.",
            "Ada no longer works for Acme.",
            "Ada works for Acme's rival.",
        ),
    ),
    _states(
        "role at",
        "WORKS_WITH",
        f"<who_is> <role> (at|for) {_DET} <group>",
        """
        Ada is a senior nurse at Acme. -> Ada WORKS_WITH Acme
        """,
        counters=("Ada was a nurse at Acme.", "Ada might be a nurse at Acme."),
    ),
    _states(
        "colleague",
        "WORKS_WITH",
        f"<owner> <adjectives>? @colleagues {_LINK} <person>",
        """
        Ada's colleague Bob is ill. -> Ada WORKS_WITH Bob
        """,
        unless="only whole",
        counters=("Ada's former colleague Bob is ill.", "Ada's colleague knows Bob."),
    ),
    _states(
        "is a colleague",
        "WORKS_WITH",
        "<who_is> <owner> <adjectives>? @colleagues",
        """
        Bob is Ada's colleague. -> Ada WORKS_WITH Bob
        """,
        counters=("Bob is not Ada's colleague.", "Bob was Ada's colleague."),
        reverse=True,
    ),
    _states(
        "employer",
        "WORKS_WITH",
        f"<owner> <adjectives>? @employers {_LINK} <group>",
        """
        Ada's employer is Acme. -> Ada WORKS_WITH Acme
        """,
        unless="only whole",
        counters=("Ada's employer sued Acme.",),
        confidence=_IMPLIED,
    ),
    _states(
        "manage",
        "MANAGES",
        f"{_WHO} @leading {_DET} <person|group|place|thing>",
        """
        Ada manages Bob. -> Ada MANAGES Bob
        Ada is now leading the mobile Zephyr. -> Ada MANAGES Zephyr
        """,
        counters=(
            "Ada managed Bob.",
            "Ada can't manage Bob.",
            "Ada runs Acme races.",
            "Ada manages without Bob.",
        ),
    ),
    _states(
        "head of",
        "MANAGES",
        f"<who_is> the|a? <adjectives>? @heads (of|at) {_DET} <group|thing|place>",
        """
        Ada is the head of Acme. -> Ada MANAGES Acme
        Ada is a director at Acme. -> Ada MANAGES Acme
        """,
        counters=("Ada was the head of Acme.", "Ada is the head of Acme's rival."),
        priority=1,
    ),
    _states(
        "staff",
        "MANAGES",
        f"<owner> <adjectives>? @staff {_LINK} <person>",
        """
        Ada's assistant Bob is ill. -> Ada MANAGES Bob
        """,
        unless="only whole",
        counters=("Ada's former assistant Bob is ill.",),
        confidence=_IMPLIED,
    ),
    _states(
        "report to",
        "REPORTS_TO",
        f"{_WHO} (report|reports|reporting directly? to | work|works|working under) {_DET} "
        "<person>",
        """
        Bob reports directly to Ada. -> Bob REPORTS_TO Ada
        Bob works under Ada. -> Bob REPORTS_TO Ada
        """,
        counters=("Bob reported to Ada.", "Bob reports bugs to Ada.", "Bob should report to Ada."),
    ),
    _states(
        "boss",
        "REPORTS_TO",
        f"<owner> <adjectives>? @bosses {_LINK} <person>",
        """
        Bob's boss is Ada. -> Bob REPORTS_TO Ada
        Bob's new manager, Ada, is ill. -> Bob REPORTS_TO Ada
        """,
        unless="only whole",
        counters=("Bob's ex boss Ada is ill.", "Bob's boss met Ada."),
    ),
    _states(
        "is the boss",
        "REPORTS_TO",
        "<who_is> <owner> <adjectives>? @bosses",
        """
        Ada is Bob's boss. -> Bob REPORTS_TO Ada
        """,
        counters=("Ada isn't Bob's boss.", "Ada is Bob's boss's friend."),
        reverse=True,
    ),
    _states(
        "make",
        "CREATES",
        f"{_WHO} @making {_DET} <group|place|thing>",
        """
        Ada founded Acme. -> Ada CREATES Acme
        Ada has just written a new Zephyr. -> Ada CREATES Zephyr
        """,
        counters=(
            "Ada almost founded Acme.",
            "Ada plans to build Zephyr.",
            "Ada wrote to Acme.",
            "Did Ada build Zephyr?",
        ),
    ),
    _states(
        "made by",
        "CREATES",
        f"<who> <been> @made by {_DET} <person|group>",
        """
        Zephyr was built by Ada. -> Ada CREATES Zephyr
        """,
        counters=("Zephyr was not built by Ada.", "Zephyr was built by Ada's team."),
        reverse=True,
    ),
    _states(
        "founder of",
        "CREATES",
        f"<who_is> the|a? <adjectives>? founder|author|creator|inventor|designer of {_DET} "
        "<group|place|thing>",
        """
        Ada is the founder of Acme. -> Ada CREATES Acme
        """,
        counters=("Ada might be the founder of Acme.",),
        priority=1,
    ),
    _states(
        "change",
        "MODIFIES",
        f"{_WHO} @changing {_DET} <group|place|thing>",
        """
        Ada refactored the old Zephyr. -> Ada MODIFIES Zephyr
        Ada maintains Zephyr. -> Ada MODIFIES Zephyr
        """,
        counters=("Ada didn't fix Zephyr.", "Ada wants to fix Zephyr.", "Ada fixed Zephyr bugs."),
    ),
    _states(
        "changed by",
        "MODIFIES",
        f"<who> <been> @changing by {_DET} <person|group>",
        """
        Zephyr was rewritten by Ada. -> Ada MODIFIES Zephyr
        """,
        counters=("Zephyr was never rewritten by Ada.",),
        reverse=True,
    ),
    _states(
        "own",
        "OWNS",
        f"{_WHO} own|owns|possess|possesses ({_DET} <group|place|thing> | <named> "
        "<person|group|place|thing>)",
        """
        Ada owns a boat called Zephyr. -> Ada OWNS Zephyr
        Ada owns Acme. -> Ada OWNS Acme
        """,
        counters=("Ada owned Acme.", "Ada owns stock in Acme.", "Ada would like to own Acme."),
    ),
    _states(
        "buy",
        "OWNS",
        f"{_WHO} bought|purchased|acquired {_DET} <thing>",
        """
        Ada bought a new Zephyr. -> Ada OWNS Zephyr
        """,
        counters=("Ada bought Zephyr parts.", "Ada nearly bought a Zephyr."),
        confidence=_IMPLIED,
    ),
    _states(
        "owner of",
        "OWNS",
        f"<who_is> the|a|an? <adjectives>? owner of {_DET} <group|place|thing>",
        """
        Ada is the proud owner of Acme. -> Ada OWNS Acme
        """,
        counters=("Ada was the owner of Acme.",),
        priority=1,
    ),
    _states(
        "belong to somebody",
        "OWNS",
        f"<what> <adverbs>? belong|belongs to {_DET} <person>",
        """
        Zephyr belongs to Ada. -> Ada OWNS Zephyr
        """,
        counters=("Zephyr belonged to Ada.", "Zephyr belongs to Ada's uncle."),
        reverse=True,
    ),
    _states(
        "depend on",
        "DEPENDS_ON",
        f"{_WHO} (depend|depends|rely|relies|relying on|upon | dependent on) {_DET} "
        "<person|group|place|thing>",
        """
        Zephyr depends on Kafka. -> Zephyr DEPENDS_ON Kafka
        Zephyr is dependent on Kafka. -> Zephyr DEPENDS_ON Kafka
        """,
        counters=("Zephyr doesn't depend on Kafka.", "Zephyr may depend on Kafka."),
    ),
    _states(
        "require",
        "DEPENDS_ON",
        f"<what> <adverbs>? require|requires|needs {_DET} <group|thing>",
        """
        Zephyr requires Kafka. -> Zephyr DEPENDS_ON Kafka
        """,
        counters=("Zephyr required Kafka skills.", "Ada needs Zephyr."),
    ),
    _states(
        "wait for",
        "DEPENDS_ON",
        f"{_WHO} (waiting (for|on) | waits for) {_DET} <person|group|thing>",
        """
        Ada is waiting for Bob to answer. -> Ada DEPENDS_ON Bob
        """,
        counters=("Ada waited for Bob.",),
        confidence=_IMPLIED,
    ),
    _states(
        "block",
        "BLOCKS",
        f"{_WHO} block|blocks|blocking {_DET} <person|group|place|thing>",
        """
        Zephyr is blocking Kafka. -> Zephyr BLOCKS Kafka
        """,
        counters=("Zephyr no longer blocks Kafka.", "Zephyr blocked Kafka."),
    ),
    _states(
        "blocked by",
        "BLOCKS",
        f"<who_is> blocked by {_DET} <person|group|place|thing>",
        """
        Ada is blocked by Zephyr. -> Zephyr BLOCKS Ada
        """,
        counters=("Ada was blocked by Zephyr.", "Ada is not blocked by Zephyr."),
        reverse=True,
    ),
    _states(
        "mention",
        "MENTIONS",
        f"{_WHO} (mention|mentions|mentioned | talk|talks|talking|talked|speaks|spoke about) "
        f"{_DET} <person|group|place|thing>",
        """
        Ada mentioned Bob yesterday. -> Ada MENTIONS Bob
        Ada talked about Zephyr. -> Ada MENTIONS Zephyr
        """,
        counters=("Ada didn't mention Bob.", "Ada mentioned Bob's name."),
    ),
    _states(
        "reference",
        "REFERENCES",
        f"{_WHO} (cite|cites|cited|references|referenced|quote|quotes|quoted | "
        f"refer|refers|referred to | link|links to) {_DET} <person|group|place|thing>",
        """
        Zephyr refers to Kafka. -> Zephyr REFERENCES Kafka
        Ada cites Bob. -> Ada REFERENCES Bob
        """,
        counters=("Ada should cite Bob.", "Ada cites Bob's paper."),
    ),
    _states(
        "live in",
        "LOCATED_IN",
        f"{_WHO} (live|lives|living|reside|resides|residing|based|located|situated|headquartered|"
        f"staying|stationed) (in|at|near) {_DET} <place>",
        """
        Ada lives in Oslo. -> Ada LOCATED_IN Oslo
        Acme is based in Oslo. -> Acme LOCATED_IN Oslo
        """,
        counters=("Ada lived in Oslo.", "Ada hopes to live in Oslo.", "Ada lives in Oslo County."),
    ),
    _states(
        "move to",
        "LOCATED_IN",
        f"{_WHO} moved|relocated|emigrated back? to {_DET} <place>",
        """
        Ada moved to Oslo last year. -> Ada LOCATED_IN Oslo
        """,
        counters=("Ada almost moved to Oslo.", "Ada is going to move to Oslo."),
        priority=1,
    ),
    _states(
        "be in",
        "LOCATED_IN",
        f"<who_is> in {_DET} <place>",
        """
        Acme is in Oslo. -> Acme LOCATED_IN Oslo
        """,
        counters=("Acme was in Oslo.", "Is Acme in Oslo?", "Acme isn't in Oslo."),
        confidence=_IMPLIED,
    ),
    _states(
        "place in place",
        "LOCATED_IN",
        "<place|group> in <place>",
        """
        Ada saw the Louvre in Paris. -> Louvre LOCATED_IN Paris
        """,
        counters=("Ada went from Oslo, in Paris she slept.", "Is the Louvre in Paris?"),
        confidence=_IMPLIED,
        priority=-1,
    ),
    _states(
        "part of",
        "PART_OF",
        f"<who_is> a|an|the? <adjectives>? part|member|members of {_DET} <group|place|thing>",
        """
        Ada is a member of Acme. -> Ada PART_OF Acme
        Zephyr is part of Kafka. -> Zephyr PART_OF Kafka
        """,
        counters=("Ada was a member of Acme.", "Ada isn't part of Acme."),
    ),
    _states(
        "join",
        "PART_OF",
        f"{_WHO} (joined | belong|belongs to) {_DET} <group>",
        """
        Ada has just joined Acme. -> Ada PART_OF Acme
        Zephyr belongs to Acme. -> Zephyr PART_OF Acme
        """,
        counters=("Ada joined Acme's picnic.", "Ada wants to join Acme."),
        priority=1,
    ),
    _states(
        "have, named",
        "HAS",
        f"{_WHO} have|has|had|got|adopted|get|gets <named> <person|group|place|thing>",
        """
        Ada has a dog named Rex. -> Ada HAS Rex
        """,
        counters=("Ada has no dog named Rex.", "Ada wants a dog named Rex."),
    ),
    _states(
        "adopt",
        "HAS",
        f"{_WHO} adopted {_DET} <person>",
        """
        Ada adopted Rex. -> Ada HAS Rex
        """,
        counters=("Ada adopted Rex's habits.",),
    ),
    _states(
        "pet",
        "HAS",
        f"<owner> <adjectives>? @pets {_LINK} <person|group|place|thing>",
        """
        Ada's old dog Rex is ill. -> Ada HAS Rex
        Ada's cat is called Kafka. -> Ada HAS Kafka
        """,
        unless="only whole",
        counters=("Ada's dog bit Bob.",),
    ),
    _states(
        "use",
        "USES",
        f"{_WHO} (use|uses|using|used | run|runs|running on | switched|migrated to) {_DET} "
        "<group|thing>",
        """
        Ada uses Zephyr every day. -> Ada USES Zephyr
        Zephyr runs on Kafka. -> Zephyr USES Kafka
        """,
        counters=("Ada used to use Zephyr.", "Ada doesn't use Zephyr.", "Ada uses Zephyr bikes."),
        confidence=_IMPLIED,
        priority=1,
    ),
    _states(
        "update",
        "UPDATES",
        f"<what> <adverbs>? @replacing {_DET} <group|thing>",
        """
        Zephyr replaces Kafka. -> Zephyr UPDATES Kafka
        """,
        counters=("Zephyr won't replace Kafka.", "Ada replaces Kafka."),
        priority=1,
    ),
    _states(
        "extend",
        "EXTENDS",
        f"<what> <adverbs>? (extend|extends|extended | build|builds|built on|upon | an extension of"
        f" | an add-on for) {_DET} <group|thing>",
        """
        Zephyr extends Kafka. -> Zephyr EXTENDS Kafka
        Zephyr builds on Kafka. -> Zephyr EXTENDS Kafka
        """,
        counters=("Zephyr doesn't extend Kafka.", "Ada extends Kafka."),
        priority=1,
    ),
    _states(
        "derive",
        "DERIVES",
        f"<what> <adverbs|been>? (derive|derives|derived|forked|adapted from | based on|upon | "
        f"a fork|derivative of) {_DET} <group|thing>",
        """
        Zephyr derives from Kafka. -> Zephyr DERIVES Kafka
        Zephyr is based on Kafka. -> Zephyr DERIVES Kafka
        """,
        counters=("Zephyr is not based on Kafka.", "Ada is based on Kafka."),
        priority=1,
    ),
    _states(
        "somebody close",
        "RELATES_TO",
        f"<owner> <adjectives>? @close {_LINK} <person>",
        """
        Ada's sister Eve is ill. -> Ada RELATES_TO Eve
        Ada's friend is called Bob. -> Ada RELATES_TO Bob
        """,
        unless="only whole",
        counters=("Ada's ex husband Bob is ill.", "Ada's sister married Bob."),
    ),
    _states(
        "is somebody close",
        "RELATES_TO",
        "<who_is> <owner> <adjectives>? @close",
        """
        Eve is Ada's older sister. -> Ada RELATES_TO Eve
        """,
        counters=("Eve is not Ada's sister.", "Eve is Ada's sister's friend."),
        reverse=True,
    ),
    _states(
        "bound to",
        "RELATES_TO",
        f"{_WHO} (married|engaged|related to | friends with) {_DET} <person>",
        """
        Ada is engaged to Bob. -> Ada RELATES_TO Bob
        """,
        counters=("Ada was married to Bob.", "Ada is no longer friends with Bob."),
    ),
    _states(
        "meet",
        "RELATES_TO",
        f"{_WHO} @meeting (up? with)? {_DET} <person>",
        """
        Ada met Bob yesterday. -> Ada RELATES_TO Bob
        Ada helped her friend Bob to move. -> Ada RELATES_TO Bob
        """,
        counters=("Ada will meet Bob.", "Ada met Bob's sister.", "Ada hasn't met Bob."),
        confidence=_IMPLIED,
    ),
    _states(
        "do together",
        "RELATES_TO",
        f"{_WHO} @together <doing>? (with|to) {_DET} <person>",
        """
        Ada played squash with Bob. -> Ada RELATES_TO Bob
        Ada had a long talk with her coach Bob. -> Ada RELATES_TO Bob
        """,
        counters=("Ada can't play with Bob.", "Ada played squash without Bob."),
        confidence=_IMPLIED,
    ),
    _states(
        "go to",
        "RELATES_TO",
        f"{_WHO} (@going back? (to|in|into|through) | visit|visits|visited|visiting|explored|"
        f"attended|attends|attend) {_DET} <group|place>",
        """
        Ada went to Oslo. -> Ada RELATES_TO Oslo
        Ada visited the new Louvre. -> Ada RELATES_TO Louvre
        """,
        counters=("Ada wants to go to Oslo.", "Ada never went to Oslo.", "Ada went to Oslo Cafe."),
        confidence=_VAGUE,
    ),
    _states(
        "do at",
        "RELATES_TO",
        f"{_WHO} @together <doing>? (with {_DET} <person>)? (at|in) {_DET} <place>",
        """
        Ada had dinner in Oslo. -> Ada RELATES_TO Oslo
        Ada played squash with Bob at the Louvre. -> Ada RELATES_TO Louvre
        """,
        counters=("Ada hopes to live in Oslo.", "Ada didn't eat in Oslo.", "Ada ate at Oslo Cafe."),
        confidence=_VAGUE,
        priority=-1,
    ),
    _states(
        "come from",
        "RELATES_TO",
        f"{_WHO} (from | come|comes from | grew up in | born in | graduated from | "
        f"study|studies|studying|studied at|in) {_DET} <group|place>",
        """
        Ada grew up in Oslo. -> Ada RELATES_TO Oslo
        Ada is from Oslo. -> Ada RELATES_TO Oslo
        Ada studies at Acme. -> Ada RELATES_TO Acme
        """,
        counters=("Ada didn't grow up in Oslo.", "Ada pretends to be from Oslo."),
        confidence=_IMPLIED,
    ),
    _states(
        "other",
        "OTHER",
        f"{_WHO} @other {_DET} <person|group|thing>",
        """
        Ada protects Bob. -> Ada OTHER Bob
        """,
        counters=("Ada never protects Bob.", "Ada protects Acme staff.", "Ada managed Bob."),
        confidence=_VAGUE,
        priority=-1,
    ),
)

_ALL: frozenset[sentence_names.NameKind] = frozenset(("person", "group", "place", "thing"))
GRAMMAR = Grammar(
    RULES,
    classes=_CLASSES,
    conditions={"complete": sentence_names.is_complete, "whole": sentence_names.is_whole},
    terminals={
        **{kind: partial(name_at, frozenset({kind})) for kind in sorted(_ALL)},
        "who": sentence_names.subject_at,
        "who_is": sentence_names.subject_is_at,
        "what": sentence_names.thing_at,
        "owner": sentence_names.owner_at,
        "adverbs": sentence_names.adverbs_at,
        "been": sentence_names.having_been_at,
        "adjectives": sentence_names.adjectives_at,
        "det": sentence_names.determiner_at,
        "named": sentence_names.named_at,
        "doing": sentence_names.doing_at,
        "role": sentence_names.role_at,
    },
)


def relationships_of(reading: Reading, length: int) -> list[tuple[StatedRelationship, Rule]]:
    """Return the relationships that the rules find in a sentence of some lexemes."""
    return [
        (match.value, match.rule)
        for at in range(length)
        for match in reading.starting("relationship", at)
    ]
