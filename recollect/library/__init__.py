"""The library: a home or a service, its zones, and their asyncio versions."""
