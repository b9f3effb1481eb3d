"""The table of operations on a zone, as the base of every class of zones."""

from __future__ import annotations

from recollect.operations.table.answer_operations import AnswerOperations
from recollect.operations.table.backfill_operations import BackfillOperations
from recollect.operations.table.branch_operations import BranchOperations
from recollect.operations.table.derived.analysis_operations import AnalysisOperations
from recollect.operations.table.derived.episode_operations import EpisodeOperations
from recollect.operations.table.derived.graph_operations import GraphOperations
from recollect.operations.table.derived.model_operations import ModelOperations
from recollect.operations.table.derived.observation_operations import ObservationOperations
from recollect.operations.table.derived.timeline_operations import TimelineOperations
from recollect.operations.table.erasure_operations import ErasureOperations
from recollect.operations.table.inference_operations import InferenceOperations
from recollect.operations.table.learning.playbook_operations import PlaybookOperations
from recollect.operations.table.learning.trajectory_operations import TrajectoryOperations
from recollect.operations.table.ledger_operations import LedgerOperations
from recollect.operations.table.memories.entity_operations import EntityOperations
from recollect.operations.table.memories.hierarchy_operations import HierarchyOperations
from recollect.operations.table.memories.memory_operations import MemoryOperations
from recollect.operations.table.memories.memory_path_operations import MemoryPathOperations
from recollect.operations.table.memories.merge_operations import MergeOperations
from recollect.operations.table.memories.stored_memory_operations import StoredMemoryOperations
from recollect.operations.table.memories.tier_operations import TierOperations
from recollect.operations.table.operation import Operation, operations_of
from recollect.operations.table.upkeep_operations import UpkeepOperations
from recollect.operations.table.writer_operations import WriterOperations


class ZoneOperations(
    AnswerOperations,
    MemoryOperations,
    StoredMemoryOperations,
    TierOperations,
    HierarchyOperations,
    MemoryPathOperations,
    EntityOperations,
    GraphOperations,
    TimelineOperations,
    EpisodeOperations,
    MergeOperations,
    ModelOperations,
    ObservationOperations,
    AnalysisOperations,
    TrajectoryOperations,
    PlaybookOperations,
    ErasureOperations,
    UpkeepOperations,
    LedgerOperations,
    BranchOperations,
    WriterOperations,
    BackfillOperations,
    InferenceOperations,
):
    """Every operation of the table, as a method."""


def all_operations() -> tuple[Operation[..., object], ...]:
    """Return every operation."""
    return tuple(operations_of(ZoneOperations))
