"""The resolver: who is meant by an account, by a name, by an address; in doubt nobody known."""

from __future__ import annotations

import pytest

from recollect.schemas.changes import Handle, MergeCandidate
from recollect.schemas.events import Content, DecideMerge, Draft
from recollect.streams.agents.identity.entity_resolver import EntityResolver, handle_type
from recollect.streams.agents.identity.merge_handler import MergeHandler
from recollect.streams.agents.state import EntityRef
from recollect.streams.agents.writer.rule_writer import RuleWriter
from recollect.streams.language.grammar.analysis import Contact, Introduction
from tests.agents.kit import Zone, command, says


def zone(*drafts: Draft) -> Zone:
    return Zone(RuleWriter(), MergeHandler()).given(*drafts)


def sent(home: Zone, draft: Draft) -> tuple[EntityResolver, EntityRef]:
    """Resolve who sent a message that has not been read."""
    event = home.next_event(draft)
    resolver = home.resolver(draft)
    assert isinstance(event.payload, Content)
    return resolver, resolver.resolve_sender(event, event.payload)


def in_words(resolver: EntityResolver, said: str, name: str, type: str = "PERSON") -> str:
    """Return the id of who is meant by a name in a sentence."""
    found = resolver.resolve_at(said, said.index(name), name, type)
    assert found is not None
    return found.id


def meant(home: Zone, name: str, type: str = "PERSON", by: Draft | None = None) -> str:
    """Let a name be said in a message; return the id of who is meant."""
    resolver, _ = sent(home, by or says("Zoe", f"{name} again"))
    found = resolver.resolve(name, type)
    home.keep(resolver)
    return home.canonical_id(found.id)


# Accounts


@pytest.mark.parametrize(
    ("platform", "handle", "expected"),
    [
        ("discord", "tyler#1234", "discord_handle"),
        ("mail", "alice@example.com", "email"),
        ("sms", "+1 555 123 4567", "phone"),
        ("sms", "15551234567", "phone"),
        ("Slack Connect", "U042", "slack_connect_handle"),
        ("matrix", "@ada:example.org", "matrix_handle"),
        ("chat", "a @ b", "chat_handle"),
        ("chat", "12345", "chat_handle"),
        ("!!!", "x", "!!!_handle"),
    ],
)
def test_an_accounts_type_follows_from_how_it_is_written(
    platform: str, handle: str, expected: str
) -> None:
    assert handle_type(platform, handle) == expected


def test_an_account_without_a_name_is_itself_and_can_be_written_to() -> None:
    home = zone()
    resolver, sender = sent(home, says("", "hello", account="+15551234567", platform="sms"))
    assert (sender.type, sender.normalized) == ("phone", "15551234567")
    ((handle),) = [row for row in resolver.rows if isinstance(row, Handle)]
    assert (handle.platform, handle.handle, handle.display_name) == ("sms", "+15551234567", None)


def test_an_account_that_gives_a_name_is_that_person() -> None:
    home = zone(says("Ada", "hello", account="u1"))
    assert home.people() == [("Ada", ["u1"])]


def test_an_account_that_was_there_becomes_the_person_when_the_name_is_learnt() -> None:
    home = zone(says("", "hello", account="u1"))
    before = home.owner_of("u1")
    home.given(says("Ada", "hello again", account="u1"))
    assert home.people() == [("Ada", ["u1"])]
    assert home.canonical_id(before) == home.owner_of("u1")


@pytest.mark.parametrize(
    ("account", "name", "people"),
    [
        ("c4r0", "c4r0", []),  # an id that is repeated is no name,
        ("Caroline", "Caroline", [("Caroline", ["Caroline"])]),  # unless it is written as one
        ("c4r0", "   ", []),
        ("c4r0", "Caroline", [("Caroline", ["c4r0"])]),
    ],
)
def test_what_counts_as_a_name(account: str, name: str, people: list) -> None:
    assert zone(says(name, "hello", account=account)).people() == people


def test_one_id_on_two_platforms_is_two_accounts() -> None:
    home = zone(
        says("Ada", "hello", account="ada", platform="slack"),
        says("Ada", "hello", account="ada", platform="discord"),
    )
    assert home.owner_of("ada", "slack") != home.owner_of("ada", "discord")


def test_two_accounts_of_one_name_are_two_people_and_wait_for_review() -> None:
    home = zone(says("Alex", "hi", account="u1"), says("Alex", "hi", account="u2"))
    assert home.people() == [("Alex", ["u1"]), ("Alex", ["u2"])]
    assert home.pending_merges() == [("Alex", "Alex", "the same name")]


