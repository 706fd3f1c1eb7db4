"""docs/studies/health.json: runs that learn and runs with one planted fault, and what is said of them.

python docs/studies/health.py RUNS_DIR train [NAME ...]     # what is missing, of these or of all
python docs/studies/health.py RUNS_DIR treat [NAME ...]     # as the doctor says, three seeds each
python docs/studies/health.py RUNS_DIR store                # fixtures of tests, and the tables
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gymnast.runs import store as runs
from gymnast.runs.run import Run
from gymnast.training.notebook import train

SEEDS = (0, 1, 2)
QUIET = {"traces.film": "off", "traces.eval": "off", "eval.confirm_episodes": 20}
HEALTHY = {
    "CartPole-v1:ppo": {},
    "CartPole-v1:a2c": {},
    "CartPole-v1:reinforce": {},
    "Acrobot-v1:ppo": {},
    "Pendulum-v1:ppo": {},
    "LunarLander-v3:ppo": {},
    "LunarLander-v3:continuous": {},
    "Taxi-v4:ppo": {},
    "FrozenLake-v1:ppo": {},
    "MountainCar-v0:ppo": {},
}
"""Presets that solve their task."""


@dataclass(frozen=True)
class Fault:
    target: str
    planted: dict[str, Any]
    alerts: tuple[str, ...]
    """Any of these is right to be raised first."""
    base: dict[str, Any] = field(default_factory=dict[str, Any])
    """Of the healthy run too."""


SCORED = {"stop.solved": "off", "stop.eval_return": "off", "eval.every": "5%", "eval.episodes": 20}
CART = {"stop.env_steps": 60_000, **SCORED}
LANDER = {"stop.env_steps": 250_000, **SCORED}
TAXI = {
    "stop.env_steps": 400_000,
    "eval.start_at": "off",
    **SCORED,
    "eval.episodes": 40,
    "eval.starts": "seeds",
}
MILLIMETRES = {
    **CART,
    "env.n_envs": 16,
    "algo.lr": "1e-3 -> 0",
    "algo.gamma": 0.98,
    "algo.n_steps": 64,
    "algo.epochs": 10,
    "algo.batch_size": 128,
    "algo.gae_lambda": 0.9,
    "facts.threshold": 475,
}
TOO_LARGE = (
    "policy/kl:high",
    "policy/clip_fraction:high",
    "policy/ratio_max:high",
    "optim/undone:high",
)
FAULTS = {
    "lr-times-100": Fault("LunarLander-v3:ppo", {"algo.lr": "5e-2 -> 0"}, TOO_LARGE, LANDER),
    "lr-times-0.001": Fault(
        "CartPole-v1:ppo", {"algo.lr": "1e-6 -> 0"}, ("policy/kl:frozen",), CART
    ),
    "no-entropy": Fault(
        "Taxi-v4:ppo", {"algo.entropy_coef": 0}, ("policy/entropy_share:low",), TAXI
    ),
    "entropy-times-100": Fault(
        "LunarLander-v3:ppo",
        {"algo.entropy_coef": 1.0},
        ("policy/entropy_share:undecided",),
        LANDER,
    ),
    "wrong-gamma": Fault(
        "LunarLander-v3:ppo", {"algo.gamma": 0.5}, ("episode/length:shortsighted",), LANDER
    ),
    "reward-times-10000": Fault(
        "CartPole-v1:ppo",
        {"normalize.reward_scale": 1e4},
        ("value/target_std:large", "optim/grad_norm_critic:dominates", "optim/grad_norm:high"),
        CART,
    ),
    "reward-flipped": Fault(
        "CartPole-v1:ppo",
        {"normalize.reward_scale": -1},
        ("rollout/reward_agreement:opposed",),
        CART,
    ),
    "dead-relus": Fault(
        "CartPole-v1:ppo",
        {"policy.activation": "relu", "algo.lr": "{0%: 1, 3%: 1, 4%: 1e-3, 100%: 0}"},
        ("network/dead_units:high",),
        CART,
    ),
    "frozen-critic": Fault(
        "LunarLander-v3:ppo", {"algo.value_coef": 0}, ("optim/grad_norm_critic:frozen",), LANDER
    ),
    "small-batch": Fault(
        "CartPole-v1:ppo",
        {"env.n_envs": 1, "algo.n_steps": 16, "algo.batch_size": 4},
        ("advantage/std:few",),
        CART,
    ),
    "obs-not-normalised": Fault(
        "py:docs.studies.broken_envs:InMillimetres",
        {"normalize.obs": "off"},
        ("rollout/obs_std:large", "network/saturated_units:high", "policy/entropy_share:biased"),
        MILLIMETRES | {"normalize.obs": "running"},
    ),
    "deaf-environment": Fault(
        "py:docs.studies.broken_envs:Deaf", {}, ("rollout/action_effect:none",), MILLIMETRES
    ),
}


def trained(runs_dir: Path) -> dict[tuple[str, int], Run]:
    found = (Run(Path(info["path"])) for info in runs.list_runs(runs_dir))
    ended = [run for run in found if run.info["status"] == "finished"]
    return {(run.info["tags"][0], run.info["seed"]): run for run in ended}


def run(runs_dir: Path, tag: str, target: str, settings: dict[str, Any], seed: int) -> None:
    if (tag, seed) in trained(runs_dir):
        return
    given = {"seed": seed, "tags": (tag,), "runs_dir": runs_dir, "quiet": True}
    done = train(target, overrides=settings, **given)
    alerts = sorted(done.info["alerts"], key=lambda a: a["first"])
    print(tag, seed, [(a["id"], a["first"], a["count"]) for a in alerts], flush=True)


def train_all(runs_dir: Path, names: list[str], seeds: tuple[int, ...]) -> None:
    for seed in seeds:
        for name, extra in HEALTHY.items():
            if not names or name in names or "healthy" in names:
                run(runs_dir, name, name, QUIET | extra, seed)
        for name, fault in FAULTS.items():
            if not names or name in names or "broken" in names:
                run(runs_dir, name, fault.target, QUIET | fault.base | fault.planted, seed)
                run(runs_dir, f"{name}:base", fault.target, QUIET | fault.base, seed)


if __name__ == "__main__":
    place, verb, *words = sys.argv[1:]
    chosen = [int(w) for w in words if w.isdigit()] or [0]
    train_all(Path(place), [w for w in words if not w.isdigit()], tuple(chosen))
