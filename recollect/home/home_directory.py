"""A home: the directory that holds a ledger and everything derived from it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

import msgspec

from recollect.home.home_swap import HOME_FILE, HomeSwap
from recollect.home.settings.configuration import CONFIG_FILE, Configuration
from recollect.home.settings.own_analyses import check_own_analyses
from recollect.projections.file_permissions import make_directory, restrict_permissions
from recollect.projections.generations import DEFAULT_AGENTS, OWN_AGENTS, replace_file
from recollect.schemas.errors import HomeError, InvalidInput, NewerFormat
from recollect.schemas.events import OwnAnalysis
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

#: The newest known format of home.json: 4 if it has further encoders, 3 if it has a reader, 2 if it
#: names agents, else 1. An older recollect would ignore these; the number makes it reject the home.
FORMAT = 4

#: The agent that adds a language model's facts; a home that names it has a model as its writer.
MODEL_WRITER = "modelwriter"

T = TypeVar("T")

InstallProgress = Callable[[str, int, int | None], None]


class HomeSettings(msgspec.Struct, frozen=True):
    """The content of home.json.

    `encoder`: of new zones; None for keyword search only, without vectors. `promoted_to`: the Kafka
    ledger that replaced the home's own. `reader`: None if only rules find names. `reranker`: the
    cross-encoder that reranks the best candidates, if any. `agents`: the deciding agents in order;
    an entry is `own` for all of recollect's agents, the name of one of them, or
    `package.module:NAME`. `analyses`: the user's own types of analyses; commands carry them, so
    they may change any time. `further_encoders`: those with which zones can be rebuilt.
    """

    format: int
    encoder: Pin | None
    promoted_to: str | None = None
    reader: ReaderPin | None = None
    reranker: Pin | None = None
    agents: tuple[str, ...] = OWN_AGENTS
    analyses: tuple[OwnAnalysis, ...] = ()
    further_encoders: tuple[Pin, ...] = ()

    @property
    def encoders(self) -> tuple[Pin, ...]:
        """All encoders, the encoder of new zones first."""
        own = () if self.encoder is None else (self.encoder,)
        return (*own, *self.further_encoders)


class _Format(msgspec.Struct, frozen=True):
    format: int


class Home:
    """An existing home directory and its settings."""

    def __init__(self, directory: Path, configuration: Configuration | None = None) -> None:
        """Open the home in `directory`.

        `configuration`: includes command-line options; None: only the environment and the home's
        own file.

        Raises:
            HomeError: there is no home, or it cannot be read.
            NewerFormat: it was made by a newer recollect.
        """
        self.directory = directory
        _check_no_interrupted_restore(directory)
        path = directory / HOME_FILE
        try:
            content = path.read_bytes()
            # A newer home.json may have any other content, but always a format.
            format_ = msgspec.json.decode(content, type=_Format).format
            if format_ > FORMAT:
                raise NewerFormat(
                    f"{path} was made by a newer recollect (format {format_}; this one knows up "
                    f"to {FORMAT}); upgrade recollect to use it"
                )
            self.settings = msgspec.json.decode(content, type=HomeSettings)
        except FileNotFoundError:
            raise HomeError(
                f"there is no recollect home at {directory}; make one: "
                f"recollect --home {directory} init"
            ) from None
        except NotADirectoryError:
            raise HomeError(
                f"{directory} is not a directory; give that of a home, or make one: "
                "recollect --home DIR init"
            ) from None
        except PermissionError:
            raise HomeError(
                f"{path} is readable only by its owner, another user; run recollect as that user, "
                "or make your user the owner of the whole home (as root: chown -R)"
            ) from None
        except (OSError, msgspec.DecodeError) as error:
            raise HomeError(f"{path} cannot be read ({error}); restore it from a backup") from None
        check_own_analyses(self.settings.analyses, path)
        self.configuration = configuration or Configuration(directory)
        self.configuration.apply_disabled_rules()

    @classmethod
    def create_or_open(
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
        progress: InstallProgress | None = None,
    ) -> Home:
        """Create a home and pin its encoder, or open an existing one and change its settings.

        An existing home's encoders are installed again if they are missing or damaged in the cache.
        None keeps an existing home's value of a parameter; a new home gets the default, which is in
        parentheses below.

        `precision`: of the encoder (int8).
        `reader`: "own" for recollect's heads, a file of other heads, or "none" (see
        `_default_reader`).
        `agents`: the deciding agents, as in `HomeSettings` (`own` and `consolidation`).
        `writer`: "rules", or "model" to add a language model (rules).
        `without`: the enrichment steps that are disabled (none).
        `progress`: called while models are installed, with (step, done, total).

        Raises:
            InvalidInput: an encoder option was given together with `without_encoder`.
            HomeError: the directory contains other files, the home has another encoder, or an
                agent cannot be loaded.
            EncoderError: the encoder cannot be installed.
        """
        if without_encoder and (model_directory or source or precision):
            raise InvalidInput(
                "encoder 'none' takes no directory, source or precision; leave them out, or name "
                "an encoder"
            )
        if agents is not None:
            from recollect.streams.deciding.registration import agents_named

            # Raises on an unknown agent, before anything is changed.
            agents_named(agents)
        configuration = configuration or Configuration(directory)
        _check_no_interrupted_restore(directory)
        if writer is not None or without is not None:
            if not agents and cls.exists_at(directory):
                agents = cls(directory, configuration).settings.agents
            agents = agents_with(agents or DEFAULT_AGENTS, writer, without)
        if cls.exists_at(directory):
            home = cls(directory, configuration)
            restrict_permissions(directory)
            pin = home.settings.encoder
            requested = encoder or (model_directory and model_directory.name)
            if without_encoder and pin is not None:
                raise HomeError(
                    f"the home {directory} was created with the encoder {pin.model} and cannot "
                    "be used without one; to work without an encoder, create a separate home"
                )
            names = () if pin is None else (pin.name, pin.place, f"{pin.place}@{pin.revision}")
            # `reinstall` compares checksums, so the name of the directory does not matter.
            reinstalls = model_directory is not None and pin is not None and not home.is_cached(pin)
            if requested and not reinstalls and requested not in names:
                has = "no encoder" if pin is None else f"the encoder {pin.model}"
                raise HomeError(
                    f"the home {directory} was created with {has} and cannot switch directly: "
                    "create another home, or add the new encoder with recollect init "
                    "--add-encoder, and rebuild"
                )
            if precision is not None and (pin is None or pin.precision != precision):
                has = "no encoder" if pin is None else f"the encoder {pin.model}"
                raise HomeError(
                    f"the home {directory} was created with {has} and cannot switch directly to "
                    f"{precision}: create another home, or add an encoder in {precision} with "
                    "recollect init --add-encoder, and rebuild"
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
            home._reinstall_further_encoders(progress)
            if reader is not None:
                chosen = _install_reader(reader, configuration.cache, progress)
                home._write(msgspec.structs.replace(home.settings, reader=chosen))
            elif home.settings.reader is not None:
                from recollect.streams.reader.reader_installing import reinstall_reader

                reinstall_reader(home.settings.reader, cache=configuration.cache, progress=progress)
            if agents is not None:
                home._write(msgspec.structs.replace(home.settings, agents=tuple(agents)))
            return home
        if directory.exists() and (not directory.is_dir() or _has_content(directory)):
            raise HomeError(
                f"{directory} exists and is not a recollect home; name an empty directory"
            )
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
            chosen = _install_reader(reader, configuration.cache, progress)
        elif pin is not None:
            chosen = _default_reader(pin, configuration.cache, progress)
        make_directory(directory)
        restrict_permissions(directory)
        agent_names = DEFAULT_AGENTS if agents is None else tuple(agents)
        settings = HomeSettings(
            _format_of(agent_names, chosen), pin, reader=chosen, agents=agent_names
        )
        replace_file(directory / HOME_FILE, msgspec.json.encode(settings) + b"\n")
        return cls(directory, configuration)

    @staticmethod
    def exists_at(directory: Path) -> bool:
        """Return whether a directory contains a home."""
        return (directory / HOME_FILE).exists()

    def is_cached(self, pin: Pin) -> bool:
        """Return whether the cache has the pinned files, and they are undamaged."""
        return is_intact(pin, self.configuration.cache)

    def add_encoder(
        self,
        encoder: str | None,
        *,
        precision: Precision = "int8",
        source: ModelSource | None = None,
        directory: Path | None = None,
        progress: InstallProgress | None = None,
    ) -> None:
        """Install an encoder beside those of the home, so that zones can be rebuilt with it.

        The parameters are those of `streams.encoder.installing.install`.

        Raises:
            EncoderError: it cannot be installed.
        """
        from recollect.streams.encoder.installing import install

        pin = install(
            encoder,
            precision=precision,
            source=source,
            cache=self.configuration.cache,
            directory=directory,
            progress=progress,
        )
        if all(pin.model != other.model for other in self.settings.encoders):
            encoders = (*self.settings.further_encoders, pin)
            self._write(msgspec.structs.replace(self.settings, further_encoders=encoders))

    def _reinstall_further_encoders(self, progress: InstallProgress | None) -> None:
        for pin in self.settings.further_encoders:
            from recollect.streams.encoder.installing import reinstall

            reinstall(pin, cache=self.configuration.cache, progress=progress)

    def record_promotion(self, url: str) -> None:
        """Record in home.json that the home's ledger has moved to `url`."""
        self._write(msgspec.structs.replace(self.settings, promoted_to=url))

    def set_reranker(
        self,
        model: str | None,
        *,
        precision: Precision = "int8",
        progress: InstallProgress | None = None,
    ) -> None:
        """Install and pin the reranker: a hub repository, a local directory, or None.

        No stored data depends on it, so it may change at any time.

        Raises:
            EncoderError: it cannot be installed.
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

    def reinstall_reranker(self, progress: InstallProgress | None = None) -> None:
        """Install the pinned reranker again if it is missing or damaged in the cache.

        Raises:
            EncoderError: it cannot be installed.
        """
        if self.settings.reranker is not None:
            from recollect.streams.encoder.installing import reinstall

            reinstall(self.settings.reranker, cache=self.configuration.cache, progress=progress)

    def _write(self, settings: HomeSettings) -> None:
        settings = msgspec.structs.replace(
            settings,
            format=_format_of(settings.agents, settings.reader, settings.further_encoders),
        )
        self.settings = settings
        replace_file(self.directory / HOME_FILE, msgspec.json.encode(settings) + b"\n")

    def pin_of(self, model: str) -> Pin | None:
        """Return the pin of the encoder with this model; None if the home does not have it.

        If another process added the encoder, the settings are read again.
        """
        pins = self.settings.encoders
        if all(pin.model != model for pin in pins):
            pins = Home(self.directory, self.configuration).settings.encoders
        return next((pin for pin in pins if pin.model == model), None)

    def model_named(self, encoder: str) -> str:
        """Return the model of the encoder with this name, model or place.

        The checksum at the end of a name may be left out.

        Raises:
            InvalidInput: the home has no such encoder, or several.
        """
        pins = Home(self.directory, self.configuration).settings.encoders
        models = {
            pin.model
            for pin in pins
            if encoder in (pin.name, pin.name.partition("@")[0], pin.model, pin.place)
        }
        if len(models) == 1:
            return models.pop()
        has = ", ".join(sorted(models or {pin.model for pin in pins})) or "none"
        raise InvalidInput(
            f"encoder {encoder!r}: choose from this home's encoders ({has}), or add it first: "
            f"recollect init --add-encoder --encoder {encoder}"
        )

    def load_encoder(self) -> Encoder:
        """Load the encoder of new zones.

        Raises:
            EncoderMissing: it is not in the cache; the message says what to run.
            HomeError: the home has none.
        """
        if self.settings.encoder is None:
            raise HomeError(
                f"{self.directory} has no encoder; to add one, run recollect init --add-encoder "
                "--encoder NAME"
            )
        return self.load_pinned(self.settings.encoder)

    def load_pinned(self, pin: Pin) -> Encoder:
        """Load one of the home's encoders.

        Raises:
            EncoderMissing: it is not in the cache; the message says what to run.
        """
        cache = self.configuration.cache
        if self._reader_shares(pin):
            # The reader's graph computes the same vectors, bit for bit.
            return self.load_reader().encoder
        return _shared_model(("encoder", str(cache), pin), lambda: load(pin, cache=cache))

    def load_reader(self) -> TextReader:
        """Load the pinned reader.

        Raises:
            EncoderMissing: it is not in the cache; the message says what to run.
            HomeError: the home has none.
        """
        pin = self.settings.reader
        if pin is None:
            raise HomeError(
                f"{self.directory} has no reader (the classifiers that find names); to add "
                "recollect's own, run recollect init --reader own"
            )
        from recollect.streams.reader.reader_loading import load_reader

        cache = self.configuration.cache
        return _shared_model(("reader", str(cache), pin), lambda: load_reader(pin, cache=cache))

    @property
    def writer(self) -> Writer:
        """ "model" if a language model writes facts in addition to the rules, else "rules"."""
        return "model" if any(map(_is_model_writer, self.settings.agents)) else "rules"

    def must_have_model(self) -> None:
        """Raise InvalidInput if the home's writer is `rules`."""
        if self.writer != "model":
            raise InvalidInput(
                "the home uses only the rule-based writer; to add a model, run "
                "recollect init --writer model"
            )

    @property
    def disabled_steps(self) -> tuple[Step, ...]:
        """The enrichment steps that are disabled."""
        from recollect.streams.language.grammar.enrichment import left_out_by

        return left_out_by(self.settings.agents)

    def reader_handle(self, encoder: Pin | None) -> ReaderHandle | None:
        """Return a handle that loads the home's reader on first use; None if it has none.

        `encoder`: the one beside which it is used.
        """
        pin = self.settings.reader
        if pin is None:
            return None
        return ReaderHandle(pin.short_hash, self.load_reader, self._reader_shares(encoder))

    def _reader_shares(self, encoder: Pin | None) -> bool:
        """Return whether the reader uses this encoder."""
        reader = self.settings.reader
        return reader is not None and encoder is not None and reader.matches_encoder(encoder)

    def load_reranker(self) -> CrossEncoder | None:
        """Load the pinned reranker; return None if the home has none.

        Raises:
            EncoderMissing: it is not in the cache; the message says what to run.
        """
        pin = self.settings.reranker
        if pin is None:
            return None
        cache = self.configuration.cache
        return _shared_model(("reranker", str(cache), pin), lambda: load_reranker(pin, cache=cache))


