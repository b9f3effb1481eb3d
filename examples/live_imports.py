"""Exports of other programs, previewed before the import; and a log followed as it grows.

python examples/live_imports.py
"""

import json
import tempfile
import threading
from pathlib import Path

from recollect import Recollect

CHAT = """\
25/06/2020, 15:05 - Ada: I moved to Turin.
25/06/2020, 15:06 - Bob: <Media omitted>
26/06/2020, 09:12 - Ada created group "Trip"
"""

with tempfile.TemporaryDirectory() as room:
    chat, log = Path(room, "WhatsApp Chat with Ada.txt"), Path(room, "log.jsonl")
    chat.write_text(CHAT)
    log.touch()
    with Recollect(Path(room, "home"), encoder="none") as r:
        zone = r.zone("demo")

        # Preview the import; nothing is published yet.
        (export,) = zone.preview_files(chat, timezone="Europe/Rome").exports
        print(export.format, export.kinds)
        # > whatsapp {'message': 2, 'notice': 1}
        print(zone.ingest_files(chat, timezone="Europe/Rome").new)
        # > 3

        # The same export again adds nothing.
        print(zone.ingest_files(chat, timezone="Europe/Rome").new)
        # > 0

        # A log written by another program; each line is ingested moments after it is written.
        follower = threading.Thread(
            target=zone.follow_file, args=[log], kwargs={"each": lambda report: report.new == 2}
        )
        follower.start()
        with log.open("a") as file:
            for number, text in enumerate(["I bought a boat.", "The boat is called Figaro."]):
                event = {
                    "platform": "log",
                    "id": f"l{number}",
                    "sender_id": "bob",
                    "occurred_at": f"2026-05-08T13:5{number}:00Z",
                    "content": text,
                }
                file.write(json.dumps(event) + "\n")
        follower.join()
        print(zone.recall("What is the boat called?").results[0].text)
        # > bob: The boat is called Figaro.
