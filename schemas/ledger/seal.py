"""Per-record encryption; keys are stored outside the ledger.

AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce, stored before the ciphertext. A part with
several source events is sealed with a key derived from the keys of all of them (HKDF-SHA256, RFC
5869), so destroying any of these keys makes the part unreadable.
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

from recollect.schemas.errors import RESTORE_LEDGER, IntegrityError

KEY_BYTES = 32
KEY_ID_BYTES = 16
NONCE_BYTES = 12
# Random bytes of a key id; the rest is a keyed tag of its event.
_RANDOM_BYTES = 8


def new_key() -> tuple[bytes, bytes]:
    """Return a random (key id, key)."""
    drawn = os.urandom(KEY_ID_BYTES + KEY_BYTES)
    return drawn[:KEY_ID_BYTES], drawn[KEY_ID_BYTES:]


def event_key(secret: bytes, zone: str, source: bytes) -> tuple[bytes, bytes]:
    """Return (key id, key) for an event; `source` is the keyed hash of its source id.

    With the secret, `is_key_of` can check whether a key id belongs to an event.
    """
    drawn = os.urandom(_RANDOM_BYTES + KEY_BYTES)
    nonce = drawn[:_RANDOM_BYTES]
    return nonce + _event_tag(secret, zone, source, nonce), drawn[_RANDOM_BYTES:]


def is_key_of(key_id: bytes, secret: bytes, zone: str, source: bytes) -> bool:
    """Return whether a key id was made for this event of this zone."""
    nonce, tag = key_id[:_RANDOM_BYTES], key_id[_RANDOM_BYTES:]
    return hmac.compare_digest(tag, _event_tag(secret, zone, source, nonce))


def _event_tag(secret: bytes, zone: str, source: bytes, nonce: bytes) -> bytes:
    return hashlib.blake2b(
        nonce + source + zone.encode(),
        key=secret,
        digest_size=KEY_ID_BYTES - _RANDOM_BYTES,
        person=b"recollect key id",
    ).digest()


def seal(key: bytes, text: bytes, context: bytes) -> bytes:
    """Return nonce and ciphertext; `context` is authenticated but not stored."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, text, context)


def unseal(key: bytes, sealed: bytes, context: bytes) -> bytes:
    """Decrypt `sealed`.

    Raises:
        IntegrityError: the ciphertext, its context or the key differs from that used to seal it.
    """
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)
    except (InvalidTag, ValueError):
        raise IntegrityError(
            "a record does not match its seal: it was changed after it was written; "
            f"{RESTORE_LEDGER}"
        ) from None


def joint_key(keys: Sequence[bytes]) -> bytes:
    """Return the key of a part; `keys` are those of its source events, in order of number."""
    if len(keys) == 1:
        return keys[0]
    return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=b"recollect change").derive(
        b"".join(keys)
    )


def source_digest(secret: bytes, zone: str, platform: str, source_id: str) -> bytes:
    """Return the keyed hash (BLAKE2b-128) of a source id in the ledger."""
    digest = hashlib.blake2b(key=secret, digest_size=16)
    for part in (zone, platform, source_id):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(4, "big"))
        digest.update(encoded)
    return digest.digest()