def agents_with(
    agents: Sequence[str], writer: Writer | None, without: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the agents' names with the given writer and disabled steps; None changes nothing."""
    from recollect.streams.deciding.registration import with_disabled_steps
    from recollect.streams.language.grammar.enrichment import left_out_by

    steps = left_out_by(agents) if without is None else without
    names = tuple(agents)
    if writer is not None:
        names = tuple(name for name in agents if not _is_model_writer(name))
        names += (MODEL_WRITER,) if writer == "model" else ()
    return with_disabled_steps(names, steps)


def _is_model_writer(name: str) -> bool:
    return name.partition("-")[0] == MODEL_WRITER


def _install_reader(chosen: str, cache: Path, progress: InstallProgress | None) -> ReaderPin | None:
    """Install a reader: "own", a file of heads, or "none"."""
    if chosen == "none":
        return None
    from recollect.streams.reader.reader_installing import install_reader

    heads = None if chosen == "own" else Path(chosen)
    return install_reader(heads, cache=cache, progress=progress)


def _default_reader(pin: Pin, cache: Path, progress: InstallProgress | None) -> ReaderPin | None:
    """Install recollect's own reader for a new home, or report why not.

    The reader needs MiniLM, which may have to be downloaded. So the reader is installed only if the
    home's encoder is MiniLM itself, or is known to recollect and was not given as a directory.
    """
    is_readers_encoder = MINILM.checksums.safetensors == pin.sha256
    if is_readers_encoder or (pin.source != "directory" and pin.name in REGISTRY):
        try:
            return _install_reader("own", cache, progress)
        except EncoderUnavailable as error:
            reason = str(error)
    else:
        reason = f"the reader needs {MINILM.name}, which is downloaded only on request"
    if progress is not None:
        message = (
            f"no reader is installed ({reason}), so names are found by rules only; to install it, "
            "run recollect init --reader own"
        )
        progress(message, 0, 1)
        progress(message, 1, 1)
    return None


# A loaded model takes as much memory as a zone of 100,000 turns, so all homes of a process share
# it.
_loaded: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
_loading = threading.RLock()


def _shared_model(key: Hashable, load_: Callable[[], T]) -> T:
    """Return a model from the process-wide cache, or load it."""
    with _loading:
        model: T | None = _loaded.get(key)
        if model is None:
            model = _loaded[key] = load_()
        return model


def _clear_loaded_models() -> None:
    """Empty the model cache in a forked process, since the models' threads do not exist there."""
    global _loading
    _loading = threading.RLock()
    _loaded.clear()


os.register_at_fork(after_in_child=_clear_loaded_models)


def _check_no_interrupted_restore(directory: Path) -> None:
    """Raise HomeError if a restore was interrupted after it was committed."""
    if HomeSwap(directory).interrupted:
        raise HomeError(
            f"a restore of {directory} was interrupted at its last step; to complete it, run "
            f"recollect --home {directory} restore with the same backup again"
        )


def _format_of(
    agents: Sequence[str], reader: ReaderPin | None, further_encoders: Sequence[Pin] = ()
) -> int:
    """Return the format of a home.json with these agents, this reader and these encoders."""
    if further_encoders:
        return FORMAT
    if reader is not None:
        return 3
    return 1 if tuple(agents) == OWN_AGENTS else 2


def _has_content(directory: Path) -> bool:
    """Return whether a directory has content other than leftovers of a killed `init`.

    A configuration file may exist before the home does, so it does not count.
    """
    return any(
        not path.match(f"{HOME_FILE}.*.tmp") and path.name != CONFIG_FILE
        for path in directory.iterdir()
    )
