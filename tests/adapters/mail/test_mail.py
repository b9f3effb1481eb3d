"""E-mail: single mails, folders and zips of them, mbox files and Maildirs."""

from __future__ import annotations

import base64
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.schemas.events import Attachment, Content
from recollect.streams.adapters import Options, drafts, open_input
from recollect.streams.adapters.mail.html_text import text_of_html
from recollect.streams.adapters.mail.mail_body import split_body
from tests.adapters.kit import EXPORTS, Opened, opened, zipped

HEAD = (
    "From: Ada Lovelace <Ada@Example.org>\r\n"
    "To: Bob <bob@example.org>\r\n"
    "Date: Mon, 04 May 2026 09:30:00 +0200\r\n"
)


def mail(body: str, id_: str | None = "m1@example.org", head: str = HEAD, **headers: str) -> bytes:
    lines = head + (f"Message-ID: <{id_}>\r\n" if id_ else "")
    lines += "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return (lines + "\r\n" + body.replace("\n", "\r\n")).encode()


def read(tmp_path: Path, raw: bytes, name: str = "one.eml") -> Opened:
    path = tmp_path / name
    path.write_bytes(raw)
    return opened(path)


def one(tmp_path: Path, raw: bytes) -> Content:
    found = read(tmp_path, raw)
    assert not found.rejections
    (content,) = found.contents
    return content


def forwards(content: Content) -> list[tuple[str | None, str | None]]:
    return [(a.name, a.caption) for a in content.attachments if a.type == "forward"]


@pytest.mark.parametrize(
    "footer",
    ["", "_" * 47 + "\nboats mailing list\nboats@example.org\n", "--\nScanned by Vault\n"],
)
@pytest.mark.parametrize("text", ["Grüße, the key is here.", "Grüße: the key is here!"])
def test_plain_text_below_base64_is_no_part_of_it(tmp_path: Path, text: str, footer: str) -> None:
    encoded = base64.encodebytes(text.encode()).decode()
    encoding = {"Content-Type": "text/plain; charset=utf-8", "Content-Transfer-Encoding": "base64"}
    for body in (f"{encoded}\n{footer}", encoded + footer, f"{encoded[:12]}\n\n{encoded[12:]}"):
        found = one(tmp_path, mail(body, **encoding))
        assert found.content == text
        assert found.metadata.get("signature", "").startswith(footer[:4] if footer in body else "")


def test_a_mail_says_who_wrote_what_when_and_to_whom(tmp_path):
    found = read(tmp_path, mail("I moved to Turin.\n", Subject="=?utf-8?q?News_=C3=BC?="))
    (draft,), (content,) = found.drafts, found.contents
    assert found.formats == ["email"]
    assert (draft.platform, draft.occurred_at) == ("email", 1777879800000)
    assert content.source_id == "m1@example.org"
    assert (content.sender_id, content.sender_name) == ("ada@example.org", "Ada Lovelace")
    assert content.content == "I moved to Turin."
    assert content.metadata == {"subject": "News ü", "to": ["Bob <bob@example.org>"]}
    assert (content.peer_id, content.peer_kind) == ("ada@example.org, bob@example.org", "dm")
    assert (content.direction, content.reply_to) == (None, None)