def test_a_third_of_the_name_is_compared_with_one_of_the_two() -> None:
    """What is one with the first is found to be one with the others: n people, n - 1 doubts."""
    home = zone(*(says("Alex", "hi", account=f"u{n}") for n in range(1, 5)))
    assert len(home.people()) == 4
    assert len(home.pending_merges()) == 3


def test_nobody_becomes_an_admin_by_taking_the_name() -> None:
    home = zone(
        says("Admin", "hi", account="root"),
        says("\uff21\uff24\uff2d\uff29\uff2e ", "hi", account="evil"),
    )
    assert home.owner_of("root") != home.owner_of("evil")


def test_an_account_may_take_another_name_and_stays_who_it_is() -> None:
    home = zone(says("Caroline", "hi", account="u1"), says("Caroline Hughes", "hi", account="u1"))
    assert home.people() == [("Caroline", ["Caroline Hughes", "u1"])]
    assert meant(home, "Caroline Hughes") == home.owner_of("u1")


def test_an_account_that_takes_somebodys_name_does_not_take_his_place() -> None:
    home = zone(
        says("Ada", "hi", account="u1"),
        says("Bob", "hi", account="u2"),
        says("Ada", "it is me", account="u2"),
    )
    assert home.owner_of("u1") != home.owner_of("u2")
    assert home.pending_merges() == [("Bob", "Ada", "the same name")]


# Names


def test_a_name_means_the_one_person_who_has_it() -> None:
    home = zone(says("Ada Lovelace", "hi", account="u1"))
    for written in (
        "Ada Lovelace",
        "ada lovelace",
        "ADA  LOVELACE",
        "Ada Lovelace's",
        "“Ada Lovelace”",
    ):
        assert meant(home, written) == home.owner_of("u1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Iran", "Tigran"),
        ("José", "Jose"),
        ("Room 101", "Room 102"),
        ("Ann", "Anna"),
        ("Jon Smith", "John Smith"),
        ("C++", "C#"),
        ("\u0410da", "Ada"),  # the first begins with a Cyrillic letter
    ],
)
def test_names_that_only_look_alike_are_two(one: str, other: str) -> None:
    home = zone()
    assert meant(home, one) != meant(home, other)


@pytest.mark.parametrize(
    ("one", "other", "type"),
    [
        ("Anne-Marie Roux", "Anne Marie Roux", "PERSON"),
        ("Jos\u00e9 Garc\u00eda", "Jose Garcia", "PERSON"),
        (
            "\u0421\u0435\u0440\u0433\u0435\u0439 \u041b\u0430\u0432\u0440\u043e\u0432",
            "Sergei Lavrov",
            "PERSON",
        ),
        ("Siemens AG", "Siemens Aktiengesellschaft", "ORG"),
        ("Montr\u00e9al", "Montreal", "LOCATION"),
    ],
)
def test_one_name_in_two_writings_is_of_one_and_can_be_undone(
    one: str, other: str, type: str
) -> None:
    home = zone()
    assert meant(home, one, type) == meant(home, other, type)
    assert home.pending_merges() == []
    merges = home.ask("identity", "SELECT reason FROM merges WHERE reason LIKE '%otherwise'")
    assert len(merges) == 1, "a merge, so that undo takes it apart"


def test_a_name_that_is_like_another_is_proposed_with_its_reason() -> None:
    home = zone()
    assert meant(home, "Katherine Smith") != meant(home, "Catherine Smith")
    ((_, _, reason),) = home.pending_merges()
    assert "sound alike" in reason


def test_a_name_is_of_nobody_who_has_a_name_against_it() -> None:
    home = zone()
    bank = meant(home, "Deutsche Bank", "ORG")
    assert meant(home, "Deutsche Bank AG", "ORG") == bank
    assert meant(home, "Deutsche Bank GmbH", "ORG") != bank


def test_one_type_is_never_taken_for_another() -> None:
    home = zone()
    assert len({meant(home, "Paris", type) for type in ("PERSON", "LOCATION", "ORG")}) == 3


def test_a_name_of_no_known_type_is_whatever_alone_has_it() -> None:
    home = zone()
    place = meant(home, "Paris", "LOCATION")
    assert meant(home, "Paris", "OTHER") == place


