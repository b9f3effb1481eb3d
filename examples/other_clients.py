"""The clients of Mem0 and of Hindsight, unchanged, pointed at a recollect service.

pip install mem0ai hindsight-client
python examples/other_clients.py
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

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


with (
    tempfile.TemporaryDirectory() as directory,
    served(Path(directory) / "home") as (url, token),
):
    # Where Mem0 stores its settings, and whether it sends telemetry.
    os.environ.update(MEM0_DIR=directory, MEM0_TELEMETRY="False")
    from mem0 import MemoryClient

    mem0 = MemoryClient(api_key=token, host=url)
    mem0.add([{"role": "user", "content": "I live in Turin."}], user_id="ada")
    print(mem0.search("Where do I live?", filters={"user_id": "ada"})["results"][0]["memory"])
    # > Ada lives in Turin.

    from hindsight_client import Hindsight

    hindsight = Hindsight(base_url=url, api_key=token)
    hindsight.retain("ada", "My boat is called Zephyr.", document_id="boats")
    print(hindsight.recall("ada", "What is the boat called?").results[0].text)
    # > user: My boat is called Zephyr.
    hindsight.delete_bank("ada")
    print(len(hindsight.recall("ada", "What is the boat called?").results), "left")
    # > 0 left
    hindsight.close()  # type: ignore[no-untyped-call]