REPLIES = {
    "top": (
        "Yes.\n\nOn Mon, May 4, 2026 at 9:00 AM Bob <bob@example.org> wrote:\n\n> Coming?\n> B.\n",
        ("Yes.", "Coming?\nB.", None),
    ),
    "the announcement over two lines": (
        "Yes.\n\nOn Mon, May 4, 2026 at 9:00 AM Bob B. Brown <\nbob@example.org> wrote:\n> Coming?",
        ("Yes.", "Coming?", None),
    ),
    "inline and bottom": (
        "On 4 May, Bob <b@e.org> wrote:\n> Coming?\nYes.\n\n> When?\nAt nine.\n",
        ("Yes.\n\nAt nine.", "Coming?\n\nWhen?", None),
    ),
    "nothing marked": (
        "Ja.\n\nAm 04.05.2026 um 09:00 schrieb Bob <b@e.org>:\nKommst du?\nBob\n",
        ("Ja.", "Kommst du?\nBob", None),
    ),
    "as Outlook writes": (
        "Yes.\n\n________________________________\nFrom: Bob <b@e.org>\nSent: Monday, May 4\n"
        "To: Ada\nSubject: Tea\n\nComing?\n",
        ("Yes.", "Coming?", None),
    ),
    "as Outlook writes in German": (
        "Ja.\n\nVon: Bob\nGesendet: Montag\nAn: Ada\nBetreff: Tee\n\nKommst du?\n",
        ("Ja.", "Kommst du?", None),
    ),
    "in Russian": (
        "Да.\n\n04.05.2026 09:00, Bob <b@e.org> пишет:\n> Придёшь?\n",
        ("Да.", "Придёшь?", None),
    ),
    "a signature": (
        "I moved.\n\n-- \nAda\nExample Inc.\n", ("I moved.", None, "--\nAda\nExample Inc.")
    ),
    "a telephone's": (
        "I moved.\n\nSent from my iPhone\n", ("I moved.", None, "Sent from my iPhone")
    ),
    "a closing": (
        "I moved.\n\nBest regards,\nAda\n", ("I moved.", None, "Best regards,\nAda")
    ),
    "a disclaimer": (
        "I moved.\n\nThis e-mail is confidential and intended for the recipient only.\nThanks\n",
        ("I moved.", None,
         "This e-mail is confidential and intended for the recipient only.\nThanks"),
    ),
    "a list's footer": (
        "I moved.\n" + "_" * 47 + "\nusers mailing list\nhttps://l.example/mailman/listinfo/users\n",
        ("I moved.", None,
         "_" * 47 + "\nusers mailing list\nhttps://l.example/mailman/listinfo/users"),
    ),
    "items of a list are no signature": (
        "Bring:\n\n- tea\n- a book\n\nThanks for all.\n",
        ("Bring:\n\n- tea\n- a book\n\nThanks for all.", None, None),
    ),
    "what looks like headers": (
        "Note: From: is a header.\nTo: be or not\n", ("Note: From: is a header.\nTo: be or not",
                                                     None, None),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REPLIES)
def test_quotations_and_signatures_are_kept_apart_from_what_was_said(tmp_path, case):
    body, expected = REPLIES[case]
    content = one(tmp_path, mail(body, Subject="Re: Tea"))
    found = content.content, content.metadata.get("quoted"), content.metadata.get("signature")
    assert found == expected
    assert not content.attachments


@pytest.mark.parametrize(
    "announced",
    [
        "---------- Forwarded message ---------\nFrom: Bob <b@e.org>\nDate: Mon\nSubject: Tea\n",
        "Begin forwarded message:\n\nFrom: Bob <b@e.org>\nSubject: Tea\nDate: Monday\n",
        "-------- Weitergeleitete Nachricht --------\nBetreff: Tea\nVon: Bob <b@e.org>\nAn: Ada\n",
        "From: Bob <b@e.org>\nSent: Monday\nTo: Ada\nSubject: Tea\n",
    ],
)
def test_what_was_forwarded_was_said_by_another(tmp_path, announced):
    content = one(
        tmp_path, mail(f"See below.\n\n{announced}\nI moved to Oslo.\n", Subject="Fwd: Tea")
    )
    assert content.content == "See below."
    assert forwards(content) == [("Bob <b@e.org>", "I moved to Oslo.")]
    assert "quoted" not in content.metadata


def test_a_mail_within_a_mail_is_a_forward_and_files_are_named(tmp_path):
    boundary = 'multipart/mixed; boundary="x"'
    body = (
        "--x\nContent-Type: text/plain\n\nSee.\n"
        "--x\nContent-Type: message/rfc822\n\nFrom: Bob <b@e.org>\nSubject: A\n\nI moved to Oslo.\n"
        '--x\nContent-Type: application/pdf; name="plan.pdf"\nContent-Transfer-Encoding: base64\n\n'
        "aGVsbG8=\n--x--\n"
    )
    content = one(tmp_path, mail(body, MIME_Version="1.0", Content_Type=boundary))
    assert content.content == "See."
    assert forwards(content) == [("Bob <b@e.org>", "I moved to Oslo.")]
    assert content.attachments[0] == Attachment(
        type="file", name="plan.pdf", mime_type="application/pdf", size=5
    )


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('See <a href="https://e.org/a?b=1&amp;c=2">the plan</a>.',
         "See the plan <https://e.org/a?b=1&c=2>."),
        ('<a href="https://e.org/x">here </a>now', "here <https://e.org/x> now"),
        ('<a href="https://www.e.org/">e.org</a> <a href="http://e.org/b">http://e.org/b</a>',
         "e.org http://e.org/b"),
        ('<a href="mailto:b@e.org?subject=x">Bob</a>, <a href="mailto:b@e.org">b@e.org</a>',
         "Bob <b@e.org>, b@e.org"),
        ('<a href="#top">top</a> <a href="cid:1">it</a> <a href="javascript:x()">do</a> '
         '<a href="/rel">rel</a> <a name="n">n</a> <a href="https://e.org/i"><img src="i"></a>',
         "top it do rel n"),
        ('<a href="https://e.org/1"><div>Button</div></a><p>Below</p>',
         "Button <https://e.org/1>\n\nBelow"),
        ('<a href="https://e.org/1">one<a href="https://e.org/2">two</a>',
         "one <https://e.org/1>two <https://e.org/2>"),
        ('<blockquote><a href="https://e.org/\n1">q</a></blockquote>', "> q <https://e.org/1>\n>"),
        ('<a href="https://e.org/<x>">y</a>', "y <https://e.org/%3Cx%3E>"),
        ('<a href="tel:+491">call</a> <a href="tel:+491">+49 1</a>', "call <tel:+491> +49 1"),
        ('Above<br><a href="https://e.org/1">&gt;<br> </a>Below', "Above\n>\nBelow"),
        ('Above<br><a href="https://e.org/1">x</a>', "Above\nx <https://e.org/1>"),
        ('<a href="https://e.org/1">-----Original Message-----</a>', "-----Original Message-----"),
        ('<a href="https://e.org/1">**more**</a>', "**more** <https://e.org/1>"),
    ],
)  # fmt: skip
def test_an_address_follows_the_words_of_a_link_that_do_not_say_it(html: str, text: str) -> None:
    assert text_of_html(html) == text


@pytest.mark.parametrize("link", ["<a href=http://x.de>&gt;<br></a>", "<a href=http://x.de>x<br>"])
def test_many_links_whose_words_end_a_line_take_linear_time(link: str) -> None:
    begun = time.process_time()
    text_of_html(link * 16_000)
    assert time.process_time() - begun < 3


def test_a_linked_rule_above_a_quotation_is_recognised(tmp_path: Path) -> None:
    html = (
        '<p>Yes.</p><p><a href="https://e.org/1">-----Original Message-----</a><br>'
        "From: Bob &lt;b@e.org&gt;<br>Sent: Monday<br>Subject: Tea</p><p>Coming?</p>"
    )
    content = one(tmp_path, mail(html, Content_Type="text/html"))
    assert (content.content, content.metadata["quoted"]) == ("Yes.", "Coming?")