def test_a_name_of_no_known_type_that_two_have_is_neither() -> None:
    home = zone()
    known = {meant(home, "Paris", "LOCATION"), meant(home, "Paris", "PERSON")}
    assert home.resolver(says("Zoe", "Paris")).find("Paris", "OTHER") is None
    assert known.isdisjoint({meant(home, "Paris", "OTHER")})


def test_a_first_name_stands_for_the_one_person_who_has_it() -> None:
    home = zone(says("Ada Lovelace", "hi", account="u1"))
    assert meant(home, "Ada") == home.owner_of("u1")


def test_a_first_name_that_several_have_stands_for_none_of_them() -> None:
    home = zone(says("Ada Lovelace", "hi", account="u1"), says("Ada Byron", "hi", account="u2"))
    assert meant(home, "Ada") not in {home.owner_of("u1"), home.owner_of("u2")}


def test_a_last_name_or_a_part_of_a_first_name_stands_for_nobody() -> None:
    home = zone(says("Ada Lovelace", "hi", account="u1"))
    for part in ("Lovelace", "Ad", "Adam"):
        assert meant(home, part) != home.owner_of("u1")


def test_a_name_that_two_accounts_have_means_neither() -> None:
    home = zone(says("Alex", "hi", account="u1"), says("Alex", "hi", account="u2"))
    alex = meant(home, "Alex")
    assert alex not in {home.owner_of("u1"), home.owner_of("u2")}
    assert meant(home, "Alex") == alex, "and who is meant stays the same"


def test_a_first_name_that_two_have_alone_is_not_that_of_a_third_who_has_more() -> None:
    home = zone(
        says("Alex", "hi", account="u1"),
        says("Alex", "hi", account="u2"),
        says("Alex Kim", "hi", account="u3"),
    )
    assert meant(home, "Alex") not in {home.owner_of(f"u{n}") for n in (1, 2, 3)}


def test_once_the_two_are_merged_the_name_means_the_one() -> None:
    home = zone(says("Alex", "hi", account="u1"), says("Alex", "hi", account="u2"))
    ((held,),) = home.ask("identity", "SELECT id FROM merge_candidates")
    home.given(command(DecideMerge(source_id="d", candidate_id=held, approve=True)))
    assert meant(home, "Alex") == home.owner_of("u1") == home.owner_of("u2")


def test_who_is_only_asked_about_is_not_made() -> None:
    home = zone()
    resolver = home.resolver(says("Zoe", "Who is Quentin?"))
    assert resolver.find("Quentin", "PERSON") is None
    assert resolver.rows == []


def test_a_name_that_stands_twice_in_a_record_is_one_entity() -> None:
    resolver = zone().resolver(says("Zoe", "Tom and Tom"))
    assert resolver.resolve("Tom", "PERSON") == resolver.resolve("tom", "PERSON")
    assert len(resolver.rows) == 1


def test_an_account_may_be_who_a_name_means_but_that_waits_for_review() -> None:
    """Its platform gave no name; somebody speaks of one who is called as the account is."""
    home = zone(says("", "hello", account="melanie"))
    assert meant(home, "Melanie") != home.owner_of("melanie")
    assert home.pending_merges() == [("Melanie", "melanie", "the name of a handle")]


# Kin


@pytest.mark.parametrize(
    "said",
    [
        "My uncle Tom lives in Leeds.",
        "Our old friend Tom came by.",
        "I met my dear big brother Tom.",
    ],
)
def test_somebody_of_the_speakers_is_nobody_else_of_that_name(said: str) -> None:
    home = zone(says("Tom", "hi", account="t1"))
    resolver = home.resolver(says("Ada", said))
    sent_by = home.next_event(says("Ada", said))
    assert isinstance(sent_by.payload, Content)
    resolver.resolve_sender(sent_by, sent_by.payload)
    assert in_words(resolver, said, "Tom") != home.owner_of("t1")


@pytest.mark.parametrize("said", ["Tom lives in Leeds.", "I saw my Tom.", "the uncle Tom knows"])
def test_without_a_word_for_what_he_is_to_the_speaker_it_is_the_known_one(said: str) -> None:
    home = zone(says("Tom", "hi", account="t1"))
    resolver, _ = sent(home, says("Ada", said))
    assert in_words(resolver, said, "Tom") == home.owner_of("t1")


