"""All runs of a directory: listed, filtered, and found by what people call them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gymnast.errors import RunError, UsageError
from gymnast.runs import checkpoint, durable, index, lock, reference
from gymnast.runs.run import Run, derived_status

VARIABLE = "GYMNAST_RUNS"
FIELDS = ("id", "name", "preset", "env", "algo", "status", "seed", "group", "tag", "solved")
"""What a filter may ask for as FIELD=VALUE; plain words are looked for in the texts among them."""


def runs_dir(option: str | Path | None = None) -> Path:
    """The directory given, or that of GYMNAST_RUNS, or ./runs; it need not exist."""
    return Path(option or os.environ.get(VARIABLE) or "runs").expanduser()


def list_runs(directory: Path, filter: str = "") -> list[dict[str, Any]]:
    """run.json of every run, newest first, with `path` and the status a reader sees.

    A run that cannot be read is listed with status `unreadable` and the `problem`.
    """
    listed = [_listed(path, info) for path, info in index.read_all(directory)]
    words = filter.split()
    chosen = [info for info in listed if all(_matches(info, word) for word in words)]
    return sorted(chosen, key=lambda info: (info["created"], info["id"]), reverse=True)


def resolve(ref: str, directory: Path) -> tuple[Run, str | None]:
    """The run that `ref` names, and the checkpoint where it names one.

    A run is named by its id, a unique prefix of it, its name, a path, `@last`, `@best` or
    `@best:ENV`; a last part `:best`, `:latest` or `:120k` is a checkpoint.
    """
    name, which = reference.split(ref)
    path = Path(name).expanduser()
    if os.sep in name or name.startswith("."):
        if not (path / "run.json").exists():
            _refuse_unknown_checkpoint(name, directory)
            raise RunError("is not a run: it has no run.json", at=name)
        return Run(path), which
    runs = list_runs(directory)
    if not runs:
        fix = "train one (`gymnast train CartPole-v1`), or say where with --runs DIR"
        raise RunError(f"there are no runs in {directory}, so no {name!r}", fix=fix)
    try:
        return Run(Path(_choose(name, runs)["path"])), which
    except RunError:
        _refuse_unknown_checkpoint(name, directory)
        raise


def _refuse_unknown_checkpoint(ref: str, directory: Path) -> None:
    """In `RUN:what` the last part is a checkpoint that there is not, where RUN is a run."""
    name, _, which = ref.rpartition(":")
    if name in ("", "@best"):  # `@best:ENV` is a run
        return
    try:
        run = resolve(name, directory)[0]
    except RunError:
        return
    reference.pick(list(checkpoint.steps(run.path)), which, at=f"run {name}")


@contextmanager
def naming(name: str, directory: Path) -> Iterator[None]:
    """While inside, nobody else gives a run this name; refused where one has it already."""
    if not name:
        yield
        return
    with durable.explained(directory):
        directory.mkdir(parents=True, exist_ok=True)
    with lock.briefly(directory / ".name-lock"):
        refuse_taken(name, directory)
        yield


def refuse_taken(name: str, directory: Path) -> None:
    for run in list_runs(directory) if name else ():
        if name in (run.get("name"), run["id"]):
            fix = f"choose another name, or go on with that one: gymnast resume {run['id']}"
            raise RunError(f"{name!r} is {run['id']} already ({run['status']})", fix=fix)
        if name == run.get("group"):
            raise RunError(f"{name!r} is a group of seeds already", fix="choose another name")


def best(runs: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The highest lower bound of the score; among equals, the one that took fewer env steps."""
    scored = [(low, run) for run in runs if (low := _low(run)) is not None]
    rank = [
        (-low, run["clocks"].get("env_steps", math.inf), i) for i, (low, run) in enumerate(scored)
    ]
    return scored[min(rank)[2]][1] if rank else None


def _choose(name: str, runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if name.startswith("@"):
        return _chosen_by_rank(name, [run for run in runs if run["status"] != "unreadable"])
    found = [run for run in runs if run["id"] == name]
    found = found or [run for run in runs if name and run.get("name") == name]
    found = found or [run for run in runs if name and run["id"].startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        candidates = "\n".join(f"  {_candidate(run)}" for run in found[:10])
        raise RunError(f"{name!r} could be any of\n{candidates}", fix="use more of the id")
    raise RunError(f"no run is called {name!r}", fix=_nearest(name, runs))


def _chosen_by_rank(name: str, runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rank, _, env = name.partition(":")
    if rank == "@last" and not env and runs:
        return runs[0]
    if rank == "@best":
        found = best([run for run in runs if not env or env in _called(run)])
        if found is not None:
            return found
        where = f" of {env}" if env else ""
        known = ", ".join(sorted({run["env"] for run in runs if _low(run) is not None}))
        raise RunError(f"no run{where} has a score", fix=f"scored so far: {known or 'none'}")
    raise RunError(f"{name!r} names no run", fix="use @last, @best or @best:ENV")


def _called(run: dict[str, Any]) -> tuple[str, ...]:
    """Whatever `@best:ENV` may mean by ENV."""
    from gymnast.config.presets import split

    return run["env"], run["preset"], split(run["preset"])[0]


def _listed(path: Path, info: dict[str, Any]) -> dict[str, Any]:
    if "problem" in info:
        found = {"id": path.name, "status": "unreadable", **info}
    else:
        found = info | {"status": derived_status(path, info)}
    return found | {"path": str(path)}


def _matches(info: dict[str, Any], word: str) -> bool:
    field, equals, wanted = word.partition("=")
    if not equals:
        texts = [info.get(f) for f in ("id", "name", "preset", "status", "group")]
        texts += info.get("tags", ())
        return any(word.casefold() in str(text or "").casefold() for text in texts)
    if field not in FIELDS:
        fix = f"use one of {', '.join(FIELDS)}, or plain text"
        raise UsageError(f"runs cannot be filtered by {field!r}", fix=fix)
    if field == "tag":
        return wanted in info.get("tags", ())
    value = info.get(field)
    if isinstance(value, bool) or field == "solved":
        return bool(value) == (wanted.casefold() in ("true", "yes", "on", "1"))
    return str(value if value is not None else "").casefold() == wanted.casefold()


def _low(run: dict[str, Any]) -> float | None:
    low = (run.get("score") or {}).get("low")
    return low if low is not None and math.isfinite(low) else None


def _candidate(run: dict[str, Any]) -> str:
    return "  ".join(filter(None, (run["id"], run.get("name"), run.get("preset"), run["status"])))


def _nearest(name: str, runs: Sequence[dict[str, Any]]) -> str:
    from difflib import get_close_matches

    names = {run["id"] for run in runs} | {run["name"] for run in runs if run.get("name")}
    near = get_close_matches(name, names, n=3)
    return f"did you mean {' or '.join(near)}?" if near else "see `gymnast runs`"
