"""A study on disk: what it was asked to do, its space and its journal.

DATA/sweeps/NAME/study.json      options, objective, rungs; written once, changed by `resume` only
DATA/sweeps/NAME/space.yaml      the space as the user wrote it
DATA/sweeps/NAME/journal.jsonl   every decision and every result
DATA/sweeps/NAME/result.json     the confirmation and the winner, when it is over
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from gymnast.clock import Clock
from gymnast.data_dir import data_dir
from gymnast.errors import RunError, UsageError
from gymnast.records import from_json
from gymnast.runs import document, durable, files, layout, lock, trust
from gymnast.sweep.decide import Plan, rung_steps
from gymnast.sweep.journal import FileJournal
from gymnast.sweep.objective import Objective
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.space import Space
from gymnast.sweep.space_file import parse_space
from gymnast.sweep.state import StudyState, state_of

VERSION = 1
STUDY, SPACE, JOURNAL, RESULT = "study.json", "space.yaml", "journal.jsonl", "result.json"
LOG = "log.txt"
"""Output of the processes that ran a study in the background."""
STOP = "stop"
"""A file that asks the process of a study to stop."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")


@dataclass(frozen=True)
class Study:
    """A study: everything but its state, which is in the journal."""

    path: Path
    space: Space
    plan: Plan
    source: str
    """The run or RUN:CHECKPOINT that all trials start from; empty: from scratch."""
    settings: Mapping[str, Any]
    """Config key -> value that the spaces of the environment determine, such as env.n_envs."""
    created: float
    """Time of its start, in seconds since the epoch."""
    runs_dir: Path
    """Directory of the runs of its trials."""
    jobs: int = 1
    """How many runs train at once."""
    jobs_on: str = ""
    """The place where they train, as in `gymnast train --jobs-on`; empty: this machine."""

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def journal(self) -> FileJournal:
        return FileJournal(self.path / JOURNAL)

    def state(self) -> StudyState:
        """Returns what the study has decided and measured so far."""
        try:
            return state_of(self.journal.events())
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"an event of the study cannot be read: {error!r}"
            raise RunError(problem, at=str(self.path / JOURNAL)) from error

    @property
    def is_running(self) -> bool:
        """True if a process of this machine runs the study."""
        return lock.is_locked(layout.LOCK.path(self.path))

    @property
    def stop_requested(self) -> bool:
        return (self.path / STOP).exists()

    def save(self) -> None:
        """Writes study.json and, if it is new, the space."""
        stored = {
            "version": VERSION,
            "created": self.created,
            "options": asdict(self.plan.options),
            "objective": asdict(self.plan.objective),
            "rungs": self.plan.rungs,
            "size": self.plan.size,
            "source": self.source,
            "settings": dict(self.settings),
            "runs_dir": str(self.runs_dir),
            "jobs": self.jobs,
            "jobs_on": self.jobs_on,
        }
        if not (self.path / SPACE).exists():
            durable.replace(self.path / SPACE, self.space.text.encode())
        durable.replace(self.path / STUDY, document.dumps(stored, indent=1).encode())

    def with_options(self, **changes: object) -> Study:
        """Returns the study with other options; None leaves one as it is."""
        given = {key: value for key, value in changes.items() if value is not None}
        options = replace(self.plan.options, **given)
        options.check()
        return replace(self, plan=replace(self.plan, options=options))

    def result(self) -> dict[str, Any] | None:
        """Returns the stored result of the confirmation, None if there is none."""
        try:
            return document.loads(files.read(self.path / RESULT))
        except (FileNotFoundError, ValueError):
            return None


def sweeps_dir(runs_dir: Path) -> Path:
    """Returns the directory with all studies."""
    return data_dir(None, runs_dir) / "sweeps"


