"""The step table of a checkpoint: one line per step, with floats at full precision."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

from gymnast.config.facts import Facts
from gymnast.rl.returns import Credit
from gymnast.rollout import Rollout
from gymnast.step_table import StepTargets, step_table, to_csv
from tests.algos.harness import LearnerHarness
from tests.scripted import reward_of, seed_from_obs

N, T = 3, 10
FACTS = Facts(
    actions=("left", "stay", "right"),
    observations=tuple({"name": n, "low": 0, "high": 9} for n in ("step", "high half", "low half")),
)


def credit(rollout: Rollout) -> Credit:
    return Credit(*rollout.advantages(0.9, 0.8), rollout.value)


def lines(box: bool, facts: Facts) -> tuple[list[dict[str, str]], object, object]:
    settings = {"env.n_envs": N, "algo.n_steps": T, "env.kwargs": {"box": box}}
    practice = LearnerHarness.make("Script", settings)
    rollout = practice.collect()
    policy = practice.learner.policy
    targets = StepTargets(rollout.reward, rollout.value, credit(rollout), 1.0, gamma=0.9)
    text = to_csv(step_table(rollout, policy.head, facts, targets), max_rows=10_000)
    return list(csv.DictReader(io.StringIO(text))), rollout, policy


def test_there_is_one_line_per_step_ordered_by_copy_and_time():
    table, rollout, _ = lines(False, FACTS)
    assert [(int(x["env"]), int(x["step"])) for x in table] == list(np.ndindex(N, T))
    advantage, returns, _ = credit(rollout)
    for line in table:
        t, n = int(line["step"]), int(line["env"])
        obs = rollout.obs[t, n]
        written = [float(line[f"obs/{name}"]) for name in ("step", "high half", "low half")]
        assert np.array_equal(np.float32(written), obs)
        assert float(line["reward_raw"]) == rollout.reward[t, n]
        assert float(line["advantage_learned"]) == advantage[t, n]
        assert float(line["return_learned"]) == returns[t, n]
        ends = line["terminated"] == "True", line["truncated"] == "True"
        assert ends == (
            rollout.terminated[t, n],
            rollout.done[t, n] and not rollout.terminated[t, n],
        )


def test_cumulative_rewards_restart_with_each_episode():
    table, rollout, _ = lines(False, FACTS)
    for line in table:
        t, n = int(line["step"]), int(line["env"])
        seed = seed_from_obs(rollout.obs[t, n])
        at = round(float(rollout.obs[t, n, 0]) * 8)
        expected = math.fsum(reward_of(seed, k) for k in range(1, at + 2))
        assert float(line["reward_so_far_raw"]) == expected


def test_actions_have_names_and_probabilities():
    table, rollout, policy = lines(False, FACTS)
    for line in table:
        t, n = int(line["step"]), int(line["env"])
        names = ["left", "stay", "right"]
        assert line["action"] == names[rollout.action[t, n]]
        p = [float(line[f"p/{name}"]) for name in names]
        assert sum(p) == pytest.approx(1, abs=1e-6)
        chosen = math.log(p[names.index(line["action"])])
        assert chosen == pytest.approx(float(line["logprob"]), abs=1e-5)
        assert (line["greedy"] == "True") == (int(np.argmax(p)) == rollout.action[t, n])
    assert policy.head.n_outputs == 3


def test_without_facts_indices_replace_names():
    table, _, _ = lines(False, Facts())
    assert {"obs/0", "obs/1", "obs/2", "p/0", "p/1", "p/2"} <= table[0].keys()
    continuous, _, _ = lines(True, Facts())
    assert {"action/0", "action/1", "mean/0", "mean/1"} <= continuous[0].keys()


def test_only_valid_steps_have_a_line():
    practice = LearnerHarness.make(
        "Script", {"env.n_envs": N, "algo.episodes": 4}, algo="reinforce"
    )
    rollout, policy = practice.collect(), practice.learner.policy
    assert not rollout.valid.all()
    table = step_table(rollout, policy.head, FACTS, None)
    assert {len(column) for column in table.values()} == {rollout.steps}
    places = list(zip(table["step"].tolist(), table["env"].tolist(), strict=True))
    assert all(rollout.valid[t, n] for t, n in places)
