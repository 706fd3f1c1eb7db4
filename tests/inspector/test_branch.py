"""A variation is an episode like any other: same columns, an exact replay, frames of its own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.errors import UsageError
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import episode_frames
from gymnast.inspector.alternatives import alternatives
from gymnast.inspector.branch import branch, branch_frames, open_variation
from gymnast.inspector.branch_record import ActionValue
from gymnast.inspector.frames import FrameCache, frames
from gymnast.inspector.replay import replay_episode
from gymnast.runs.trace import Trace
from tests.identity import ACTIONS
from tests.inspector.branching import REWARDING, played, reward_of
from tests.inspector.made_episodes import make_setting

CASES: dict[str, ActionValue] = {
    "CartPole-v1": 1,
    "FrozenLake-v1": 2,
    "Pendulum-v1": [1.5],
    REWARDING: 2,
    "py:tests.scripted:Masked": 0,
}
"""Environment -> an action."""


@pytest.mark.parametrize("target", CASES)
def test_a_variation_has_the_columns_of_the_episode_and_replays_exactly(
    target: str, tmp_path: Path
):
    with played(tmp_path, target) as episode:
        step = min(3, len(episode.trace) - 1)
        if episode.replay.masks is not None:  # an allowed action
            step = int(np.flatnonzero(episode.replay.masks[:-1, 0])[0])
        found = branch(episode, step=step, action=CASES[target])
        variation = open_variation(episode, step, CASES[target], None, sampled=False)
        trace = variation.trace
        assert list(found.table) == list(episode.table) == list(variation.table)
        assert found.table["step"] == list(range(step, len(trace)))
        for name, column in variation.table.items():
            assert len(found.table[name]) == len(trace) - step
            same = column[:step] == episode.table[name][:step]
            assert np.all(same) or name in LOOKS_AHEAD, name
        assert found.table["reward_raw"] == trace.reward[step:].tolist()
        assert found.raw_return == pytest.approx(trace.reward.sum())
        assert found.played_return == episode.trace.raw_return
        with closing(EnvRenderer(episode.config, render=False)) as fresh:
            replay = replay_episode(fresh, trace)
        assert replay.is_exact
        assert np.array_equal(replay.obs, variation.replay.obs)
        assert len(replay.infos) == len(variation.replay.infos)
        assert (replay.masks is None) == (variation.replay.masks is None)
        if replay.masks is not None and variation.replay.masks is not None:
            assert np.array_equal(replay.masks[:-1], variation.replay.masks[:-1])


LOOKS_AHEAD = (
    *("return_to_go_raw", "return_learned", "advantage_learned", "td_error_learned"),
    *("value_error_learned", "expected_outcome"),
)
"""Columns that depend on later steps."""


def test_the_return_of_a_variation_is_known_where_only_one_reward_changes(tmp_path: Path):
    with played(tmp_path, REWARDING) as episode:
        for step in range(len(episode.trace)):
            for action in range(3):
                found = branch(episode, step=step, action=action)
                now, before = reward_of(step, action), episode.trace.reward[step]
                assert found.raw_return == episode.trace.raw_return + now - before
                assert (found.outcome, found.ended, found.label) == (
                    "terminated",
                    True,
                    str(action),
                )
        assert branch(episode, step=2, action=0, horizon=2).outcome == "horizon"


def test_a_held_action_is_repeated_and_the_policy_continues(tmp_path: Path):
    with played(tmp_path, REWARDING) as episode:
        trace, length = episode.trace, len(episode.trace)
        for step, hold in ((0, 1), (2, 4), (length - 2, 5)):
            found = branch(episode, step=step, action=2, hold=hold)
            end = min(step + hold, length)
            actions = [2] * (end - step) + [int(a) for a in trace.action[end:]]
            expected = [reward_of(t, a) for t, a in enumerate(actions, step)]
            assert found.table["reward_raw"] == expected
            assert (found.hold, found.label) == (hold, "2")
            assert found.raw_return == sum([*trace.reward[:step].tolist(), *expected])
        with pytest.raises(UsageError, match="hold is 0"):
            branch(episode, step=0, action=2, hold=0)


def test_a_held_action_is_left_out_where_the_mask_forbids_it(tmp_path: Path):
    with played(tmp_path, "py:tests.scripted:Masked", length=7) as episode:
        masks = episode.replay.masks
        assert masks is not None
        held = int(np.flatnonzero(masks[0])[0])
        found = branch(episode, step=0, action=held, hold=9)
        variation = open_variation(episode, 0, held, None, sampled=False, hold=9)
        allowed = variation.replay.masks
        assert allowed is not None
        taken = variation.trace.action.tolist()
        assert not allowed[: len(taken), held].all()
        for t, action in enumerate(taken):
            assert allowed[t, action]
            assert (action == held) == bool(allowed[t, held])
        assert found.ended


def test_frames_of_a_variation_are_those_of_its_own_film(tmp_path: Path):
    with played(tmp_path, "CartPole-v1") as episode:
        step = len(episode.trace) // 2
        other = 1 - int(episode.trace.action[step])
        own = frames(episode, 0, 3, 1, 200, FrameCache())[1]
        arguments: dict[str, Any] = {"step": step, "first": step, "last": step + 1, "every": 1}
        found, content = branch_frames(episode, action=other, width=4096, **arguments)
        assert found.count == 2
        trace: Trace = open_variation(episode, step, other, None, sampled=False).trace
        with closing(EnvRenderer(episode.config)) as renderer:
            film = [shot.picture for shot in episode_frames(renderer, trace, strict=True)]
        variation = episode.variation
        assert variation is not None
        for at in (step + 1, step, 0, step + 1):  # in any order
            assert np.array_equal(variation[1].rendered.picture(at), film[at])
        assert len(content) > 100
        # The episode's own pictures are not disturbed, also not after another variation.
        branch_frames(episode, action=1 - other, width=200, **arguments)
        assert frames(episode, 0, 3, 1, 200, FrameCache())[1] == own


@pytest.mark.parametrize("kind", ACTIONS)
@pytest.mark.parametrize("masked", [False, True])
def test_alternatives_are_allowed_distinct_and_not_the_played_action(kind: str, masked: bool):
    setting = make_setting("ppo", (("env.kwargs.action", kind),))
    head, rng = setting.policy.head, np.random.default_rng(1)
    space = head.space
    for _ in range(20):
        dist = head.dist_parameters(
            rng.standard_normal((1, head.n_outputs)).astype(np.float32),
            setting.policy._extra,
            None,
        )[0]
        mask = None
        if masked:
            mask = rng.random(space.mask_width) < 0.6
            chosen = space.draw((), rng, None)
            mask[space.chosen_options(chosen)] = True  # at least one action is allowed
        rows = space.random((), rng, mask)
        found = alternatives(head, dist, mask, np.asarray(rows))
        flat = [tuple(space.flatten(row).tolist()) for row in [rows, *found]]
        assert len(set(flat)) == len(flat)
        for one, row in zip(flat[1:], found, strict=True):
            assert mask is None or space.is_allowed(np.array(one), mask)
            assert setting.env.action_space.contains(space.unpack(row))
        if kind == "choice":
            assert len(flat) == (4 if mask is None else mask.sum())
        elif kind == "amounts":
            assert len(found) >= 5  # the mean, one deviation to both sides, the corners
