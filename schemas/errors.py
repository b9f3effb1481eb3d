"""Errors that cross package boundaries. Each message says what happened and what to do."""

#: What to do about a damaged record; the end of many messages.
RESTORE_LEDGER = "restore the ledger from a backup"


class RecollectError(Exception):
    """Base class of every error that recollect raises on purpose."""


class InvalidInput(RecollectError):
    """The input is not acceptable; the message names the field and the reason."""


class InvalidSetting(InvalidInput):
    """A setting cannot be used; the message may name files and variables of the machine."""


class UnknownId(InvalidInput):
    """The zone has nothing with the given id."""


class UnknownZone(InvalidInput):
    """The zone is empty or does not exist; the message may suggest others."""


class IntegrityError(RecollectError):
    """The ledger or a read model contradicts its hash chain, its seal or its watermark."""


class HistoryMismatch(IntegrityError):
    """The files were built from other events of the zone than those in the ledger."""


class NewerFormat(RecollectError):
    """A record or file was written by a newer recollect; upgrade this one to read it."""


class HomeError(RecollectError):
    """The home directory is missing, unusable, or locked by another process."""


class ReadOnlyHome(HomeError):
    """The home is not writable here; queries still work."""


class DiskFull(HomeError):
    """The disk of the home is full; nothing is lost, and queries still work."""


class CorruptFile(HomeError):
    """A file of a home is missing or damaged; the message names it and how to restore it."""


class UpgradeRequired(HomeError):
    """A file that an older recollect wrote must be upgraded, but is read-only."""


class AgentMismatch(HomeError):
    """A generation was decided by other agents than the home's; the message says what to do."""


class ErasureFailed(RecollectError):
    """An erasure failed; the zone decides no further events until it succeeds."""


class DeletionFailed(ErasureFailed):
    """Files that may hold erased data cannot be deleted; the message names them."""


class CommandConflict(RecollectError):
    """The command was not carried out, because the ledger has another event with its id."""


class Busy(RecollectError):
    """Another process is already doing this; wait for it, or stop it."""


class AlreadyClosed(RecollectError):
    """The object was closed, or belongs to another process; open it again."""


class Unauthorized(RecollectError):
    """The service rejected the access token; create one with recollect token create."""


class Unavailable(RecollectError):
    """The service cannot be reached, or cannot answer now; try again later."""


class RequiresLocalHome(RecollectError):
    """The operation needs a local home; the message gives the remote alternative."""


class MissingExtra(RecollectError, ImportError):
    """A package is missing; installing an extra of recollect provides it."""

    def __init__(self, extra: str, reason: str) -> None:
        super().__init__(
            f"packages of the extra {extra} are missing ({reason}): {install_command(extra)}"
        )
        self.extra = extra


def install_command(extra: str) -> str:
    """Return the command that installs an extra of recollect."""
    return f"pip install 'recollect[{extra}]'"


class DecisionTimeout(RecollectError):
    """An awaited event was not decided in time; try again later."""


class DeliveryFailed(RecollectError):
    """A worker on Kafka cannot continue; everything that was committed is durable."""


class InjectedFailure(RecollectError):
    """Raised at a failpoint that a test armed; never raised otherwise."""
