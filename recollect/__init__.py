"""Long-term memory for AI agents: the library.

Everything a program needs is imported from here: the library, its errors and its result types.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.library.library_async import AsyncRecollect, AsyncZone
    from recollect.library.library_home import Recollect
    from recollect.library.library_zone import Zone
    from recollect.library.pagination import paginate
    from recollect.library.uncovered_words import uncovered
    from recollect.schemas.errors import (
        AgentMismatch,
        AlreadyClosed,
        Busy,
        CommandConflict,
        CorruptFile,
        DecisionTimeout,
        DeletionFailed,
        ErasureFailed,
        HistoryMismatch,
        HomeError,
        InjectedFailure,
        IntegrityError,
        InvalidInput,
        MissingExtra,
        NewerFormat,
        RecollectError,
        RequiresLocalHome,
        Unauthorized,
        Unavailable,
        UnknownId,
        UnknownZone,
        UpgradeRequired,
    )
    from recollect.schemas.inbound import MAX_CONTENT_BYTES
    from recollect.schemas.wire import (
        DEFAULT_SCOPE,
        SCOPES,
        AccessToken,
        BackupReport,
        Budget,
        CausalPair,
        ChangedFact,
        Comparison,
        ContextBlock,
        DateRange,
        DeadLetter,
        DeadLetterOutcome,
        Entity,
        EntityDescription,
        EntityDiff,
        EntityPage,
        EntityPair,
        EventModelUsage,
        Explanation,
        ExportPreview,
        Extraction,
        Fact,
        FactDiff,
        FactPage,
        FileCheck,
        FileStatus,
        ForgetReport,
        ForgetTargets,
        GenerationDiff,
        Handle,
        IngestReport,
        Memory,
        MemoryPage,
        MemoryRevision,
        MemoryType,
        MemoryVersion,
        MentalModel,
        MentalModelPage,
        Mention,
        Merge,
        MergeDecision,
        MergePage,
        MergeStatus,
        NewAccessToken,
        Page,
        Person,
        Preview,
        Provenance,
        ProvenanceStep,
        Query,
        RebuildLevel,
        RebuildReport,
        RecallAnswer,
        Receipt,
        ReclaimReport,
        Reflection,
        Rejection,
        Relation,
        RestoreReport,
        Result,
        RollbackReport,
        Sample,
        Scope,
        Skipped,
        Status,
        SupportingFact,
        Time,
        UpdateReport,
        Verification,
        Writer,
        WriteReport,
        WriterPromptVersion,
        ZoneModelUsage,
        ZoneSummary,
    )
    from recollect.schemas.zones import DEFAULT_ZONE

__all__ = [
    "DEFAULT_SCOPE",
    "DEFAULT_ZONE",
    "MAX_CONTENT_BYTES",
    "SCOPES",
    "AccessToken",
    "AgentMismatch",
    "AlreadyClosed",
    "AsyncRecollect",
    "AsyncZone",
    "BackupReport",
    "Budget",
    "Busy",
    "CausalPair",
    "ChangedFact",
    "CommandConflict",
    "Comparison",
    "ContextBlock",
    "CorruptFile",
    "DateRange",
    "DeadLetter",
    "DeadLetterOutcome",
    "DecisionTimeout",
    "DeletionFailed",
    "Entity",
    "EntityDescription",
    "EntityDiff",
    "EntityPage",
    "EntityPair",
    "ErasureFailed",
    "EventModelUsage",
    "Explanation",
    "ExportPreview",
    "Extraction",
    "Fact",
    "FactDiff",
    "FactPage",
    "FileCheck",
    "FileStatus",
    "ForgetReport",
    "ForgetTargets",
    "GenerationDiff",
    "Handle",
    "HistoryMismatch",
    "HomeError",
    "IngestReport",
    "InjectedFailure",
    "IntegrityError",
    "InvalidInput",
    "Memory",
    "MemoryPage",
    "MemoryRevision",
    "MemoryType",
    "MemoryVersion",
    "MentalModel",
    "MentalModelPage",
    "Mention",
    "Merge",
    "MergeDecision",
    "MergePage",
    "MergeStatus",
    "MissingExtra",
    "NewAccessToken",
    "NewerFormat",
    "Page",
    "Person",
    "Preview",
    "Provenance",
    "ProvenanceStep",
    "Query",
    "RebuildLevel",
    "RebuildReport",
    "RecallAnswer",
    "Receipt",
    "ReclaimReport",
    "Recollect",
    "RecollectError",
    "Reflection",
    "Rejection",
    "Relation",
    "RequiresLocalHome",
    "RestoreReport",
    "Result",
    "RollbackReport",
    "Sample",
    "Scope",
    "Skipped",
    "Status",
    "SupportingFact",
    "Time",
    "Unauthorized",
    "Unavailable",
    "UnknownId",
    "UnknownZone",
    "UpdateReport",
    "UpgradeRequired",
    "Verification",
    "WriteReport",
    "Writer",
    "WriterPromptVersion",
    "Zone",
    "ZoneModelUsage",
    "ZoneSummary",
    "paginate",
    "uncovered",
]

# A query's products are small: a second BLAS thread costs more to wake than it saves, and ten
# times more where another process has the core. It must be said before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# onnxruntime counts its users and calls home, unless this is said before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# Names are imported on first access: the command line's help needs none of them.
_ELSEWHERE = {
    "AsyncRecollect": "recollect.library.library_async",
    "AsyncZone": "recollect.library.library_async",
    "DEFAULT_ZONE": "recollect.schemas.zones",
    "MAX_CONTENT_BYTES": "recollect.schemas.inbound",
    "Recollect": "recollect.library.library_home",
    "Zone": "recollect.library.library_zone",
    "paginate": "recollect.library.pagination",
    "uncovered": "recollect.library.uncovered_words",
}
_ERRORS, _TYPES = "recollect.schemas.errors", "recollect.schemas.wire"


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _ELSEWHERE:
        module = import_module(_ELSEWHERE[name])
    else:
        errors = import_module(_ERRORS)
        module = errors if hasattr(errors, name) else import_module(_TYPES)
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
