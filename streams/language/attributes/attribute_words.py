"""Word lists that identify attributes of people: animals, relatives, conditions, things."""

from __future__ import annotations

from recollect.text.lexicon import PRONOUNS, word_set

PETS = word_set(
    """cat cats kitten kittens kitty dog dogs puppy puppies pup pups doggo labrador labradors
    retriever retrievers shepherd shepherds poodle poodles beagle beagles husky huskies
    corgi corgis chihuahua chihuahuas bulldog bulldogs pug pugs dachshund dachshunds terrier
    terriers collie collies spaniel spaniels rottweiler rottweilers dalmatian dalmatians
    greyhound greyhounds schnauzer doberman labradoodle goldendoodle parrot parrots parakeet
    parakeets budgie budgies cockatiel canary bird birds hamster hamsters gerbil gerbils
    rabbit rabbits bunny bunnies goldfish fish turtle turtles tortoise tortoises snake
    snakes python gecko geckos lizard lizards iguana ferret ferrets horse horses pony ponies
    chicken chickens hens goat goats sheep cow cows duck ducks rat rats mouse mice tarantula
    hedgehog hedgehogs chinchilla chinchillas pet pets tabby siamese bengal mutt pig pigs
    donkey donkeys llama llamas alpaca alpacas"""
)
#: Words for a partner, and for members of the family.
PARTNERS = word_set(
    "wife husband partner girlfriend boyfriend fiance fiancé fiancee fiancée spouse"
)
RELATIVES = word_set(
    """son sons daughter daughters child children kid kids toddler brother brothers
    sister sisters sibling siblings twin twins triplets parents mother father mom mum mommy
    mummy mama maman dad daddy papa stepson stepdaughter stepmother stepfather stepmom
    stepdad stepbrother stepsister half-brother half-sister grandson grandsons granddaughter
    granddaughters grandchild grandchildren grandkid grandkids grandmother grandma granny
    grandfather grandpa grandparents niece nieces nephew nephews cousin cousins aunt aunts
    auntie uncle uncles mother-in-law father-in-law sister-in-law brother-in-law son-in-law
    daughter-in-law godson goddaughter"""
)
PARENTS = word_set(
    """mother father mom mum dad parent grandmother grandma grandfather grandpa grandparent
    stepmother stepfather stepmom stepdad aunt uncle twin triplet godmother godfather"""
)
MARITAL = word_set("married single divorced engaged widowed separated unmarried")

