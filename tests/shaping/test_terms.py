"""Each term against the same value computed in another way."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.facts import Component
from gymnast.config.resolve import resolve
from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.shaping import TERMS, TermConfig
from gymnast.errors import ConfigError
from gymnast.shaping.shaping import build_term, term_values
from gymnast.shaping.steps import ObsBatch, Steps, TermContext, episode_ages
from gymnast.shaping.tables import steps_to_go
from gymnast.spaces.observations import BoxObs, CompositeObs, DiscreteObs, ImageObs

Array = np.ndarray
GAME = BoxObs((2,), (-np.inf,) * 2, (np.inf,) * 2)


def scene(preset: str = "CartPole-v1", parts: tuple[Component, ...] = ()) -> TermContext:
    """Returns the scene of a preset's environment, or of one with these components."""
    cfg = resolve(preset).config
    parts = parts or cfg.facts.observations
    vector = BoxObs((len(parts),), tuple(c.low for c in parts), tuple(c.high for c in parts))
    n = int(parts[0].high) + 1 if preset in ("Taxi-v4", "FrozenLake-v1") else 0
    return TermContext(cfg.env, DiscreteObs(n, 0) if n else vector, parts)


def played(where: TermContext, rows: Any, *, gamma: float = 0.9, **more: Any) -> Steps:
    """Returns the steps of one copy with these observations in sequence; each array has T entries."""
    dtype = np.int64 if isinstance(where.obs, DiscreteObs) else np.float32
    seen = np.asarray(rows, dtype)[:, None]
    n = len(seen) - 1
    fields: dict[str, Any] = {"terminated": [False] * n, "truncated": [False] * n}
    fields |= {"reward": [0.0] * n, "valid": [True] * n, "age": range(n), "action": [0] * n} | more
    arrays = {name: np.asarray(list(column))[:, None] for name, column in fields.items()}
    arrays.setdefault("ended", arrays["terminated"])
    names = where.names
    return Steps(
        obs=ObsBatch(seen[:-1], names), next_obs=ObsBatch(seen[1:], names), gamma=gamma, **arrays
    )


def term_of(name: str, where: TermContext, steps: Steps, **kwargs: Any) -> Array:
    term = build_term(name, TermConfig(kwargs=kwargs), where)
    return term_values(name, term, steps)[:, 0]


def walk(name: str, seed: int, steps: int = 150) -> tuple[list[Any], list[bool]]:
    """Returns observations under random actions in the live environment, of at most one episode."""
    env = gym.make(name)
    env.action_space.seed(seed)
    seen, ended = [env.reset(seed=seed)[0]], []
    while len(ended) < steps and not any(ended):
        obs, _, terminated, truncated, _ = env.step(env.action_space.sample())
        seen.append(obs)
        ended.append(bool(terminated))
        if truncated:
            break
    env.close()
    return seen, ended


def test_the_center_of_the_track_costs_nothing_and_its_edge_one():
    where = scene()
    found = term_of("centered", where, played(where, [[x, 0, 0, 0] for x in (0, 1.2, -2.4, 0)]))
    assert found == pytest.approx([0, -0.5, -1])


def test_energy_is_the_work_of_the_engine():
    """Coasting changes nothing (except for the integration error); pushing adds force times distance."""
    env = gym.make("MountainCar-v0").unwrapped
    where = scene("MountainCar-v0")
    for action, push in ((1, 0.0), (2, 0.001)):
        env.reset(seed=3)
        env.state = np.array([-0.9, 0.0])
        seen = [np.array(env.state, np.float32)]
        seen.extend(env.step(action)[0] for _ in range(25))
        added = term_of("energy", where, played(where, seen, gamma=1.0)).sum()
        way = float(seen[-1][0] - seen[0][0])
        at_flag = 0.0025 / 3 * (np.sin(1.5) + 1)
        assert way > 0.3
        assert added == pytest.approx(push * way / at_flag, abs=0.06)


def test_a_potential_sums_to_minus_its_initial_value_over_an_episode():
    where = scene("MountainCar-v0")
    seen = [[-0.5, 0.0], [-0.4, 0.02], [0.0, 0.05], [0.52, 0.03]]
    over = {"terminated": [False, False, True]}
    found = term_of("energy", where, played(where, seen, **over))
    cut = term_of("energy", where, played(where, seen))
    discount = 0.9 ** np.arange(3)
    first, last = (
        (0.0025 / 3 * (np.sin(3 * x) + 1) + v * v / 2) / (0.0025 / 3 * (np.sin(1.5) + 1))
        for x, v in (seen[0], seen[-1])
    )
    assert found @ discount == pytest.approx(-first)
    assert cut @ discount == pytest.approx(0.9**3 * last - first, rel=1e-5)


