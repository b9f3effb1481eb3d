"""A memory over the network: the same library, with the address of a service instead of a home.

python examples/remote.py
"""

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from recollect import Recollect

RECOLLECT = (sys.executable, "-m", "recollect")


@contextlib.contextmanager
def served(home: Path) -> Iterator[tuple[str, str]]:
    """Run `recollect serve` for a new home; yield its address, and a token for the zone ada."""
    at_home = (*RECOLLECT, "--home", str(home))
    subprocess.run((*at_home, "init", "--encoder", "none"), check=True, capture_output=True)
    made = subprocess.run(
        (*at_home, "token", "create", "--zone", "ada", "--rights", "read,write,forget", "--json"),
        check=True,
        capture_output=True,
    )
    service = subprocess.Popen(
        (*at_home, "serve", "--port", "0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        # The first line begins with the address.
        assert service.stdout is not None
        yield service.stdout.readline().split()[0], json.loads(made.stdout)["token"]
    finally:
        service.terminate()
        service.communicate()


def said() -> Iterator[dict[str, str]]:
    """Yield events one by one; they are streamed, however many there are."""
    for minute, content in enumerate(("I live in Turin.", "My boat is blue.", "I sing.")):
        yield {
            "id": f"m{minute}",
            "platform": "chat",
            "sender_id": "u1",
            "sender_name": "Ada",
            "occurred_at": f"2026-05-08T13:{minute:02}:00Z",
            "content": content,
        }


with (
    tempfile.TemporaryDirectory() as directory,
    served(Path(directory) / "home") as (url, token),
    Recollect(url, token=token) as memory,
):
    ada = memory.zone("ada")
    print(ada.ingest(said()).new, "new")
    # > 3 new
    print(ada.recall("Where does Ada live?", max_results=1).results[0].text)
    # > Ada lives in Turin.
    print(ada.forget("m0").events, "forgotten,", ada.status().events, "left")
    # > 1 forgotten, 2 left