CONDITIONS = word_set(
    """diabetes asthma adhd add autism arthritis migraine migraines insomnia depression anxiety
    cancer epilepsy dyslexia eczema psoriasis lupus fibromyalgia hypertension anemia anaemia
    ptsd ocd ibs celiac coeliac scoliosis tinnitus vertigo glaucoma cataracts osteoporosis
    endometriosis pcos allergy allergies intolerance disease disorder syndrome condition
    apnea pacemaker transplant hypothyroidism addiction sciatica eczema hepatitis hiv parkinson's
    alzheimer's dementia gout copd"""
)
#: "A bad back", "a broken arm", "high blood pressure".
AILING = word_set(
    "bad broken sprained torn fractured injured weak chronic high low poor herniated prosthetic"
)
BODY = word_set(
    """back knee knees hip hips shoulder shoulders arm leg ankle wrist foot feet toe finger neck
    heart lungs kidney kidneys eyesight hearing vision pressure cholesterol sugar spine disc
    disk pain nose rib ribs collarbone elbow hand memory leg"""
)
ILL = word_set(
    """diabetic asthmatic celiac coeliac deaf blind colorblind colourblind color-blind colour-blind
    dyslexic autistic epileptic anemic anaemic bipolar pregnant neurodivergent disabled
    paraplegic quadriplegic nearsighted short-sighted shortsighted farsighted
    lactose-intolerant sober wheelchair-bound hypoglycemic insomniac schizophrenic"""
)
DIETS = word_set(
    """vegan vegetarian pescatarian omnivore carnivore flexitarian gluten-free dairy-free
    plant-based kosher halal keto paleo teetotal"""
)
FOODS = word_set(
    """meat pork beef chicken fish seafood shellfish dairy gluten eggs nuts peanuts sugar carbs
    bread sweets soy wheat alcohol soda coffee tea wine beer caffeine milk cheese lactose
    animals vegetables fruit mushrooms onions garlic lamb sushi spicy processed fast red raw"""
)
LANGUAGES = word_set(
    """english german french spanish italian portuguese dutch swedish norwegian danish finnish
    icelandic polish czech slovak hungarian romanian bulgarian greek turkish russian
    ukrainian serbian croatian slovenian albanian estonian latvian lithuanian arabic hebrew
    persian farsi hindi urdu bengali punjabi tamil telugu marathi gujarati malayalam kannada
    chinese mandarin cantonese japanese korean vietnamese thai indonesian malay tagalog
    swahili yoruba igbo hausa zulu xhosa afrikaans amharic somali catalan basque galician
    welsh irish gaelic breton latin esperanto asl nepali sinhala javanese mongolian armenian
    georgian kazakh uzbek pashto kurdish creole pidgin"""
)
PEOPLES = (
    word_set(
        """american canadian mexican brazilian argentinian argentine chilean peruvian colombian
    cuban venezuelan bolivian british scottish european asian african australian indian
    pakistani iranian iraqi israeli lebanese syrian egyptian moroccan nigerian kenyan ethiopian
    ghanaian swiss austrian belgian latina latino hispanic jamaican haitian filipino
    filipina taiwanese singaporean malaysian bangladeshi afghan algerian tunisian québécois
    quebecois texan californian londoner parisian berliner native-american african-american
    italian-american mexican-american korean-american"""
    )
    | LANGUAGES
) - word_set("english-only latin esperanto asl creole pidgin gaelic mandarin cantonese")
FAITHS = word_set(
    """catholic christian muslim jewish buddhist hindu sikh atheist agnostic protestant lutheran
    baptist methodist mormon orthodox quaker pagan wiccan religious spiritual liberal
    conservative democrat republican socialist communist feminist libertarian pacifist
    anarchist environmentalist activist humanist minimalist"""
)
TRAITS = word_set(
    """introvert introverted extrovert extroverted shy outgoing perfectionist optimist pessimist
    left-handed right-handed ambidextrous clumsy competitive workaholic bookworm gamer
    foodie homebody geek nerd romantic dreamer procrastinator tomboy hoarder insomniac
    adventurous athletic artistic creative ambitious stubborn punctual forgetful impatient
    superstitious gay lesbian bisexual transgender queer asexual non-binary nonbinary"""
)
GENDERS = word_set("woman man girl boy male female guy lady gal")
LOOKS = word_set(
    "hair eyes freckles tattoo tattoos beard mustache moustache piercing piercings dreadlocks "
    "bangs dimples scar braces glasses"
)
INSTRUMENTS = word_set(
    """guitar piano violin viola cello bass drums drum flute clarinet saxophone sax trumpet
    trombone tuba harp ukulele banjo mandolin accordion harmonica keyboard keyboards organ
    oboe bassoon fiddle bagpipes recorder percussion"""
)
GAMES = word_set(
    """football soccer basketball baseball softball tennis golf hockey volleyball rugby cricket
    badminton ping squash pickleball lacrosse handball chess poker bridge bingo darts pool
    snooker billiards scrabble minecraft fortnite sports games videogames cards sudoku
    paintball dodgeball ping-pong polo frisbee"""
)
ABILITIES = word_set(
    """cook sew knit crochet bake swim drive ski skate surf dance sing draw paint juggle ride type
    code program whistle dive fly sail read write play weld garden skateboard snowboard
    yodel fence box climb sign repair fix fold build"""
)
MOTORS = word_set(
    """car cars truck van minivan suv motorcycle motorbike scooter moped jeep pickup sedan
    convertible camper campervan rv tractor bus taxi hatchback prius civic corolla tesla
    honda toyota ford bmw audi mercedes subaru volvo mazda nissan chevy chevrolet volkswagen
    vw mustang camry lexus kia hyundai jetta golf fiat porsche ferrari renault peugeot
    toyota hybrid bike ebike e-bike"""
)
THINGS = MOTORS | word_set(
    """house houses home apartment flat condo cabin cottage farm ranch villa yacht boat sailboat
    kayak canoe bicycle garden greenhouse pool trampoline library collection piano guitar
    violin drums keyboard telescope camera drone laptop macbook iphone ipad pc computer
    smartphone playstation xbox nintendo switch treadmill sauna workshop studio allotment
    land acres vineyard orchard motorhome trailer tent plane helicopter airplane treehouse
    balcony terrace backyard record-player"""
)
#: Businesses that somebody may own.
BUSINESSES = word_set(
    """business company shop store bakery restaurant cafe café bar startup start-up agency studio
    farm salon gym practice clinic bookstore bookshop firm brewery winery consultancy
    foundation charity nonprofit non-profit nursery boutique garage pub hotel hostel school
    podcast blog channel truck startups stall kiosk pharmacy laundromat barbershop"""
)
#: Verbs of habit that, as something liked, say little: "I like to think so".
IDLE = word_set(
    """think believe say see know hear imagine add ask point mention note thank start begin get
    take have be keep try make clarify discuss confirm check suggest propose share tell
    remind put hope let consider assume feel call use end bet talk order book request focus
    stick move proceed"""
)
#: A phrase with one of these refers to something said before.
POINTING = (PRONOUNS - {"all", "some", "any", "one", "both", "i"}) | word_set(
    """idea ideas option options version suggestion suggestions plan photo photos picture pictures
    pic pics way sound sounds thought attitude approach answer question latter
    former stuff thing things look looks vibe energy"""
)
#: Nouns that "the" may precede although what is liked is meant in general.
GENERAL = word_set(
    """beach ocean sea mountains mountain outdoors outdoor city country countryside rain snow sun
    sunshine winter summer autumn fall spring cold heat dark night water lake lakes river
    woods forest desert gym theatre theater opera ballet arts cinema movies museum library
    zoo park color colour smell sound taste wilderness feeling thrill wind weekend weekends holidays
    news internet radio piano guitar violin drums saxophone circus"""
)
#: These are never names of places: "I live in fear", "in the moment".
NO_PLACES = word_set(
    """fear hope peace pain poverty denial sin harmony luxury style hell heaven debt squalor
    silence confusion general person reality fantasy exile isolation misery darkness comfort
    color colour tears limbo bed town suburbia constant total complete real every each one
    two three four five"""
)
NO_ILLNESS = word_set(
    """talk bullshit bs mornings monday mondays meetings drama work exercise people nonsense
    stupidity fun success failure paperwork bureaucracy commitment change responsibility
    fools idiots money effort excuses emails spreadsheets cardio running compliments"""
)
#: Fields of work, in lower case and without an article: "I work in finance".
FIELDS = word_set(
    """finance marketing it tech retail healthcare hospitality construction advertising education
    sales insurance law publishing logistics manufacturing accounting banking media research
    hr pr agriculture farming software engineering consulting fashion entertainment
    government politics television tv radio security cybersecurity biotech robotics aviation
    tourism design nursing customer-service academia journalism engineering mining shipping
    transport transportation"""
)
SCHOOLS = word_set(
    "school college university uni kindergarten academy seminary community-college polytechnic"
)
CLASSES = word_set("lessons classes class course courses")
SPORTS = word_set(
    """yoga karate judo crossfit pilates pottery ballet gymnastics taekwondo jiu-jitsu boxing
    kickboxing ceramics archery calligraphy meditation woodworking triathlons marathons
    theater theatre improv photography origami parkour cosplay gardening charity martial
    taichi fencing wrestling"""
)
#: Regular activities, as verbs without an object.
PASTIMES = word_set(
    """run jog swim hike meditate cycle bike camp fish hunt garden knit sew crochet paint draw
    dance sing cook bake climb row box ski surf skate sail ride read write game hunt golf
    bowl skateboard snowboard blog travel exercise"""
)
#: Skills, as verbs with nothing after them.
OWN_ABILITIES = ABILITIES - word_set("read write type build fix fold repair sign code fly")
#: Long-term intentions: "I want to …", "I'm going to …".
LIFE = word_set(
    """be become learn visit travel move open start own run get marry retire study buy adopt go
    join write quit switch teach publish graduate apply climb live raise renovate volunteer
    transfer emigrate propose launch earn train master see"""
)