def test_mails_imported_without_the_addresses_of_links_are_known(tmp_path: Path) -> None:
    """Neither the text nor, of a mail without an id, the id is another."""
    html = '<p>See <a href="https://e.org/plan">the plan</a>.</p>'
    for id_ in ("m1@example.org", None):
        raw = mail(html, id_, Content_Type="text/html")
        plain = mail(html.replace("href", "name"), id_, Content_Type="text/html")
        (new,), (old,) = read(tmp_path, raw).drafts, read(tmp_path, plain).drafts
        assert new.payload.source_id == old.payload.source_id
        with Recollect(Home.create_or_open(tmp_path / f"{id_}", without_encoder=True)) as opened_:
            counts = []
            for each in (plain, raw, plain):
                (tmp_path / "one.eml").write_bytes(each)
                report = opened_.zone("a").ingest_files([tmp_path / "one.eml"])
                counts.append((report.new, report.duplicate, report.rejected))
        assert counts == [(1, 0, 0), (0, 1, 0), (0, 1, 0)]


def alternative(plain: str, html: str, id_: str | None = "m1@example.org") -> bytes:
    """A mail in two forms, the HTML with a picture beside it, as Outlook and Apple Mail write."""
    body = (
        f"--a\nContent-Type: text/plain; charset=utf-8\n\n{plain}\n"
        '--a\nContent-Type: multipart/related; boundary="r"\n\n'
        f"--r\nContent-Type: text/html; charset=utf-8\n\n{html}\n"
        '--r\nContent-Type: image/png; name="x.png"\nContent-ID: <x>\n\nAA\n--r--\n--a--\n'
    )
    return mail(body, id_, Content_Type='multipart/alternative; boundary="a"')


@pytest.mark.parametrize(
    ("plain", "html", "text"),
    [
        ("See the plan.", 'See <a href="https://e.org/1">the plan</a>.',
         "See the plan <https://e.org/1>."),
        ("See the\nlong plan, there, here.", '<a href="https://e.org/1">the long plan</a>, there, '
         '<a href="https://e.org/2">here</a>.',
         "See the\nlong plan <https://e.org/1>, there, here <https://e.org/2>."),
        ("See the plan [1].\n\n[1] https://e.org/1/", 'See <a href="https://e.org/1">the plan</a>.',
         "See the plan [1].\n\n[1] https://e.org/1/"),
        ("See the plan<http://www.e.org/1>", '<a href="http://www.e.org/1">the plan</a>',
         "See the plan<http://www.e.org/1>"),
        ("Bob and there", '<a href="mailto:b@e.org">Bob</a> and <a href="https://e.org/1">here</a>',
         "Bob <b@e.org> and there"),
        ("计划在这里。", '<a href="https://e.org/1">计划</a>在这里。', "计划 <https://e.org/1>在这里。"),
    ],
)  # fmt: skip
def test_addresses_that_only_the_html_form_has_are_added(
    tmp_path: Path, plain: str, html: str, text: str
) -> None:
    assert one(tmp_path, alternative(plain, html)).content == text


PLAN = (
    "<p>Dear Ada,</p><p>the workshop takes place in Turin on 4 May at ten o'clock, in the old hall "
    "beside the river. Please bring your own laptop and tell us before Friday if you need a room."
    "</p><p>Bob</p>"
)


@pytest.mark.parametrize(
    "stub",
    [
        "",
        "Zobacz tę wiadomość w przeglądarce: https://e.org/m/1\n",
        "View this email in your browser\n",
        "このメールはブラウザで見てください",
        "Dear Ada,\n",
    ],
)
def test_a_plain_form_that_says_little_gives_way_to_the_html(tmp_path: Path, stub: str) -> None:
    content = one(tmp_path, alternative(stub, PLAN))
    assert content.content.startswith("Dear Ada,\n\nthe workshop takes place in Turin on 4 May")
    assert [file.name for file in content.attachments] == ["x.png"]


def test_a_mail_of_which_only_the_plain_form_was_imported_is_edited(tmp_path: Path) -> None:
    stub = "View it here: https://e.org/m/1\n"
    with Recollect(Home.create_or_open(tmp_path / "home", without_encoder=True)) as opened_:
        counts = []
        for html in ("", PLAN, PLAN):
            (tmp_path / "one.eml").write_bytes(alternative(stub, html))
            report = opened_.zone("a").ingest_files([tmp_path / "one.eml"])
            counts.append((report.new, report.duplicate, report.rejected))
        (found, *_) = opened_.zone("a").recall("Where does the workshop take place?").results
    assert counts == [(1, 0, 0), (1, 0, 0), (0, 1, 0)]
    assert "Turin" in found.text


def test_a_short_answer_stays_plain_beside_a_short_signature(tmp_path: Path) -> None:
    raw = alternative("Yes, at nine.", "<p>Yes, at nine.</p><p>Ada Lovelace, Example Ltd, London")
    assert one(tmp_path, raw).content == "Yes, at nine."


def test_mails_imported_by_their_plain_form_are_known(tmp_path: Path) -> None:
    html = '<p>See <a href="https://e.org/1">the plan</a>.</p>'
    for id_ in ("m1@example.org", None):
        files = [
            alternative("See the plan.", text, id_) for text in (html.replace("href", "name"), html)
        ]
        sources = [read(tmp_path, raw).contents[0].source_id for raw in files]
        assert sources[0] == sources[1]
        with Recollect(Home.create_or_open(tmp_path / f"{id_}", without_encoder=True)) as opened_:
            counts = []
            for each in files:
                (tmp_path / "one.eml").write_bytes(each)
                report = opened_.zone("a").ingest_files([tmp_path / "one.eml"])
                counts.append((report.new, report.duplicate, report.rejected))
        assert counts == [(1, 0, 0), (0, 1, 0)]


@pytest.mark.parametrize("words", ["here", "x" * 50])
def test_many_links_that_the_plain_form_lacks_take_linear_time(tmp_path: Path, words: str) -> None:
    html = "".join(f'<a href="https://e.org/{at}">{words}</a>' for at in range(8_000))
    begun = time.process_time()
    one(tmp_path, alternative("there " * 40_000, html))
    assert time.process_time() - begun < 4