def make_plan(space: Space, options: SearchOptions, objective: Objective, budget: int) -> Plan:
    """Returns what a study decides by. `budget`: env steps of a whole run."""
    if options.mode == "pbt":
        interval = -(-budget // options.generations)
        return Plan(options, objective, (interval,), None)
    rungs = rung_steps(budget, options, _evaluation_period(space, budget))
    size = space.size
    if size is not None and options.baseline:
        size -= sum(space.equals_baseline(one) for one in space.grid())
    return Plan(options, objective, rungs, size)


def _evaluation_period(space: Space, budget: int) -> float | None:
    """Returns the env steps between two evaluations of a run with this budget; None if they are not counted
    in env steps."""
    every = space.config(None).config.eval.every
    clock, period = (
        ("", 0.0) if every is None else every.period(Clock(limits={"env_steps": budget}))
    )
    return period if clock == "env_steps" else None


def create(
    name: str,
    space: Space,
    plan: Plan,
    *,
    runs_dir: Path,
    source: str = "",
    settings: Mapping[str, Any] | None = None,
    jobs: int = 1,
    jobs_on: str = "",
) -> Study:
    """Creates the directory of a new study. Raises UsageError if the name is taken or cannot be used."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a study", fix="letters, digits, `.`, `_` and `-`, 61 at most"
        )
    path = sweeps_dir(runs_dir) / name
    with durable.explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.mkdir()
        except FileExistsError:
            fix = f"gymnast sweep resume {name}, or choose another --name"
            raise UsageError(f"there is a study {name} already", fix=fix) from None
    fixed = settings or {}
    study = Study(
        path,
        _with_settings(space, fixed),
        plan,
        source,
        fixed,
        time.time(),
        runs_dir,
        jobs,
        jobs_on,
    )
    study.save()
    trust.sign_permitted(path, study.space.code)
    return study


def load(path: Path) -> Study:
    """Returns the study in a directory. Raises RunError if it cannot be read."""
    try:
        stored = document.loads(files.read(path / STUDY))
        text = files.read(path / SPACE, limit=files.MAX_CONFIG).decode()
        version = stored["version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"the study cannot be read: {error}", at=str(path)) from None
    if version != VERSION:
        problem = f"unknown format {version} of a study (this gymnast reads {VERSION})"
        raise RunError(problem, at=str(path), fix="update gymnast")
    # It was checked before the study started, and reading one must not import code that it names.
    file = parse_space(text, str(path / SPACE), validate=False)
    try:
        space = _with_settings(file.space, stored["settings"])
        options = from_json(SearchOptions, stored["options"])
        size = stored.get("size", space.size)
        objective = from_json(Objective, stored["objective"])
        return Study(
            path,
            space,
            Plan(options, objective, tuple(stored["rungs"]), size),
            stored["source"],
            stored["settings"],
            stored["created"],
            Path(stored["runs_dir"]),
            stored["jobs"],
            stored.get("jobs_on", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"the study is damaged: {error}", at=str(path / STUDY)) from None


def find(ref: str, runs_dir: Path) -> Study:
    """Returns the study with this name or unique prefix of it; `@last` is the newest. Raises RunError if
    there is none."""
    every = list_studies(runs_dir)
    if ref == "@last" and every:
        return load(max(every, key=lambda path: (path / STUDY).stat().st_mtime))
    matching = [path for path in every if path.name == ref]
    matching = matching or [path for path in every if ref and path.name.startswith(ref)]
    if len(matching) != 1:
        known = ", ".join(path.name for path in every[:5]) or "none"
        state = "no study" if not matching else "several studies"
        raise RunError(f"{state} {ref!r} (known: {known})", fix="gymnast sweep list")
    return load(matching[0])


def list_studies(runs_dir: Path) -> list[Path]:
    """Returns the directories of all studies, by name."""
    return sorted(path.parent for path in sweeps_dir(runs_dir).glob(f"*/{STUDY}"))


def remove(study: Study) -> None:
    """Deletes the directory of a study, but not its runs. Raises UsageError while it runs."""
    if study.is_running:
        fix = f"gymnast sweep stop {study.name}"
        raise UsageError(f"the study {study.name} is running", fix=fix)
    shutil.rmtree(study.path)


def _with_settings(space: Space, settings: Mapping[str, Any]) -> Space:
    names = {parameter.name for parameter in space.parameters}
    added = {key: value for key, value in settings.items() if key not in names}
    return replace(space, settings={**added, **space.settings})
