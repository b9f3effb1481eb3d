"""A home: the directory that holds a ledger and everything derived from it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

import msgspec

from recollect.home.configuration import CONFIG_FILE, Configuration
from recollect.home.home_swap import HOME_FILE, HomeSwap
from recollect.projections.file_permissions import make_directory, restrict_permissions
from recollect.projections.generations import OWN_AGENTS, replace_file
from recollect.schemas.errors import HomeError, InvalidInput, NewerFormat
from recollect.schemas.wire import Writer
from recollect.streams.encoder.catalog import MINILM, REGISTRY, ModelSource, Precision
from recollect.streams.encoder.encoder import CrossEncoder, Encoder
from recollect.streams.encoder.encoder_errors import EncoderUnavailable
from recollect.streams.encoder.gateway import ReaderHandle
from recollect.streams.encoder.loading import is_intact, load, load_reranker
from recollect.streams.encoder.pin import Pin, ReaderPin

if TYPE_CHECKING:
    from recollect.streams.language.grammar.enrichment import Step
    from recollect.streams.reader.text_reader import TextReader

#: The newest format of home.json that is known. One that names agents is of format 2, and one with
#: a reader of format 3: a recollect refuses them that would decide without these. Every other
#: stays of format 1.
FORMAT = 3

#: The agent that decides from what a model wrote; a home that names it has a model as its writer.
MODEL_WRITER = "modelwriter"

T = TypeVar("T")

BringProgress = Callable[[str, int, int | None], None]


class Settings(msgspec.Struct, frozen=True):
    """The content of home.json. `encoder` None: no vectors, keyword search only.

    `promoted_to` is the Kafka ledger that took over from the home's own. `reader` reads names and
    more in texts; None: rules alone do. `reranker`: a
    cross-encoder that judges the best candidates of an answer; None: the arms alone do. `agents`
    names those that decide, in order: `own` for all of recollect's, one of these by its name, or
    another's as `package.module:NAME`.
    """

    format: int
    encoder: Pin | None
    promoted_to: str | None = None
    reader: ReaderPin | None = None
    reranker: Pin | None = None
    agents: tuple[str, ...] = OWN_AGENTS


class _Format(msgspec.Struct, frozen=True):
    format: int


class Home:
    """A home directory that exists, and the settings there."""

    def __init__(self, directory: Path, configuration: Configuration | None = None) -> None:
        """`configuration`: what options say too; None: what the environment and the home say."""
        self.directory = directory
        _must_not_be_changing(directory)
        path = directory / HOME_FILE
        try:
            written = path.read_bytes()
            # A newer home.json may have any other content, but always a format.
            format_ = msgspec.json.decode(written, type=_Format).format
            if format_ > FORMAT:
                raise NewerFormat(
                    f"{path} was made by a newer recollect (format {format_}; this one knows up "
                    f"to {FORMAT}); upgrade recollect to use it"
                )
            self.settings = msgspec.json.decode(written, type=Settings)
        except FileNotFoundError:
            raise HomeError(
                f"there is no recollect home at {directory}; make one: "
                f"recollect --home {directory} init"
            ) from None
        except PermissionError:
            raise HomeError(
                f"{path} belongs to another user, who alone may read it; run recollect as that "
                "user, or let all of the home belong to you (as root: chown -R)"
            ) from None
        except (OSError, msgspec.DecodeError) as error:
            raise HomeError(f"{path} cannot be read ({error}); restore it from a backup") from None
        self.configuration = configuration or Configuration(directory)

    @classmethod
    def make(
        cls,
        directory: Path,
        configuration: Configuration | None = None,
        *,
        encoder: str | None = None,
        precision: Precision | None = None,
        source: ModelSource | None = None,
        model_directory: Path | None = None,
        without_encoder: bool = False,
        reader: str | None = None,
        agents: Sequence[str] | None = None,
        writer: Writer | None = None,
        without: Sequence[str] | None = None,
        progress: BringProgress | None = None,
    ) -> Home:
        """Make a home and pin its encoder; an existing home keeps what it has, its owner's alone.

        The encoder of an existing home is brought again where it is missing or damaged in the
        cache, and `progress` is told. `precision`: None is what a home has, and int8 in a new one.
        `reader`: "own" for recollect's heads, a file of others, or "none"; None: what a home has,
        and in a new one recollect's own, beside an encoder that recollect knows by name and that
        comes from elsewhere than a directory, or is that of these heads; where there is none,
        `progress` is told why. `agents` are those that decide from now on, as `Settings` names
        them; None: those that it has, and recollect's own in a new one. `without` are the steps of
        enrichment that they leave out from now on; None: those that they leave out already.

        Raises:
            InvalidInput: without an encoder, something of one was chosen.
            HomeError: the directory holds something else, or the home has another encoder; or an
                agent cannot be had.
            EncoderError: the encoder cannot be brought.
        """
        if without_encoder and (model_directory or source or precision):
            raise InvalidInput(
                "encoder none: it has no directory, source or precision; leave them out, or name "
                "an encoder"
            )
        if agents is not None:
            from recollect.streams.deciding.registration import agents_named

            # Before anything is changed.
            agents_named(agents)
        configuration = configuration or Configuration(directory)
        _must_not_be_changing(directory)
        if writer is not None or without is not None:
            there = cls(directory, configuration).settings.agents if cls.is_at(directory) else None
            agents = chosen_agents(agents or there or OWN_AGENTS, writer, without)
        if cls.is_at(directory):
            home = cls(directory, configuration)
            restrict_permissions(directory)
            pin = home.settings.encoder
            asked = encoder or (model_directory and model_directory.name)
            if without_encoder and pin is not None:
                raise HomeError(f"{directory} is a home with the encoder {pin.model}")
            own = () if pin is None else (pin.name, pin.place, f"{pin.place}@{pin.revision}")
            # The checksums show whether the directory's model is the home's.
            needed = model_directory is not None and pin is not None and not home.has(pin)
            if asked and not needed and asked not in own:
                has = "no encoder" if pin is None else f"the encoder {pin.model}"
                raise HomeError(
                    f"{directory} is a home with {has}, pinned when it was made; "
                    "make another home for another encoder"
                )
            if precision is not None and (pin is None or pin.precision != precision):
                has = "no encoder" if pin is None else f"the encoder {pin.model}"
                raise HomeError(
                    f"{directory} is a home with {has}, pinned when it was made; its precision "
                    f"does not become {precision}: make another home for it"
                )
            if pin is not None:
                from recollect.streams.encoder.installing import reinstall

                reinstall(
                    pin,
                    cache=configuration.cache,
                    source=source,
                    directory=model_directory,
                    progress=progress,
                )
            if reader is not None:
                chosen = _reader(reader, configuration.cache, progress)
                home._write(msgspec.structs.replace(home.settings, reader=chosen))
            elif home.settings.reader is not None:
                from recollect.streams.reader.reader_installing import reinstall_reader

                reinstall_reader(home.settings.reader, cache=configuration.cache, progress=progress)
            if agents is not None:
                home._write(msgspec.structs.replace(home.settings, agents=tuple(agents)))
            return home
        if directory.exists() and (not directory.is_dir() or _holds_something(directory)):
            raise HomeError(f"{directory} exists and is no recollect home; name an empty directory")
        pin = None
        if not without_encoder:
            from recollect.streams.encoder.installing import install

            pin = install(
                encoder,
                precision=precision or "int8",
                source=source,
                cache=configuration.cache,
                directory=model_directory,
                progress=progress,
            )
        chosen = None
        if reader is not None:
            chosen = _reader(reader, configuration.cache, progress)
        elif pin is not None:
            chosen = _own_reader(pin, configuration.cache, progress)
        make_directory(directory)
        restrict_permissions(directory)
        named = OWN_AGENTS if agents is None else tuple(agents)
        settings = Settings(_format_with(named, chosen), pin, reader=chosen, agents=named)
        replace_file(directory / HOME_FILE, msgspec.json.encode(settings) + b"\n")
        return cls(directory, configuration)

    @staticmethod
    def is_at(directory: Path) -> bool:
        """Return whether a home is at a directory."""
        return (directory / HOME_FILE).exists()

    def has(self, pin: Pin) -> bool:
        """Return whether the pinned files are whole in the cache."""
        return is_intact(pin, self.configuration.cache)

    def promoted(self, url: str) -> None:
        """Note in home.json that the home's ledger has moved to `url`."""
        self._write(msgspec.structs.replace(self.settings, promoted_to=url))

    def rerank_with(
        self,
        model: str | None,
        *,
        precision: Precision = "int8",
        progress: BringProgress | None = None,
    ) -> None:
        """Choose the cross-encoder that judges answers: a hub repository or a local directory, or
        None.

        Nothing that is stored depends on it, so it may change at any time.

        Raises:
            EncoderError: it cannot be brought.
        """
        pin = None
        if model is not None:
            local = Path(model).is_dir()
            from recollect.streams.encoder.installing import install

            pin = install(
                None if local else model,
                directory=Path(model) if local else None,
                precision=precision,
                cache=self.configuration.cache,
                progress=progress,
                role="reranker",
            )
        self._write(msgspec.structs.replace(self.settings, reranker=pin))

    def reinstall_reranker(self, progress: BringProgress | None = None) -> None:
        """Bring the chosen cross-encoder where it is missing or damaged in the cache.

        Raises:
            EncoderError: it cannot be brought.
        """
        if self.settings.reranker is not None:
            from recollect.streams.encoder.installing import reinstall

            reinstall(self.settings.reranker, cache=self.configuration.cache, progress=progress)

    def _write(self, settings: Settings) -> None:
        settings = msgspec.structs.replace(
            settings, format=_format_with(settings.agents, settings.reader)
        )
        self.settings = settings
        replace_file(self.directory / HOME_FILE, msgspec.json.encode(settings) + b"\n")

    def load_encoder(self) -> Encoder:
        """Return the pinned encoder.

        Raises:
            EncoderMissing: it is not in the cache; the message says what to run.
            HomeError: the home was made without one.
        """
        if self.settings.encoder is None:
            raise HomeError(f"{self.directory} was made without an encoder")
        pin, cache = self.settings.encoder, self.configuration.cache
        if self._reader_encodes():
            # The reader's graph gives the same vectors, to the bit.
            return self.load_reader().encoder
        return _shared(("encoder", str(cache), pin), lambda: load(pin, cache=cache))

    def load_reader(self) -> TextReader:
        """Return the pinned reader.

        Raises:
            EncoderMissing: it is not in the cache; the message says what to run.
            HomeError: the home was made without one.
        """
        pin = self.settings.reader
        if pin is None:
            raise HomeError(f"{self.directory} was made without a reader")
        from recollect.streams.reader.reader_loading import load_reader

        cache = self.configuration.cache
        return _shared(("reader", str(cache), pin), lambda: load_reader(pin, cache=cache))

    @property
    def writer(self) -> Writer:
        """Whether a language model writes beside the rules."""
        return "model" if any(map(_is_model_writer, self.settings.agents)) else "rules"

    @property
    def without(self) -> tuple[Step, ...]:
        """The steps of enrichment that are left out."""
        from recollect.streams.language.grammar.enrichment import left_out_by

        return left_out_by(self.settings.agents)

    def reader_door(self) -> ReaderHandle | None:
        """Return how the home's reader is reached; None where it has none."""
        pin = self.settings.reader
        if pin is None:
            return None
        return ReaderHandle(pin.short_hash, self.load_reader, self._reader_encodes())

    def _reader_encodes(self) -> bool:
        """Whether the reader runs the very encoder that the home's vectors are made with."""
        reader, encoder = self.settings.reader, self.settings.encoder
        return reader is not None and encoder is not None and reader.is_of(encoder)

    def load_reranker(self) -> CrossEncoder | None:
        """Return the chosen cross-encoder; None where none is.

        Raises:
            EncoderMissing: it is not in the cache; the message says what to run.
        """
        pin = self.settings.reranker
        if pin is None:
            return None
        cache = self.configuration.cache
        return _shared(("reranker", str(cache), pin), lambda: load_reranker(pin, cache=cache))


