"""Types of attached files by the ends of their names, for exports without media types."""

from __future__ import annotations

_FAMILIES = {
    "image": ("png", "jpg", "jpeg", "gif", "webp", "heic", "avif", "bmp"),
    "video": ("mp4", "mov", "webm", "mkv", "avi"),
    "audio": ("mp3", "ogg", "wav", "m4a", "flac", "opus"),
}


def attachment_type(name: str) -> str:
    """Return the type of an attachment with this file name: image, video, audio or file."""
    suffix = name.rpartition(".")[2].casefold()
    return next((family for family, suffixes in _FAMILIES.items() if suffix in suffixes), "file")
