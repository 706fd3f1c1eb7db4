"""Regression tests for past bugs in a checkpoint's step table. The numbers are those of the list of traps."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.algos import a2c, dqn, ppo, reinforce
from gymnast.rl.returns import gae
from gymnast.rollout import Rollout
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.runs.step_columns import COLUMNS, column_spec
from gymnast.step_table import env_major
from tests.small_runs import rows, train_small

ROOT = Path(__file__).parents[2]
BASE = {"env.n_envs": 2, "stop.rollouts": 4, "eval.every": "off", "checkpoint.every": "off"}
STEPS = {"algo.n_steps": 32}
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "as the environment pays": ("CartPole-v1", "ppo", STEPS),
    "normalized": ("CartPole-v1", "ppo", {**STEPS, "normalize.reward": "running"}),
    "signs alone": ("CartPole-v1", "ppo", {**STEPS, "normalize.reward": "sign"}),
    "scaled": ("CartPole-v1", "ppo", {**STEPS, "normalize.reward_scale": 0.25}),
    "scaled and normalized": (
        "CartPole-v1",
        "ppo",
        {**STEPS, "normalize.reward_scale": -3.0, "normalize.reward": "running"},
    ),
    "shaped": (
        "CartPole-v1",
        "ppo",
        {**STEPS, "shaping.centered.weight": 0.5, "normalize.reward": "running"},
    ),
    "popart": ("CartPole-v1", "ppo", {**STEPS, "normalize.value": "popart"}),
    "overlap": (
        "CartPole-v1",
        "ppo",
        {**STEPS, "collect.mode": "overlap", "normalize.reward": "running"},
    ),
    "a2c": ("CartPole-v1", "a2c", {**STEPS, "normalize.reward": "running", "algo.gamma": 0.9}),
    "reinforce": ("CartPole-v1", "reinforce", {"algo.episodes": 4, "normalize.reward": "running"}),
    "no baseline": ("CartPole-v1", "reinforce", {"algo.episodes": 4, "algo.baseline": "batch"}),
    "tag, a gamma per role": (
        "tag",
        "ppo",
        {
            **STEPS,
            "roles.seeker.set": {"algo.gamma": 0.8, "normalize.reward": "running"},
            "roles.hider.set": {"algo.gamma": 0.95, "normalize.reward_scale": 10.0},
        },
    ),
}


class Trained:
    """Records the rollout, advantages (before `advantage_norm`) and targets of each update of a run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.updates: list[tuple[Rollout, np.ndarray, np.ndarray]] = []
        for module in (ppo, a2c, reinforce):
            monkeypatch.setattr(module, "value_metrics", self._recorded(module.value_metrics))

    def _recorded(self, measure: Any) -> Any:
        def recorded(rollout: Rollout, advantage: np.ndarray, target: np.ndarray):
            self.updates.append((rollout, advantage.copy(), target.copy()))
            return measure(rollout, advantage, target)

        return recorded


def tables(run: Run) -> dict[str, dict[str, list[str]]]:
    """Returns name -> columns of the last checkpoint."""
    saved = checkpoint.find(run.path, "latest")
    found = {}
    for name in saved.files:
        if name.endswith(".csv"):
            lines = list(csv.DictReader(io.StringIO(saved.text(name))))
            found[name] = {key: [line[key] for line in lines] for key in lines[0]}
    return found


def numbers(column: list[str]) -> np.ndarray:
    return np.array(column, dtype=np.float64)


def is_column_of(used: np.ndarray, column: list[str], valid: np.ndarray) -> bool:
    """True if all digits are equal in the data type of the computation."""
    return np.array_equal(numbers(column).astype(used.dtype), env_major(used)[env_major(valid)])


