"""Runs as people have them: two groups of seeds, self-play, one with a high learning rate, one that failed,
one whose texts look like HTML, and one that is damaged. They are trained once and shared by all tests."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from gymnast import api
from gymnast.errors import GymnastError
from gymnast.metrics.sinks.console import Console
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.training.lifecycle.label import Label
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.lifecycle.start import start_run
from tests.browser.pictures import PICTURES

SEEDS = 5
FAST, SLOW = "fast", "slow"
"""Names of the groups: the preset, and one whose learning rate is much too low."""
TAG, HIGH_LR, FAILED, DAMAGED = "tag-1", "high-lr", "breaks", "damaged-run"
LANDER = "lander"
"""Trained only for pictures."""
SCRIPT = "<script>window.injected = 1</script>"
NAME = f"a<b>\"bold\"</b> & 'quoted' {SCRIPT}"
NOTE = f'<img src=x onerror="window.injected = 2"> "note" & \u00fcn\u00efc\u00f6d\u00e9 \u4e2d\u6587 {SCRIPT}'
HTML_TAG = '<i>tag</i>"\U0001f680'
LOG_LINE = f'log: {SCRIPT} <b onclick="window.injected = 3">&amp; \u202egnp'

BUDGET = {
    "stop.env_steps": 14336,
    "stop.solved": "off",
    "eval.mode": "inline",
    "eval.every": "12%",
    "eval.episodes": 8,
    "eval.confirm_episodes": 16,
    "eval.n_envs": 8,
}
TAG_BUDGET = {
    "env.n_envs": 16,
    "env.kwargs.time_limit": 30,
    "stop.env_steps": 4096,
    "eval.mode": "inline",
    "eval.every": "25%",
    "eval.episodes": 8,
    "eval.confirm_episodes": 8,
    "eval.n_envs": 8,
    "policy.hidden": [16],
    "algo.epochs": 1,
}
"""Small enough for a few seconds, and large enough for four evaluations."""
if PICTURES:  # longer runs, as people have them
    BUDGET |= {
        "stop.env_steps": 51200,
        "stop.eval_return": "off",
        "eval.every": "4%",
        "eval.episodes": 20,
    }
    TAG_BUDGET = {
        "stop.env_steps": 200_000,
        "eval.mode": "inline",
        "eval.every": "10%",
        "eval.episodes": 20,
    }


@dataclass(frozen=True)
class SampleRuns:
    """The runs directory, and the ids of its runs by name."""

    path: Path
    ids: Mapping[str, str]

    @property
    def fast(self) -> list[str]:
        return [self.ids[f"{FAST}-s{seed}"] for seed in range(SEEDS)]

    @property
    def slow(self) -> list[str]:
        return [self.ids[f"{SLOW}-s{seed}"] for seed in range(SEEDS)]


def make_sample(path: Path) -> None:
    """Trains the runs and writes them into a directory that does not exist yet."""
    path.mkdir(parents=True)
    for seed in range(SEEDS):
        train(path, "CartPole-v1", BUDGET | {"seed": seed}, Label(f"{FAST}-s{seed}", group=FAST))
    for seed in range(SEEDS):
        changes = BUDGET | {"seed": seed, "algo.lr": 1e-5}
        train(path, "CartPole-v1", changes, Label(f"{SLOW}-s{seed}", group=SLOW, tags=["slow"]))
    train(path, "CartPole-v1", BUDGET | {"algo.lr": 0.05}, Label(HIGH_LR))
    train(path, "tag:selfplay", TAG_BUDGET, Label(TAG))
    with pytest.raises(GymnastError):
        train(path, "py:tests.scripted:Breaks", BUDGET | {"env.kwargs.after": 3000}, Label(FAILED))
    if PICTURES:
        train(path, "LunarLander-v3", {}, Label(LANDER))
    _copy_with_html(path)
    (path / DAMAGED).mkdir()
    (path / DAMAGED / "run.json").write_text('{"id": "damaged-run", "status": "fini')
    api.video(FAST + "-s0", runs_dir=path).result()


def read_sample(path: Path) -> SampleRuns:
    found = api.runs(limit=100, runs_dir=path).runs
    return SampleRuns(path, {run.name or run.id: run.id for run in found})


def train(path: Path, target: str, changes: Mapping[str, object], label: Label) -> Run:
    prepared = prepare(target, dict(changes))
    return start_run(
        prepared.resolved,
        prepared.collector,
        path,
        label=label,
        console=lambda metrics, cfg: Console(
            metrics, title="", budget=cfg.stop.limits(), format_summary=lambda _: "", quiet=True
        ),
    )[0]


def _copy_with_html(path: Path) -> None:
    """Makes a run whose name, note, tags and log have HTML, quotes and unicode."""
    first, _ = store.resolve(f"{SLOW}-s0", path)
    copy = Run(path / "htmltext")
    shutil.copytree(first.path, copy.path)
    copy.update(id=copy.id, name=NAME, note=NOTE, tags=[HTML_TAG], group=None)
    with (copy.path / "log.txt").open("a", encoding="utf-8") as log:
        log.write(f"{LOG_LINE}\n")
