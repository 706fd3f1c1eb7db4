"""Which stored episode is meant: `best`, `last` or a number, of one evaluation of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gymnast.errors import RunError, UsageError
from gymnast.runs.reference import pick
from gymnast.runs.run import Run
from gymnast.runs.trace import KEPT_PLACES, Trace, read_meta, read_traces
from gymnast.runs.trace_budget import REMOVED

Kind = Literal["eval", "confirm", "train"]
KINDS: tuple[Kind, ...] = ("eval", "confirm", "train")


@dataclass(frozen=True, eq=False)
class Chosen:
    kind: Kind
    version: int
    """Env steps in the name of its file: of the policy, or for training of the checkpoint."""
    which: str
    """`best`, `last`, or its number."""
    index: int
    """Its place in the file, from 0."""
    trace: Trace


def choose(
    run: Run, episode: str = "best", *, kind: Kind = "eval", at: str | None = None
) -> Chosen:
    """`best`: the highest return of the best version. `last`: the first episode of the newest
    version, which nothing has selected. A number: that episode of the best version, from 0. `at`
    names another version."""
    files = stored(run, kind)
    version = version_of(run, kind, files, episode, at)
    traces = read_traces(files[version])
    if episode == "best":
        index = max(range(len(traces)), key=lambda i: traces[i].raw_return)
    elif episode == "last":
        index = 0
    else:
        kept = read_meta(files[version]).get(KEPT_PLACES)
        index = place_of(episode, len(traces)) if kept is None else _kept_place(episode, kept)
    return Chosen(kind, version, episode, index, traces[index])


def stored(run: Run, kind: Kind) -> dict[int, Path]:
    """Version -> file of its episodes, in order of the version. Never empty."""
    found = by_version(run.traces, kind)
    if not found:
        fix = (
            f"gymnast play {run.id} --record FILE plays new ones; {switch(kind)} say what is stored"
        )
        raise RunError(f"no {kind} episodes are stored", at=str(run.path), fix=fix)
    return found


def by_version(folder: Path, kind: Kind) -> dict[int, Path]:
    files = sorted(folder.glob(f"{kind}-*.safetensors"))
    return {int(file.stem.rpartition("-")[2]): file for file in files}


def switch(kind: Kind) -> str:
    """The settings by which these are stored."""
    return "traces.train" if kind == "train" else "traces.eval and eval.every"


def version_of(run: Run, kind: Kind, files: dict[int, Path], episode: str, at: str | None) -> int:
    """The newest for `last`, else that which `at` names, else the best."""
    if episode != "last":
        return _version(run, kind, files, at)
    if at is not None:
        problem = f"`last` and checkpoint {at} are two answers to which version"
        raise UsageError(problem, fix="leave one out, or give --episode best or a number")
    return max(files)


def _version(run: Run, kind: Kind, files: dict[int, Path], at: str | None) -> int:
    best = run.info["checkpoints"]["best"]
    if at in (None, "best") and best in files:
        return best
    if at in (None, "latest") or (at == "best" and kind == "train"):
        return max(files)
    where = f"{kind} episodes of {run.id}"
    if any((folder / REMOVED).exists() for folder in (run.traces, run.matches)):
        where += ", some of which were removed to stay within traces.disk"
    return pick(list(files), best if at == "best" else at, at=where)


def _kept_place(episode: str, kept: list[int]) -> int:
    """Where in its file an episode is now."""
    if not episode.isdigit() or int(episode) not in kept:
        problem = f"episode {episode} is not stored any more: traces.disk bounds what is kept"
        raise UsageError(problem, fix=f"choose best, last or one of {', '.join(map(str, kept))}")
    return kept.index(int(episode))


def place_of(episode: str, count: int) -> int:
    if not episode.isdigit() or int(episode) >= count:
        expected = f"best, last or a number from 0 to {count - 1}"
        raise UsageError(f"there is no episode {episode} (expected {expected})")
    return int(episode)
