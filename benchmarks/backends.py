"""Compares our env backends with Gymnasium's vector envs, in turn: env steps per wall and CPU second.

python -m benchmarks.backends                   # about 6 minutes; writes JSON and the page
python -m benchmarks.backends --quick           # one short repetition, nothing written
python -m benchmarks.backends sample process CartPole-v1 16 2.0
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import gymnasium as gym
import numpy as np

from benchmarks import code_revision, measurement
from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import Backend, EnvConfig
from gymnast.envs.build.open import open_envs
from gymnast.tune.sampling import cpu_seconds

OURS = ("inprocess", "process", "vector")
PEERS = ("SyncVectorEnv", "AsyncVectorEnv")
TASKS = (("CartPole-v1", 16), ("CartPole-v1", 64), ("LunarLander-v3", 16))
WORKERS = 2
SECONDS = 2.0
"""Wall seconds per sample."""
_DRAWN = 500
"""Number of vector steps whose actions are drawn beforehand and reused in turn."""

VectorStep = Callable[[np.ndarray], int]
"""Takes actions and returns how many copies took a step of an episode."""


def main() -> None:
    if sys.argv[1:2] == ["sample"]:
        who, env, n, seconds = sys.argv[2:]
        print(json.dumps(sample(who, env, int(n), float(seconds))))
        return
    options = measurement.parse_options(__doc__, 7)
    repetitions, seconds = (1, SECONDS / 4) if options.quick else (options.repetitions, SECONDS)
    entry: dict[str, Any] = measurement.new_entry("backends") | {
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("gymnasium", "numpy")},
        "workers": WORKERS,
        "repetitions": repetitions,
        "tasks": [{"env": env, "n_envs": n, "samples": {}} for env, n in TASKS],
    }
    for repetition in range(repetitions):
        for task in entry["tasks"]:
            for who in backends_for(task["env"]):
                one = _in_child_process(who, task["env"], task["n_envs"], seconds)
                code_revision.require_same_code(one.pop("source"), entry["source"])
                task["samples"].setdefault(who, []).append(one)
                speed = one["env_steps"] / one["wall"]
                result = f"{task['env']} x {task['n_envs']}, {who}: {speed:,.0f}/s"
                print(f"{repetition + 1}/{repetitions} {result}", flush=True)
    measurement.save_entry("backends", entry, options.quick)


def backends_for(env: str) -> list[str]:
    spec = gym.spec(env)
    return [who for who in (*OURS, *PEERS) if who != "vector" or spec.vector_entry_point]


def sample(who: str, env: str, n_envs: int, seconds: float) -> dict[str, Any]:
    """Returns a sample of random actions for `seconds`; startup is not timed."""
    step = next(opened := _ours(who, env, n_envs) if who in OURS else _peer(who, env, n_envs))
    actions = gym.spec(env).make(disable_env_checker=True).action_space
    actions.seed(0)
    drawn = np.array([[actions.sample() for _ in range(n_envs)] for _ in range(_DRAWN)])
    for action in drawn[:50]:  # warm-up, not timed
        step(action)
    env_steps, cpu, started = 0, cpu_seconds(), time.perf_counter()
    while time.perf_counter() - started < seconds:
        for action in drawn[:100]:
            env_steps += step(action)
    # Before closing: the CPU time of workers is only visible while they run.
    wall, cpu = time.perf_counter() - started, cpu_seconds() - cpu
    opened.close()
    source = str(Path(str(sys.modules["gymnast"].__file__)).parent)
    return {"env_steps": env_steps, "wall": wall, "cpu": cpu, "source": source}


def _ours(who: str, env: str, n_envs: int) -> Generator[VectorStep, None, None]:
    cfg = EnvConfig(id=env, n_envs=n_envs, backend=cast("Backend", who), workers=WORKERS)
    envs = open_envs(cfg, limit=EpisodeLimit(), on_output=print)
    seeds = iter(range(10**9))
    envs.reset(range(n_envs), [next(seeds) for _ in range(n_envs)])

    def step(action: np.ndarray) -> int:
        result = envs.step(action)
        assert not result.faults
        ended = result.terminated | result.truncated
        if ended.any():
            copies = np.flatnonzero(ended).tolist()
            envs.reset(copies, [next(seeds) for _ in copies])
        return n_envs if result.stepped is None else int(result.stepped.sum())

    yield step
    envs.close()


def _peer(who: str, env: str, n_envs: int) -> Generator[VectorStep, None, None]:
    mode = "sync" if who == "SyncVectorEnv" else "async"
    envs = gym.make_vec(env, n_envs, mode, disable_env_checker=True)
    envs.reset(seed=0)
    over = np.zeros(n_envs, dtype=bool)

    def step(action: np.ndarray) -> int:
        nonlocal over
        stepped = n_envs - int(over.sum())  # the step after the end of an episode only resets
        _, _, terminated, truncated, _ = envs.step(action)
        over = terminated | truncated
        return stepped

    yield step
    envs.close()


def _in_child_process(who: str, env: str, n_envs: int, seconds: float) -> dict[str, Any]:
    words = [sys.executable, "-m", "benchmarks.backends", "sample", who, env, str(n_envs)]
    completed = subprocess.run(
        [*words, str(seconds)], capture_output=True, text=True, check=True, cwd=code_revision.ROOT
    )
    return json.loads(completed.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
