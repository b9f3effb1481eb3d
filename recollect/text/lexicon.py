"""Closed word lists of English (and a few of German), kept small and general."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """The words of a space-separated list."""
    return frozenset(words.split())


PRONOUNS = word_set(
    """i me my mine myself you your yours yourself yourselves he him his himself she her
    hers herself it its itself we us our ours ourselves they them their theirs themselves
    one who whom whose which what someone somebody something anyone anybody anything
    everyone everybody everything nobody nothing each other another none both either neither
    all any some such same this that these those there here"""
)
AUXILIARIES = word_set(
    """am is are was were be been being do does did doing done have has had having will
    would shall should can could may might must ought let lets get gets got gotta gonna
    wanna"""
)
PREPOSITIONS = word_set(
    """about above across after against along among around as at before behind below beneath
    beside besides between beyond by despite down during except for from in inside into like
    near of off on onto out outside over past per since than through throughout till to
    toward towards under until unto up upon via with within without"""
)
CONJUNCTIONS = word_set(
    """and or but nor so yet if then else because cause cuz although though while whereas
    whether unless when whenever where wherever why how once"""
)
ARTICLES = word_set("a an the")
# Words that add tone, not content.
FILLERS = word_set(
    """just really very quite too also even still already again ever never not no nope maybe
    perhaps probably definitely certainly actually basically literally honestly totally
    absolutely simply only almost always often sometimes usually now today well much many
    more most lot lots bit kind sort pretty super such btw anyway rather enough else soon
    later ok okay lol haha"""
)
FUNCTION_WORDS = PRONOUNS | AUXILIARIES | PREPOSITIONS | CONJUNCTIONS | ARTICLES | FILLERS

# Contractions whose apostrophe was left out, or that do not split at it.
CONTRACTIONS = {
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("not",),
    "dont": ("do", "not"),
    "doesnt": ("does", "not"),
    "didnt": ("did", "not"),
    "cant": ("can", "not"),
    "wont": ("will", "not"),
    "isnt": ("is", "not"),
    "arent": ("are", "not"),
    "wasnt": ("was", "not"),
    "werent": ("were", "not"),
    "havent": ("have", "not"),
    "hasnt": ("has", "not"),
    "hadnt": ("had", "not"),
    "couldnt": ("could", "not"),
    "wouldnt": ("would", "not"),
    "shouldnt": ("should", "not"),
    "im": ("i", "am"),
    "ive": ("i", "have"),
    "youre": ("you", "are"),
    "theyre": ("they", "are"),
    "gonna": ("will",),
    "gotta": ("must",),
    "wanna": ("want", "to"),
    "let's": ("let",),
    "lets": ("let",),
    "'cause": ("because",),
    "cuz": ("because",),
}

# Words of greeting, thanks, praise, agreement and momentary mood: a sentence made only of these
# says nothing lasting.
PHATIC = word_set(
    """hi hey heya hello hiya yo sup greetings welcome bye goodbye cya ciao morning evening
    night afternoon cheers thanks thank thankyou thx ty tysm ta please sorry apologies
    pardon congrats congratulations bravo kudos wow whoa woah oh ooh ah aha aw aww ugh hmm
    hm mmm um uh er huh eh hah ha hehe heh haha hahaha lmao rofl lol omg yay yeah yea yep
    yup yes ya nah nope no ok okay okie k kk sure right alright exactly indeed true agree
    agreed same ditto fine good great nice cool awesome amazing wonderful fantastic
    excellent lovely perfect brilliant incredible neat sweet rad super wild crazy inspiring
    impressive beautiful gorgeous fun funny interesting exciting terrific fabulous best
    better glad happy pleased excited proud sad tired busy ready done late early back care
    luck job way go going goes keep kept up well see seen know known think thought mean say
    said guess hope wish feel feels felt sound sounds sounding look looks looking looked
    love loved like got gotcha get getting make makes made take takes took come comes coming
    let wait hang hold on happen happened means worth man dude bro buddy mate pal guys folks
    friend everyone all dear sir madam lot lots bunch ton much many so very really totally
    definitely absolutely problem worries worry trouble course bet deal point idea thing
    things stuff time day one time pleasure welcome anytime regards sincerely respectfully
    wishes rock rocks long try trying support supportive amazing stay strong chat talk
    talking soon later keep work works hard believe kind sweet kinda sorta ahead hear
    hearing heard check appreciate appreciated blessed thankful grateful share sharing
    shared always forever never ever good-bye plz pls np nvm imo imho fyi btw asap tho cause
    cuz tbh brb afk gtg ttyl nothing something anything"""
)

# Irregular past forms and auxiliaries that make a clause past. Not "said" and the like: what is
# reported may be in the future.
PAST = word_set(
    """was were did had went got gotten saw came took made met bought found left gave ran
    ate felt won lost began started became brought built caught chose drove drank fell flew
    grew held kept paid rode rang rose sang sat sold sent shook slept spent spoke stood
    stole swam taught threw woke wore wrote been gone done seen taken given broke hung
    wasn't weren't didn't hadn't ive i've we've they've you've he'd she'd used ago last
    since"""
)
FUTURE = word_set(
    """will gonna won't shall plan plans planning planned hope hopes hoping want wants wanna
    intend upcoming scheduled booked due expect expecting expects should going next soon see
    let's lets forward wait excited might may can could hopefully supposed deadline start
    starts begin begins leaves arrives opens ends closes expires launches lands happens remind"""
)
#: Words in -ed that do not make a clause past.
NOT_PAST = word_set(
    """need feed speed bed red seed weed indeed excited interested scared tired supposed
    scheduled planned booked embed exceed proceed succeed fed led sped shed wed bored
    worried pleased delighted thrilled shared married retired united limited advanced
    hundred sacred naked included attached detailed talented experienced"""
)
BE_PRESENT = word_set("am is are i'm im you're we're they're he's she's it's that's there's")

#: Verbs of persons rather than things: a capitalised word before one of these is a person.
ANIMATE_VERBS = word_set(
    """said says told tells asked asks called calls texted emailed wrote replied lives lived
    works worked went goes moved moves wants wanted thinks thought knows knew likes liked
    loves loved hates hated prefers prefer married got bought invited invites visited visits
    met came left joined decided agreed suggested recommended mentioned explained thinks
    believes hopes plans teaches taught studies studied plays played graduated proposed
    promised cooked baked drove flew travelled traveled gave sent showed helped helps
    introduced laughed smiled cried died passed turned started quit retired"""
)
#: Those of them that hardly ever follow another word at the start of a sentence.
PERSONAL_VERBS = word_set(
    """said told asked texted emailed replied lives lived went moved thinks thought knew
    hates hated married bought invited visited met joined suggested recommended mentioned
    explained proposed promised drove flew died laughed"""
)
PARTNERS = word_set("wife husband partner girlfriend boyfriend fiance fiancé fiancee fiancée")
RELATIONS = PARTNERS | word_set(
    """sister brother mother father mum mom dad son daughter aunt uncle cousin niece nephew grandma
    grandpa grandmother grandfather stepmother stepfather stepson stepdaughter
    friend friends boss manager colleague coworker co-worker teammate roommate flatmate
    neighbour neighbor teacher professor mentor coach doctor dentist therapist lawyer landlord
    client buddy pal mate classmate sister-in-law brother-in-law mother-in-law father-in-law
    kid child baby girl boy twin named"""
)
HONORIFICS = word_set(
    "mr mrs ms miss mx dr prof professor sir madam dame lord lady rev herr frau aunt "
    "uncle auntie grandma grandpa captain capt lt sgt general gen senator sen president"
)

#: The head nouns of occupations ("senior software engineer").
OCCUPATIONS = word_set(
    """accountant actor actress analyst animator architect artist assistant astronaut
    attorney author baker banker barber barista bartender biologist bookkeeper broker
    builder butcher carer carpenter cashier ceo cfo chef chemist clerk coach composer
    consultant contractor cook coordinator cto curator dancer dentist designer developer
    dietitian director doctor driver economist editor electrician engineer entrepreneur
    farmer filmmaker firefighter fisherman florist founder freelancer gardener geologist
    guide hairdresser historian illustrator instructor intern interpreter investor janitor
    journalist judge lawyer lecturer librarian lifeguard magician manager marketer
    mathematician mechanic midwife model musician nanny neurologist nurse nutritionist
    optician paralegal paramedic pastor pediatrician performer pharmacist photographer
    physicist physiotherapist pilot plumber poet police officer politician postdoc priest
    principal producer professor programmer psychiatrist psychologist publisher realtor
    receptionist recruiter reporter researcher sailor salesman scientist sculptor secretary
    seamstress singer social worker soldier specialist stylist supervisor surgeon tailor
    teacher technician telemarketer therapist trader trainer translator tutor undertaker
    veterinarian vet waiter waitress welder writer zoologist student anaesthetist anesthesiologist
    anthropologist athlete archaeologist astronomer auctioneer auditor babysitter ballerina
    apprentice beautician beekeeper blacksmith blogger bodyguard botanist brewer bricklayer busboy
    cardiologist caretaker cartoonist caterer chauffeur chiropractor choreographer cleaner
    cobbler columnist comedian conductor courier custodian dermatologist detective diplomat
    dishwasher dj doula drummer ecologist embalmer exterminator fireman firewoman goldsmith
    governess groomer groundskeeper guitarist handyman hygienist inspector ironworker jeweler
    jeweller jockey landscaper linguist lobbyist locksmith logger lumberjack machinist mailman
    maid masseuse mason microbiologist milkman miner neuroscientist novelist nun
    obstetrician oncologist optometrist orthodontist painter pathologist pharmacologist
    pianist plasterer playwright podcaster policeman policewoman potter programmer radiologist
    rancher repairman roofer seamster sheriff shepherd shopkeeper songwriter sociologist
    statistician stockbroker stonemason streamer stuntman superintendent surveyor tattooist
    toolmaker trucker undertaker upholsterer usher valet videographer vintner violinist watchmaker
    weaver woodworker youtuber"""
)
#: Offices and functions: words of a role that are not an occupation by themselves.
ROLES = OCCUPATIONS | word_set(
    """boss lead leader head chief deputy vice chair chairman chairwoman owner cofounder
    co-founder coo cpo cio vp svp evp md president chancellor minister mayor governor senator
    ambassador representative spokesman spokeswoman spokesperson officer executive director
    admin administrator associate senior junior staff team member host guest speaker captain
    moderator organiser organizer treasurer bishop rabbi imam sergeant agent landlady landlord
    tenant caretaker janitor advisor adviser auditor foreman colleague customer client vendor
    supplier product project program account sales marketing finance support operations"""
)
#: Adjectives and nouns that say how or what somebody is: "I'm Hungry" gives no name.
STATES = word_set(
    """okay starving hungry thirsty sleepy tired exhausted bored confused curious impressed
    stuffed speechless jealous interested surprised shocked stuck lost alone awake asleep
    stoked pumped thrilled grateful kidding joking serious afraid worried nervous vegan
    vegetarian pescatarian omnivore celiac coeliac diabetic asthmatic allergic pregnant single
    engaged divorced widowed separated gay lesbian bi bisexual queer straight trans
    transgender nonbinary non-binary asexual blind deaf disabled sick ill unwell cold hot warm
    wet dry full empty drunk sober high low fat thin slim tall short old young new poor rich
    broke strong weak smart stupid dumb silly crazy mad angry furious upset calm cool chill
    relaxed lazy shy quiet loud rude nice kind mean evil innocent guilty honest loyal brave
    bold scared scary lucky unlucky sorry fine good bad better worse best awful terrible
    horrible fantastic great awesome perfect amazing human alive dead online offline here
    there home away outside inside upstairs downstairs abroad local foreign native bilingual
    unemployed employed retired self-employed freelance remote part-time full-time available
    unavailable open closed free busy ready late early done next first last second third half
    black white brown red green blue dark blond blonde brunette ginger bald left-handed
    right-handed ambidextrous introverted extroverted introvert extrovert optimist pessimist
    realist feminist atheist agnostic pagan religious spiritual secular political apolitical
    neutral gluten-free lactose-intolerant intolerant sensitive patient impatient clumsy messy
    tidy neat organised organized weird strange normal average special unique different same
    sure unsure certain positive negative aware unaware pro anti team newbie noob rookie
    beginner expert amateur professional veteran geek nerd foodie gamer fan lover hater parent
    adult teen teenager toddler senior citizen immigrant expat refugee tourist traveller
    traveler local stranger human robot bot superman batman santa nobody jesus god king queen
    dizzy grumpy moody groggy hangry jetlagged hungover homesick lonely cranky sad glum blue
    fit healthy unfit ace legend pisces aries taurus gemini cancer leo libra scorpio
    everywhere nowhere mud dirt
    sagittarius capricorn aquarius hr pr qa devops frontend backend fullstack legal
    mexican-american african-american"""
)

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
#: Monday is 0, as in `datetime.date.weekday`.
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mon",
            "tuesday tue tues",
            "wednesday wed weds",
            "thursday thu thur thurs",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for name in names.split()
}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
#: Words for a nearby day, with its offset from today.
DAY_WORDS = {
    "today": 0,
    "tonight": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "tmrw": 1,
    "tmr": 1,
    "tomorow": 1,
}
#: Quantifiers, with the number that each stands for.
_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
#: Number words, with their numbers.
NUMBER_WORDS = {word: number for number, word in enumerate(_NUMBERS.split(), start=1)}
COUNTS = NUMBER_WORDS | {"a": 1, "an": 1}

_ORDINAL_UNITS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
                  "ninth")  # fmt: skip
#: Ordinals in words that can be days of a month.
ORDINALS = {
    **{word: number for number, word in enumerate(_ORDINAL_UNITS, start=1)},
    "tenth": 10,
    "eleventh": 11,
    "twelfth": 12,
    "thirteenth": 13,
    "fourteenth": 14,
    "fifteenth": 15,
    "sixteenth": 16,
    "seventeenth": 17,
    "eighteenth": 18,
    "nineteenth": 19,
    "twentieth": 20,
    **{f"twenty-{word}": number for number, word in enumerate(_ORDINAL_UNITS, start=21)},
    "thirtieth": 30,
    "thirty-first": 31,
}

#: Frequent words that are capitalised at the start of a sentence or alone, without being names.
STARTERS = (
    FUNCTION_WORDS
    | PHATIC
    | frozenset(CONTRACTIONS)
    | word_set(
        """add added adding ask asked bring buy bought call called can't change check choose
    click coming consider could create created dad don't doing dont eat eating edit enjoy
    enjoyed finally find first second third last next found follow following follow-up gave
    give given giving gotta grew growing hoping however i'd i'll i'm i've im ive id imagine
    instead important join joined keep kids kid know last leave left lately learn learned
    learning leaving let's lets live lived living losing lost making maybe meanwhile meet
    meeting met mom moreover move moved moving mum mommy daddy mummy need needed never new
    note nothing old open original originally otherwise our own people perhaps play played
    playing plus put read reading recently remember reply ran run running saw say saying
    seeing seems sent set show since sold some sometimes somehow speaking spent start
    started starting stay stop subject suddenly sure take taking tell telling thing things
    though tomorrow tonight yesterday tried try two three four five six seven eight nine ten
    hundred unfortunately fortunately update use used using via visit visited visiting want
    wanted warm watch watched watching we'll we're we've went what's when's where's who's
    how's that's there's here's it's he's she's they're they've they'll you're you've you'll
    you'd he'll she'll it'll that'll wasn't weren't isn't aren't didn't doesn't hadn't
    hasn't haven't wouldn't couldn't shouldn't won't wanna watch wearing winning wishing
    wonder work worked working write wrote wrong yet correction ps re fwd fw cc todo warning
    error info debug note nb faq tl dr tldr every few several half whole painting dancing
    cooking hiking swimming camping music dance art food family friends friendship life work
    school home house success challenges nature water dogs cats parents children taking
    seeing being having helping creating finding spending connecting letting based depends
    despite apparently seriously hopefully luckily sadly clearly obviously generally
    typically especially currently previously eventually overall together pics photo picture
    pic image video attached attachment sent please guess looks sounds feels gets turns
    makes means goes says thinks knows wants needs uses works loves hates prefers likes love
    hate prefer thinks unless whoever whatever whichever either neither nor minus regarding
    concerning according thus hence therefore consequently furthermore additionally
    similarly likewise besides certainly surely indeed"""
    )
)

ABBREVIATIONS = word_set(
    """dr mr mrs ms prof st e.g eg i.e ie vs fig cf ca approx gen sen rep capt lt col sgt
    rev hon mt dept est vol ed z.b bzw d.h ggf inkl resp feat ext tel messrs mme mlle sra"""
)
#: Abbreviations that may also end a sentence: they do if a common sentence opener follows.
ENDING_ABBREVIATIONS = word_set(
    """etc inc ltd jr sr a.m p.m u.s u.k u.s.a u.n e.u ph.d b.a m.a m.d b.sc m.sc d.c co
    corp al jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs
    fri sat sun usw am pm min max no nos nr pp ave blvd rd bros assn gmbh ltda llc"""
)
#: Function words that exist only in German; two of them mark a text whose nouns are all
#: capitalised.
GERMAN = word_set(
    """und ich nicht ist eine einen einem mit den dem zu auf für auch sich wir ihr sind aber
    wenn noch nur schon habe haben wurde werden dass über vom beim zum zur kein keine mein
    meine sehr der das ein"""
)
