"""Makes the fixture of the monitor, tests/fixtures/monitor, from short trainings (about a minute):

python -m tests.monitor.make_fixture

A run of the fixture has what the monitor reads: run.json, config.yaml, its metrics without the columns that
no chart or check uses, and the matches of two evaluations. `broken01` lacks a column on purpose. The foreign
files are two more trainings, written in the way of other programs. Afterwards, regenerate the golden files:

python -m tests.monitor.golden
"""

from __future__ import annotations

import csv
import json
import math
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnast
from gymnast.metrics.specs import split_key
from gymnast.metrics.store import MetricStore
from gymnast.monitor.schema import PPO_DIAGNOSTICS
from gymnast.runs import layout
from gymnast.runs.episodes import list_episodes
from gymnast.runs.match_trace import read_match_meta, read_matches, write_matches
from gymnast.runs.run import Run
from tests.monitor.fixture import ARENA_MATCHES, ARENA_UPDATES, FIXTURE, FOREIGN, RUNS
from tests.small_runs import SMALL

SECTIONS = ("clock", "episode", "league", "match", "env")
"""Sections of metrics that are kept."""
SINGLE_METRICS = (*PPO_DIAGNOSTICS, "optim/epochs", "rollout/episodes")
"""Metrics of other sections that are kept."""
MATCHES = 3
"""Number of matches that are kept of an evaluation."""
TAG = SMALL | {
    "env.n_envs": 8,
    # untrained policies must have some tags, so that win rates differ from 0
    "env.kwargs": {"time_limit": 60, "seekers": 3, "handicaps": {"seeker": 4.0}},
    "algo.n_steps": 64,
    "stop.env_steps": 10240,
    "eval.every": "2048 env_steps",
    "eval.episodes": 10,
    "league.window": 40,
}
CARTPOLE = SMALL | {
    "env.n_envs": 4,
    "algo.n_steps": 64,
    "stop.env_steps": 4096,
    "eval.every": "1024 env_steps",
}
TRAININGS: dict[str, tuple[str, dict[str, Any]]] = {
    # the runs of an approach have different lengths and rollouts: they share no x values
    "selfplay1": ("tag:selfplay", TAG | {"seed": 1}),
    "selfplay2": ("tag:selfplay", TAG | {"seed": 2, "algo.n_steps": 80, "stop.env_steps": 8960}),
    "scripted1": ("tag:seeker-vs-scripted", TAG | {"seed": 1}),
    "scripted2": ("tag:seeker-vs-scripted", TAG | {"seed": 2, "algo.n_steps": 96}),
    "cartpole1": ("CartPole-v1:ppo", CARTPOLE | {"seed": 1}),
    "broken01": ("tag:selfplay", TAG | {"seed": 3}),
}
"""Id of the run -> its preset and settings."""
TAGS = {"cartpole1": ("baseline",)}
BROKEN_COLUMN, BROKEN_NAME = "seeker:policy/kl", "seeker:policy/kl_div"
"""The column of `broken01` that is renamed."""


def make() -> None:
    """Trains all runs and replaces the fixture, except for the column maps and the golden files."""
    for folder in (RUNS, FOREIGN):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    with TemporaryDirectory() as scratch:
        for name, (preset, settings) in TRAININGS.items():
            run = _train(preset, settings, Path(scratch), TAGS.get(name, ()))
            _thin(run, RUNS / name, {BROKEN_COLUMN: BROKEN_NAME} if name == "broken01" else {})
        run = _train("tag:selfplay", TAG | {"seed": 4}, Path(scratch))
        _write_updates(run, ARENA_UPDATES)
        run = _train("tag:selfplay", TAG | {"seed": 5, "traces.train": 1.0}, Path(scratch))
        _write_matches(run, ARENA_MATCHES)
    size = sum(file.stat().st_size for file in FIXTURE.rglob("*") if file.is_file())
    print(f"{FIXTURE}: {size / 1024:.0f} KiB")


def _train(
    preset: str, settings: Mapping[str, Any], runs_dir: Path, tags: Iterable[str] = ()
) -> Run:
    run = gymnast.train(preset, overrides=dict(settings), quiet=True, runs_dir=runs_dir)
    run.tag(list(tags))
    return run


def _thin(run: Run, path: Path, renamed: Mapping[str, str]) -> None:
    """Writes what the monitor reads of a run into the directory `path`. `renamed`: column -> new name."""
    path.mkdir()
    run.update(id=path.name, host="fixture", pid=0, created=0.0)
    for file in (layout.RUN, layout.CONFIG):
        shutil.copy(file.path(run.path), file.path(path))
    with run.metrics() as store:
        rows = list(store.rows())
    with MetricStore(layout.METRICS.path(path), "w") as store:
        for row in rows:
            store.append({renamed.get(k, k): v for k, v in row.items() if _is_kept(k)})
    for file in sorted(run.matches.glob("eval-*"))[-2:]:
        kept = read_matches(file)[:MATCHES]
        write_matches(path / file.relative_to(run.path), kept, read_match_meta(file))


def _is_kept(column: str) -> bool:
    name = split_key(column)[1]
    return name.partition("/")[0] in SECTIONS or name in SINGLE_METRICS


def _write_updates(run: Run, file: Path) -> None:
    """Writes the rows of a run as another program might: one line per update, names of its own."""
    names = {
        "clock/env_steps": "total_timesteps",
        "seeker:episode/return": "seeker_reward",
        "hider:episode/return": "hider_reward",
        "seeker:league/win_rate": "seeker_win_rate",
        "hider:league/win_rate": "hider_win_rate",
        "match/tag_share": "tags",
        "match/timeout_share": "timeouts",
        "match/duration": "ep_len",
        **{f"seeker:{m}": f"seeker_{m.replace('/', '_')}" for m in PPO_DIAGNOSTICS},
        **{f"hider:{m}": f"hider_{m.replace('/', '_')}" for m in PPO_DIAGNOSTICS},
    }
    with run.metrics() as store:
        columns = store.read(list(names))
        rows = range(len(columns["clock/env_steps"]))
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["time", *names.values()])
        last = -1.0
        for i in rows:
            values = [float(columns[name][i]) for name in names]
            if values[0] > last:  # without evaluations that finished late
                cells = ["" if math.isnan(value) else f"{value:.6g}" for value in values]
                writer.writerow([f"00:00:{i:02d}", *cells])
            last = values[0]


def _write_matches(run: Run, file: Path) -> None:
    """Writes the matches of a training as JSON lines, one per match. Every tenth outcome is left out, as by a
    program that lost the connection to its game."""
    env_steps = 0
    with file.open("w") as stream:
        for number, match in enumerate(list_episodes(run, "train")):
            env_steps += match.length
            known = number % 10 != 9
            line = {
                "match": number,
                "steps_so_far": env_steps,
                "length": match.length,
                "result": match.outcome if known else None,
                "seeker_won": match.outcome == "tag" if known else None,
                "hider_won": match.outcome == "timeout" if known else None,
                "seeker_score": round(match.returns["seeker"], 4),
                "hider_score": round(match.returns["hider"], 4),
            }
            stream.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    make()
