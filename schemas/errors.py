"""The errors that cross package boundaries; each message says what happened and what to do."""


class RecollectError(Exception):
    """Base of every error that recollect raises on purpose."""


class InvalidInput(RecollectError):
    """Input that cannot be accepted; the message names the field and the reason."""


class UnknownId(InvalidInput):
    """Nothing in the zone has the id that was given."""


class UnknownZone(InvalidInput):
    """A zone that holds nothing was asked; the message may name others that do."""


class IntegrityError(RecollectError):
    """The ledger or a read model is not what its chain, its seal or its watermark says."""


class OtherHistory(IntegrityError):
    """Files were made from another history of a zone than its ledger has."""


class UnknownVersion(RecollectError):
    """A record was written by a newer recollect; upgrade this one to read it."""


class HomeError(RecollectError):
    """The home directory is missing, damaged or in use in a way that stops the command."""


class Damaged(HomeError):
    """A file of a home is missing or damaged; the message says which, and what brings it back."""


class OlderVersion(HomeError):
    """A file was made by an older recollect, and nobody may bring it up to date where it is."""


class ErasureFailed(RecollectError):
    """An erasure could not be carried out; its zone stands still until it is."""


class NotDeleted(ErasureFailed):
    """Files that may hold what was erased cannot be deleted; the message names them."""


class CommandRefused(RecollectError):
    """The ledger did not take a command: what it asks for was not done."""


class Busy(RecollectError):
    """Another process is at the work that was asked for; wait for it, or stop it."""


class Closed(RecollectError):
    """What was asked was closed before, or belongs to another process; open it again."""


class NotDecided(RecollectError):
    """What a caller waits for was not decided in time; ask again later."""


class InjectedFailure(RecollectError):
    """Raised at a failpoint that a test armed; never raised otherwise."""
