"""Selection of a stored episode by `best`, `last` or a number."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gymnast.errors import RunError, UsageError
from gymnast.film.choose import choose_episode, trace_files
from gymnast.film.learning import choose_clips
from gymnast.runs.run import Run
from tests.small_runs import traces


def test_best_is_the_highest_return_of_the_best_version(cartpole: Run):
    chosen, best = choose_episode(cartpole), cartpole.info["checkpoints"]["best"]
    assert chosen.version == best
    returns = [trace.raw_return for trace in traces(cartpole, "eval")[best]]
    assert chosen.trace.raw_return == max(returns) == returns[chosen.index]


def test_last_is_the_first_episode_of_the_newest_version(cartpole: Run):
    newest, episodes = max(traces(cartpole, "eval").items())
    chosen = choose_episode(cartpole, "last")
    assert (chosen.version, chosen.index, chosen.trace.seed) == (newest, 0, episodes[0].seed)


def test_a_number_and_a_checkpoint_select_exactly_that_episode(cartpole: Run):
    for version, episodes in traces(cartpole, "eval").items():
        for i, episode in enumerate(episodes):
            chosen = choose_episode(cartpole, str(i), checkpoint=str(version))
            assert (chosen.version, chosen.index) == (version, i)
            assert chosen.trace.seed == episode.seed
            assert chosen.trace.reward.tolist() == episode.reward.tolist()


def test_confirmation_and_training_episodes_can_be_selected(cartpole: Run):
    assert choose_episode(cartpole, kind="confirm").version == cartpole.info["checkpoints"]["best"]
    training = traces(cartpole, "train")
    assert choose_episode(cartpole, "last", kind="train").version == max(training)
    assert choose_episode(cartpole, "0", kind="train", checkpoint="latest").version == max(training)


@pytest.mark.parametrize("episode", ["4", "-1", "first", ""])
def test_an_unknown_episode_is_rejected_with_the_valid_range(cartpole: Run, episode: str):
    with pytest.raises(UsageError, match="best, last or a number from 0 to 3"):
        choose_episode(cartpole, episode)


def test_contradicting_versions_are_rejected(cartpole: Run):
    with pytest.raises(UsageError, match="contradict each other"):
        choose_episode(cartpole, "last", checkpoint="best")
    with pytest.raises(RunError, match="no checkpoint is at"):
        choose_episode(cartpole, checkpoint="99")


def test_a_run_without_traces_is_rejected_with_a_fix(cartpole: Run, tmp_path: Path):
    copy = Run(tmp_path / "copy")
    shutil.copytree(cartpole.path, copy.path)
    shutil.rmtree(copy.traces)
    with pytest.raises(RunError, match="no eval episodes are stored") as refusal:
        choose_episode(copy)
    assert "gymnast play" in refusal.value.fix


def test_learning_progress_is_shown_on_one_seed_from_the_first_to_the_last_evaluation(
    cartpole: Run,
):
    parts = choose_clips(cartpole)
    versions = list(trace_files(cartpole, "eval"))
    assert [part.version for part in parts] == versions
    assert len({part.trace.seed for part in parts}) == 1
    last = sorted(t.raw_return for t in traces(cartpole, "eval")[versions[-1]])
    assert parts[-1].trace.raw_return == last[len(last) // 2]
