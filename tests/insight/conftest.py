"""A fixture that makes finished runs with rows, without training."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gymnast.config.resolve import ResolvedConfig, resolve, save
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run

Record = Callable[..., Run]
ROLLOUT = 32
"""Vector steps per rollout of a recorded run."""


@cache
def _resolved(overrides: str) -> ResolvedConfig:
    return resolve("CartPole-v1:ppo", json.loads(overrides))


@pytest.fixture
def record(runs_dir: Path) -> Record:
    """Returns a function that makes a finished run with `n_envs` environment copies.

    The k-th of `returns` is the result of evaluating the policy after rollout 2k, and arrives two rollouts
    later; None means that there is no such evaluation.
    """

    def make(returns: Sequence[float | None], *, n_envs: int = 8, **more: Any) -> Run:
        overrides = {"env.n_envs": n_envs, "algo.batch_size": "50%", **more.pop("overrides", {})}
        resolved = _resolved(json.dumps(overrides))
        fields = {"threshold": 475.0, "env": "CartPole-v1", "algo": "ppo", "seed": 0} | more
        run = Run.create(
            runs_dir,
            config_text=save(resolved.config),
            preset=resolved.preset,
            provenance=resolved.provenance,
            **fields,
        )
        clocks: dict[str, float] = {}
        with MetricStore(run.path / "metrics.db", "w") as store:
            for rollout in range(1, 2 * len(returns) + 1):
                vec_steps = rollout * ROLLOUT
                clocks = {
                    "env_steps": vec_steps * n_envs,
                    "vec_steps": vec_steps,
                    "frames": vec_steps * n_envs,
                    "updates": rollout * 4,
                    "rollouts": rollout,
                    "episodes": rollout * 3,
                    "seconds": rollout * 0.1,
                }
                row = {f"clock/{name}": float(value) for name, value in clocks.items()}
                row["policy/entropy"] = 1 / rollout
                k = rollout // 2 - 1
                if rollout % 2 == 0 and (value := returns[k]) is not None:
                    row["eval:episode/return"] = value
                    row["eval:clock/env_steps"] = float(2 * k * ROLLOUT * n_envs)
                store.append(row)
        run.update(status="finished", clocks=clocks)
        return run

    return make


@pytest.fixture
def group(record: Record) -> Callable[..., list[Run]]:
    """Returns a function that makes a group with a finished run per score; each curve ends at the score."""

    def make(name: str, scores: Sequence[float | None], **more: Any) -> list[Run]:
        runs = []
        for seed, mean in enumerate(scores):
            own = more | {"overrides": {"seed": seed} | more.get("overrides", {})}
            run = record([0.0, mean or 0.0], group=name, seed=seed, **own)
            score = None
            if mean is not None:
                score = {"mean": mean, "low": mean - 1, "high": mean + 1, "episodes": 9}
            run.update(score=score, solved=mean is not None and mean > 475)
            runs.append(run)
        return runs

    return make
