"""Minibatches in shares on several threads: the same gradient, and the same bits every time."""

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
from gymnast.engine.threads import set_num_threads
from gymnast.engine.torch import shares
from gymnast.engine.torch.inference import MAX_IMAGES
from gymnast.policy.policy import Policy
from gymnast.training.collectors import open_collector
from gymnast.training.learner import build_policy
from gymnast.training.python_api import train
from tests.engine.native.problems import Problem
from tests.engine.native.reference import gradient_of
from tests.small_runs import SMALL, checkpoint_arrays
from tests.waiting import PATIENCE

EVERYTHING = Objective(
    clip=0.2, value_coef=0.5, entropy_coef=0.1, kl_coef=0.3, value_clip=0.3, standardize=True
)
THREADS = [1, 2, 3]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    set_num_threads(1, split_batch=False)
    torch.set_num_threads(before)
    assert not helpers()


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("share")]


def images(rows: int = 20) -> Problem:
    return Problem.make("image", rows=rows, activation="relu", weight_noise=0.03)


@pytest.mark.parametrize("rows", [1, 2, 3, 20])
@pytest.mark.parametrize("threads", THREADS)
def test_gradient_and_losses_in_shares_match_float64_without_shares(threads: int, rows: int):
    problem = images(rows)
    objective = EVERYTHING if rows > 1 else replace(EVERYTHING, standardize=False)
    expected, parts = gradient_of(problem.policy, problem.batch, objective)
    set_num_threads(threads, split_batch=True)
    gradient, result = problem.run_update(objective, engine="torch")
    size = float(np.linalg.norm(expected))
    assert np.linalg.norm(gradient - expected) < 1e-5 * size
    line = dict(zip(LOSSES, result.losses[0], strict=True))
    assert line["optim/grad_norm"] == pytest.approx(size, rel=1e-5)
    for name in {*LOSSES} & {*parts}:
        assert line[name] == pytest.approx(parts[name], rel=1e-5, abs=1e-5), name
    assert 0 <= line["value/clip_fraction"] <= 1
    assert bool(helpers()) == (
        min(threads, rows) > 1
    )  # a thread that is already idle takes the next share


def test_each_thread_gets_rows_and_uses_one_torch_thread(monkeypatch: pytest.MonkeyPatch):
    seen: list[tuple[str, int]] = []
    problem, apart = images(), threading.Barrier(2, timeout=PATIENCE)
    set_num_threads(2, split_batch=True)
    engine = problem.engine("torch")
    losses = engine.losses  # type: ignore[attr-defined]

    def watched(*given):
        apart.wait()  # both threads are here at the same time, or the test times out
        seen.append((threading.current_thread().name, torch.get_num_threads()))
        return losses(*given)

    monkeypatch.setattr(engine, "losses", watched)
    adam = Adam(problem.policy.parameters.flat.size, eps=1e-5, weight_decay=0.0)
    engine.update(
        problem.batch, EVERYTHING, MinibatchPlan.single_batch(20), adam, lr=0.0, max_norm=None
    )
    assert len({name for name, _ in seen}) == 2
    assert {threads for _, threads in seen} == {1}


def test_updates_with_two_threads_are_bit_for_bit_reproducible():
    def improved() -> tuple[np.ndarray, np.ndarray]:
        problem = images(24)
        order = np.stack([np.random.default_rng(k).permutation(24) for k in range(2)])
        _, result = problem.run_update(
            EVERYTHING, MinibatchPlan(order, 12), engine="torch", lr=1e-3
        )
        return problem.policy.parameters.flat.copy(), result.losses

    set_num_threads(2, split_batch=True)
    for one, again in zip(improved(), improved(), strict=True):
        assert np.array_equal(one, again)


@pytest.mark.parametrize("threads", THREADS)
def test_outputs_for_many_rows_do_not_depend_on_the_number_of_threads(threads: int):
    rows = 4 * MAX_IMAGES + 5
    policy: Policy = images().policy
    seen = np.random.default_rng(0).integers(256, size=(rows, 2, 36, 36)).astype(np.uint8)
    set_num_threads(1, split_batch=False)
    expected = *policy.inference.actor_and_critic(seen), policy.inference.critic(seen)  # type: ignore[misc]
    set_num_threads(threads, split_batch=True)
    found = *policy.inference.actor_and_critic(seen), policy.inference.critic(seen)  # type: ignore[misc]
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


def test_an_error_in_a_share_is_raised_after_all_shares_have_finished():
    ended = threading.Event()

    def work(share: int) -> int:
        if share == 1:
            raise ValueError("of a helper")
        ended.set()
        return share

    set_num_threads(3, split_batch=True)
    with pytest.raises(ValueError, match="of a helper"):
        shares.run_parallel(work, [0, 1, 2])
    assert ended.is_set()
    assert shares.run_parallel(lambda share: share, [0, 1, 2]) == [0, 1, 2]


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
def test_image_networks_of_our_own_layers_are_computed_in_shares(settings, algo, expected):
    cfg = resolve("py:tests.identity:Identity", {"stop.env_steps": 10} | settings, algo=algo).config
    collector = open_collector(cfg)
    policy = build_policy(*collector.spaces["agent"], cfg)
    collector.close()
    assert splits_batch_over_threads(cfg, policy.network) == expected


def test_a_run_with_two_threads_is_bit_for_bit_reproducible():
    settings = {
        "env.kwargs": {"obs": "image"},
        "policy.cnn": "impala",
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
    one, again = (checkpoint_arrays(run) for run in runs)
    assert all(np.array_equal(one[name], again[name]) for name in one)
