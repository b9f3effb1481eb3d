"""Makes another world from a seed: its messages, questions about them, and what to forget.

    python -m demo.generate --seed 7 --events 400 --out DIR

Storylines are laid out first, with their ground truth (who moved where, when, what was
corrected); small talk then fills the weeks up. So each question knows its sources by
construction, and nothing in the product can be fitted to the sample export.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

DAYS = 42
FEWEST_EVENTS = 120
QUESTIONS = 10

# Names that the sample export does not have. Each pair is near in writing and far in meaning.
NEAR_NAMES = [
    ("Marin", "Katmarin"),
    ("Elio", "Aurelio"),
    ("Nora", "Eleanora"),
    ("Tova", "Ustova"),
    ("Odel", "Rodel"),
    ("Anik", "Yanik"),
]
FIRST_NAMES = (
    *("Ingrid", "Kofi", "Leilani", "Bartek", "Saoirse", "Hamza", "Yuki", "Paloma", "Rurik"),
    *("Amina", "Piers", "Xochitl", "Gwen", "Mateus", "Sunniva", "Rafiq", "Clémence", "Otis"),
)
SHARED_NAMES = ("Alex", "Robin", "Kim", "Sasha", "Jules", "Noa")
LONG_AND_SHORT = [
    ("Konstantina", "Dina"),
    ("Maximiliana", "Maxi"),
    ("Bartholomew", "Bart"),
    ("Theodora", "Teddy"),
    ("Ignatius", "Iggy"),
    ("Wilhelmina", "Billie"),
]
SURNAMES = (
    *("Halloran", "Mensah", "Kealoha", "Wrona", "Ferreiro", "Quist", "Tanaka", "Vance", "Ozturk"),
    *("Lockhart", "Brandvold", "Sepulveda", "Akintola", "Marchetti", "Dubois", "Penhaligon"),
)
STREETS = (
    *("Juniper Row", "Tanner's Lane", "Old Quay", "Larkspur Street", "Copper Hill"),
    *("Windlass Road", "Orchard Steps", "Belfry Court", "Saltmarket", "Harrow Green"),
)
TOWNS = ("Eastmere", "Coldharbour", "Vinterby", "Port Sorrel", "Umberleigh", "Castelbruno")
EMPLOYERS = (
    *("Quillfeather Press", "Osprey Robotics", "Lumen & Loam", "Halcyon Freight"),
    *("Brightwater Labs", "Fennimore Textiles", "Corvid Analytics", "Pantograph Studio"),
)
ROLES = ("archivist", "site engineer", "buyer", "data analyst", "workshop lead", "translator")
PRODUCTS = ("Kestrel", "Saffron", "Basalt", "Marigold", "Driftwood", "Onyx", "Tamarind")
CAUSES = (
    "the payment provider rejected our certificate",
    "the backup could not be restored in the rehearsal",
    "a translation file was overwritten with an older one",
    "the sensor firmware drains the battery in a day",
    "two suppliers sent boards with the wrong connector",
)
ALLERGENS = ("walnuts", "shellfish", "sesame", "celery", "lupin flour", "strawberries")
REACTIONS = ("came out in hives", "could hardly breathe", "was taken to hospital")
PETS = (("cat", "Mustard"), ("parrot", "Colonel"), ("rabbit", "Dumpling"), ("ferret", "Noodle"))
OPERATIONS = ("a cataract operation", "a root canal", "an MRI scan", "a hip check-up")
PARTIES = ("housewarming", "retirement party", "summer concert", "book launch", "engagement party")
MEETINGS = ("budget review", "first-aid course", "pottery class", "residents' meeting")
SYLLABLES = (
    *("quor", "vesh", "timb", "drax", "olm", "phen", "wusk", "jarl", "brun", "zeth", "glim"),
    *("torv", "nyx", "hask", "pell", "yond"),
)
HEARSAY = ("a podcast", "the radio", "my neighbour", "a bus driver", "the newspaper")
FOODS = (
    *("lentil soup", "burnt toast", "plum dumplings", "potato salad", "cold pizza", "leek pie"),
    *("rice pudding", "pickled beetroot", "cheese straws", "green curry", "oat biscuits"),
)
WEATHERS = ("sideways rain", "fog", "that yellow light", "hail like peas", "a warm wind", "frost")
HOBBIES = (
    *("the crossword", "the seedlings", "the bike chain", "the jigsaw of 2,000 pieces"),
    *("the accordion", "the chess puzzle", "the sourdough", "the endless scarf"),
)
SHOWS = (
    *("The Glass Ferry", "Eleven Lighthouses", "Nobody's Orchard", "A Year of Doors"),
    *("Under the Viaduct", "The Slow Detective"),
)
MOODS = ("Ha!", "Honestly?", "Well.", "Oh no.", "Lovely.", "Right.", "Hmm.", "Aha.", "Oof.")
SIGNS = ("🙂", "😅", "🌧️", "🥲", "👏", "")

# Small talk, by topic: one message is drawn from each bracket. {a} begins, {b} answers.
CHATTER: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        ("I made {food} again", "There is {food} on the stove", "Guess who cooked {food}"),
        ("{mood} Is there any left?", "{food}, on a {weekday}?", "Save me a spoonful, {a}"),
        ("Nothing but the smell {sign}", "One portion, guarded by me", "{mood} Be quick then"),
    ),
    (
        ("{weather} here since breakfast", "{weather} again", "Did anybody order {weather}?"),
        ("Same, and the dog next door has an opinion", "{mood} The washing is outside", "Again?"),
    ),
    (
        ("Have you seen {show}?", "Shall I begin with {show}?", "Everybody talks about {show}"),
        ("Two parts of it. They whisper", "I fell asleep, which is praise", "{mood} Not my thing"),
        ("That is the charm", "You have no patience, {b}", "Then I will watch it alone {sign}"),
    ),
    (
        ("Still fighting with {hobby}", "{hobby} is winning", "I gave {weekday} to {hobby}"),
        ("Was it worth it?", "Who asked you to begin, {a}?", "{mood} Try it with music"),
        ("Ask me on {weekday}", "My hands say no", "I am too proud to stop"),
    ),
    (
        ("According to {hearsay} we should walk backwards", "{hearsay} says that naps are healthy"),
        ("{mood} You first", "I have been ahead of science for years", "{hearsay} says otherwise"),
    ),
    (
        ("Good morning {b}", "Morning! Is it {weekday} already?", "Up early, {b}?"),
        ("{mood} It is a morning, I give you that", "Barely, {a}", "Coffee first, words later"),
    ),
    (
        ("Lunch?", "Is anybody hungry?", "I can hear my own stomach"),
        ("Ten minutes, I want {food}", "I brought {food}", "Only if there is {food}"),
        ("You always say {food}", "{mood} Count me in", "Meet you downstairs {sign}"),
    ),
    (
        ("Can you lend me the small ladder on {weekday}?", "Do you still have my drill, {b}?"),
        ("Yes, if it comes back in one piece", "It is under {hobby}, somewhere", "{mood} Maybe"),
    ),
    (
        ("I dreamt that {show} was about us", "Last night I dreamt of {food}"),
        ("Who was I in it?", "{mood} You should sleep more, or less", "That is the {weather}"),
        ("A lamp {sign}", "I woke up before I knew", "You sang, {b}"),
    ),
    (
        ("{number} unread messages this morning", "My inbox says {number}"),
        ("Answer the shortest", "Close the lid", "{mood} Mine says more"),
        ("The shortest one says 'well?'", "Closed. I feel better", "Let us trade"),
    ),
    (
        (
            "My knees predict {weather}",
            "It smells of {weather}",
            "I forgot my umbrella, so: {weather}",
        ),
        ("Your knees said that last week", "You forget it so faithfully", "{mood} I have two"),
    ),
    (
        (
            "The lift is stuck at {small}",
            "Somebody has painted the lift",
            "The lift plays music now",
        ),
        ("Take the stairs, see the art", "{mood} For how long?", "At least it is not the heating"),
    ),
    (
        ("{number} hundred steps today", "I ran for {small} minutes", "I swam {number} lengths"),
        ("To the fridge?", "{mood} Who was behind you?", "I watched {show} in your honour"),
        ("To several fridges {sign}", "Mock me, {b}, I am glowing", "It counts"),
    ),
    (
        (
            "Who ate the last of the {food}?",
            "The {food} has vanished",
            "Where has the {food} gone?",
        ),
        ("It was {weekday} and I was sad", "Ask {hearsay}", "{mood} No comment"),
        ("Accepted {sign}", "I have marked the jar now", "There will be a hearing on {weekday}"),
    ),
    (
        ("The tram was {number} minutes late", "The bus driver sang today", "No seat on the tram"),
        (
            "That is early for a {weekday}",
            "{mood} Walk with me tomorrow",
            "Was it {weather} again?",
        ),
    ),
    (
        ("Thank you for yesterday", "That was a fine evening", "I still laugh about {show}"),
        ("Any time, you forgot your scarf", "{mood} We should do it on a {weekday}", "So do I"),
    ),
    (
        ("How is {hobby}?", "Did you finish {hobby}?", "Any news of {hobby}, {b}?"),
        ("Nearly, I stopped for {food}", "We are not on speaking terms", "{mood} Next question"),
        ("Priorities {sign}", "I believe in you", "{number} more tries, then"),
    ),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


@dataclass(frozen=True)
class Person:
    """A person of the world; `key` is the base of their handles."""

    key: str
    first: str
    last: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    def handle(self, platform: str) -> str:
        return mail_of(self) if platform == "email" else f"{platform}:{self.key}"


@dataclass(frozen=True)
class Room:
    """A conversation: its place and its members."""

    platform: str
    peer_id: str
    peer_kind: str
    members: tuple[Person, ...]


@dataclass
class Line:
    """A message before it is exported; `label` is how the questions refer to it."""

    when: datetime
    room: Room
    sender: Person
    content: str
    label: str | None = None
    answers: Line | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A question, and the labels of the messages any of which answers it."""

    id: str
    query: str
    labels: tuple[str, ...]