def test_html_alone_becomes_its_readable_text(tmp_path):
    html = (
        "<html><head><title>no</title><style>p {}</style></head><body><p>I &amp; Bob<br>moved.</p>"
        "<ul><li>tea</ul><div style='display:none'>hidden</div><div>On Mon, May 4, 2026, Bob "
        "&lt;b@e.org&gt; wrote:<blockquote>Coming?</blockquote></div></body></html>"
    )
    content = one(tmp_path, mail(html, Content_Type="text/html; charset=utf-8"))
    assert content.content == "I & Bob\nmoved.\n\n- tea"
    assert content.metadata["quoted"] == "Coming?"


@pytest.mark.parametrize(
    ("charset", "raw"),
    [
        ("us-ascii", "Grüße".encode()),
        ("iso-8859-1", "Grüße".encode()),
        ("utf-8", "Grüße".encode("cp1252")),
        ("no-such-set", "Grüße".encode()),
        ("windows-1252", "Grüße".encode("cp1252")),
    ],
)
def test_a_charset_that_lies_is_not_believed(tmp_path, charset, raw):
    head = mail("", Content_Type=f"text/plain; charset={charset}", Subject="@")
    content = one(tmp_path, head.replace(b"@\r\n", raw + b"\r\n").replace(b"@", b"@") + raw)
    assert content.content == "Grüße"
    assert content.metadata["subject"] == "Grüße"


RECEIVED = (
    "Received: from b (b [192.0.2.1]) by c; Mon, 4 May 2026 07:31:00 +0000 (UTC)\r\n"
    "Received: from a by b; Mon, 4 May 2026 07:30:00 +0000\r\n"
)
FROM = "From: ada@example.org\r\nTo: bob@example.org\r\n"


@pytest.mark.parametrize(
    "date",
    ["", "Date: nonsense\r\n", "Date: Mon, 4 May 2037 09:30:00 +0200\r\n",
     "Date: Thu, 1 Jan 1970 00:00:00 +0000\r\n", "Date: Mon, 4 May 2009 09:30:00 +0200\r\n"],
)  # fmt: skip
def test_where_the_date_is_missing_or_wrong_the_last_received_counts(tmp_path, date):
    found = read(tmp_path, mail("Hello.", head=RECEIVED + FROM + date))
    assert [draft.occurred_at for draft in found.drafts] == [1777879860000]


def test_a_mail_without_any_time_is_refused_by_name(tmp_path):
    found = read(tmp_path, mail("Hello.", head=FROM))
    assert not found.drafts
    assert "no usable date" in found.rejections[0].reason


def test_answers_are_in_the_thread_of_what_they_answer(tmp_path):
    folder = tmp_path / "mails"
    folder.mkdir()
    replies = {
        "a.eml": mail("First.", "a@e"),
        "b.eml": mail("By references.", "b@e", References="<a@e>", In_Reply_To="<a@e>"),
        "c.eml": mail("Further.", "c@e", References="<a@e>\r\n\t<b@e>", In_Reply_To="<b@e>"),
        "d.eml": mail("By In-Reply-To.", "d@e", In_Reply_To="<a@e>"),
        "e.eml": mail("By subject.", "e@e", Subject="Re: Tea"),
        "f.eml": mail("By subject.", "f@e", Subject="AW: Re: Tea"),
    }
    for name, raw in replies.items():
        (folder / name).write_bytes(raw)
    found = {content.source_id: content for content in opened(folder).contents}
    assert [found[id_].thread_id for id_ in ("a@e", "b@e", "c@e", "d@e")] == ["a@e"] * 4
    assert [found[id_].reply_to for id_ in ("a@e", "b@e", "c@e", "d@e")] == [
        None, "a@e", "b@e", "a@e"
    ]  # fmt: skip
    assert found["e@e"].thread_id == found["f@e"].thread_id not in (None, "a@e")


def test_what_programs_write_by_themselves_is_a_notice(tmp_path):
    report = 'multipart/report; report-type=delivery-status; boundary="x"'
    bounce = mail("--x\n\nNot delivered.\n--x--\n", "a@e", Content_Type=report)
    away = mail("I am away.", "b@e", Auto_Submitted="auto-replied")
    subject = mail("I am away.", "c@e", Subject="Out of office: Tea")
    event = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Tea\nDTSTART:20260504T090000Z\nEND:VEVENT\n"
    invited = mail(event, "d@e", Content_Type="text/calendar; method=REQUEST")
    for name, raw in (("a", bounce), ("b", away), ("c", subject), ("d", invited)):
        (tmp_path / f"{name}.eml").write_bytes(raw)
    found = opened(tmp_path)
    assert found.kinds == {"notice": 4}
    assert found.texts[-1] == "Tea, 20260504T090000Z"


def test_a_mail_in_two_folders_is_one_and_another_with_its_id_is_another(tmp_path):
    same, other = mail("I moved."), mail("I stayed.")
    path = tmp_path / "mails.zip"
    members = {"all/a.eml": same, "in/b.eml": same, "in/c.eml": other, "in/d.eml": other}
    path.write_bytes(zipped({**members, "__MACOSX/._x": b"\0"}))
    ids = [content.source_id for content in opened(path).contents]
    assert ids[:2] == ["m1@example.org"] * 2
    assert ids[2] == ids[3] != "m1@example.org"
    unnamed = mail("I moved.", None)
    assert one(tmp_path, unnamed).source_id == one(tmp_path, unnamed).source_id


def test_a_mail_and_its_copy_from_a_list_are_one(tmp_path):
    sent = mail("I moved.\n", Subject="Tea")
    footer = "_" * 47 + "\nusers mailing list\nhttps://l.example/mailman/listinfo/users\n"
    listed = mail(f"I moved.\n{footer}", Subject="[users] Tea", List_Id="Users <users.e.org>")
    (tmp_path / "a.eml").write_bytes(sent)
    (tmp_path / "b.eml").write_bytes(listed)
    one, two = opened(tmp_path).contents
    assert two.metadata["list"] == "Users <users.e.org>"
    assert [replace(one, metadata={}), one.content] == [replace(two, metadata={}), "I moved."]


