"""PettingZoo environments as matches: agents in play, their results, and faults."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pettingzoo
import pytest

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME
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
        name: role.action.random((matches.n_matches, role.seats), rng)
        for name, role in matches.roles.items()
    }


def check_step(step: Any, i: int, seed: int, t: int, actions: Any) -> None:
    """Asserts that match i did in step t what the functions in `zoo_games` say about its seed."""
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
    assert step.outcome[i] == UNKNOWN_OUTCOME
    assert not step.over[i] or step.metrics["duration"][i] == t


def length(seed: int) -> int:
    return max(games.last_step(seed, agent) for agent in AGENTS)


# ---- a match -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "per_step"), [("Turns", 1), ("Cycles", 3)])
def test_agents_that_act_in_turns_get_the_rewards_of_their_own_turns(name: str, per_step: int):
    """The oracle plays the same match with the AEC API."""
    matches, aec = own(name, 1), games.Turns()
    agents = {agent: (agent[:3], int(agent[-1])) for agent in aec.possible_agents}
    assert matches.time_limit == (None if per_step == 1 else games.TURNS // 3)
    assert matches.restore_mode == "replay"
    matches.reset([0], [5])
    aec.reset(5)
    rng = np.random.default_rng(0)
    for t in range(games.TURNS // per_step):
        actions = drawn(matches, rng)
        earned = dict.fromkeys(agents, 0.0)
        for _ in range(per_step):
            agent = aec.agent_selection
            role, seat = agents[agent]
            aec.step(int(actions[role][0, seat]))
            earned[agent] += aec.rewards[agent]
        step = matches.step(actions)
        assert step.faults == ()
        assert {a: step.reward[r][0, s] for a, (r, s) in agents.items()} == earned
        assert {a: step.obs[r][0, s] for a, (r, s) in agents.items()} == aec.seen
        assert step.over[0] == ((t + 1) * per_step == games.TURNS)
    assert all(step.terminated[role].all() for role in matches.roles)


@pytest.mark.parametrize("name", ["Fading", "Turns"])
def test_an_own_environment_without_the_prefix_is_explained(name: str):
    target = f"py:tests.envs.zoo_games:{name}"
    with pytest.raises(EnvError, match=f"use pettingzoo/{target}"):
        make_env(EnvConfig(id=target))


def test_agents_with_dict_actions_receive_dicts():
    matches, rng = own("Piloted"), np.random.default_rng(0)
    assert matches.reset([0, 1], [5, 6]) == ()
    actions = drawn(matches, rng)
    step = matches.step(actions)
    assert step.faults == ()
    gears = {role: rows[..., 0].astype(int) for role, rows in actions.items()}
    for i, seed in enumerate((5, 6)):
        check_step(step, i, seed, 1, gears)


def test_each_agent_observes_earns_and_ends_as_the_environment_returns():
    matches = own("Fading", n=3)
    rng = np.random.default_rng(0)
    assert {name: role.seats for name, role in matches.roles.items()} == {"cat": 2, "mouse": 3}
    assert matches.roles["cat"].action == DiscreteAction(4, 0)
    assert isinstance(matches.roles["mouse"].obs, BoxObs)
    assert matches.roles["mouse"].obs.shape == (2,)
    assert (matches.outcomes, matches.time_limit, matches.restore_mode) == ({}, 8, "replay")
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
            check_step(step, i, seeds[i], age[i], actions)
            if step.over[i]:
                over += 1
                seeds[i], age[i] = seeds[i] + 3, 0
                assert matches.reset([i], [seeds[i]]) == ()
    assert over > 15


def test_only_the_chosen_matches_are_stepped():
    matches = own("Fading", n=3)
    matches.reset([0, 1, 2], [10, 11, 12])
    actions = drawn(matches, np.random.default_rng(0))
    before = matches.obs["cat"].copy()
    step = matches.step(actions, [1])
    check_step(step, 1, 11, 1, actions)
    assert np.array_equal(step.obs["cat"][[0, 2]], before[[0, 2]])
    step = matches.step(actions)
    for i, t in enumerate((1, 2, 1)):
        check_step(step, i, 10 + i, t, actions)


def test_draw_renders_the_current_state_of_a_match():
    matches = own("Fading")
    matches.reset([0, 1], [10, 11])
    matches.step(drawn(matches, np.random.default_rng(0)), [1])
    assert [int(matches.render(i).max()) for i in (0, 1)] == [0, 1]
    blind = own("Blind")
    with pytest.raises(EnvError, match="cannot render images"):
        blind.render(0)


def test_saving_a_running_match_is_rejected_because_it_is_replayed():
    matches = own("Fading")
    with pytest.raises(EnvError, match="only replayed"):
        matches.state()
    with pytest.raises(EnvError, match="only replayed"):
        matches.load({})


@pytest.mark.parametrize(
    ("name", "restore"), [("Fading", "replay"), ("Forgetful", "replay"), ("Random", "none")]
)
def test_a_match_is_replayable_if_its_seed_determines_it(name: str, restore: str):
    matches = own(name)
    assert matches.restore_mode == restore
    seen = []
    for _ in range(2):
        matches.reset([0], [10])
        seen.append(matches.obs["cat"][0].copy())
    assert np.array_equal(*seen) == (restore == "replay")


# ---- roles ---------------------------------------------------------------------------------------


def test_a_role_is_a_pattern_of_agent_names_in_the_order_of_the_environment():
    matches = own("Fading", roles={"hunted": "mouse_*", "first": "cat_0", "second": "cat_1"})
    assert {n: r.seats for n, r in matches.roles.items()} == {"hunted": 3, "first": 1, "second": 1}
    matches.reset([0, 1], [10, 11])
    assert np.array_equal(matches.obs["second"][1, 0], games.obs_of(11, 0, "cat_1"))
    assert np.array_equal(matches.obs["hunted"][0, 2], games.obs_of(10, 0, "mouse_2"))


@pytest.mark.parametrize(
    ("roles", "problem"),
    [
        ({"cat": "cat_*"}, "agent mouse_0 matches no role"),
        ({"cat": "cat_*", "all": "*"}, "agent cat_0 matches several roles: cat, all"),
        ({"all": "*", "dog": "dog_*"}, "dog: no agent matches dog_*"),
        ({"all": "*"}, "give agents with different spaces roles of their own"),
    ],
)
def test_roles_that_do_not_fit_the_agents_are_rejected(roles: dict[str, str], problem: str):
    with pytest.raises(EnvError) as rejected:
        own("Fading", roles=roles)
    assert problem in str(rejected.value)


# ---- faults --------------------------------------------------------------------------------------

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
    "acts after death": "cat_0 is still in env.agents, although it was terminated or truncated",
    "paid after death": "cat_0 got a reward of 2.0 after it was terminated or truncated",
    "vanishes": "cat_1 is missing in env.agents, but was neither terminated nor truncated",
    "four things": "raised ValueError: not enough values to unpack",
}


@pytest.mark.parametrize("how", BREAKAGES)
def test_a_faulty_match_is_reported_and_restarted_and_the_others_continue(how: str):
    matches = own("Faulty", n=3, how=how)
    seeds = [10, FAULTY_SEED, 12]
    assert matches.reset([0, 1, 2], seeds) == ()
    for t in range(1, FAULTY_STEP + 1):
        actions = drawn(matches, np.random.default_rng(t))
        step = matches.step(actions)
        assert bool(step.faults) == (t == FAULTY_STEP)
    (fault,) = step.faults
    assert (fault.copy, fault.step) == (1, FAULTY_STEP)
    assert BREAKAGES[how] in fault.message
    assert ("zoo" in fault.traceback) == ("raised" in fault.message)
    for role in SEATS:
        assert np.isfinite(step.obs[role]).all()
        assert not step.reward[role][1].any()
        assert not (step.terminated[role][1] | step.truncated[role][1]).any()
    assert not step.over[1]
    for i in (0, 2):
        check_step(step, i, seeds[i], FAULTY_STEP, actions)
    assert matches.reset([1], [11]) == ()
    step = matches.step(actions)
    assert step.faults == ()
    for i, (seed, t) in enumerate([(10, FAULTY_STEP + 1), (11, 1), (12, FAULTY_STEP + 1)]):
        check_step(step, i, seed, t, actions)


def test_stepping_a_finished_match_is_a_fault():
    matches = own("Fading", n=1)
    matches.reset([0], [10])
    actions = drawn(matches, np.random.default_rng(0))
    for _ in range(length(10)):
        step = matches.step(actions)
    assert step.over[0]
    (fault,) = matches.step(actions).faults
    assert "although no match is running" in fault.message


@pytest.mark.parametrize(
    ("name", "kwargs", "problem"),
    [
        ("Masked", {"where": "infos"}, "uses an action_mask, which is not supported"),
        ("Masked", {"where": "shown"}, "uses an action_mask, which is not supported"),
        ("Latecomer", {}, "only cat_0, mouse_0, cat_1, mouse_1 started the match"),
        ("Faulty", {"haw": 1}, "does not accept env.kwargs {'haw': 1}"),
        ("Unmakable", {}, "cannot be created: RuntimeError: no such level"),
        ("Unmakable", {"bug": 1}, "cannot be created: TypeError: 'int' object is not iterable"),
        ("object", {}, "is not a PettingZoo ParallelEnv"),
        ("Nothing", {}, "cannot be imported"),
    ],
)
def test_an_unsupported_environment_is_rejected_with_the_reason(
    name: str, kwargs: Any, problem: str
):
    with pytest.raises(EnvError) as rejected:
        own(name, **kwargs)
    assert problem in str(rejected.value)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("knights_archers_zombies_v10", "did you mean knights_archers_zombies_v11"),
        ("simple_sprad_v3", "did you mean simple_spread_v3"),
        ("chess_v6", "is a game with legal moves: it uses an action_mask"),
        ("py:tests.envs.zoo_games", "cannot be imported"),
    ],
)
def test_an_unknown_environment_name_gets_a_suggestion_or_an_explanation(name: str, problem: str):
    with pytest.raises(EnvError) as rejected:
        PettingZooMatches(f"pettingzoo/{name}", 1)
    assert problem in str(rejected.value)
    assert f"pettingzoo/{name}" in str(rejected.value)


@pytest.mark.parametrize(
    ("name", "missing", "command"),
    [
        ("knights_archers_zombies_v11", "pettingzoo", "gymnast[pettingzoo]"),
        ("knights_archers_zombies_v11", "pygame", "gymnast[pettingzoo]"),
        ("simple_spread_v3", "mpe2", "gymnast[pettingzoo]"),
        ("pong_v3", "multi_agent_ale_py", "pettingzoo[atari]"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    name: str, missing: str, command: str, monkeypatch: pytest.MonkeyPatch
):
    loaded = ("pettingzoo.butterfly.", "pettingzoo.atari.", "mpe2.", f"{missing}.")
    for module in [m for m in sys.modules if m.startswith(loaded)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(NotInstalled) as rejected:
        PettingZooMatches(f"pettingzoo/{name}", 1)
    assert missing in rejected.value.message
    assert rejected.value.fix == f"pip install '{command}'"


# ---- environments of PettingZoo ------------------------------------------------------------------


def test_knights_archers_zombies_runs_for_200_steps_in_4_matches():
    matches = PettingZooMatches(
        KAZ, 4, {"max_cycles": 60}, {"bow": "archer_*", "sword": "knight_*"}
    )
    assert (matches.restore_mode, matches.time_limit) == ("replay", 60)
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
        durations += step.metrics["duration"][over].tolist()
        assert all(step.truncated[role][over].all() for role in matches.roles)
        matches.reset(over, [4 * number + i for i in over])
    assert durations == [60] * 12
    assert matches.render(0).shape == (720, 1280, 3)


@pytest.mark.parametrize(
    ("name", "theirs", "kwargs"),
    [
        (KAZ, "butterfly/knights_archers_zombies-v11", {"line_death": True}),
        ("pettingzoo/sisl/multiwalker-v9", "sisl/multiwalker-v9", {}),
    ],
)
def test_matches_agree_with_a_plain_loop_over_the_environment(
    name: str, theirs: str, kwargs: dict[str, Any]
):
    """Each match is compared with its own environment until its end, including agents that die early."""
    matches, seeds = PettingZooMatches(name, 2, kwargs), [5, 6]
    matches.reset([0, 1], seeds)
    plain: list[Any] = [pettingzoo.make("parallel", theirs, **kwargs) for _ in seeds]
    agents = {a: (a[: a.index("_")], int(a[-1])) for a in plain[0].possible_agents}
    for env, seed in zip(plain, seeds, strict=True):
        env.reset(seed=seed)
    rng, running, deaths = np.random.default_rng(0), [0, 1], 0
    for _ in range(400):
        actions = drawn(matches, rng)
        step = matches.step(actions, running)
        assert step.faults == ()
        for i in list(running):
            before = list(plain[i].agents)
            result = plain[i].step({a: actions[agents[a][0]][i, agents[a][1]] for a in before})
            for agent, (role, place) in agents.items():
                ends = step.terminated[role][i, place], step.truncated[role][i, place]
                if agent not in before:
                    assert (step.reward[role][i, place], *ends) == (0.0, False, False)
                    continue
                assert np.array_equal(step.obs[role][i, place], result[0][agent].astype(np.float32))
                assert step.reward[role][i, place] == result[1][agent]
                assert ends == (result[2][agent], result[3][agent])
                deaths += bool(result[2][agent]) and bool(plain[i].agents)
            assert step.over[i] == (not plain[i].agents)
            if step.over[i]:
                running.remove(i)
        if not running:
            break
    assert not running
    assert (deaths > 0) == (name == KAZ)


def test_all_agents_are_truncated_at_our_default_limit_if_the_environment_has_none(
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
