"""A run is a directory, and its files (`layout.py`) are the only state there is about it."""

from __future__ import annotations

import math
import os
import secrets
import shutil
import socket
import string
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gymnast import import_object
from gymnast.errors import RunError
from gymnast.runs import document, durable, events, files, formats, layout, lock
from gymnast.runs.info import EventInfo, RunInfo

if TYPE_CHECKING:
    import pandas as pd

    from gymnast.config.config import Config
    from gymnast.metrics.store import MetricStore

ACTIVE = ("running", "paused", "stalled")
"""Statuses of a run with a live writer; `stalled`: an env call has taken longer than env.timeout."""
MAX_TIME = 1e11
"""Seconds since the epoch that no run is created after: the year 5138."""
MAX_CONFIG_VALUES = 100_000
"""Maximum number of values in a config."""
STATUSES = (*ACTIVE, "finished", "stopped", "failed")
"""Values of `status` in run.json; readers derive `lost` for an active run without a live writer."""


class Run:
    def __init__(self, path: Path | str, *, bundle: Path | None = None) -> None:
        """`bundle`: the file that the directory was unpacked from, for reading only; None for a run that is
        stored as a directory."""
        self.path = Path(path)
        self.bundle = bundle

    @staticmethod
    def create(
        runs_dir: Path,
        *,
        config_text: str,
        preset: str,
        seed: int,
        name: str = "",
        parent: str | None = None,
        group: str | None = None,
        tags: Sequence[str] = (),
        provenance: Mapping[str, str],
        env: str = "",
        algo: str = "",
        reserved_dir: Path | None = None,
        **more: object,
    ) -> Run:
        """Creates a run in a new directory below `runs_dir`, or in `reserved_dir`, a directory from
        `create_run_dir`.

        `config_text`: the resolved config as YAML; `provenance`: dotted config key -> where its value came
        from; `parent`: id of the run whose weights it starts from; `group`: id of its group of seeds; `env`:
        by default the preset without its variant; `more`: further fields of run.json, e.g. threshold. Raises
        RunError for an invalid name or tag, GymnastError if the file system fails; the directory is then
        deleted.
        """
        from gymnast.runs import machine

        check_name(name)
        for tag in tags:
            check_tag(tag)
        now = time.time()
        path = reserved_dir or create_run_dir(runs_dir)
        run = Run(path)
        fields: dict[str, object] = {
            "version": layout.RUN.version,
            "id": path.name,
            "name": name,
            "preset": preset,
            "env": env or preset.rpartition(":")[0] or preset,
            "algo": algo,
            "seed": seed,
            "status": "running",
            "reason": "",
            "solved": None,
            "score": None,
            "threshold": None,
            "created": now,
            "updated": now,
            **machine.machine_info(),
            "parent": parent,
            "group": group,
            "tags": list(tags),
            "note": "",
            "clocks": {},
            "attempts": 0,
            "checkpoints": {"best": None, "latest": None},
            "alerts": [],
        } | more
        try:
            with durable.explain_os_errors(path):
                run._write_files(config_text, provenance, fields)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)  # do not leave a directory that is not a run
            raise
        return run

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def checkpoints(self) -> Path:
        return layout.CHECKPOINTS.path(self.path)

    @property
    def traces(self) -> Path:
        return layout.TRACES.path(self.path)

    @property
    def matches(self) -> Path:
        """Folder of recorded matches between roles, like `traces` for episodes."""
        return layout.MATCHES.path(self.path)

    @property
    def inbox(self) -> Path:
        return layout.INBOX.path(self.path)

    @property
    def info(self) -> RunInfo:
        """The content of run.json now. Its status is the last one written; see `Run.status`."""
        return read_info(self.path)

    def update(self, **fields: object) -> None:
        """Changes fields of run.json; safe if other processes update it at the same time. Raises ValueError
        for a status that is not one of STATUSES."""
        status = fields.get("status", "running")
        if status not in STATUSES:
            raise ValueError(f"status {status!r} is not one of {', '.join(STATUSES)}")
        self.update_with(lambda _: fields)

    def update_with(self, fields: Callable[[RunInfo], Mapping[str, object]]) -> None:
        """Changes fields of run.json to `fields(info)`, computed from its current content under a lock."""
        lock.refuse_fork(self.path)
        with lock.exclusive(self.path / ".update-lock"):
            before = self.info
            changed = {**before, **fields(before), "updated": time.time()}
            durable.replace(layout.RUN.path(self.path), document.dumps(changed, indent=1).encode())

    def tag(self, tags: Sequence[str], *, remove: bool = False) -> None:
        """Adds tags at the end, without duplicates, or with `remove` removes them. Raises RunError for an
        invalid tag."""
        for tag in tags:
            check_tag(tag)

        def new_fields(info: RunInfo) -> Mapping[str, object]:
            others = [tag for tag in info["tags"] if tag not in tags]
            return {"tags": others if remove else list(dict.fromkeys([*info["tags"], *tags]))}

        self.update_with(new_fields)

    @contextmanager
    def writer(self) -> Iterator[Run]:
        """Makes this process the only writer of the run while inside; raises RunError if another process is
        already."""
        with lock.hold(self.path):
            self.update(host=socket.gethostname(), pid=os.getpid())
            yield self

    @property
    def status(self) -> str:
        """Status as a reader sees it, which includes `lost`; see `derived_status`."""
        return derived_status(self.path, self.info)

    def record_event(
        self, kind: str, counters: Mapping[str, int | float], **detail: object
    ) -> None:
        """Appends an event to events.jsonl; it is on disk when this returns. `counters`: clock -> count at
        the event; `detail`: further fields of the event."""
        lock.refuse_fork(self.path)
        event = {"time": time.time(), "kind": kind, **counters, **detail}
        durable.append(layout.EVENTS.path(self.path), document.dumps(event).encode())

    def supersede_after(self, after_rollouts: int) -> None:
        """Marks the events after the rollout number `after_rollouts` as superseded: the run continues from
        there differently."""
        self.record_event(events.SUPERSEDED, {"rollouts": after_rollouts})

    def events(self) -> list[EventInfo]:
        """Returns the valid events, in order, without superseded ones and their markers."""
        return events.valid_events(self.recorded_events())

    def rows(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Returns the metrics as a DataFrame: one row per rollout, and one per evaluation that finished after
        the row of its rollout; NaN where a row lacks a metric. `names`: the columns; None for all."""
        import pandas as pd

        with self.metrics() as store:
            return pd.DataFrame(store.read(names))

    def metrics(self) -> MetricStore:
        """Opens the stored rows for reading."""
        from gymnast.metrics.store import MetricStore

        return MetricStore(layout.METRICS.path(self.path))

    def trusted_config(self) -> Config:
        """Returns the resolved config for training, evaluating, playing or inspecting: the code that it names
        may be imported from now on. Raises CodeNotAllowed if this user did not train the run."""
        from gymnast.config.serialize import load
        from gymnast.runs import trust

        trust.require_code(self.path, self.config_code(), f"run {self.id}")
        return load(self.config_text(), at=str(layout.CONFIG.path(self.path)), trusted=True)

    def config(self) -> Config:
        """Returns the resolved config, for reading: a user-defined algorithm is not imported, and has its
        stored settings as they are."""
        from gymnast.config.serialize import load

        return load(self.config_text(), at=str(layout.CONFIG.path(self.path)))

    def config_text(self) -> str:
        """Returns config.yaml."""
        return _text(layout.CONFIG.path(self.path), files.MAX_CONFIG)

    def config_values(self) -> dict[str, object]:
        """Returns the config as nested plain values without validating them, whichever version wrote it.
        Raises RunError if the file is damaged."""
        from ruamel.yaml import YAML, YAMLError

        try:
            values = YAML(typ="safe", pure=True).load(self.config_text()) or {}
        except (YAMLError, RecursionError, ValueError):
            values = None
        if not isinstance(values, dict) or _has_too_many_values(values):
            raise RunError("is not a config", at=str(layout.CONFIG.path(self.path)))
        return cast("dict[str, object]", values)

    def config_code(self) -> list[str]:
        """Returns the names of the code that the config names. Raises InvalidConfig if it cannot be read."""
        from gymnast.config.named_code import code_names
        from gymnast.config.source import Source

        # Not `config_values`, whose aliases could stand for billions of values.
        return [*code_names(Source.parse(self.config_text(), str(self.path)).data)]

    def config_section(self, name: str) -> dict[str, object]:
        """Returns one section of `config_values`, e.g. `facts`; empty if the config lacks it."""
        section = self.config_values().get(name)
        return cast("dict[str, object]", section) if isinstance(section, dict) else {}

    def write_config(self, config: str, provenance: Mapping[str, str]) -> None:
        """Writes the resolved config (YAML) and the origin of each of its values."""
        from gymnast.config.named_code import code_names
        from gymnast.config.source import Source
        from gymnast.runs import trust

        origins = document.dumps(dict(provenance), indent=1)
        if import_object.any_is_permitted():  # most trainings: nothing to parse
            trust.sign_permitted(self.path, code_names(Source.parse(config).data))
        durable.replace(layout.CONFIG.path(self.path), config.encode())
        durable.replace(layout.PROVENANCE.path(self.path), origins.encode())

    def provenance(self) -> dict[str, str]:
        """Returns config key -> where its value came from."""
        file = layout.PROVENANCE.path(self.path)
        try:
            return document.parse(dict[str, str], _text(file))
        except ValueError as error:
            raise RunError(f"cannot be read: {error}", at=str(file)) from error

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _write_files(
        self, config: str, provenance: Mapping[str, str], fields: Mapping[str, object]
    ) -> None:
        """Writes the files of a new run; run.json comes last, because it makes the directory a run."""
        for folder in (self.checkpoints, self.traces, self.inbox):
            folder.mkdir(exist_ok=True)  # a branch already has its checkpoints
        self.write_config(config, provenance)
        durable.replace(layout.RUN.path(self.path), document.dumps(fields, indent=1).encode())
        durable.sync_directory(self.path.parent)

    def recorded_events(self) -> Iterator[EventInfo]:
        """Yields every recorded event, superseded or not."""
        file = layout.EVENTS.path(self.path)
        try:
            lines = files.read(file, limit=files.MAX_EVENTS).splitlines()
        except FileNotFoundError:
            return
        for number, line in enumerate(lines, start=1):
            try:
                event = document.loads(line)
            except ValueError:  # cut short by a crash before its fsync returned: it does not count
                continue
            try:
                yield document.checked(EventInfo, event)
            except ValueError as error:
                raise RunError(f"is damaged: {error}", at=f"{file}:{number}") from error


def read_info(path: Path) -> RunInfo:
    """Returns run.json of the run directory `path`; raises RunError if it has none or its format is
    unknown."""
    file = layout.RUN.path(path)
    try:
        info = document.loads(files.read(file))
        version = info.get("version") if isinstance(info, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if version != layout.RUN.version:
            problem, fix = formats.version_error("run", version, layout.RUN.version)
            raise RunError(problem, at=str(file), fix=fix)
        info = document.checked(RunInfo, info)
        if not all(0 <= time < MAX_TIME for time in (info["created"], info["updated"])):
            raise ValueError("its times are not dates")
        if not all(map(math.isfinite, info["clocks"].values())):
            raise ValueError("its clocks are not finite")
        return info
    except (FileNotFoundError, NotADirectoryError):
        raise RunError("is not a run: it has no run.json", at=str(path)) from None
    except (OSError, ValueError) as error:
        raise RunError(f"cannot be read: {error}", at=str(file)) from error


def derived_status(path: Path, info: RunInfo) -> str:
    """Returns the status as a reader sees it: `lost` if the writer of an active run is dead. `info`: the
    content of run.json in the directory `path`.

    On the writer's own machine its lock decides, elsewhere its heartbeat. A run that was just created has
    neither; it is alive for HEARTBEAT_TIMEOUT seconds, while the process that created it lives. A living
    writer without a heartbeat is suspended, or stuck in C code that holds the GIL: `stalled`.
    """
    if info["status"] not in ACTIVE:
        return info["status"]
    silence, here = lock.heartbeat_age(path), info["host"] == socket.gethostname()
    if silence is None:
        alive = time.time() - info["created"] < lock.HEARTBEAT_TIMEOUT
        alive = alive and not (here and lock.is_process_dead(info["pid"]))
    elif here:
        alive = lock.has_writer(path)
        if alive and silence > lock.HEARTBEAT_TIMEOUT:
            return "stalled"
    else:
        alive = silence < lock.HEARTBEAT_TIMEOUT
    return info["status"] if alive else "lost"


def check_name(name: str) -> None:
    """Raises RunError for names that would be ambiguous as a reference to a run."""
    if name != name.strip() or any(c in "/\\:=" or not c.isprintable() for c in name):
        raise RunError(f"{name!r} cannot name a run", fix="leave out / \\ : = and outer spaces")
    if name.startswith(("@", "-", ".")):
        raise RunError(f"{name!r} cannot name a run", fix="begin with a letter or a number")


def check_tag(tag: str) -> None:
    """Raises RunError for tags that `gymnast runs tag=...` could not match."""
    if not tag or tag.startswith("-") or any(c.isspace() or not c.isprintable() for c in tag):
        raise RunError(f"{tag!r} cannot be a tag", fix="one word that does not begin with -")


def create_run_dir(runs_dir: Path) -> Path:
    """Creates a directory with a random, unused id of 8 letters and digits in `runs_dir`, and returns it."""
    with durable.explain_os_errors(runs_dir):
        runs_dir.mkdir(parents=True, exist_ok=True)
        while True:
            first = secrets.choice(string.ascii_lowercase)
            rest = (secrets.choice(string.ascii_lowercase + string.digits) for _ in range(7))
            path = runs_dir / (first + "".join(rest))
            try:
                path.mkdir()
            except FileExistsError:
                continue
            return path


def _has_too_many_values(config: object) -> bool:
    """Returns whether a config has so many values that its aliases (`*name`) must repeat each other."""
    found, left = [config], MAX_CONFIG_VALUES
    while found and left:
        value, left = found.pop(), left - 1
        if isinstance(value, dict | list):
            found += value.values() if isinstance(value, dict) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    return bool(found)


def _text(path: Path, limit: int = files.MAX_DOCUMENT) -> str:
    try:
        return files.read(path, limit=limit).decode()
    except OSError as error:
        raise RunError(f"cannot be read: {error.strerror}", at=str(path)) from error