def from_line(day: int = 4) -> bytes:
    return b"From ada@example.org Mon May %2d 07:30:00 2026\n" % day


MBOX = (
    from_line() + mail("One.\n\n>From here on.\n\nFrom the heart.\n", "1@e").replace(b"\r\n", b"\n")
    + b"\n" + from_line() + mail("Two.\n", "2@e").replace(b"\r\n", b"\n")
    + b"\n" + from_line(5) + mail("Three.\n", "3@e", head=FROM).replace(b"\r\n", b"\n")
)  # fmt: skip


def test_an_mbox_is_its_mails_one_by_one(tmp_path):
    found = read(tmp_path, MBOX, "Inbox")
    assert found.formats == ["mbox"]
    assert found.texts == ["One.\n\nFrom here on.\n\nFrom the heart.", "Two.", "Three."]
    # The line between the mails says when one without a date came.
    assert found.drafts[2].occurred_at == 1777966200000
    assert not found.rejections


def test_what_was_deleted_or_never_sent_is_passed_over(tmp_path):
    deleted = from_line() + mail("Gone.", X_Mozilla_Status="0009").replace(b"\r\n", b"\n")
    draft = from_line() + mail("Not yet.", X_Gmail_Labels="Drafts").replace(b"\r\n", b"\n")
    found = read(tmp_path, deleted + b"\n\n" + draft + b"\n\n" + MBOX, "Inbox")
    assert len(found.texts) == 3


def test_a_maildir_is_read_with_the_folders_in_it(tmp_path):
    files = {
        "cur/1777879800.M1P1.host:2,S": mail("One.", "1@e"),
        "cur/1777879800.M2P1.host:2,DS": mail("A draft.", "2@e"),
        "new/1777966200.M3P1.host": mail("Two.", "3@e", head=FROM),
        ".Sent/cur/1777879800.M4P1.host:2,S": mail("Three.", "4@e"),
        "dovecot-uidlist": b"3 V1 N4\n",
    }
    for name, raw in files.items():
        path = tmp_path / "Maildir" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    found = opened(tmp_path)
    assert found.formats == ["maildir"]
    assert found.texts == ["One.", "Two.", "Three."]
    assert found.drafts[1].occurred_at == 1777966200000


def test_an_mbox_that_grew_adds_only_what_is_new(tmp_path):
    begun = MBOX[: MBOX.rindex(b"\nFrom ada")]
    whole = {(c.source_id, c.content) for c in read(tmp_path, MBOX, "b").contents}
    before = {(c.source_id, c.content) for c in read(tmp_path, begun, "a").contents}
    assert before < whole
    assert {(c.source_id, c.content) for c in read(tmp_path, MBOX, "b").contents} == whole


HOSTILE = mail(
    '--x\n\nA\n--x\nContent-Type: text/html\n\n<p>B<blockquote>\n--x\nContent-Type: image/png; '
    'name="=?utf-8?b?w7w=?="\n\nC\n--x--\n',
    Content_Type="multipart/mixed; boundary=x", References="<a@e> <b", Subject="=?x?q?=ff?=",
)  # fmt: skip


def is_no_gzip(noise: bytes) -> bool:
    """A file that begins as gzip does is read as packed: that it is damaged is said of the file."""
    return not noise.startswith(b"\x1f\x8b")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(HOSTILE)), st.binary(max_size=6).filter(is_no_gzip))
