"""The choice of the engine: reported, refused where impossible, and changed on resume."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gymnast.errors import ConfigError
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.training.lifecycle.prepare import prepare
from tests.small_runs import checkpoint_arrays, copy_killed_at, resume_run, rows, train_small

SETTINGS: dict[str, Any] = {
    "env.n_envs": 2,
    "algo.n_steps": 16,
    "algo.lr": 1e-3,
    "algo.clip": 0.2,
    "algo.entropy_coef": 0.01,
    "stop.rollouts": 4,
    "eval.every": "off",
    "checkpoint.every": "2 rollouts",
    "checkpoint.keep": 20,
}
IDENTITY = "py:tests.identity:Identity"
OWN = {"policy.module": "tests.engine.own_nets:Right"}
REFUSED: dict[str, tuple[str, dict[str, Any], str | None, str]] = {
    "small images": (
        IDENTITY,
        {"env.kwargs": {"obs": "image"}, "policy.cnn": "impala"},
        None,
        r"layers of policy\.cnn=impala are computed by torch",
    ),
    "narrow numbers": (
        "ALE/Pong-v5:pixels",
        {"policy.precision": "bfloat16"},
        None,
        r"policy\.precision=bfloat16 is computed by torch",
    ),
    "own module": (IDENTITY, OWN, None, r"policy\.module is a torch module"),
    "dqn": ("CartPole-v1", {}, "dqn", "dqn is computed by torch"),
    "another device": ("CartPole-v1", {"device": "cuda"}, None, "device=cuda"),
    "too deep": ("CartPole-v1", {"policy.hidden": [2] * 32}, None, "more than 32 layers"),
}


def engine_of(target: str, overrides: dict[str, Any], algo: str | None = None) -> str:
    """Returns the engine as described by the pre-flight text."""
    prepared = prepare(target, overrides, algo)
    try:
        return prepared.preflight().engine
    finally:
        prepared.collector.close()


@pytest.mark.parametrize("case", REFUSED)
def test_a_network_that_the_native_engine_cannot_run_is_refused_in_one_line(case: str):
    target, settings, algo, why = REFUSED[case]
    with pytest.raises(ConfigError, match=f"engine: native cannot run this: .*{why}") as refused:
        engine_of(target, settings | {"engine": "native"}, algo)
    assert "\n" not in refused.value.message
    assert refused.value.fix == "set engine=auto"


@pytest.mark.parametrize("case", REFUSED)
def test_auto_chooses_torch_for_such_a_network_and_says_why(case: str):
    target, settings, algo, why = REFUSED[case]
    engine = engine_of(target, settings, algo)
    assert engine.startswith("torch: ")
    assert why.replace("\\", "") in engine


def test_auto_chooses_the_native_engine_where_possible_and_names_its_instruction_set():
    from gymnast import _native

    engine = engine_of("CartPole-v1", {})
    assert engine == f"native: compiled kernels, {_native.instruction_set()}"
    assert engine_of("CartPole-v1", {"engine": "torch"}) == "torch: engine=torch"
    assert engine_of("ALE/Pong-v5:pixels", {"env.n_envs": 2}) == engine


@pytest.mark.usefixtures("without_kernels")
def test_without_compiled_kernels_auto_chooses_torch_and_native_is_refused():
    assert engine_of("CartPole-v1", {}) == "torch: GYMNAST_NATIVE=off"
    with pytest.raises(ConfigError, match="GYMNAST_NATIVE=off"):
        engine_of("CartPole-v1", {"engine": "native"})


def test_an_observation_too_large_for_the_native_engine_uses_torch():
    from gymnast.engine.native.plan import MAX_PIECES, unsupported_reason
    from tests.engine.native.problems import OBSERVATIONS, Problem

    policy = Problem.make("categories").policy
    for n, fits in ((MAX_PIECES, True), (MAX_PIECES + 1, False)):
        many = type(OBSERVATIONS["categories"])((n,), (2,) * n, (0,) * n)
        wide = type(policy)(many, policy.action_space, policy.cfg, policy.normalize)
        assert (unsupported_reason(wide.network) is None) == fits
        if fits:
            wide.use_engine("native")
            assert np.isfinite(wide.value(np.ones((3, n), np.int64))).all()


# ---- from one engine to the other ----------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    runs = tmp_path_factory.mktemp("runs")
    return train_small("CartPole-v1", SETTINGS | {"engine": "native"}, runs_dir=runs)


def kinds(run: Run, kind: str) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["kind"] == kind]


def test_a_run_records_its_engine(whole: Run):
    assert whole.info["engine"].startswith("native ")
    assert not kinds(whole, "engine changed")


def test_a_native_run_resumes_with_torch_and_back_and_both_are_recorded(whole: Run):
    """Up to rounding, it equals the run that never changed its engine."""
    run = copy_killed_at(whole, 2 * 32)
    resume_run(run, {"engine": "torch", "stop.vec_steps": 3 * 16})
    assert run.info["engine"] == "torch"
    resume_run(run, {"engine": "native", "stop.rollouts": 4})
    assert run.info["engine"] == whole.info["engine"]
    there, back = kinds(run, "engine changed")
    assert (there["from"], there["to"]) == (whole.info["engine"], "torch")
    assert (back["from"], back["to"]) == (there["to"], there["from"])
    for event in kinds(run, "resumed"):
        assert not event["bit_exact"]
        assert "engine" in event["differs"]
    ours, theirs = checkpoint_arrays(run), checkpoint_arrays(whole)
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert np.allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-6), name
    pairs = zip(rows(run), rows(whole), strict=True)
    assert all(a["loss/total"] == pytest.approx(b["loss/total"], rel=1e-3) for a, b in pairs)


def test_resuming_with_the_same_engine_is_exact_and_records_no_engine_change(whole: Run):
    run = resume_run(copy_killed_at(whole, 2 * 32))
    (event,) = kinds(run, "resumed")
    assert event["bit_exact"]
    assert not kinds(run, "engine changed")
    assert all(
        np.array_equal(a, checkpoint_arrays(whole)[name])
        for name, a in checkpoint_arrays(run).items()
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sync", "overlap"])
def test_a_run_on_images_resumes_exactly(mode: str):
    more = {"engine": "native", "env.backend": "inprocess", "env.max_episode_steps": 20}
    small = {"algo.batch_size": 12, "eval.confirm_episodes": 1, "eval.n_envs": 1}
    whole = train_small("ALE/Pong-v5:pixels", SETTINGS | more | small | {"collect.mode": mode})
    run = resume_run(copy_killed_at(whole, 2 * 32))
    (event,) = kinds(run, "resumed")
    assert event["bit_exact"]
    assert all(
        np.array_equal(a, checkpoint_arrays(whole)[name])
        for name, a in checkpoint_arrays(run).items()
    )


def test_resuming_without_compiled_kernels_is_a_change_of_engine(request: pytest.FixtureRequest):
    run = train_small("CartPole-v1", SETTINGS)
    assert run.info["engine"].startswith("native")
    request.getfixturevalue("without_kernels")
    back = copy_killed_at(run, 2 * 32)
    resume_run(back)
    (event,) = kinds(back, "engine changed")
    assert event["to"] == "torch"
    assert not kinds(back, "resumed")[0]["bit_exact"]
    assert checkpoint.latest(back.path).step == checkpoint.latest(run.path).step
