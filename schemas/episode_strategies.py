"""The strategies by which messages are grouped into episodes."""

from __future__ import annotations

from typing import Literal

EpisodeStrategy = Literal["thread", "session", "day", "time_window", "topic", "consolidation"]
