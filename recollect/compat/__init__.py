"""The interfaces of other memory systems over recollect: programs written for them keep working."""