def test_the_nth_visit_of_a_state_pays_one_over_the_square_root_of_n():
    where = scene("MountainCar-v0")
    term = build_term("count", TermConfig(kwargs={"bins": 12}), where)
    visits: Counter[tuple[int, int]] = Counter()
    for seed in range(3):
        seen, ended = walk("MountainCar-v0", seed)
        found = term_values("count", term, played(where, seen, terminated=ended))[:, 0]
        for (x, v), over, bonus in zip(seen[1:], ended, found, strict=True):
            cell = (int((x + 1.2) / 1.8 * 12), int((v + 0.07) / 0.14 * 12))
            visits[cell] += not over
            assert bonus == (0.0 if over else pytest.approx(visits[cell] ** -0.5))
    assert term.memory["visits"].sum() == sum(visits.values())
    assert (term.memory["visits"] > 0).sum() == len(visits)


def test_discrete_observations_are_counted_as_states():
    where = scene("Taxi-v4")
    found = term_of(
        "count", where, played(where, [7, 7, 9, 7, 499], valid=[True, False, True, True])
    )
    assert found == pytest.approx([1, 0, 2**-0.5, 1])  # invalid steps do not count


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({}, r"cart velocity, pole angular velocity cannot be counted.*no finite range"),
        ({"components": ["speed"]}, "^shaping.count: speed cannot be counted: not in facts.observ"),
        ({"components": []}, "^shaping.count: there is nothing to count"),
        ({"components": ["cart position", "pole angle"], "bins": 10_000}, "100,000,000 cells"),
        ({"bin": 3}, "its settings: bins, components"),
    ],
)
def test_uncountable_observations_are_refused(kwargs: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        build_term("count", TermConfig(kwargs=kwargs), scene())


def test_late_steps_cost_one_each():
    where = scene()
    steps = played(where, np.zeros((6, 4)), age=[198, 199, 200, 201, 0])
    assert term_of("late", where, steps).tolist() == [0, 0, -1, -1, 0]
    assert term_of("late", where, steps, after=199).tolist() == [0, -1, -1, -1, 0]


def test_change_pays_the_increase_of_a_component():
    where = scene()
    steps = played(where, [[x, 0, 0, 0] for x in (5, 7, 4, 9)], terminated=[False, False, True])
    assert term_of("change", where, steps, component="cart position").tolist() == [2, -3, 5]
    parts = CompositeObs(
        "Dict", (("screen", ImageObs((6, 6), 255, "last")), ("gamevariables", GAME))
    )
    where = TermContext(where.env, parts, ())
    shown = np.zeros((3, 1), parts.dtype)
    shown["gamevariables"][:, 0] = [[50, 100], [49, 80], [49, 90]]  # ammunition, health
    seen = {"obs": ObsBatch(shown[:-1], where.names), "next_obs": ObsBatch(shown[1:], where.names)}
    steps = replace(played(scene(), np.zeros((3, 4))), **seen)
    one = {"component": "gamevariables", "index": 1}
    assert term_of("change", where, steps, **one).tolist() == [-20, 10]
    assert term_of("change", where, steps, component="gamevariables").tolist() == [-1, 0]
    with pytest.raises(
        ConfigError, match=r"the observation has no component health .*gamevariables"
    ):
        build_term("change", TermConfig(kwargs={"component": "health"}), where)
    with pytest.raises(ConfigError, match="missing a required argument: 'component'"):
        build_term("change", TermConfig(), where)


def test_ages_continue_from_the_previous_rollout_and_restart_with_an_episode():
    rng = np.random.default_rng(0)
    for _ in range(20):
        start, carry = rng.random((9, 4)) < 0.3, rng.integers(0, 5, 4)
        age, expected = carry.copy(), []
        for opens in start:
            age = np.where(opens, 0, age)
            expected.append(age)
            age = age + 1
        assert np.array_equal(episode_ages(start, carry), expected)


PONG = tuple(
    Component(name=name, low=-1 if "velocity" in name else 0, high=1)
    for name in ("player y", "ball x", "ball y", "ball x velocity")
)


@pytest.mark.parametrize(
    ("before", "after", "reward", "hits"),
    [
        ((0.5, 0.85, 0.5, +0.1), (0.5, 0.85, 0.52, -0.1), 0, 1),  # returned
        ((0.4, 0.86, 0.3, 0.0), (0.5, 0.82, 0.25, -0.04), 0, 1),  # hit within the step before
        ((0.5, 0.99, 0.5, 0.0), (0.5, 0.50, 0.50, 0.0), 0, 0),  # no ball, then a new one
        ((0.5, 0.85, 0.5, +0.1), (0.5, 0.90, 0.52, +0.1), 0, 0),  # still coming
        ((0.5, 0.15, 0.5, -0.1), (0.5, 0.15, 0.52, +0.1), 0, 0),  # the opponent hit it
        ((0.5, 0.30, 0.5, +0.1), (0.5, 0.30, 0.52, -0.1), 0, 0),  # turned around in the other half
        ((0.1, 0.95, 0.9, +0.1), (0.1, 0.90, 0.90, -0.1), 0, 0),  # the paddle was elsewhere
        ((0.5, 0.95, 0.5, +0.1), (0.5, 0.55, 0.50, -0.1), -1, 0),  # missed: a new ball
        ((0.5, 0.95, 0.5, +0.1), (0.5, 0.50, 0.50, -0.1), 0, 0),  # it was reset to the center
    ],
)
def test_a_ball_that_turns_around_at_the_players_paddle_is_a_hit(
    before: tuple[float, ...], after: tuple[float, ...], reward: float, hits: int
):
    where = scene(parts=PONG)
    steps = played(where, [before, after], reward=[float(reward)])
    assert term_of("hit", where, steps).tolist() == [hits]


def test_taxi_steps_to_go_match_dynamic_programming():
    """The reference is dynamic programming: with -1 per step and 20 at the end, V = 21 - steps."""
    table = gym.make("Taxi-v4").unwrapped.P
    value = np.zeros(500)
    for _ in range(60):
        value = np.array(
            [max(r + (0 if end else value[s2]) for ((_, s2, r, end),) in table[s].values())
             for s in range(500)]
        )  # fmt: skip
    reachable = value > 0
    assert reachable.sum() > 390
    assert np.array_equal(steps_to_go(table)[reachable], 21 - value[reachable])


def test_progress_pays_for_steps_toward_the_goal_and_charges_steps_away():
    where = scene("Taxi-v4")
    distance = steps_to_go(gym.make("Taxi-v4").unwrapped.P)
    seen, ended = walk("Taxi-v4", 1)
    found = term_of("progress", where, played(where, seen, terminated=ended, gamma=1.0))
    assert found == pytest.approx(-np.diff(distance[seen]))
    assert {-1, 0, 1} >= set(found.tolist())


def test_holes_in_the_ice_are_not_goals():
    table = gym.make("FrozenLake-v1", is_slippery=False).unwrapped.P
    distance = steps_to_go(table)
    assert distance[0] == 6
    assert distance[14] == 1
    assert (distance[[5, 7, 11, 12]] == distance.max()).all()


def test_progress_needs_a_transition_table():
    with pytest.raises(ConfigError, match="whose observation is its state"):
        build_term("progress", TermConfig(), scene())
    tasks = EnvConfig.model_validate({"id": "Taxi-v4", "tasks": {"a": {}, "b": {}}})
    with pytest.raises(ConfigError, match="a single environment"):
        build_term("progress", TermConfig(), TermContext(tasks, DiscreteObs(500, 0), ()))


def test_progress_needs_an_end_with_a_positive_reward():
    """The goal of CliffWalking gives -1 like every other step: the potential would be constant."""
    cliff = TermContext(EnvConfig(id="CliffWalking-v1"), DiscreteObs(48, 0), ())
    with pytest.raises(ConfigError, match=r"shaping\.toward: .*CliffWalking-v1.*positive reward"):
        build_term("toward", TermConfig(term="progress"), cliff)


@pytest.mark.parametrize("name", TERMS)
def test_a_term_for_other_observations_is_refused_with_the_available_components(name: str):
    """FrozenLake's observation is a cell index, which has none of the components that terms use."""
    needs = TERMS[name].required_obs
    settings: dict[str, Any] = {f"shaping.{name}.weight": 1}
    settings |= {"shaping.info.kwargs": {"key": "prob"}} if name == "info" else {}
    if not needs:
        assert name in resolve("FrozenLake-v1", settings).config.shaping
        return
    with pytest.raises(ConfigError, match=rf"shaping\.{name}.*{needs[0]}.*declares cell"):
        resolve("FrozenLake-v1", settings)
