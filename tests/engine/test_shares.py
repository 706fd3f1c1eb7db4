"""Rows shared out among threads: the same gradient as in one go, and the same bits every time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from gymnast.config.resolve import resolve
from gymnast.engine.adam import Adam
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.choice import splits_batch_over_threads
from gymnast.engine.objective import LOSSES, Objective
from gymnast.engine.threads import fix_threads
from gymnast.engine.torch import shares
from gymnast.engine.torch.inference import MAX_IMAGES
from gymnast.policy.policy import Policy
from gymnast.training.learner import policy_for
from gymnast.training.notebook import train
from gymnast.training.session import open_collector
from tests.engine.native.problems import Problem
from tests.engine.native.reference import gradient_of
from tests.small_runs import SMALL, arrays

EVERYTHING = Objective(
    clip=0.2, value_coef=0.5, entropy_coef=0.1, kl_coef=0.3, value_clip=0.3, standardize=True
)
THREADS = [1, 2, 3]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    fix_threads(1, in_shares=False)
    torch.set_num_threads(before)
    assert not helpers()


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("share")]


def images(rows: int = 20) -> Problem:
    return Problem.of("image", rows=rows, activation="relu", moved=0.03)


@pytest.mark.parametrize("rows", [1, 2, 3, 20])
@pytest.mark.parametrize("threads", THREADS)
def test_gradient_and_losses_are_those_of_the_whole_in_float64(threads: int, rows: int):
    problem = images(rows)
    objective = EVERYTHING if rows > 1 else replace(EVERYTHING, standardize=False)
    expected, parts = gradient_of(problem.policy, problem.batch, objective)
    fix_threads(threads, in_shares=True)
    gradient, told = problem.improve(objective, engine="torch")
    size = float(np.linalg.norm(expected))
    assert np.linalg.norm(gradient - expected) < 1e-5 * size
    line = dict(zip(LOSSES, told.losses[0], strict=True))
    assert line["optim/grad_norm"] == pytest.approx(size, rel=1e-5)
    for name in {*LOSSES} & {*parts}:
        assert line[name] == pytest.approx(parts[name], rel=1e-5, abs=1e-5), name
    assert 0 <= line["value/clip_fraction"] <= 1
    assert bool(helpers()) == (
        min(threads, rows) > 1
    )  # one that is idle already takes the next share


def test_each_of_several_threads_has_rows_and_one_thread_of_torch(monkeypatch: pytest.MonkeyPatch):
    seen: list[tuple[str, int]] = []
    problem, apart = images(), threading.Barrier(2, timeout=60)
    fix_threads(2, in_shares=True)
    engine = problem.engine("torch")
    losses = engine.losses  # type: ignore[attr-defined]

    def watched(*given):
        apart.wait()  # at once, or never
        seen.append((threading.current_thread().name, torch.get_num_threads()))
        return losses(*given)

    monkeypatch.setattr(engine, "losses", watched)
    adam = Adam(problem.policy.parameters.flat.size, eps=1e-5, weight_decay=0.0)
    engine.update(
        problem.batch, EVERYTHING, MinibatchPlan.single_batch(20), adam, lr=0.0, max_norm=None
    )
    assert len({name for name, _ in seen}) == 2
    assert {threads for _, threads in seen} == {1}


def test_updates_with_two_threads_repeat_to_the_bit():
    def improved() -> tuple[np.ndarray, np.ndarray]:
        problem = images(24)
        order = np.stack([np.random.default_rng(k).permutation(24) for k in range(2)])
        _, told = problem.improve(EVERYTHING, MinibatchPlan(order, 12), engine="torch", lr=1e-3)
        return problem.policy.parameters.flat.copy(), told.losses

    fix_threads(2, in_shares=True)
    for one, again in zip(improved(), improved(), strict=True):
        assert np.array_equal(one, again)


@pytest.mark.parametrize("threads", THREADS)
def test_answers_to_many_rows_do_not_depend_on_threads(threads: int):
    rows = 4 * MAX_IMAGES + 5
    policy: Policy = images().policy
    seen = np.random.default_rng(0).integers(256, size=(rows, 2, 36, 36)).astype(np.uint8)
    fix_threads(1, in_shares=False)
    expected = *policy.inference.both(seen), policy.inference.critic(seen)  # type: ignore[misc]
    fix_threads(threads, in_shares=True)
    found = *policy.inference.both(seen), policy.inference.critic(seen)  # type: ignore[misc]
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


def test_an_error_in_a_share_comes_when_all_have_ended():
    ended = threading.Event()

    def work(share: int) -> int:
        if share == 1:
            raise ValueError("of a helper")
        ended.set()
        return share

    fix_threads(3, in_shares=True)
    with pytest.raises(ValueError, match="of a helper"):
        shares.at_once(work, [0, 1, 2])
    assert ended.is_set()
    assert shares.at_once(lambda share: share, [0, 1, 2]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("settings", "algo", "expected"),
    [
        ({"env.kwargs": {"obs": "image"}}, None, True),
        ({"env.kwargs": {"obs": "image"}}, "dqn", False),
        ({"env.kwargs": {"obs": "vector"}, "engine": "torch"}, None, False),
        ({"policy.module": "tests.engine.own_nets:Right"}, None, False),
    ],
    ids=["images", "dqn", "vectors", "own module"],
)
def test_images_in_layers_of_ours_are_shared_out(settings, algo, expected):
    cfg = resolve("py:tests.identity:Identity", {"stop.env_steps": 10} | settings, algo=algo).config
    collector = open_collector(cfg)
    policy = policy_for(*collector.spaces["agent"], cfg)
    collector.close()
    assert splits_batch_over_threads(cfg, policy.network) == expected


def test_a_run_with_two_threads_repeats_to_the_bit():
    settings = {
        "env.kwargs": {"obs": "image"},
        "env.n_envs": 2,
        "algo.n_steps": 16,
        "threads": 2,
        "stop.rollouts": 2,
        "eval.every": "off",
    }
    runs = [
        train("py:tests.identity:Identity", overrides=SMALL | settings, quiet=True) for _ in "ab"
    ]
    assert len(helpers()) == 1
    one, again = (arrays(run) for run in runs)
    assert all(np.array_equal(one[name], again[name]) for name in one)
