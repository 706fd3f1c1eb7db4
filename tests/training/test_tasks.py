"""Several environments for one policy, and a curriculum through them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.collect.tasks import TaskSampler
from gymnast.config.rule import Rule
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.errors import ConfigError, EnvError
from gymnast.seeds import decode_task, encode_task, episode_seed
from gymnast.training.live.curriculum import Curriculum
from tests.small_runs import assert_same_run, copy_killed_at, resume_run, rows, traces, train_small

TASKS = {"short": {"id": "CartPole-v0"}, "long": {"share": 3}}
"""The same physics; one ends after 200 steps, the other after 500."""
STAGES = [
    {"tasks": ["short"], "promote": "short:episode/return >= 5 for 2"},
    {"tasks": ["short", "long"], "demote": "long:episode/return < 1"},
]
SMALL = {
    "env.n_envs": 4,
    "algo.n_steps": 32,
    "stop.env_steps": 8 * 128,
    "eval.every": "256 env_steps",
    "checkpoint.every": "256 env_steps",
    "checkpoint.keep": 20,
    "traces.train": 1.0,
    "env.tasks": TASKS,
}


@given(st.integers(0, 2**31 - 1), st.integers(1, 40), st.data())
def test_a_nearby_seed_encodes_the_task(seed: int, n: int, data: st.DataObject):
    task = data.draw(st.integers(0, n - 1))
    nearby = encode_task(seed, task, n)
    assert decode_task(nearby, n) == task
    assert 0 <= nearby < 2**31
    assert abs(nearby - seed) <= n


def test_tasks_are_drawn_by_their_shares_and_only_from_the_current_stage():
    cfg = EnvConfig.model_validate({"id": "CartPole-v1", "tasks": TASKS, "curriculum": STAGES})
    draw = TaskSampler.from_config(cfg)
    assert draw is not None
    seeds = [episode_seed(1, "here", i) for i in range(4000)]
    assert Counter(decode_task(draw(seed), 2) for seed in seeds) == {0: 4000}
    draw.stage = 1
    often = Counter(decode_task(draw(seed), 2) for seed in seeds)
    assert often[1] == pytest.approx(3000, abs=4 * np.sqrt(4000 * 0.25 * 0.75))


@given(
    st.sampled_from([">=", "<=", ">", "<"]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(1, 10**6),
)
def test_a_curriculum_rule_is_parsed_and_printed_unchanged(sign: str, bound: float, times: int):
    rule = Rule("eval/easy:episode/return", sign, bound, times)
    assert Rule.parse(str(rule)) == rule


def test_each_task_is_the_environment_with_its_settings():
    alone = {0: make_env(EnvConfig(id="CartPole-v0")), 1: make_env(EnvConfig(id="CartPole-v1"))}
    together = make_env(EnvConfig.model_validate({"id": "CartPole-v1", "tasks": TASKS}))
    for seed in (10, 11, 12):
        env = alone[seed % 2]
        assert np.array_equal(env.reset(seed=seed)[0], together.reset(seed=seed)[0])
        for _ in range(8):
            ours, its = together.step(1), env.step(1)
            assert np.array_equal(ours[0], its[0])
            assert ours[1:4] == its[1:4]
    assert together.unwrapped.spec.id == "CartPole-v0"  # type: ignore[union-attr]


@pytest.mark.parametrize("backend", ["inprocess", "process"])
def test_each_task_has_metrics_of_its_own_and_a_run_resumes_bit_exactly(backend: str):
    settings = SMALL | {"env.curriculum": STAGES, "env.backend": backend, "env.workers": 2}
    whole = train_small("CartPole-v1", settings)
    stages = [row["progress/stage"] for row in rows(whole) if "progress/stage" in row]
    assert stages[0] == 1
    assert stages[-1] == 2
    (moved,) = [e for e in whole.events() if e["kind"] == "stage"]
    assert moved["why"] == "short:episode/return >= 5 for 2"
    last = [row for row in rows(whole) if "long:episode/return" in row][-1]
    counts = [last["short:episode/count"], last["long:episode/count"]]
    assert min(counts) > 0
    assert sum(counts) == last["episode/count"]
    scored = [row for row in rows(whole) if "eval/long:episode/count" in row][-1]
    assert scored["eval/short:episode/count"] == scored["eval/long:episode/count"] == 2
    for step in (128, 512):
        at = max(s for s in traces_steps(whole) if s <= step)
        assert_same_run(resume_run(copy_killed_at(whole, at)), whole)


def traces_steps(run: Any) -> list[int]:
    return [0, *traces(run, "eval")]


def curriculum() -> Curriculum:
    stages = [
        {"tasks": ["short"], "promote": "episode/return >= 10 for 2"},
        {
            "tasks": ["long"],
            "promote": "eval:episode/return > 20",
            "demote": "episode/return < 5 for 2",
        },
        {"tasks": ["short", "long"]},
    ]
    cfg = EnvConfig.model_validate({"id": "CartPole-v1", "tasks": TASKS, "curriculum": stages})
    made = Curriculum.from_config(cfg, TaskSampler.from_config(cfg), ["episode/return"])
    assert made is not None
    return made


def stages_after(steps: Curriculum, *returns: float) -> list[int]:
    found: list[int] = []
    for value in returns:
        steps.update({"episode/return": value})
        found.append(steps.stage)
    return found


def test_a_stage_ends_once_its_rule_has_held_for_enough_consecutive_rows():
    steps = curriculum()
    assert stages_after(steps, 10, 9, 10, 10) == [0, 0, 0, 1]
    assert stages_after(steps, 4, 5, 4) == [1, 1, 1]
    again = curriculum()
    again.load(steps.state())
    assert stages_after(again, 4) == [0]
    assert stages_after(again, 10, 10) == [0, 1]
    assert again.update({"eval:episode/return": 21.0}) == {
        "from": 2,
        "to": 3,
        "tasks": "short, long",
        "why": "eval:episode/return > 20",
    }
    assert again.update({"episode/return": -1.0, "eval:episode/return": 99.0}) is None


@pytest.mark.parametrize(
    ("tasks", "stages", "said"),
    [
        (TASKS, [{"tasks": ["far"]}], "no task|an unknown task"),
        (TASKS, [{"tasks": []}], "no task|an unknown task"),
        (TASKS, [{"tasks": ["short"]}, {"tasks": ["long"]}], "never reached"),
        (TASKS, [{"tasks": ["long"], "promote": "episode/return > 1"}], "after the last"),
        (TASKS, [{"tasks": ["long"], "demote": "episode/return > 1"}], "before the first"),
        (TASKS, [{"tasks": ["short"], "promote": "high enough"}, STAGES[1]], "not a rule"),
        (
            TASKS,
            [{"tasks": ["short"], "promote": "episode/retrun > 1"}, STAGES[1]],
            "is not a metric",
        ),
        (
            TASKS,
            [{"tasks": ["short"], "promote": "far:episode/return > 1"}, STAGES[1]],
            "names an unknown task",
        ),
        ({"eval": {}}, [], "cannot name a task"),
    ],
)
def test_an_invalid_curriculum_is_refused(tasks: Any, stages: Any, said: str):
    with pytest.raises(ConfigError, match=said):
        train_small("CartPole-v1", SMALL | {"env.tasks": tasks, "env.curriculum": stages})


def test_tasks_with_different_spaces_are_refused():
    with pytest.raises(EnvError, match="task other has the observation space"):
        train_small(
            "CartPole-v1", SMALL | {"env.tasks": {"one": {}, "other": {"id": "Acrobot-v1"}}}
        )


def test_tasks_are_refused_on_a_vector_env():
    with pytest.raises(EnvError, match=r"env\.tasks"):
        train_small("CartPole-v1", SMALL | {"env.backend": "vector"})
