"""Lines repeat the episode up to their branch and continue with the policy, with the same random numbers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gymnast.errors import EnvError, UsageError
from gymnast.inspector.branch import branch
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.lines import Branch, Line, LinePlayer
from gymnast.inspector.replay import Replay
from tests.inspector.branching import LOTTERY, REWARDING, played, reward_of

CASES = ("CartPole-v1", "FrozenLake-v1", "Pendulum-v1", "py:tests.scripted:Masked", REWARDING)


def lines(
    episode: OpenEpisode,
    branches: list[Branch],
    *,
    copies: int = 4,
    sampled: bool = False,
    horizon: int | None = None,
) -> list[Line]:
    """Returns the lines of branches, in their order."""
    with closing(LinePlayer(episode, copies, sampled=sampled)) as player:
        found = {line.branch: line for line in player.play(branches, horizon=horizon, record=True)}
    return [found[one] for one in branches]


def some_steps(episode: OpenEpisode) -> list[int]:
    last = len(episode.trace) - 1
    return sorted({0, min(1, last), last // 2, last})


@pytest.mark.parametrize("target", CASES)
def test_the_line_of_the_played_action_is_the_episode(target: str, tmp_path: Path):
    with played(tmp_path, target) as episode:
        trace, steps = episode.trace, some_steps(episode)
        for action in (True, False):  # forced, or the policy's own
            branches = [Branch(t, trace.action[t] if action else None) for t in steps]
            for t, line in zip(steps, lines(episode, branches), strict=True):
                assert line.rewards == trace.reward[t:].tolist()
                assert np.array_equal(line.actions, trace.action[t:])
                assert np.array_equal(line.obs, episode.replay.obs[t:])
                assert (line.terminated, line.truncated) == (trace.terminated, trace.truncated)


def test_a_line_of_sampled_actions_continues_the_random_numbers_of_the_episode(tmp_path: Path):
    with played(tmp_path, "CartPole-v1", sampled=True) as episode:
        steps = some_steps(episode)
        played_again = lines(episode, [Branch(t, None) for t in steps], sampled=True)
        for t, line in zip(steps, played_again, strict=True):
            assert line.actions == episode.trace.action[t:].tolist()
        greedy = lines(episode, [Branch(0, None)])[0]
        assert greedy.actions != episode.trace.action.tolist()


def test_continuations_have_their_own_random_numbers_which_all_actions_share(tmp_path: Path):
    with played(tmp_path, LOTTERY) as episode:
        branches = [Branch(3, np.array(a), k) for k in range(3) for a in range(3)]
        rewards = np.array([line.rewards for line in lines(episode, branches)]).reshape(3, 3, -1)
        assert (rewards == rewards[:, :1]).all()  # the same for each action
        assert len(np.unique(rewards[:, 0], axis=0)) == 3  # another one in each continuation
        assert episode.trace.reward[3:].tolist() not in rewards[:, 0].tolist()
        assert (rewards == [[x.rewards] * 3 for x in lines(episode, branches)[::3]]).all()


def test_an_environment_is_random_if_other_random_numbers_change_its_episode(tmp_path: Path):
    expected = {"CartPole-v1": False, "FrozenLake-v1": True, REWARDING: False, LOTTERY: True}
    for i, (target, random) in enumerate(expected.items()):
        with (
            played(tmp_path / str(i), target) as episode,
            closing(LinePlayer(episode, 2, sampled=False)) as player,
        ):
            assert player.is_random() == random, target


def test_a_line_ends_at_the_horizon(tmp_path: Path):
    with played(tmp_path, REWARDING) as episode:
        line, last = lines(episode, [Branch(4, np.array(1)), Branch(10, np.array(1))], horizon=3)
        assert len(line.rewards) == 3
        assert line.rewards[0] == reward_of(4, 1)
        assert not line.terminated
        assert not line.truncated
        assert len(last.rewards) == 2
        assert last.terminated


def test_an_episode_that_cannot_be_branched_says_why(tmp_path: Path):
    with played(tmp_path, "py:tests.scripted:Masked", length=5) as episode:
        forbidden = int((episode.trace.seed + 1) % 3)
        wrong = {
            "no step 99": {"step": 99, "action": 0},
            "no step -1": {"step": -1, "action": 0},
            "not an action": {"step": 0, "action": 3},
            "is not an action ": {"step": 0, "action": [0.0, 1.0]},
            "does not allow": {"step": 1, "action": forbidden},
            "at least one step": {"step": 0, "action": 0, "horizon": 0},
        }
        for message, arguments in wrong.items():
            with pytest.raises(UsageError, match=message):
                branch(episode, **arguments)  # pyright: ignore[reportArgumentType]
        exact = episode.replay
        differs = Replay(exact.obs, exact.infos, exact.masks, 2, "the replay differs at step 2")
        episode.__dict__["replay"] = differs
        with pytest.raises(UsageError, match="cannot be branched: the replay differs at step 2"):
            branch(episode, step=1, action=0)
        episode.__dict__["policy"] = None
        with pytest.raises(UsageError, match="has no policy"):
            branch(episode, step=1, action=0)


def test_a_copy_that_differs_from_the_episode_is_an_error(tmp_path: Path):
    with played(tmp_path, REWARDING) as episode:
        _ = episode.replay
        episode.trace.reward[2] += 1
        with pytest.raises(EnvError, match="differs from the episode at step 2"):
            lines(episode, [Branch(5, None)])
