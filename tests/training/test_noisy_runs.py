"""Runs with noise and randomized parameters are reported, resumed and filmed exactly."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import pytest

from gymnast.config.distribution import Distribution
from gymnast.evaluation.rescore import rescore
from gymnast.film.headless import headless_rendering
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import episode_frames
from gymnast.seeds import stream
from tests.small_runs import assert_same_run, copy_killed_at, resume_run, rows, traces, train_small

DRAWN = {
    "gravity": "uniform(-11, -5)",
    "wind_power": "uniform(0, 15)",
    "main_engine_power": "normal(13, 2, 10, 16)",
    "start_x": "choice(-0.3, 0.3)",
}
SETTINGS = {
    "env.n_envs": 3,
    "env.kwargs": {"enable_wind": True},
    "env.randomize": DRAWN,
    "env.noise": {"obs": 0.02, "action": "5%", "sticky": "10%", "delay": 1, "drop": "10%"},
    "env.max_episode_steps": 70,
    "algo.n_steps": 32,
    "stop.env_steps": 12 * 96,
    "eval.every": "6 rollouts",
    "eval.episodes": 3,
    "eval.confirm_episodes": 3,
    "eval.max_episode_steps": 60,
    "checkpoint.every": "3 rollouts",
    "checkpoint.keep": 9,
    "traces.train": "100%",
}


def drawn(seed: int, name: str) -> float:
    """Returns the value that the parameter's own stream draws for an episode."""
    return Distribution.parse(DRAWN[name]).sample(stream(seed, "randomize", name))


@pytest.mark.parametrize("backend", ["inprocess", "process"])
def test_a_noisy_run_resumes_bit_exactly_and_reports_the_drawn_parameters(backend: str):
    whole = train_small("LunarLander-v3", SETTINGS | {"env.backend": backend, "env.workers": 2})
    assert_same_run(resume_run(copy_killed_at(whole, 3 * 96)), whole)
    found = [row for row in rows(whole) if "env/gravity" in row]
    assert len(found) > 5
    stored = {kind: [t for part in traces(whole, kind).values() for t in part] for kind in _KINDS}
    for kind in _KINDS:
        for trace in stored[kind]:
            expected = {f"env/{name}": drawn(trace.seed, name) for name in DRAWN}
            assert trace.numbers == expected, kind
    mean = np.mean([trace.numbers["env/gravity"] for trace in stored["train"]])
    assert found[-1]["env/gravity"] == pytest.approx(mean), "of fewer than 100 episodes"
    scored = [row for row in rows(whole) if "eval:episode/return" in row]
    seeds = [trace.seed for trace in traces(whole, "eval")[int(scored[0]["eval:clock/env_steps"])]]
    gravities = [drawn(seed, "gravity") for seed in seeds]
    assert scored[0]["eval:env/gravity"] == pytest.approx(np.mean(gravities))
    _films_show_what_happened(whole, stored)
    score = rescore(whole.id)
    assert score.mean == whole.info["score"]["mean"]
    assert score.numbers == {
        f"env/{name}": tuple(drawn(seed, name) for seed in score.seeds) for name in DRAWN
    }


_KINDS = ("train", "eval", "confirm")


def _films_show_what_happened(run: Any, stored: dict[str, list[Any]]) -> None:
    """Replayed with a renderer and Gymnasium's own step, every reward equals the stored one."""
    cfg = run.config()
    with headless_rendering():
        for kind in ("train", "eval"):
            with closing(EnvRenderer(cfg, training=kind == "train")) as stage:
                stage.render = lambda: np.zeros((4, 4, 3), np.uint8)  # type: ignore[method-assign]
                trace = stored[kind][0]
                assert len(list(episode_frames(stage, trace, strict=True))) == len(trace) + 1


def test_diversity_is_low_for_copies_with_identical_episodes():
    small = {"env.n_envs": 8, "algo.n_steps": 40, "stop.env_steps": 960, "eval.every": "off"}
    same = [row["rollout/diversity"] for row in rows(train_small("Chain", small))]
    other = [row["rollout/diversity"] for row in rows(train_small("Choose", small))]
    alone = rows(train_small("Choose", small | {"env.n_envs": 1}))
    assert max(same) == pytest.approx(0, abs=1e-12)
    assert min(other) > 0.9
    assert not any("rollout/diversity" in row for row in alone)
