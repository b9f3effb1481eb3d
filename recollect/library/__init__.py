"""The library: a home or a service, its zones, and the same for asyncio."""
