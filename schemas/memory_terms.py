"""The terms of stored memories: their types, enrichments, owners and places."""

from __future__ import annotations

import hashlib
import math
from typing import Literal, NamedTuple, get_args

#: The types of memories. A directive is a standing instruction to the agent.
StoredMemoryType = Literal[
    "fact", "preference", "experience", "consolidated", "reflection", "cluster"
]
#: The linkage criterion of clusters of memories: the mean, the best or the worst affinity.
Linkage = Literal["average", "single", "complete"]
DIRECTIVE = "directive"

Enrichment = Literal[
    "generate_embedding",
    "extract_entities",
    "extract_temporal",
    "extract_relationships",
    "classify_stability",
    "detect_evolution",
    "resolve_coreferences",
    "resolve_temporal",
    "store_to_graph",
]
#: Attributes of a stored memory that are shown only if they were requested when it was stored.
ENRICHMENTS: tuple[Enrichment, ...] = get_args(Enrichment)
DEFAULT_ENRICHMENTS: tuple[Enrichment, ...] = (
    "generate_embedding",
    "extract_entities",
    "extract_temporal",
    "classify_stability",
)

#: The name of the type of the observations that a language model wrote.
OBSERVATION_BY_MODEL = "observation_model"

#: The importance of a memory that was stored without one.
DEFAULT_IMPORTANCE = 0.5
#: The share of its importance that a memory keeps per day without access, and the least that stays.
DECAY_PER_DAY = 0.95
MIN_IMPORTANCE = 0.1

MemoryTier = Literal["main", "recall", "archival"]
#: The tiers, in the order in which they are searched.
TIERS: tuple[MemoryTier, ...] = get_args(MemoryTier)
#: What a consolidated memory adds to the highest importance of its memories.
CONSOLIDATION_BONUS = 0.1
#: The number of memories in a consolidated one, and the maximum number of texts under it.
MIN_CHILDREN, MAX_CHILDREN, MAX_SOURCES = 2, 50, 500
#: The levels of consolidated memories that are made unless another number is asked for, and the
#: maximum number of levels.
CONSOLIDATION_LEVELS, MAX_CONSOLIDATION_LEVELS = 3, 10

#: The prefix of private conversations: each reader of private memories has one of their own.
PRIVATE_PEER = "private:"

#: Separates the subject of a private memory's claim from its readers.
READERS_MARK = "\x1f"

_DAY_MS = 86_400_000


class TierLimits(NamedTuple):
    """How many memories the main context has, and for how long others stay in the recall store."""

    main_capacity: int = 100
    max_age_hours: float = 24.0


class Owner(NamedTuple):
    """The owner or the readers of a memory: a user, an agent, or an agent of a user.

    (None, None) is everyone; `NOBODY` is nobody but the zone itself.
    """

    user_id: str | None
    agent_id: str | None

    def includes(self, user_id: str | None, agent_id: str | None) -> bool:
        """Return whether someone who acts as a user, an agent or both belongs to it.

        A user who acts without an agent may do what the user's agents may do.
        """
        is_user = self.user_id is None or self.user_id == user_id
        is_agent = self.agent_id is None or self.agent_id == agent_id
        return is_user and (is_agent or (agent_id is None and self.user_id is not None))

    def includes_all_of(self, other: Owner) -> bool:
        """Return whether everyone who belongs to `other` belongs to it."""
        return self in (EVERYONE, Owner(other.user_id, None), other)


EVERYONE = Owner(None, None)
# No user has an empty id.
NOBODY = Owner("", None)


def owner_of(scope: str, user_id: str | None, agent_id: str | None) -> Owner:
    """Return the owner of a memory that a user or an agent stored with a scope."""
    if scope in ("zone", "global"):
        return EVERYONE
    if scope == "agent" and agent_id is not None:
        return Owner(user_id, agent_id)
    if user_id is not None:
        return Owner(user_id, None)
    return NOBODY if agent_id is None else Owner(None, agent_id)


