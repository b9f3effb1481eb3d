"""The delivery layer against a real broker: `worker` is the process that the tests kill."""
