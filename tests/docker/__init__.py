"""The images and the Compose file, really built and run.

`daemon` finds or starts a Docker daemon, `images` builds on it, and `python -m tests.docker.run`
drives the whole system and takes it down again.
"""
