"""The inspector and policies with memory, in a task in which only the first observation matters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.attribution import attribution
from gymnast.inspector.blunders import find_blunders
from gymnast.inspector.branch import branch
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.matches import OpenMatch
from gymnast.inspector.what_if import what_if
from gymnast.runs.run import Run
from gymnast.training.python_api import train
from tests.algos.test_memory import DELAY, PPO, TASK
from tests.small_runs import SMALL, matches, traces
from tests.training.test_roles import ROLLOUT, TAG

SETTINGS = TASK | PPO | {"stop.rollouts": 40, "eval.every": "off", "eval.episodes": 6}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    target = "py:tests.identity:DelayedMatch"
    settings = SMALL | SETTINGS | {"eval.every": "40 rollouts"}
    found = train(target, overrides=settings, runs_dir=tmp_path_factory.mktemp("runs"), quiet=True)
    assert found.info["score"]["mean"] == 1.0
    return found


@pytest.fixture
def episode(run: Run) -> Iterator[OpenEpisode]:
    version = max(traces(run, "eval"))
    with closing(OpenEpisode(EpisodeAddress(str(run.path), "eval", version, 0))) as opened:
        yield opened


def test_the_table_shows_the_memory_before_every_step(episode: OpenEpisode):
    columns = [name for name in episode.table if name.startswith("memory/")]
    assert len(columns) == 16
    shown = np.stack([episode.table[name] for name in columns], 1)
    assert not shown[0].any()  # an episode starts with an empty memory
    assert episode.policy is not None
    states = episode.policy.unroll(np.asarray(episode.obs))
    units = [int(name.partition("/")[2]) for name in columns]
    assert np.array_equal(shown, states[: DELAY + 1, units].astype(np.float64))


def test_the_decision_depends_on_the_first_observation_and_on_no_later_one(episode: OpenEpisode):
    found = attribution(episode, step=DELAY)
    assert found.past is not None
    assert list(found.past) == [str(t) for t in range(DELAY)]
    most = max(found.past, key=lambda step: abs(found.past[step]))  # type: ignore[index]
    assert most == "0"
    assert found.past["0"] > 3 * max(abs(x) for step, x in found.past.items() if step != "0")
    assert attribution(episode, step=0).past == {}


def test_what_if_keeps_the_memory_of_the_step(episode: OpenEpisode):
    """The last observation is the same for both cues: only the memory shows which one it was."""
    seen = what_if(episode, step=DELAY)
    assert seen.original == seen.changed
    assert seen.original.action == episode.trace.action[DELAY]
    assert seen.original.value == pytest.approx(float(episode.trace.value[DELAY]), abs=1e-5)


def test_a_line_continues_with_the_memory_of_the_episode(episode: OpenEpisode):
    """Actions before the last do not matter, so the policy still answers with the cue."""
    for step in range(DELAY):
        action = 1 - int(episode.trace.action[step])
        found = branch(episode, step=step, action=action)
        assert found.raw_return == 1.0
        values = np.array(found.table["value_learned"], np.float64)
        assert values == pytest.approx(episode.trace.value[step:], abs=1e-4)
    wrong = branch(episode, step=DELAY, action=1 - int(episode.trace.action[DELAY]))
    assert wrong.raw_return == 0.0


def test_no_move_of_a_perfect_episode_is_a_blunder(episode: OpenEpisode):
    assert not find_blunders(episode, budget=400).marks


def test_the_seats_of_a_match_have_memories_of_their_own(tmp_path: Path):
    """Evaluations play the most likely action, which depends on the memory of the seat."""
    settings = TAG | {"policy.memory": "lstm:6", "policy.bptt": 4, "stop.env_steps": 3 * ROLLOUT}
    played = train("tag", overrides=settings, runs_dir=tmp_path, quiet=True)
    version, stored = max(matches(played, "eval").items())
    number = next(i for i, trace in enumerate(stored) if trace.cast["hider"] == "learner")
    address = EpisodeAddress(str(played.path), "eval", version, number)
    with closing(OpenMatch(address)) as match:
        seat = match.seat("hider", 1)
        assert seat.policy_note == ""  # every action is the most likely one, given the memory
        assert seat.policy_states is not None
        assert seat.policy_states[1:].any()
        columns = [name for name in seat.table if name.startswith("memory/")]
        assert len(columns) == 6
        found = attribution(seat, step=3)
        assert found.past is not None
        assert list(found.past) == ["0", "1", "2"]
