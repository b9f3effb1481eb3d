"""Sealing: each payload is encrypted with a random key of its own, kept outside the ledger.

AES-256-GCM after NIST SP 800-38D with a random 96-bit nonce before the cipher text; a change
that has several sources is sealed with HKDF-SHA256 (RFC 5869) over all their keys, so it can
be read only while none of them has been destroyed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from recollect.schemas.errors import IntegrityError

KEY_BYTES = 32
KEY_ID_BYTES = 16
NONCE_BYTES = 12
# Bytes of a key's id that are random; the rest says to which event it belongs.
_RANDOM_BYTES = 8


def new_key() -> tuple[bytes, bytes]:
    """Return (key id, key), both from the system's random generator."""
    drawn = os.urandom(KEY_ID_BYTES + KEY_BYTES)
    return drawn[:KEY_ID_BYTES], drawn[KEY_ID_BYTES:]


def event_key(secret: bytes, zone: str, source: bytes) -> tuple[bytes, bytes]:
    """Return (key id, key) for an event of a zone; `source` is the keyed hash of its source's id.

    With the secret, the id shows to which event it belongs (`is_key_of`).
    """
    drawn = os.urandom(_RANDOM_BYTES + KEY_BYTES)
    nonce = drawn[:_RANDOM_BYTES]
    return nonce + _event_tag(secret, zone, source, nonce), drawn[_RANDOM_BYTES:]


def is_key_of(key_id: bytes, secret: bytes, zone: str, source: bytes) -> bool:
    """Return whether the id belongs to a key that was made for this event of this zone."""
    nonce, mark = key_id[:_RANDOM_BYTES], key_id[_RANDOM_BYTES:]
    return hmac.compare_digest(mark, _event_tag(secret, zone, source, nonce))


def _event_tag(secret: bytes, zone: str, source: bytes, nonce: bytes) -> bytes:
    return hashlib.blake2b(
        nonce + source + zone.encode(),
        key=secret,
        digest_size=KEY_ID_BYTES - _RANDOM_BYTES,
        person=b"recollect key id",
    ).digest()


def seal(key: bytes, text: bytes, context: bytes) -> bytes:
    """Return nonce and cipher text; `context` is authenticated but not stored."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, text, context)


def unseal(key: bytes, sealed: bytes, context: bytes) -> bytes:
    """Return the text.

    Raises:
        IntegrityError: the cipher text, its context or the key differs from those of sealing.
    """
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)
    except (InvalidTag, ValueError):
        raise IntegrityError("a sealed part was changed after it was written") from None


def joint_key(keys: Sequence[bytes]) -> bytes:
    """Return the key for a part with several sources, in the order of their numbers."""
    if len(keys) == 1:
        return keys[0]
    return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=b"recollect change").derive(
        b"".join(keys)
    )


def source_digest(secret: bytes, zone: str, platform: str, source_id: str) -> bytes:
    """Return the keyed hash (BLAKE2b-128) by which the ledger recognises a source id."""
    digest = hashlib.blake2b(key=secret, digest_size=16)
    for part in (zone, platform, source_id):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(4, "big"))
        digest.update(encoded)
    return digest.digest()
