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
    """The ledger or a read model does not agree with its chain, its seal or its watermark."""


class OtherHistory(IntegrityError):
    """Files were made from another history of a zone than its ledger has."""


class UnknownVersion(RecollectError):
    """A record was written by a newer recollect; upgrade this one to read it."""


class HomeError(RecollectError):
    """The home directory is missing, damaged, or used by another process that prevents the
    command.
    """


class Damaged(HomeError):
    """A file of a home is missing or damaged; the message says which, and how to restore it."""


class OlderVersion(HomeError):
    """A file was made by an older recollect, and cannot be upgraded because it is read-only."""


class OtherAgents(HomeError):
    """A generation was decided by other agents than the home has; the message says what to do."""


class ErasureFailed(RecollectError):
    """An erasure could not be carried out; its zone stops until it is."""


class NotDeleted(ErasureFailed):
    """Files that may hold what was erased cannot be deleted; the message names them."""


class CommandRefused(RecollectError):
    """The ledger did not accept a command, so it was not carried out."""


class Busy(RecollectError):
    """Another process is doing this work already; wait for it, or stop it."""


class Closed(RecollectError):
    """The object was closed, or belongs to another process; open it again."""


class Unauthorized(RecollectError):
    """A service does not accept the token; make another one with recollect token create."""


class Unavailable(RecollectError):
    """A service cannot be reached, or cannot answer now; try again later."""


class NotRemote(RecollectError):
    """What was asked can be done with a home alone; the message says what to do over a network."""


class NotDecided(RecollectError):
    """An awaited event was not decided in time; try again later."""


class InjectedFailure(RecollectError):
    """Raised at a failpoint that a test armed; never raised otherwise."""