@pytest.mark.parametrize("name", CASES)
def test_56_the_step_table_has_the_numbers_that_the_update_used(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    target, algo, settings = CASES[name]
    monkeypatch.setattr("gymnast.training.lifecycle.saving.TABLE_STEPS", 10**9)
    seen = Trained(monkeypatch)
    run = train_small(target, BASE | settings, algo=algo)
    found = tables(run)
    assert len(found) == (2 if target == "tag" else 1)
    # the last update of each role, in the order in which roles learn
    for (rollout, advantage, returns), table in zip(
        seen.updates[-len(found) :], found.values(), strict=True
    ):
        exact = {
            "reward_learned": rollout.reward,
            "advantage_learned": advantage,
            "return_learned": returns,
        }
        if name != "no baseline":
            exact["value_learned"] = rollout.value
        for column, used in exact.items():
            assert is_column_of(used, table[column], rollout.valid), column
        assert all(column_spec(n).table != "episode" for n in table)
    if target != "tag":
        (table,) = found.values()
        row = [row for row in rows(run) if "policy/loss" in row][-1]
        assert numbers(table["advantage_learned"]).mean() == pytest.approx(row["advantage/mean"])
        assert {*table["reward_raw"]} == {"1.0"}  # what CartPole pays
    converted = {"value_raw" in table for table in found.values()}
    assert converted == {name not in ("signs alone", "shaped", "no baseline")}


@pytest.mark.parametrize("algo", ["ppo", "a2c", "reinforce"])
def test_56_returns_are_computed_once_per_update_and_not_again_for_the_table(
    algo: str, monkeypatch: pytest.MonkeyPatch
):
    computed: list[int] = []

    def counted(*arrays: np.ndarray, **more: float) -> Any:
        computed.append(len(arrays))
        return gae(*arrays, **more)

    monkeypatch.setattr("gymnast.rollout.gae", counted)  # GAE
    monkeypatch.setattr("gymnast.rl.returns.gae", counted)  # Monte Carlo returns
    settings = {"algo.episodes": 1} if algo == "reinforce" else STEPS
    run = train_small(
        "CartPole-v1", BASE | settings | {"checkpoint.every": "1 rollouts"}, algo=algo
    )
    assert "advantage_learned" in tables(run)["rollout.csv"]
    assert len(computed) == BASE["stop.rollouts"]


def test_56_values_in_raw_units_are_those_of_the_same_run_without_scaling():
    """A factor on the rewards changes only units: without learning, nothing else differs."""
    plain, scaled = (
        tables(
            train_small("CartPole-v1", {**BASE, **STEPS, "algo.lr": 0, "normalize.reward_scale": x})
        )
        for x in (1.0, 4.0)
    )
    a, b = plain["rollout.csv"], scaled["rollout.csv"]
    assert a["value_learned"] == b["value_learned"]  # of the same untrained network
    assert np.allclose(numbers(b["value_raw"]), numbers(b["value_learned"]) / 4, rtol=1e-6)
    assert np.array_equal(numbers(b["reward_learned"]), 4 * numbers(b["reward_raw"]))
    assert a["value_raw"] == a["value_learned"]


def test_56_dqn_has_no_advantages_and_the_rewards_of_its_replay_buffer(
    monkeypatch: pytest.MonkeyPatch,
):
    given: list[Rollout] = []
    add = dqn.ReplayBuffer.add

    def recorded(replay: dqn.ReplayBuffer, rollout: Rollout) -> None:
        given.append(rollout)
        add(replay, rollout)

    monkeypatch.setattr(dqn.ReplayBuffer, "add", recorded)
    settings = {"algo.n_steps": 32, "algo.warmup": 64, "normalize.reward_scale": 0.5}
    (table,) = tables(train_small("CartPole-v1", BASE | settings, algo="dqn")).values()
    last = given[-1]
    assert is_column_of(last.reward, table["reward_learned"], last.valid)
    assert is_column_of(last.value, table["value_learned"], last.valid)
    assert np.allclose(numbers(table["value_raw"]), 2 * numbers(table["value_learned"]))
    assert not {"advantage_learned", "return_learned"} & table.keys()


def test_56_a_rollout_that_no_update_learned_from_has_no_learned_numbers():
    """The first rollout of an overlapped run has no update yet."""
    run = train_small("CartPole-v1", BASE | STEPS | {"collect.mode": "overlap", "stop.rollouts": 1})
    (table,) = tables(run).values()
    assert "reward_raw" in table
    assert not [name for name in table if name.endswith("_learned")]


def test_56_the_page_about_runs_explains_every_column():
    page = (ROOT / "docs" / "runs.md").read_text()
    stored = [(name, spec.doc) for name, spec in COLUMNS.items() if spec.table != "episode"]
    assert re.findall(r"^\| `([^`]+)` \| (.+) \|$", page, re.M) == stored