def chosen_agents(
    agents: Sequence[str], writer: Writer | None, without: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the names of agents with the one that a writer needs, or without it, which leave these
    steps out; None: as they are.
    """
    from recollect.streams.deciding.registration import with_disabled_steps
    from recollect.streams.language.grammar.enrichment import left_out_by

    steps = left_out_by(agents) if without is None else without
    named = tuple(agents)
    if writer is not None:
        named = tuple(name for name in agents if not _is_model_writer(name))
        named += (MODEL_WRITER,) if writer == "model" else ()
    return with_disabled_steps(named, steps)


def _is_model_writer(name: str) -> bool:
    return name.partition("-")[0] == MODEL_WRITER


def _reader(chosen: str, cache: Path, progress: BringProgress | None) -> ReaderPin | None:
    """Bring the reader that was chosen: "own", a file of heads, or "none"."""
    if chosen == "none":
        return None
    from recollect.streams.reader.reader_installing import install_reader

    heads = None if chosen == "own" else Path(chosen)
    return install_reader(heads, cache=cache, progress=progress)


def _own_reader(pin: Pin, cache: Path, progress: BringProgress | None) -> ReaderPin | None:
    """Bring recollect's own reader beside an encoder, or say why there is none.

    Nobody who names a directory, or a model of their own, has another model fetched unasked.
    """
    reads_with = MINILM.checksums.safetensors == pin.sha256
    if reads_with or (pin.source != "directory" and pin.name in REGISTRY):
        try:
            return _reader("own", cache, progress)
        except EncoderUnavailable as error:
            reason = str(error)
    else:
        reason = f"it reads with {MINILM.name}, which is fetched only where it is asked for"
    if progress is not None:
        told = (
            f"no reader, so rules alone find names: {reason}; recollect init --reader own brings it"
        )
        progress(told, 0, 1)
        progress(told, 1, 1)
    return None


# A model takes as much memory as a zone of 100,000 turns, so all homes of the process share a
# loaded model, as long as it is in use.
_loaded: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
_loading = threading.RLock()


def _shared(key: Hashable, load_: Callable[[], T]) -> T:
    """Return a loaded model, or load it."""
    with _loading:
        model: T | None = _loaded.get(key)
        if model is None:
            model = _loaded[key] = load_()
        return model


def _forget_loaded() -> None:
    """Forget loaded models in a forked process, which has none of their threads."""
    global _loading
    _loading = threading.RLock()
    _loaded.clear()


os.register_at_fork(after_in_child=_forget_loaded)


def _must_not_be_changing(directory: Path) -> None:
    """Raise HomeError where a restored home counts that is not in its place yet."""
    if HomeSwap(directory).interrupted:
        raise HomeError(
            f"a restore of {directory} was interrupted at its last step: run recollect --home "
            f"{directory} restore with the same backup again, which ends it"
        )


def _format_with(agents: Sequence[str], reader: ReaderPin | None) -> int:
    """Return the format of a home.json with these agents and this reader."""
    if reader is not None:
        return FORMAT
    return 1 if tuple(agents) == OWN_AGENTS else 2


def _holds_something(directory: Path) -> bool:
    """Return whether a directory holds anything except leftovers of a killed `init`.

    Its configuration may be there before the home is.
    """
    return any(
        not path.match(f"{HOME_FILE}.*.tmp") and path.name != CONFIG_FILE
        for path in directory.iterdir()
    )