def mail_of(person: Person) -> str:
    plain = person.last.lower().replace("'", "")
    return f"{person.key}.{plain}@example.org"


def long_date(day: datetime) -> str:
    return f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]}"


class World:
    """A small group of people, six weeks of their lives, and the ground truth about them."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.lines: list[Line] = []
        self.asked: list[Asked] = []
        rng = self.rng
        offset = rng.choice((-480, -360, -180, 60, 120, 330, 540, 600))
        monday = datetime(2025, 1, 6, tzinfo=timezone(timedelta(minutes=offset)))
        self.start = monday + timedelta(weeks=rng.randrange(0, 52))
        self.surnames = rng.sample(SURNAMES, len(SURNAMES))
        self.people = self._cast()
        self.employers = rng.sample(EMPLOYERS, 3)
        self.streets = rng.sample(STREETS, 5)
        self.towns = rng.sample(TOWNS, 3)
        self.phones = [f"555-01{number:02d}" for number in rng.sample(range(100), 8)]
        self._rooms()
        self.secret = self._secret_phrase()

    def _cast(self) -> dict[str, Person]:
        rng = self.rng
        near, far = rng.choice(NEAR_NAMES)
        shared = rng.choice(SHARED_NAMES)
        self.long_name, self.nickname = rng.choice(LONG_AND_SHORT)
        others = rng.sample(FIRST_NAMES, 4)
        firsts = {
            "hero": self.nickname,
            "mate": others[0],
            "elder": others[1],
            "boss": others[2],
            "child": others[3],
            "near": near,
            "far": far,
            "shared_work": shared,
            "shared_home": shared,
        }
        people = {}
        for number, (role, first) in enumerate(firsts.items()):
            # The same first name twice must not give the same handle twice.
            key = first.lower() + (str(number) if role.startswith("shared") else "")
            people[role] = Person(key.replace("é", "e"), first, self.surnames[number])
        return people

    def _rooms(self) -> None:
        rng = self.rng
        home, office, side = rng.choice(
            [
                ("whatsapp", "slack", "discord"),
                ("telegram", "discord", "whatsapp"),
                ("imessage", "matrix", "telegram"),
                ("matrix", "slack", "irc"),
            ]
        )
        someone = self.people
        self.home = Room(
            home,
            "home",
            "group",
            tuple(someone[r] for r in ("hero", "mate", "elder", "shared_home")),
        )
        self.office = Room(
            office,
            "office",
            "channel",
            tuple(someone[r] for r in ("hero", "boss", "far", "shared_work")),
        )
        self.club = Room(side, "club", "group", tuple(someone[r] for r in ("near", "hero", "far")))
        self.private = Room(home, "hero-shared", "dm", (someone["hero"], someone["shared_home"]))
        self.post = Room("email", "hero", "dm", (someone["hero"], someone["boss"], someone["far"]))
        self.agent = Room("agent", "assistant", "dm", (someone["hero"],))

    def _secret_phrase(self) -> str:
        first = "".join(self.rng.sample(SYLLABLES, 3)).capitalize()
        second = "".join(self.rng.sample(SYLLABLES, 2)).capitalize()
        return f"{first} {second} {self.rng.randrange(1000, 10000)}"

    def day(self, number: int, hour: int | None = None) -> datetime:
        """Return a time on day `number` of the story, in waking hours by default."""
        rng = self.rng
        at = rng.randrange(8, 21) if hour is None else hour
        clock = timedelta(hours=at, minutes=rng.randrange(60), seconds=rng.randrange(60))
        return self.start + timedelta(days=number) + clock

    def said(
        self,
        when: datetime,
        room: Room,
        role: str,
        *wordings: str,
        label: str | None = None,
        extra: dict[str, Any] | None = None,
    ) -> Line:
        """Let a person say one of `wordings`."""
        content = self.rng.choice(wordings)
        line = Line(when, room, self.people[role], content, label, extra=extra or {})
        self.lines.append(line)
        return line

    def ask(self, question_id: str, labels: tuple[str, ...], *wordings: str) -> None:
        self.asked.append(Asked(question_id, self.rng.choice(wordings), labels))

    # Storylines. Each states its truth, sometimes wrongly at first, and asks about it.

    def introductions(self) -> None:
        hero, shared = self.people["hero"], self.people["shared_work"].first
        self.said(
            self.day(0, 9),
            self.club,
            "hero",
            f"Hello all! It says {self.long_name} in the list, but please call me {hero.first}.",
            f"New here. {self.long_name} on paper, {hero.first} to everybody, please.",
        )
        self.said(
            self.day(1, 10),
            self.office,
            "boss",
            f"Our {shared} here is {self.people['shared_work'].last}; {hero.first} has a cousin, "
            f"another {shared}. Please use surnames when in doubt.",
        )

    def hero_moves(self) -> None:
        hero = self.people["hero"].first
        number, flat = self.rng.randrange(3, 190), self.rng.randrange(1, 9)
        old, new = self.streets[0], f"{number} {self.streets[1]}, flat {flat}"
        planned, moved = 24, 25
        self.said(
            self.day(3),
            self.home,
            "hero",
            f"The heating at {old} has failed again. That's why I'm looking for a flat.",
            f"No heating at {old} again, so I have begun to look for another flat.",
        )
        self.said(
            self.day(15),
            self.home,
            "hero",
            f"I got the flat! I move out of {old} on {long_date(self.start + timedelta(planned))}.",
            f"Contract signed! Moving day is {long_date(self.start + timedelta(planned))}.",
        )
        self.said(
            self.day(20),
            self.home,
            "hero",
            f"Sorry, I meant {long_date(self.start + timedelta(moved))} for the move, not "
            f"{long_date(self.start + timedelta(planned))}.",
            f"Correction: the move is on {long_date(self.start + timedelta(moved))}, a day later.",
        )
        self.said(
            self.day(moved, 20),
            self.home,
            "hero",
            f"Moved! My new address is {new}, {self.towns[0]}.",
            f"All boxes are in. From today I live at {new}, in {self.towns[0]}.",
            label="hero-address",
        )
        self.said(
            self.day(moved + 1, 9),
            self.post,
            "hero",
            f"Dear all,\n\nplease note my new address: {new}, {self.towns[0]}.\n\n{hero}\n"
            f"-- \n{self.people['hero'].name} | {mail_of(self.people['hero'])}",
            label="hero-address-mail",
        )
        self.ask(
            "hero-address",
            ("hero-address", "hero-address-mail"),
            f"What is {hero}'s new address?",
            f"At which address does {hero} live after the move?",
        )

    def relative_moves(self) -> None:
        hero, shared = self.people["hero"].first, self.people["shared_home"].first
        street, number = self.streets[2], self.rng.randrange(2, 80)
        self.said(
            self.day(12),
            self.private,
            "shared_home",
            "My landlord sells the house, so I must be out by the end of next month.",
            "I have been given notice. Out by the end of next month, so that's that.",
        )
        self.said(
            self.day(32),
            self.home,
            "shared_home",
            f"It is done, I moved to {self.towns[1]} yesterday: {number} {street}, top floor.",
            f"I moved! Since yesterday I live in {self.towns[1]}, {number} {street}.",
            label="relative-address",
        )
        self.ask(
            "relative-address",
            ("relative-address",),
            f"Which town did {hero}'s cousin {shared} move to?",
            f"Where does {shared} live since the move?",
        )

    def job_change(self) -> None:
        hero = self.people["hero"].first
        old, new, _ = self.employers
        role = self.rng.choice(ROLES)
        first = self.start + timedelta(44)
        self.said(
            self.day(14),
            self.private,
            "hero",
            f"Between us: I had an interview at {new} yesterday.",
            f"Don't tell the others yet, {new} has invited me for a second interview.",
        )
        self.said(
            self.day(22, 11),
            self.office,
            "hero",
            f"I want you to hear it from me: I am leaving {old}. I start at {new} as {role} on "
            f"{long_date(first)}.",
            f"After four years at {old} I have accepted a job as {role} at {new}, from "
            f"{long_date(first)}.",
            label="employer",
        )
        self.said(
            self.day(23),
            self.home,
            "hero",
            f"It's official, {new} takes me as {role}!",
            f"I signed with {new} this morning. {role.capitalize()}, imagine that.",
            label="employer-home",
        )
        self.ask(
            "employer",
            ("employer", "employer-home"),
            f"Which company does {hero} go to after {old}?",
            f"Who is {hero}'s new employer after leaving {old}?",
        )

    def new_phone(self) -> None:
        elder = self.people["elder"].first
        old, new, plumber = self.phones[:3]
        self.said(
            self.day(5),
            self.home,
            "mate",
            f"The plumber's number is {plumber}, ask for the tall one.",
            f"For the boiler call {plumber}, they came within the hour last time.",
        )
        self.said(
            self.day(17),
            self.home,
            "elder",
            f"I have a new phone number: {new}. The old one, {old}, is gone.",
            f"Please write down my new number, {new}. Nobody answers {old} any more.",
            label="phone",
        )
        self.said(self.day(17, 21), self.home, "mate", "Saved, thank you!", "Got it, written down.")
        self.ask(
            "phone",
            ("phone",),
            f"What is {elder}'s new phone number?",
            f"Under which phone number can {elder} be called now?",
        )

    def appointment(self) -> None:
        elder = self.people["elder"].first
        what = self.rng.choice(OPERATIONS)
        wrong, right = self.rng.sample(range(27, 39), 2)
        hour = self.rng.randrange(8, 17)
        self.said(
            self.day(8),
            self.home,
            "elder",
            f"I have {what} on {long_date(self.start + timedelta(wrong))}.",
            f"The clinic wrote: {what}, on {long_date(self.start + timedelta(wrong))}.",
            label="appointment-first",
        )
        self.said(
            self.day(11),
            self.home,
            "elder",
            f"The clinic has moved me: {what} is on {long_date(self.start + timedelta(right))} at "
            f"{hour}:15, not on the date I gave you.",
            f"Correction from the clinic, {what} is now on "
            f"{long_date(self.start + timedelta(right))}, {hour}:15.",
            label="appointment",
        )
        self.said(
            self.day(12, 9),
            self.home,
            "elder",
            f"Actually it's {hour}:45, they rang again.",
            f"Sorry, {hour}:45 and not {hour}:15, I cannot read my own hand.",
        )
        noun = what.split(" ", 1)[1]
        self.ask(
            "appointment",
            ("appointment",),
            f"On which day does {elder} have the {noun}, after the clinic changed it?",
            f"When is {elder}'s {noun} at the clinic?",
        )

    def room_change(self) -> None:
        meeting = self.rng.choice(MEETINGS)
        number = self.rng.randrange(11, 48) * 10 + 1
        wrong, right = self.rng.sample((number, number + 1), 2)
        self.said(
            self.day(9),
            self.office,
            "boss",
            f"The {meeting} on {long_date(self.start + timedelta(13))} is in Room {wrong}.",
            f"Please come to Room {wrong} for the {meeting}, 15:00.",
            label="room-first",
        )
        self.said(
            self.day(10),
            self.office,
            "boss",
            f"The {meeting} is in Room {right}, not Room {wrong}, which is being painted.",
            f"Correction: Room {right} for the {meeting}. Room {wrong} has no chairs.",
            label="room",
        )
        self.ask(
            "room",
            ("room",),
            f"In which room is the {meeting}, after the correction?",
            f"Which room was the {meeting} moved to?",
        )

    def allergy(self) -> None:
        child, allergen = self.people["child"].first, self.rng.choice(ALLERGENS)
        reaction = self.rng.choice(REACTIONS)
        for number, (when, room) in enumerate(((6, self.home), (27, self.club))):
            self.said(
                self.day(when),
                room,
                "hero",
                f"Please bring no {allergen}: {child} is allergic to it, and {reaction} in May.",
                f"{child} is allergic to {allergen}, and {reaction} last time. Please take care.",
                label=f"allergy-{number}",
            )
        self.ask(
            "allergy",
            ("allergy-0", "allergy-1"),
            f"What is {child} allergic to?",
            f"Which food must {child} not eat because of an allergy?",
        )

    def postponed(self) -> None:
        product, cause = self.rng.choice(PRODUCTS), self.rng.choice(CAUSES)
        planned, later = self.start + timedelta(16), self.start + timedelta(30)
        self.said(
            self.day(2),
            self.office,
            "boss",
            f"{product} goes out on {long_date(planned)}. Everybody knows their part.",
            f"Date for {product}: {long_date(planned)}. Please plan for it.",
        )
        self.said(
            self.day(13),
            self.office,
            "far",
            f"Bad news about {product}: {cause}. It cannot be ready.",
            f"I have to stop {product}, because {cause}.",
            label="cause",
        )
        self.said(
            self.day(14, 10),
            self.office,
            "boss",
            f"Because {cause}, we move {product} to {long_date(later)}.",
            f"{product} is postponed to {long_date(later)}. The reason: {cause}.",
            label="postponed",
        )
        self.said(
            self.day(30, 16),
            self.office,
            "shared_work",
            f"{product} is out! Cake in the kitchen 🎂",
            f"Done. {product} is live, and nobody has phoned yet.",
        )
        self.ask(
            "reason",
            ("cause", "postponed"),
            f"Why was {product} postponed?",
            f"For what reason did {product} have to be moved to a later date?",
        )

    def near_names(self) -> None:
        near, far = self.people["near"], self.people["far"]
        self.said(
            self.day(7),
            self.club,
            "near",
            f"For the list: my e-mail is {mail_of(near)}, and my phone is {self.phones[3]}.",
            f"My e-mail address is {mail_of(near)}; or ring {self.phones[3]}.",
            label="near-mail",
        )
        self.said(
            self.day(18),
            self.post,
            "far",
            f"Hello,\n\nthis is {far.first} from the office, writing from my own account. Please "
            f"use {mail_of(far)} from now on.\n\n> On Monday you wrote:\n> which address is right?",
            label="far-mail",
        )
        self.said(
            self.day(19),
            self.club,
            "far",
            f"No, I am {far.first}. {near.first} is the one who can sing.",
            f"Careful: {near.first} and {far.first} are two people. I am the tired one.",
        )
        self.ask(
            "near-mail",
            ("near-mail",),
            f"What is the e-mail address of {near.first} from the club?",
            f"To which e-mail address can one write to {near.first}?",
        )

    def party(self) -> None:
        party = self.rng.choice(PARTIES)
        wrong, right = self.rng.sample(range(33, 41), 2)
        place = self.rng.choice(STREETS)
        self.said(
            self.day(10),
            self.club,
            "near",
            f"Save the date: the {party} is on {long_date(self.start + timedelta(wrong))}, 19:00.",
            f"You are all invited to the {party}, {long_date(self.start + timedelta(wrong))}.",
            label="party-first",
        )
        self.said(
            self.day(16),
            self.club,
            "near",
            f"I gave you the wrong day! The {party} is on "
            f"{long_date(self.start + timedelta(right))}, at the hall in {place}.",
            f"Sorry, the {party} is on {long_date(self.start + timedelta(right))} and not as I "
            f"said before. It is in the hall in {place}.",
            label="party",
        )
        self.ask(
            "party",
            ("party",),
            f"On which date is the {party}, after the correction?",
            f"When and where does the {party} take place?",
        )

    def pet(self) -> None:
        kind, name = self.rng.choice(PETS)
        self.said(
            self.day(4),
            self.home,
            "mate",
            f"We have a {kind} now. Meet {name} {self.rng.choice(SIGNS)}",
            f"Guess who followed me home from the shelter: a {kind} called {name}.",
            label="pet",
            extra={"attachments": [{"type": "image", "caption": f"A {kind} on kitchen scales"}]},
        )
        self.said(self.day(4, 21), self.home, "elder", "¡Qué preciosidad!", "Wie schön!")
        self.ask(
            "pet",
            ("pet",),
            f"What is the name of {self.people['mate'].first}'s {kind}?",
            f"Which name did the new {kind} get?",
        )

    def repeated(self) -> None:
        weekday, time = self.rng.choice(WEEKDAYS), f"{self.rng.randrange(6, 10)}:30"
        for day, wording in (
            (1, f"The bins are collected on {weekday} at {time}, please put them out before."),
            (15, f"Please put the bins out before {time} on {weekday}, they are collected then."),
            (29, f"The bins are collected on {weekday} at {time}, please put them out before."),
        ):
            self.said(self.day(day), self.home, "elder", wording)

    def secret_told(self) -> None:
        shared = self.people["shared_home"].first
        self.said(
            self.day(11, 22),
            self.private,
            "shared_home",
            f"Keep this to yourself: the letters I send under a pen name are signed {self.secret}.",
            f"Nobody may know, but the pen name on my letters to the paper is {self.secret}.",
            label="secret",
        )
        self.said(
            self.day(11, 23),
            self.private,
            "hero",
            "I never heard it. Your secret is safe.",
            "My lips are sealed, goodnight.",
        )
        self.said(
            self.day(39),
            self.private,
            "shared_home",
            "What I told you that night about my letters, please have it deleted everywhere.",
            "Could you get rid of what I wrote about the letters? I don't want it kept.",
        )
        self.ask(
            "secret",
            ("secret",),
            f"Which pen name does {shared} sign letters to the paper with?",
            f"Under which pen name does {shared} send letters?",
        )

    def agent_turn(self) -> None:
        hero, child = self.people["hero"], self.people["child"].first
        weekday = self.rng.choice(WEEKDAYS[:5])
        moment = self.day(34, 19)
        turn = {"session_id": "evening", "turn_id": "turn-1"}
        assistant = Person("assistant", "Assistant", "")
        for after, sender, content, kind in (
            (0, hero, f"Please note: {child} has judo on {weekday} from now on.", "message"),
            (20, assistant, f"Noted: {child} has judo on {weekday}.", "message"),
            (25, assistant, "Noted a new weekly appointment.", "turn_completed"),
        ):
            way = "out" if sender is assistant else "in"
            when = moment + timedelta(seconds=after)
            extra = {**turn, "kind": kind, "direction": way}
            self.lines.append(Line(when, self.agent, sender, content, extra=extra))

    def small_talk(self, missing: int) -> None:
        """Fill the weeks with `missing` messages that answer no question."""
        rng = self.rng
        seen: set[tuple[str, ...]] = set()
        while missing > 0:
            room = rng.choice((self.home, self.home, self.office, self.office, self.club))
            first, second = rng.sample(room.members, 2)
            words = {
                "a": first.first,
                "b": second.first,
                "food": rng.choice(FOODS),
                "weather": rng.choice(WEATHERS),
                "show": rng.choice(SHOWS),
                "hobby": rng.choice(HOBBIES),
                "hearsay": rng.choice(HEARSAY),
                "mood": rng.choice(MOODS),
                "sign": rng.choice(SIGNS),
                "weekday": rng.choice(WEEKDAYS),
                "number": rng.randrange(12, 60),
                "small": rng.randrange(2, 9),
            }
            talk = [rng.choice(turn).format(**words).strip() for turn in rng.choice(CHATTER)]
            # People repeat a whole exchange word for word, but not often.
            if tuple(talk) in seen and rng.random() < 0.95:
                continue
            seen.add(tuple(talk))
            moment = self.day(rng.randrange(DAYS))
            before: Line | None = None
            for number, content in enumerate(talk[:missing]):
                sender = second if number % 2 else first
                line = Line(moment, room, sender, content[0].upper() + content[1:])
                if before is not None and rng.random() < 0.15:
                    line.answers = before
                self.lines.append(line)
                before = line
                moment += timedelta(minutes=rng.randrange(1, 12), seconds=rng.randrange(60))
            missing -= len(talk[:missing])

    def stories(self) -> list[Callable[[], None]]:
        return [
            *(self.introductions, self.hero_moves, self.relative_moves, self.job_change),
            *(self.new_phone, self.appointment, self.room_change, self.allergy, self.postponed),
            *(self.near_names, self.party, self.pet, self.repeated, self.secret_told),
            self.agent_turn,
        ]


def build(
    seed: int, events: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, str]]:
    """Return the events, the questions, and what is to be forgotten, of the world of `seed`.

    Raises:
        ValueError: too few events to tell the stories in.
    """
    if events < FEWEST_EVENTS:
        raise ValueError(f"{events} events are too few; the stories alone need {FEWEST_EVENTS}")
    world = World(seed)
    for story in world.stories():
        story()
    world.small_talk(events - len(world.lines))
    lines = sorted(world.lines, key=lambda line: line.when)
    ids = {id(line): f"g{number:04d}" for number, line in enumerate(lines, 1)}
    by_label = {line.label: ids[id(line)] for line in lines if line.label}
    records = []
    for line in lines:
        record = {
            "id": ids[id(line)],
            "platform": line.room.platform,
            "sender_id": line.sender.handle(line.room.platform),
            "sender_name": line.sender.name.strip(),
            "peer_id": line.room.peer_id,
            "peer_kind": line.room.peer_kind,
            "direction": "in",
            "occurred_at": line.when.isoformat(),
            "content": line.content,
            **line.extra,
        }
        if line.answers is not None:
            record["reply_to"] = ids[id(line.answers)]
        records.append(record)
    secret = next(asked for asked in world.asked if asked.id == "secret")
    others = [asked for asked in world.asked if asked is not secret]
    questions = [
        {"id": asked.id, "query": asked.query, "expect": [by_label[name] for name in asked.labels]}
        for asked in (*world.rng.sample(others, QUESTIONS - 1), secret)
    ]
    return records, questions, {"forget": by_label["secret"], "phrase": world.secret}


def write(folder: Path, seed: int, events: int) -> Path:
    """Write export.jsonl, questions.jsonl and meta.json to `folder`; return the export's path."""
    records, questions, meta = build(seed, events)
    folder.mkdir(parents=True, exist_ok=True)
    export = folder / "export.jsonl"
    for path, lines in ((export, records), (folder / "questions.jsonl", questions)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")
    return export


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m demo.generate", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--events", type=int, default=400)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    given = parser.parse_args()
    if given.events < FEWEST_EVENTS:
        parser.error(f"--events: the stories need at least {FEWEST_EVENTS}")
    print(write(given.out, given.seed, given.events))


if __name__ == "__main__":
    main()
