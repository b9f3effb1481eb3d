"""The texts of the reference vectors: many scripts, many lengths, and what people really write."""
# The texts are meant to look as they do.
# ruff: noqa: RUF001

PASSAGES = [
    "",
    "a",
    " ",
    "?",
    "Maria moved to Lisbon in March and works at a bakery near the river.",
    "I can't make it on Friday, can we do Monday at 9:30 instead?",
    "OK",
    "lol 😂😂 see you at 5pm!!",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "The invoice no. 2024/0317 over 1,250.00 EUR is due on 2024-04-15.",
    "Ich habe gestern Größe und Gewicht der Pakete überprüft; alles in Ordnung.",
    "Où est passé le garçon ? Il a mangé la crème brûlée, naïvement.",
    "El niño aprendió a nadar en agosto con su abuela.",
    "Мария переехала в Лиссабон в марте и работает в пекарне.",
    "Η Μαρία μετακόμισε στη Λισαβόνα τον Μάρτιο.",
    "他三月搬到里斯本，在河边的一家面包店工作。",
    "彼女は三月にリスボンへ引っ越して、パン屋で働いています。",
    "그녀는 3월에 리스본으로 이사했다.",
    "انتقلت ماريا إلى لشبونة في شهر مارس.",
    "מריה עברה לליסבון במרץ ועובדת במאפייה.",
    "मारिया मार्च में लिस्बन चली गई।",
    "มาเรียย้ายไปลิสบอนในเดือนมีนาคม",
    "Cafe\u0301 and café are the same word; the \ufb01rst ligature is not.",
    "e\u0301" * 30,
    "x" * 99,
    "x" * 100,
    "x" * 101,
    "supercalifragilisticexpialidocious" * 2,
    "https://example.org/a/very/long/path?with=query&and=more#fragment",
    "def f(x: int) -> int:\n    return x ** 2 + 1  # squares, plus one\n",
    '{"key": [1, 2, {"nested": null}], "other": "va\\"lue"}',
    "tabs\tand\nnew\r\nlines\u2028and\u00a0odd\u200bspaces",
    "ALL CAPS SHOUTING ABOUT THE DEADLINE!!!",
    "a word [SEP] written out, and [MASK] too",
    "control\x07 and \ufffd replacement and \ue000 private",
    "She said: “I’ll be there — maybe… at ½ past 7”.",
    "one " * 126,
    "one " * 253,
    "one " * 254,
    "one " * 255,
    "two words " * 400,
    "记忆" * 600,
    "The meeting about the budget was moved, because Tom was ill and the room was taken. " * 40,
    "-" * 3000,
]

QUERIES = [
    "Where does Maria work?",
    "When was the meeting moved, and why?",
    "где живёт Мария",
    "",
    "a very long question " * 200,
]

# No character of it is changed by the tokenizer but for case, so offsets are easy to check.
TOKENS_OF = "Maria works at the bakery, unbelievably early: 5 a.m.!"