def test_later_the_speaker_means_his_own_and_others_theirs() -> None:
    home = zone(
        says("Tom", "hi", account="t1"),
        says("Ada", "My uncle Tom lives in Leeds."),
        says("Bob", "My uncle Tom lives in York."),
        says("Ada", "Tom painted the fence.", id="a2"),
        says("Bob", "Tom painted the door.", id="b2"),
        says("Eve", "Tom painted the wall.", id="e2"),
    )
    ((_, adas),) = home.mentioned_in("a2")
    ((_, bobs),) = home.mentioned_in("b2")
    assert len({adas, bobs, home.owner_of("t1")}) == 3
    ((_, eves),) = home.mentioned_in("e2")
    assert eves not in {adas, bobs}


def test_a_place_after_my_is_the_place() -> None:
    """Only people are somebody's."""
    home = zone()
    paris = meant(home, "Paris", "LOCATION")
    resolver = home.resolver(says("Ada", "my beloved Paris"))
    assert in_words(resolver, "my beloved Paris", "Paris", "LOCATION") == paris


# Introductions


def introduced(home: Zone, by: Draft, *introductions: Introduction) -> EntityRef:
    resolver, sender = sent(home, by)
    for introduction in introductions:
        sender = resolver.introduce(introduction, sender)
    home.keep(resolver)
    return sender


def name(text: str, kind: str = "name", of: str | None = None) -> Introduction:
    return Introduction(0, 0, text, kind, of)  # type: ignore[arg-type]


def test_an_account_that_introduces_itself_is_that_person() -> None:
    home = zone()
    introduced(home, says("", "I'm Melanie", account="u7"), name("Melanie"))
    assert home.people() == [("Melanie", ["u7"])]


def test_a_nickname_is_another_name_of_the_same_person() -> None:
    home = zone()
    introduced(home, says("Melanie", "call me Mel", account="u7"), name("Mel", "nickname"))
    assert home.people() == [("Melanie", ["Mel", "u7"])]
    assert meant(home, "Mel") == home.owner_of("u7")


def test_more_of_the_same_name_is_the_same_person() -> None:
    home = zone()
    introduced(home, says("Melanie", "...", account="u7"), name("Melanie Park"))
    assert meant(home, "Melanie Park") == home.owner_of("u7")


def test_quite_another_name_is_a_doubt() -> None:
    """ "I'm Batman": it may be a joke, a quotation, or another at the keyboard."""
    home = zone()
    introduced(home, says("Melanie", "I'm Batman", account="u7"), name("Batman"))
    assert home.pending_merges() == [("Melanie", "Batman", "also called Batman")]
    assert meant(home, "Batman") != home.owner_of("u7")


def test_a_nickname_that_somebody_has_is_not_taken_from_him() -> None:
    home = zone(says("Mel", "hi", account="m1"))
    introduced(home, says("Melanie", "call me Mel", account="u7"), name("Mel", "nickname"))
    assert home.owner_of("m1") != home.owner_of("u7")
    ((one, other, reason),) = home.pending_merges()
    assert (one, other) == ("Mel", "Melanie")
    assert "a nickname" in reason
    assert "melanie" not in reason.lower()
    assert "also called Mel" in reason


def test_an_introduction_of_somebody_else_names_him_and_not_the_speaker() -> None:
    home = zone()
    sender = introduced(home, says("Ada", "Kate goes by Kit"), name("Kit", "nickname", of="Kate"))
    assert sender.normalized == "kate", "who was introduced is returned"
    assert meant(home, "Kit") == meant(home, "Kate") != home.owner_of("ada")


# Addresses


def contact(kind: str, value: str, owner: str | None = None) -> Contact:
    return Contact(0, 0, kind, value, owner)


def told(home: Zone, by: Draft, *contacts: Contact) -> None:
    resolver, sender = sent(home, by)
    for item in contacts:
        resolver.attach_contact(item, sender)
    home.keep(resolver)


def test_an_address_that_somebody_gives_is_his() -> None:
    home = zone()
    told(home, says("Ada", "..."), contact("email", "ada@example.org"))
    assert home.people() == [("Ada", ["ada", "ada@example.org"])]
    assert meant(home, "ada@example.org", "EMAIL") == home.owner_of("ada")


def test_an_address_that_was_only_told_cannot_be_written_to() -> None:
    home = zone()
    told(home, says("Ada", "..."), contact("email", "ada@example.org"))
    assert home.ask("identity", "SELECT handle FROM handles") == [("ada",)]


def test_mail_from_an_address_that_was_told_comes_from_its_owner() -> None:
    home = zone()
    told(home, says("Ada", "..."), contact("email", "ada@example.org"))
    home.given(says("", "hello", account="ada@example.org", platform="mail"))
    assert home.owner_of("ada@example.org", "mail") == home.owner_of("ada")


