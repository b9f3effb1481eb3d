"""Several tenants in one asyncio program, with concurrent queries of their zones.

python examples/async_tenants.py
"""

import asyncio
import tempfile

from recollect import AsyncRecollect

HOMES = {"ada": "Turin", "bob": "Oslo", "eve": "Lima"}


def lives_in(name: str, city: str) -> dict[str, str]:
    return {
        "id": "m1",
        "platform": "chat",
        "sender_id": name,
        "sender_name": name.capitalize(),
        "occurred_at": "2026-05-08T13:56:00Z",
        "content": f"I live in {city}.",
    }


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        async with AsyncRecollect(home, encoder="none") as memory:
            zones = [memory.zone(name) for name in HOMES]
            events = [lives_in(name, city) for name, city in HOMES.items()]
            await asyncio.gather(
                *(zone.ingest(event) for zone, event in zip(zones, events, strict=True))
            )
            answers = await asyncio.gather(
                *(zone.recall("Who lives where?", max_results=1) for zone in zones)
            )
            for zone, answer in zip(zones, answers, strict=True):
                print(zone.name, "->", answer.results[0].text)
            # > ada -> Ada lives in Turin.
            # > bob -> Bob lives in Oslo.
            # > eve -> Eve lives in Lima.


asyncio.run(main())