def writer_of(scope: str, user_id: str | None, agent_id: str | None) -> Owner:
    """Return who may change a memory: its owner; of a global one, whoever stored it."""
    return owner_of("user" if scope == "global" else scope, user_id, agent_id)


def reader_of(scope: str, visibility: str, user_id: str | None, agent_id: str | None) -> Owner:
    """Return who may read a memory.

    That is its owner if it is private, everyone if it is public. If it is shared, an agent shares
    it with its user, and a user with everyone.
    """
    owner = owner_of(scope, user_id, agent_id)
    if visibility == "public":
        return EVERYONE
    if visibility == "private" or owner == NOBODY:
        return owner
    return Owner(owner.user_id, None) if None not in owner else EVERYONE


class MemoryAuthor(NamedTuple):
    """Who stored a text, and with which scope; a message of a conversation has no user or agent."""

    scope: str = "zone"
    user_id: str | None = None
    agent_id: str | None = None

    @property
    def writer(self) -> Owner:
        """Who may change the text."""
        return writer_of(*self)

    def may_end(self, earlier: MemoryAuthor) -> bool:
        """Return whether a text may end what another one states.

        A stored memory ends what its user and agent may change; a message ends anything.
        """
        own = Owner(self.user_id, self.agent_id)
        return own == EVERYONE or earlier.writer.includes(*own)


#: The author of what is not a stored memory.
NO_AUTHOR = MemoryAuthor()


def learning_writer(
    scope: str, visibility: str, user_id: str | None, agent_id: str | None
) -> Owner:
    """Return who may change a trajectory or a playbook: its owner; everyone if it has none."""
    return owner_of(_owning_scope(scope, visibility), user_id, agent_id)


def learning_reader(
    scope: str, visibility: str, user_id: str | None, agent_id: str | None
) -> Owner:
    """Return who may read a trajectory or a playbook, by the same rules as a memory."""
    return reader_of(_owning_scope(scope, visibility), visibility, user_id, agent_id)


def _owning_scope(scope: str, visibility: str) -> str:
    """Return the scope that decides on the owner; what is private belongs to its user."""
    return "user" if visibility == "private" and scope != "agent" else scope


def peer_of(reader: Owner) -> str | None:
    """Return the conversation of a private memory; None if everyone may read it."""
    if reader == EVERYONE:
        return None
    names = (f"{len(name)}:{name}" for name in (reader.user_id or "", reader.agent_id or ""))
    return PRIVATE_PEER + "/".join(names)


def place_of(owner: Owner, reader: Owner, namespace: str | None, path_key: str | None) -> str:
    """Return a hash of an owner's path key within a namespace; "" without a path key.

    All versions of a memory have the same readers, so that nobody sees only some of them.
    """
    if path_key is None:
        return ""
    digest = hashlib.blake2b(digest_size=16)
    for part in (*owner, *reader, namespace, path_key):
        encoded = b"" if part is None else part.encode("utf-8", "surrogatepass")
        digest.update(bytes([part is not None]) + len(encoded).to_bytes(4, "big") + encoded)
    return digest.hexdigest()


def decayed_importance(importance: float, last_used_at: int, now: int) -> float:
    """Return what is left of an importance without access since `last_used_at` (unix ms)."""
    days = max(0, now - last_used_at) / _DAY_MS
    return max(MIN_IMPORTANCE, importance * math.pow(DECAY_PER_DAY, days))


def model_type_id(model: str, role: str) -> str:
    """Return the id of the type of a model's observations; `role`: the version of its prompt."""
    return f"{OBSERVATION_BY_MODEL}:{role}:{model}"


def is_by_model(type_id: str) -> bool:
    """Return whether analyses of a type are observations that a language model wrote."""
    return type_id.startswith(OBSERVATION_BY_MODEL + ":")


def model_of(type_id: str) -> str | None:
    """Return the model that wrote observations of a type, or None if the rules did."""
    return type_id.split(":", 2)[2] if is_by_model(type_id) else None