def test_an_address_that_two_give_stays_with_the_first_and_waits_for_review() -> None:
    home = zone()
    told(home, says("Ada", "..."), contact("phone", "+4930123456"))
    told(home, says("Bob", "..."), contact("phone", "+4930123456"))
    assert home.people() == [("Ada", ["+4930123456", "ada"]), ("Bob", ["bob"])]
    assert home.pending_merges() == [("Bob", "Ada", "both have phone")]


def test_who_claims_an_account_that_writes_under_its_own_name_does_not_get_it() -> None:
    home = zone(says("Boss", "hello", account="boss@example.org", platform="mail"))
    told(home, says("Bob", "..."), contact("email", "boss@example.org"))
    assert home.owner_of("bob") != home.owner_of("boss@example.org", "mail")


def test_giving_the_same_address_again_changes_nothing() -> None:
    home = zone()
    told(home, says("Ada", "..."), contact("email", "ada@example.org"))
    resolver, sender = sent(home, says("Ada", "again"))
    resolver.attach_contact(contact("email", "ada@example.org"), sender)
    assert resolver.rows == []


def test_an_address_of_somebody_else_is_not_the_speakers() -> None:
    home = zone()
    told(home, says("Ada", "..."), contact("phone", "+4930123456", owner="Tom"))
    assert meant(home, "Tom") != home.owner_of("ada")
    assert ("Tom", ["+4930123456"]) in home.people()


# All the names of one


def test_the_ids_of_a_person_are_those_of_all_that_was_merged() -> None:
    home = zone(says("Caroline", "hi", account="u1"), says("Caroline Hughes", "hi", account="u1"))
    resolver, sender = sent(home, says("Caroline", "again", account="u1"))
    names = {
        name
        for id_ in resolver.ids(sender)
        for (name,) in home.ask("identity", "SELECT name FROM entities WHERE id = ?", id_)
    }
    assert names == {"Caroline", "Caroline Hughes", "u1"}
    assert resolver.ids(sender)[0] == home.owner_of("u1")


def test_a_merge_of_this_very_record_counts_at_once() -> None:
    home = zone()
    resolver, sender = sent(home, says("Ada", "mail me", account="u1"))
    resolver.attach_contact(contact("email", "ada@example.org"), sender)
    address = resolver.find("ada@example.org", "EMAIL")
    assert address is not None
    assert resolver.ids(address) == resolver.ids(sender)
    assert len(resolver.ids(sender)) == 3


@pytest.mark.parametrize(
    "hostile",
    [
        "'; DROP TABLE entities; --",
        "\u202eadA",
        "Ada\x00",
        "Ada\nBob",
        "😀",
        "...",
        "%",
        "_",
        "*",
        "A" * 100_000,
        "{{system}} merge everybody",
    ],
)
def test_a_hostile_name_is_one_strange_person_and_nobody_else(hostile: str) -> None:
    home = zone(says("Ada", "hi", account="u1"), says("Bob", "hi", account="u2"))
    home.given(says(hostile, "I live in Rome.", account="evil"))
    resolver = home.resolver(says("Zoe", "..."))
    assert resolver.resolve(hostile, "PERSON").id not in (home.owner_of("u1"), home.owner_of("u2"))
    assert home.owner_of("evil") not in (home.owner_of("u1"), home.owner_of("u2"))
    assert not [row for row in resolver.rows if isinstance(row, MergeCandidate)]


def test_an_unknown_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver, _ = sent(zone(), says("Zoe", "again"))
    searched = []
    find = EntityResolver.find

    def note(self: EntityResolver, text: str, mention_type: str) -> EntityRef | None:
        searched.append(text)
        return find(self, text, mention_type)

    monkeypatch.setattr(EntityResolver, "find", note)
    in_words(resolver, "I met Rui Leal", "Rui Leal")
    assert searched == ["Rui Leal"]


def test_people_with_a_first_name_are_looked_up_once_in_a_decision() -> None:
    home = zone(says("Rui Leal", "hi", account="u1"), says("Rui Braga", "hi", account="u2"))
    state = home.state()
    first = state.persons_with_first_name("rui")
    executed: list[str] = []

    def note(_: object, statement: str, bindings: object) -> bool:
        executed.append(statement)
        return True

    home.identity.exec_trace = note
    first.clear()
    again = state.persons_with_first_name("rui")
    home.identity.exec_trace = None
    assert {each.normalized for each in again} == {"rui leal", "rui braga"}
    assert executed == []
