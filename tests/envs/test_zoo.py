"""PettingZoo's environments as matches: who is in play, what each agent gets, what goes wrong."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pettingzoo
import pytest

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.envs.backends.backend import random_actions
from gymnast.envs.matches.matches import UNKNOWN
from gymnast.envs.matches.pettingzoo import PettingZooMatches
from gymnast.errors import EnvError, NotInstalled
from gymnast.spaces.spaces import BoxObs, DiscreteAction
from tests.envs import zoo_games as games
from tests.envs.zoo_games import AGENTS, FAULTY_SEED, FAULTY_STEP

SEATS = {"cat": ["cat_0", "cat_1"], "mouse": ["mouse_0", "mouse_1", "mouse_2"]}
KAZ = "pettingzoo/knights_archers_zombies_v11"


def own(name: str, n: int = 2, roles: Any = None, **kwargs: Any) -> PettingZooMatches:
    return PettingZooMatches(f"pettingzoo/py:tests.envs.zoo_games:{name}", n, kwargs, roles)


def drawn(matches: PettingZooMatches, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        name: random_actions(role.action, (matches.n_matches, role.seats), rng)
        for name, role in matches.roles.items()
    }


def goes_as_written(step: Any, i: int, seed: int, t: int, actions: Any) -> None:
    """Step t of the match of a seed, by the functions that say what `Fading` does."""
    for role, agents in SEATS.items():
        for place, agent in enumerate(agents):
            last, at = games.last_step(seed, agent), (i, place)
            ends = [bool(a[role][at]) for a in (step.terminated, step.truncated)]
            if t > last:
                assert (step.reward[role][at], ends) == (0.0, [False, False])
                continue
            action = int(actions[role][at])
            assert step.reward[role][at] == games.reward_of(seed, t, agent, action)
            assert np.array_equal(step.obs[role][at], games.obs_of(seed, t, agent))
            terminated = t == last and games.is_terminated(seed, agent)
            assert ends == [terminated, t == last and not terminated]
    assert step.over[i] == (t == length(seed))
    assert step.outcome[i] == UNKNOWN
    assert not step.over[i] or step.numbers["duration"][i] == t


def length(seed: int) -> int:
    return max(games.last_step(seed, agent) for agent in AGENTS)


# ---- a match -------------------------------------------------------------------------------------


def test_each_agent_sees_gets_and_leaves_as_the_environment_says():
    matches = own("Fading", n=3)
    rng = np.random.default_rng(0)
    assert {name: role.seats for name, role in matches.roles.items()} == {"cat": 2, "mouse": 3}
    assert matches.roles["cat"].action == DiscreteAction(4, 0)
    assert isinstance(matches.roles["mouse"].obs, BoxObs)
    assert matches.roles["mouse"].obs.shape == (2,)
    assert (matches.outcomes, matches.time_limit, matches.restore) == ({}, 8, "replay")
    seeds, age, over = [10, 11, 12], [0, 0, 0], 0
    assert matches.reset([0, 1, 2], seeds) == ()
    for i, seed in enumerate(seeds):
        for role, agents in SEATS.items():
            expected = [games.obs_of(seed, 0, agent) for agent in agents]
            assert np.array_equal(matches.obs[role][i], expected)
    for _ in range(60):
        actions = drawn(matches, rng)
        step = matches.step(actions)
        assert step.faults == ()
        for i in range(3):
            age[i] += 1
            goes_as_written(step, i, seeds[i], age[i], actions)
            if step.over[i]:
                over += 1
                seeds[i], age[i] = seeds[i] + 3, 0
                assert matches.reset([i], [seeds[i]]) == ()
    assert over > 15


def test_only_the_matches_that_are_named_go_on():
    matches = own("Fading", n=3)
    matches.reset([0, 1, 2], [10, 11, 12])
    actions = drawn(matches, np.random.default_rng(0))
    before = matches.obs["cat"].copy()
    step = matches.step(actions, [1])
    goes_as_written(step, 1, 11, 1, actions)
    assert np.array_equal(step.obs["cat"][[0, 2]], before[[0, 2]])
    step = matches.step(actions)
    for i, t in enumerate((1, 2, 1)):
        goes_as_written(step, i, 10 + i, t, actions)


def test_a_picture_is_of_the_match_as_it_stands():
    matches = own("Fading")
    matches.reset([0, 1], [10, 11])
    matches.step(drawn(matches, np.random.default_rng(0)), [1])
    assert [int(matches.draw(i).max()) for i in (0, 1)] == [0, 1]
    blind = own("Blind")
    with pytest.raises(EnvError, match="has no renderer that gives pictures"):
        blind.draw(0)


def test_what_cannot_be_stored_says_so():
    matches = own("Fading")
    with pytest.raises(EnvError, match="only played again"):
        matches.state()
    with pytest.raises(EnvError, match="only played again"):
        matches.load({})


@pytest.mark.parametrize(
    ("name", "restore"), [("Fading", "replay"), ("Forgetful", "replay"), ("Random", "none")]
)
def test_a_match_can_be_had_again_where_it_follows_from_its_seed(name: str, restore: str):
    matches = own(name)
    assert matches.restore == restore
    seen = []
    for _ in range(2):
        matches.reset([0], [10])
        seen.append(matches.obs["cat"][0].copy())
    assert np.array_equal(*seen) == (restore == "replay")


# ---- roles ---------------------------------------------------------------------------------------


def test_a_role_is_a_pattern_of_names_and_its_seats_are_in_the_order_of_the_environment():
    matches = own("Fading", roles={"hunted": "mouse_*", "first": "cat_0", "second": "cat_1"})
    assert {n: r.seats for n, r in matches.roles.items()} == {"hunted": 3, "first": 1, "second": 1}
    matches.reset([0, 1], [10, 11])
    assert np.array_equal(matches.obs["second"][1, 0], games.obs_of(11, 0, "cat_1"))
    assert np.array_equal(matches.obs["hunted"][0, 2], games.obs_of(10, 0, "mouse_2"))


@pytest.mark.parametrize(
    ("roles", "problem"),
    [
        ({"cat": "cat_*"}, "no role is for the agent mouse_0"),
        ({"cat": "cat_*", "all": "*"}, "the agent cat_0 would be of several roles: cat, all"),
        ({"all": "*", "dog": "dog_*"}, "dog: no agent is called dog_*"),
        ({"all": "*"}, "give agents with different spaces roles of their own"),
    ],
)
def test_roles_that_do_not_fit_the_agents_are_refused(roles: dict[str, str], problem: str):
    with pytest.raises(EnvError) as refused:
        own("Fading", roles=roles)
    assert problem in str(refused.value)


# ---- what goes wrong -----------------------------------------------------------------------------

BREAKAGES = {
    "nan": "mouse_1: the observation is not finite at index [1]",
    "shape": "cat_1: the observation has shape (4,), its space says (3,)",
    "nan reward": "cat_1: the reward is nan",
    "text reward": "cat_1: the reward is 'a lot', not a number",
    "ends": "cat_1: terminated is array([ True, False])",
    "raises": "raised ZeroDivisionError: the physics went wrong",
    "exits": "raised SystemExit: enough",
    "no observation": "cat_1 is in play, but got no observation",
    "no reward": "cat_1 is in play, but its reward, terminated or truncated is missing",
    "acts after death": "cat_0 is in play (env.agents), but its part has ended",
    "paid after death": "cat_0 got a reward of 2.0, but its part has ended",
    "vanishes": "cat_1 is out of play (env.agents), but neither terminated nor truncated",
    "four things": "raised ValueError: not enough values to unpack",
}


@pytest.mark.parametrize("how", BREAKAGES)
def test_a_match_that_goes_wrong_is_named_and_begins_anew_and_the_others_go_on(how: str):
    matches = own("Faulty", n=3, how=how)
    seeds = [10, FAULTY_SEED, 12]
    assert matches.reset([0, 1, 2], seeds) == ()
    for t in range(1, FAULTY_STEP + 1):
        actions = drawn(matches, np.random.default_rng(t))
        step = matches.step(actions)
        assert bool(step.faults) == (t == FAULTY_STEP)
    (fault,) = step.faults
    assert (fault.copy, fault.step) == (1, FAULTY_STEP)
    assert BREAKAGES[how] in fault.what
    assert ("zoo" in fault.traceback) == ("raised" in fault.what)
    for role in SEATS:
        assert np.isfinite(step.obs[role]).all()
        assert not step.reward[role][1].any()
        assert not (step.terminated[role][1] | step.truncated[role][1]).any()
    assert not step.over[1]
    for i in (0, 2):
        goes_as_written(step, i, seeds[i], FAULTY_STEP, actions)
    assert matches.reset([1], [11]) == ()
    step = matches.step(actions)
    assert step.faults == ()
    for i, (seed, t) in enumerate([(10, FAULTY_STEP + 1), (11, 1), (12, FAULTY_STEP + 1)]):
        goes_as_written(step, i, seed, t, actions)


def test_a_match_that_is_over_cannot_be_stepped_on():
    matches = own("Fading", n=1)
    matches.reset([0], [10])
    actions = drawn(matches, np.random.default_rng(0))
    for _ in range(length(10)):
        step = matches.step(actions)
    assert step.over[0]
    (fault,) = matches.step(actions).faults
    assert "no match was being played" in fault.what


@pytest.mark.parametrize(
    ("name", "kwargs", "problem"),
    [
        ("Masked", {"where": "infos"}, "rules actions out by an action_mask"),
        ("Masked", {"where": "shown"}, "rules actions out by an action_mask"),
        ("Latecomer", {}, "only cat_0, mouse_0, cat_1, mouse_1 began the match"),
        ("Faulty", {"haw": 1}, "does not take env.kwargs {'haw': 1}"),
        ("Unmakable", {}, "cannot be created: RuntimeError: no such level"),
        ("object", {}, "is no parallel environment of PettingZoo"),
        ("Nothing", {}, "cannot be imported"),
    ],
)
def test_an_environment_that_cannot_be_played_is_refused(name: str, kwargs: Any, problem: str):
    with pytest.raises(EnvError) as refused:
        own(name, **kwargs)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("knights_archers_zombies_v10", "did you mean knights_archers_zombies_v11"),
        ("simple_sprad_v3", "did you mean simple_spread_v3"),
        ("chess_v6", "its agents move in turns"),
        ("py:tests.envs.zoo_games", "cannot be imported"),
    ],
)
def test_a_name_that_is_none_of_theirs_is_guessed_or_explained(name: str, problem: str):
    with pytest.raises(EnvError) as refused:
        PettingZooMatches(f"pettingzoo/{name}", 1)
    assert problem in str(refused.value)
    assert f"pettingzoo/{name}" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "missing", "command"),
    [
        ("knights_archers_zombies_v11", "pettingzoo", "gymnast[pettingzoo]"),
        ("knights_archers_zombies_v11", "pygame", "gymnast[pettingzoo]"),
        ("simple_spread_v3", "mpe2", "gymnast[pettingzoo]"),
        ("pong_v3", "multi_agent_ale_py", "pettingzoo[atari]"),
    ],
)
def test_what_a_missing_package_is_and_how_it_is_installed(
    name: str, missing: str, command: str, monkeypatch: pytest.MonkeyPatch
):
    loaded = ("pettingzoo.butterfly.", "pettingzoo.atari.", "mpe2.", f"{missing}.")
    for module in [m for m in sys.modules if m.startswith(loaded)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(NotInstalled) as refused:
        PettingZooMatches(f"pettingzoo/{name}", 1)
    assert missing in refused.value.message
    assert refused.value.fix == f"pip install '{command}'"


# ---- theirs --------------------------------------------------------------------------------------


def test_knights_archers_zombies_goes_on_for_200_steps_in_4_matches():
    matches = PettingZooMatches(
        KAZ, 4, {"max_cycles": 60}, {"bow": "archer_*", "sword": "knight_*"}
    )
    assert (matches.restore, matches.time_limit) == ("replay", 60)
    assert {n: (r.seats, r.obs.shape) for n, r in matches.roles.items()} == {
        "bow": (2, (27, 5)),
        "sword": (2, (27, 5)),
    }
    rng = np.random.default_rng(0)
    assert matches.reset(range(4), range(4)) == ()
    durations: list[int] = []
    for number in range(200):
        step = matches.step(drawn(matches, rng))
        assert step.faults == ()
        over = np.flatnonzero(step.over).tolist()
        durations += step.numbers["duration"][over].tolist()
        assert all(step.truncated[role][over].all() for role in matches.roles)
        matches.reset(over, [4 * number + i for i in over])
    assert durations == [60] * 12
    assert matches.draw(0).shape == (720, 1280, 3)


@pytest.mark.parametrize(
    ("name", "theirs", "kwargs"),
    [
        (KAZ, "butterfly/knights_archers_zombies-v11", {"line_death": True}),
        ("pettingzoo/sisl/multiwalker-v9", "sisl/multiwalker-v9", {}),
    ],
)
def test_matches_are_what_a_plain_loop_over_the_environment_gives(
    name: str, theirs: str, kwargs: dict[str, Any]
):
    """Each in an environment of its own, to the end, deaths and all."""
    matches, seeds = PettingZooMatches(name, 2, kwargs), [5, 6]
    matches.reset([0, 1], seeds)
    plain: list[Any] = [pettingzoo.make("parallel", theirs, **kwargs) for _ in seeds]
    agents = {a: (a[: a.index("_")], int(a[-1])) for a in plain[0].possible_agents}
    for env, seed in zip(plain, seeds, strict=True):
        env.reset(seed=seed)
    rng, going, deaths = np.random.default_rng(0), [0, 1], 0
    for _ in range(400):
        actions = drawn(matches, rng)
        step = matches.step(actions, going)
        assert step.faults == ()
        for i in list(going):
            before = list(plain[i].agents)
            told = plain[i].step({a: actions[agents[a][0]][i, agents[a][1]] for a in before})
            for agent, (role, place) in agents.items():
                ends = step.terminated[role][i, place], step.truncated[role][i, place]
                if agent not in before:
                    assert (step.reward[role][i, place], *ends) == (0.0, False, False)
                    continue
                assert np.array_equal(step.obs[role][i, place], told[0][agent].astype(np.float32))
                assert step.reward[role][i, place] == told[1][agent]
                assert ends == (told[2][agent], told[3][agent])
                deaths += bool(told[2][agent]) and bool(plain[i].agents)
            assert step.over[i] == (not plain[i].agents)
            if step.over[i]:
                going.remove(i)
        if not going:
            break
    assert not going
    assert (deaths > 0) == (name == KAZ)


def test_a_match_is_truncated_for_everybody_at_a_limit_that_the_environment_does_not_have(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delattr(games.Fading, "max_cycles")
    name = "pettingzoo/py:tests.envs.zoo_games:Fading"
    matches = PettingZooMatches(name, 1, limit=EpisodeLimit(default=1))
    assert (matches.time_limit, matches.has_default_limit) == (1, True)
    seed = next(s for s in range(99) if min(games.last_step(s, a) for a in AGENTS) > 1)
    matches.reset([0], [seed])
    step = matches.step(drawn(matches, np.random.default_rng(0)))
    assert step.over.tolist() == [True]
    assert not step.faults
    assert all(step.truncated[role].all() and not step.terminated[role].any() for role in SEATS)
