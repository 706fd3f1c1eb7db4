"""Runs whose episodes are inspected, one per family: CartPole, self-play, a bandit and images. Tests may add
episodes to them."""

from __future__ import annotations

import shutil
from pathlib import Path

from gymnast import api
from gymnast.training.lifecycle.label import Label
from tests.browser.sample import FAST, SLOW, TAG, SampleRuns, train

CARTPOLE, OTHER, MATCH = f"{FAST}-s0", f"{SLOW}-s0", TAG
BANDIT, PONG = "bandit", "pong"
_BRIEF = {"eval.mode": "inline", "stop.solved": "off", "eval.confirm_episodes": 2}
_BANDIT = _BRIEF | {"stop.env_steps": 2048, "eval.every": "50%", "eval.episodes": 4}
_PONG = _BRIEF | {
    "stop.env_steps": 256,
    "env.n_envs": 2,
    "algo.batch_size": "50%",
    "env.max_episode_steps": 40,
    "eval.max_episode_steps": 40,
    "eval.every": "100%",
    "eval.episodes": 1,
    "eval.n_envs": 1,
    "eval.confirm_episodes": 1,
}


def make_inspected(sample: SampleRuns, path: Path) -> None:
    """Copies runs of the sample and trains the others into a directory that does not exist yet."""
    path.mkdir(parents=True)
    for name in (CARTPOLE, OTHER, MATCH):
        shutil.copytree(sample.path / sample.ids[name], path / sample.ids[name])
    train(path, "Bandit-v0", _BANDIT, Label(BANDIT))
    train(path, "ALE/Pong-v5:pixels", _PONG, Label(PONG))


def newest_episode(runs: SampleRuns, name: str, kind: str = "eval") -> str:
    """Returns the path of the page of the first episode of the newest policy."""
    listed = api.episodes(runs.ids[name], kind=kind, runs_dir=runs.path).episodes
    version = max(episode.version for episode in listed)
    number = min(episode.number for episode in listed if episode.version == version)
    return f"/run/{runs.ids[name]}/episodes/{kind}-{version}-{number}"