def test_a_mail_that_is_cut_off_or_damaged_at_any_byte_raises_nothing(tmp_path_factory, at, noise):
    path = tmp_path_factory.mktemp("mail") / "one.eml"
    path.write_bytes(HOSTILE[:at] + noise + HOSTILE[at + 3 :])
    opened(path, "email")
    path.write_bytes(MBOX[: at * len(MBOX) // len(HOSTILE)] + noise)
    opened(path, "mbox")


def test_parts_in_parts_without_end_are_that_mails_rejection_alone(tmp_path):
    deep = "".join(f"Content-Type: multipart/mixed; boundary={n}\n\n--{n}\n" for n in range(3_000))
    (tmp_path / "a.eml").write_bytes(mail("", "1@e")[:-2] + deep.encode())
    (tmp_path / "b.eml").write_bytes(mail("I moved.", "2@e"))
    found = opened(tmp_path)
    assert found.texts[-1] == "I moved."
    assert len(found.texts) + len(found.rejections) == 2


def test_an_mbox_is_read_in_constant_memory(tmp_path):
    path = tmp_path / "large"
    one_mail = mail("x" * 500_000).replace(b"\r\n", b"\n")
    with path.open("wb") as file:
        for _ in range(60):
            file.write(from_line() + one_mail + b"\n\n")
    (export,) = open_input(path, "auto", Options()).exports
    tracemalloc.start()
    count = sum(1 for _ in drafts(export.source))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Each is longer than an event may be, so it comes as two.
    assert count == 120
    assert peak < 15_000_000


REAL = EXPORTS / "email"


@pytest.mark.skipif(not REAL.is_dir(), reason="real exports are not at hand")
def test_real_replies_say_what_their_sender_said():
    found = opened(REAL / "talon" / "standard_replies")
    # Android, AOL, Apple (2), Comcast, Gmail, Hotmail, iPhone, Sparrow, Thunderbird, Yahoo; that of
    # Outlook has no time.
    assert found.texts == ["Hello"] * 11
    assert [len(found.rejections), "no usable date" in found.rejections[0].reason] == [1, True]


@pytest.mark.skipif(not REAL.is_dir(), reason="real exports are not at hand")
def test_real_mails_are_read_in_many_charsets_and_however_broken():
    found = opened(REAL / "mail")
    assert "스티해" in found.texts
    names = {a.name for content in found.contents for a in content.attachments}
    assert {"てすと.txt", "ciële.txt", "Eelanalüüsi päring.jpg"} <= names
    assert found.kinds["notice"] == 6
    assert all("no usable date" in rejection.reason for rejection in found.rejections)


LONG = 100_000


@pytest.mark.parametrize(
    "piece", ["<a ", '<a b="', "<!", "</", "<!--", "<!-- >", "<?", '<a b="x>"', '<p title="<p>"']
)
def test_html_that_is_made_to_be_slow_is_read_with_its_words(piece):
    """Beginnings without an end: each costs a look at all that follows."""
    html = "<p>I moved to Turin.</p>" + piece * (LONG // len(piece))
    assert "I moved to Turin." in text_of_html(html)


def test_comments_are_not_read_and_what_is_no_tag_is():
    assert text_of_html("<p>a<!-- <b> --><!--[if mso]>no<![endif]-->b</p>") == "ab"
    assert text_of_html("<p>1 < 2 <b>and</b> 3 > 2</p>") == "1 < 2 and 3 > 2"
    assert text_of_html('<img alt="a < b">so') == "so"


def test_lines_that_are_made_to_be_slow_part_no_mails_and_end_none(tmp_path):
    words = "From " + "1:11 " * (LONG // 5)
    found = read(tmp_path, mail(f"Hello.\n\n{words}\n"), "one.mbox")
    assert len(found.drafts) <= 1
    footed = split_body("\n" * LONG + "Hello.\n" + "\n" * LONG + "_" * 40 + "\nmailing list")
    assert (footed.own_text, footed.signature) == ("Hello.", "_" * 40 + "\nmailing list")


def test_what_was_filed_as_spam_is_a_notice(tmp_path):
    found = read(tmp_path, mail("I live in Bern.", **{"X-Gmail-Labels": "Spam,Unread"}))
    assert found.kinds == {"notice": 1}
    assert read(tmp_path, mail("I live in Bern.", **{"X-Spam-Flag": "NO"})).kinds == {"message": 1}


#: The headers of a mail that Outlook quotes, in languages that few write about.
OUTLOOKS = [
    ("De", "Enviado el", "Para", "Asunto"),
    ("De la", "Trimis", "Către", "Subiect"),
    ("Від", "Надіслано", "Кому", "Тема"),
    ("Feladó", "Küldve", "Címzett", "Tárgy"),
    ("Από", "Στάλθηκε", "Προς", "Θέμα"),
    ("מאת", "נשלח", "אל", "נושא"),
]


@pytest.mark.parametrize("labels", OUTLOOKS, ids=[labels[0] for labels in OUTLOOKS])
def test_what_outlook_quotes_was_said_by_another(tmp_path, labels):
    sender, sent, to, subject = labels
    quoted = f"{sender}: Bob <bob@example.org>\n{sent}: 5.6.2023 9:00\n{to}: Ada\n{subject}: Plan"
    content = one(tmp_path, mail(f"I live in Bern.\n\n{quoted}\n\nI hate Bern.\n"))
    assert (content.content, content.metadata["quoted"]) == ("I live in Bern.", "I hate Bern.")


def test_lines_that_part_mails_count_to_what_is_read_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr("recollect.streams.adapters.mail.mbox.MAX_MAIL_BYTES", 2_000)
    many = b"\n" + from_line() + b"x\n"
    path = tmp_path / "box.mbox"
    path.write_bytes(from_line() + mail("I live in Bern.\n" + (many * 500).decode()))
    (content,) = opened(path).contents
    assert content.content.startswith("I live in Bern.")
    assert len(content.content) < 2_000


def test_a_mail_is_found_by_its_subject_and_nothing_is_concluded_from_it(tmp_path):
    path = tmp_path / "one.eml"
    path.write_bytes(mail("All booked.", Subject="I live in a cottage on Lake Garda"))
    with Recollect(tmp_path / "home", encoder="none") as opened_home:
        zone = opened_home.zone("ada")
        zone.ingest_files(path)
        (found,) = zone.recall("the cottage on Lake Garda").results
        assert found.source_event_ids == ["m1@example.org"]
        assert not any("Garda" in fact.text for fact in zone.facts())
        zone.rebuild("project")
        assert zone.recall("the cottage on Lake Garda").results
        assert zone.verify().ok


LA_POSTE = """\
> Message du 04/05/26 09:00
> De : "Bob Brun" <bob@example.org>
> A : "Ada" <ada@example.org>
> Copie \u00e0 :
> Objet : Lundi
"""
#: How programs introduce what they quote: the quotation, and whether its lines are marked.
QUOTING = {
    "Zoho": "---- On Mon, 04 May 2026 09:00:00 +0200 Bob Brun <bob@example.org> wrote ----\n",
    "Zoho now": " ---- On Mon, 04 May 2026 09:00:00 +0200  Bob Brun  wrote ---\n\n",
    "Zoho over two lines": (
        "---- on Mon, 04 May 2026 09:00:00 +0200 Bob Brun\n<bob@example.org> wrote ----\n"
    ),
    "Zoho in French": (
        "---- Le lun., 04 mai 2026 09:00:00 +0200 Bob Brun <bob@example.org> a \u00e9crit ----\n"
    ),
    "Zoho in German": (
        "---- Am Mo, 04 Mai 2026 09:00:00 +0200 Bob Brun <bob@example.org> schrieb ----\n"
    ),
    "Zoho in an unknown language": (
        "---- Ar Luan, 04 Beal 2026 09:00:00 +0200 Bob Brun <bob@example.org> ----\n"
    ),
    "La Poste": LA_POSTE,
    "La Poste without marks": LA_POSTE.replace("> ", ""),
    "SFR": (
        "========================================\nMessage du : 04/05/2026 09:00\n"
        'De : "Bob Brun " <bob@example.org>\nA : "Ada" <ada@example.org>\nCopie \u00e0 :\n'
        "Sujet : Lundi\n\n"
    ),
    "Mailo": (
        "---- Message d'origine ----\n> De : Bob Brun <bob@example.org>\n"
        "> \u00c0 : ada@example.org\n> Sujet : Lundi\n> Date : 04/05/2026 09:00:00 Europe/Paris\n"
        "> Copie \u00e0 : cy@example.org;\n>       Di <di@example.org>;\n"
    ),
    "Windows Mail in French": (
        "De : Bob Brun<mailto:bob@example.org>\nEnvoy\u00e9 le :lundi 4 mai 2026 09:00\n"
        "\u00c0 : Ada<mailto:ada@example.org>\nObjet :Lundi\n\n"
    ),
    "Windows Mail in Italian": (
        "Da: Bob Brun\nInviato il: luned\u00ec 4 maggio 2026 09:00\nA: Ada\nOggetto: Lundi\n\n"
    ),
    "Yahoo in Spanish": (
        "De: Bob Brun <bob@example.org>\nPara: Ada <ada@example.org>\n"
        "Enviado el: lunes, 4 de mayo de 2026\nAsunto: Lundi\n\n"
    ),
    "Thunderbird in French": (
        "-------- Message original --------\nSujet : Lundi\nDate : Mon, 4 May 2026 09:00:00\n"
        "De : Bob Brun <bob@example.org>\nPour : Ada <ada@example.org>\n\n"
    ),
    "with a header that nobody knows": (
        "Von: Bob Brun <bob@example.org>\nGesendet: Montag\nVertraulichkeit: hoch\n"
        "An: Ada\nBetreff: Lundi\n\n"
    ),
}


@pytest.mark.parametrize("signed", ["", "Envoy\u00e9 \u00e0 partir de Courrier pour Windows\n\n"])
@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("case", QUOTING)
def test_43_what_a_program_quotes_was_said_by_another(tmp_path, case, marked, signed):
    """FAULTS 43."""
    quoted = "Kommst du am Montag?\nMein Hund auch.\n"
    below = "".join(f"> {line}\n" for line in quoted.splitlines()) if marked else quoted
    content = one(tmp_path, mail(f"Ja, gern.\n\n{signed}{QUOTING[case]}{below}"))
    assert content.content == "Ja, gern."
    assert "Mein Hund auch." in content.metadata["quoted"]
    assert ("Windows" in content.metadata.get("signature", "")) == bool(signed)


def test_43_an_answer_below_what_la_poste_quotes_is_the_senders(tmp_path):
    """FAULTS 43."""
    content = one(tmp_path, mail(f"{LA_POSTE}> Kommst du?\n\nJa, gern.\n"))
    assert content.content == "Ja, gern."


OWN = (
    "---- 10:30 team meeting ----\nBring the map.",
    "De : Lyon\nBring the map.",
    "Dates: see below\nNote: bring the map.\nPlace: Lyon",
    "Message du 14 juillet : bring the map.",
    "He wrote ----\nBring the map.",
    "- On Monday at 10:30 Bob wrote -\nBring the map.",
    "> He asked:\n\nBring the map.",
    "---- The rest of the log ----\n> DATA\n\nBring the map.",
)


@pytest.mark.parametrize("text", OWN)
def test_43_what_only_looks_like_a_quotation_stays(tmp_path, text):
    """FAULTS 43."""
    assert text.splitlines()[-1].lower() in one(tmp_path, mail(f"Hi.\n\n{text}\n")).content.lower()


def test_43_dashes_and_labels_without_end_part_nothing_slowly(tmp_path):
    """FAULTS 43."""
    for piece in ("---- 1:00 a", "De : x\n", "> De : x\n", "--- 1\n", "Message du 1\n"):
        text = piece * (400_000 // len(piece))
        assert split_body(text) is not None


DRAFTS = (
    *("Drafts", "Entw\u00fcrfe", "Brouillons", "Borradores", "Bozze", "Rascunhos", "Concepten"),
    *("Utkast", "Kladder", "Luonnokset", "Wersje robocze", "Koncepty", "Piszkozatok", "Taslaklar"),
    *("\u0427\u0435\u0440\u043d\u043e\u0432\u0438\u043a\u0438", "\u4e0b\u66f8\u304d"),
    *("\u8349\u7a3f", "\uc784\uc2dc\ubcf4\uad00\ud568"),
)


@pytest.mark.parametrize("label", DRAFTS)
def test_43_drafts_in_any_language_were_never_sent(tmp_path, label):
    """FAULTS 43."""
    encoded = f"=?utf-8?b?{base64.b64encode(f'Opened,{label}'.encode()).decode()}?="
    draft = mail("I own a boat.", "d@e", X_Gmail_Labels=encoded)
    sent = mail("I own a bike.", "s@e", X_Gmail_Labels="Opened")
    found = read(tmp_path, b"".join(b"From x Mon May  4 09:30:00 2026\n" + raw + b"\n\n"
                                    for raw in (draft, sent)), "all.mbox")  # fmt: skip
    assert [one.content for one in found.contents] == ["I own a bike."]


@pytest.mark.parametrize(
    "marked",
    [
        {"X_Mozilla_Draft_Info": "internal/draft; vcard=0; receipt=0"},
        {"X_Unsent": "1"},
        {"X_Uniform_Type_Identifier": "com.apple.mail-draft"},
        {"X_Status": "ROT"},
    ],
)
def test_43_drafts_are_known_by_what_programs_write_in_them(tmp_path, marked):
    """FAULTS 43."""
    assert not read(tmp_path, mail("I own a boat.", **marked)).contents
    sent = {name: {"1": "0", "ROT": "RO"}.get(value, "other") for name, value in marked.items()}
    assert read(tmp_path, mail("I own a boat.", "m2@e", **sent)).contents


def mbox(*mails: bytes, between: bytes) -> bytes:
    return between.join(b"From ada@e.org Mon May  4 09:30:00 2026\n" + raw for raw in mails)


@pytest.mark.parametrize("between", [b"", b"\n", b"\n\n"])
def test_43_mails_of_an_mbox_need_no_blank_line_between_them(tmp_path, between):
    """FAULTS 43."""
    mails = [mail(f"Mail {n}.\n", f"{n}@e").replace(b"\r\n", b"\n") for n in range(4)]
    found = read(tmp_path, mbox(*mails, between=between), "all.mbox")
    assert found.texts == [f"Mail {n}." for n in range(4)]


@pytest.mark.parametrize(
    "line",
    [
        "From - Mon May 04 09:30:00 2026",
        "From ???@??? Mon May 04 09:30:00 2026",
        "From 1787 at xxx Mon May  4 09:30:00 +0000 2026",
        "From ada at example.org  Mon May  4 09:30:00 2026",
        "From ada@example.org Mon, 4 May 2026 09:30:00 +0200",
        "From ada@example.org 2026-05-04 09:30:00",
    ],
)
def test_43_boundaries_of_many_programs_need_no_blank_line(tmp_path, line):
    """FAULTS 43."""
    mails = [mail(f"Mail {n}.\n", f"{n}@e") for n in range(3)]
    found = read(tmp_path, b"".join(line.encode() + b"\n" + raw for raw in mails), "all.mbox")
    assert found.texts == [f"Mail {n}." for n in range(3)]


@pytest.mark.parametrize(
    "text",
    [
        "He sent me this:\nFrom ada@e.org Mon May  4 09:30:00 2026\nNote: he was late.\n",
        "Hi.\nFrom Monday on we meet at 10:30, in 2026 as well\nPlace: Porto\n",
        "Hi.\nFrom here at 10:30 in 2026\nTo: the beach\n",
    ],
)
def test_43_lines_of_a_mail_that_begin_with_from_part_none(tmp_path, text):
    """FAULTS 43."""
    mails = [mail(text, "1@e"), mail("Bye.\n", "2@e")]
    found = read(tmp_path, mbox(*mails, between=b"\n"), "all.mbox")
    assert len(found.texts) == 2
    assert text.splitlines()[-1] in found.texts[0]


def test_a_mail_of_an_mbox_in_a_single_long_line_is_whole(tmp_path):
    words = " ".join(str(number) for number in range(250_000))
    found = read(tmp_path, from_line() + mail(words), "box.mbox")
    assert len(words) > 1 << 20
    assert "".join(found.texts) == words


def test_headers_after_a_line_that_is_none_still_count(tmp_path):
    head = HEAD + "X-Report: 1\r\n* a test: failed\r\nwithout any indentation\r\n"
    content = one(tmp_path, mail("I moved.\n\nSubject: to Rome", head=head, Subject="news"))
    assert (content.source_id, content.metadata["subject"]) == ("m1@example.org", "news")
    assert content.content == "I moved.\n\nSubject: to Rome"


def test_text_right_below_the_headers_is_text(tmp_path):
    raw = HEAD.encode() + b"Subject: news\r\nI moved to Rome.\r\nYours, Ada\r\n"
    assert "I moved to Rome." in one(tmp_path, raw).content


def test_a_mail_that_is_quoted_right_below_the_headers_is_text(tmp_path):
    quoted = "See below, he moved.\r\nFrom: eve@example.org\r\nSubject: Rome\r\n\r\nI moved.\r\n"
    content = one(tmp_path, HEAD.encode() + b"Subject: news\r\n" + quoted.encode())
    assert (content.sender_id, content.metadata["subject"]) == ("ada@example.org", "news")
    assert "See below, he moved." in content.content


FROM_LIST = (
    "To: boats@lists.example\r\nList-Id: Boats <boats.lists.example>\r\n"
    "List-Post: <mailto:boats@lists.example>\r\nDate: Mon, 04 May 2026 09:30:00 +0200\r\n"
)


@pytest.mark.parametrize(
    ("headers", "sender"),
    [
        ({"Reply_To": "Dora <dora@example.org>"}, "dora@example.org"),
        ({"Reply_To": "boats@lists.example", "Cc": "Eve <e@x.org>, Dora <d@x.org>"}, "d@x.org"),
        ({"X_Original_From": "Dora <dora@example.org>"}, "dora@example.org"),
        ({"X_Original_Sender": "dora@example.org"}, "dora@example.org"),
        ({"Reply_To": "boats@lists.example"}, "Dora"),
    ],
)
def test_who_wrote_through_a_list_is_not_the_list(tmp_path, headers, sender):
    head = FROM_LIST + "From: 'Dora' via Boats <boats@lists.example>\r\n"
    content = one(tmp_path, mail("I moved.", head=head, **headers))
    assert (content.sender_id, content.sender_name) == (sender, "Dora")


def test_a_list_that_writes_for_a_name_without_letters_is_the_sender(tmp_path):
    head = FROM_LIST + "From: =?utf-8?q?=E2=80=8B_via_Boats?= <boats@lists.example>\r\n"
    assert one(tmp_path, mail("I moved.", head=head)).sender_id == "boats@lists.example"


@pytest.mark.parametrize(
    "author", ["Dora via Files <no-reply@files.example>", "Boats <boats@lists.example>"]
)
def test_who_only_resembles_a_list_is_the_sender(tmp_path, author):
    head = FROM_LIST + f"From: {author}\r\nReply-To: Dora <dora@example.org>\r\n"
    assert one(tmp_path, mail("I moved.", head=head)).sender_id in author
