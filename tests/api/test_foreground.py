"""Training in the process of the caller through the API, and groups of seeds that the caller waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymnast import api
from gymnast.api import foreground
from gymnast.api.foreground import PlayRequest, ResumeRequest, TrainRequest
from gymnast.errors import ConfigError, UsageError
from gymnast.runs.run import Run
from tests.api.background import TINY, assert_round_trips


@pytest.fixture(autouse=True)
def no_freeze(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gc.freeze", lambda: None)  # this process continues with other tests


def test_a_run_is_trained_resumed_and_branched(capsys: pytest.CaptureFixture[str]):
    request = TrainRequest("CartPole-v1", TINY, seed=2, name="here", tags=("a",))
    result = foreground.train_here(request, show="nothing")
    assert result is not None
    assert (result.name, result.env_steps, result.interrupted) == ("here", 256, False)
    assert Run(result.path).info["seed"] == 2
    assert result.reason == "budget of 256 env steps spent"
    more = foreground.resume_here(
        ResumeRequest("here", overrides={"stop.env_steps": 320}), show="nothing"
    )
    assert (more.id, more.env_steps, more.parent) == (result.id, 320, None)
    assert capsys.readouterr().out == ""
    branch = foreground.resume_here(ResumeRequest("here:64", name="side"), show="ending")
    assert (branch.parent, branch.parent_step, branch.name) == (result.id, 64, "side")
    assert f"branched from {result.id} at 64: new run {branch.id} (side)" in capsys.readouterr().out
    for record in (request, result, more, branch):
        assert_round_trips(record)


def test_without_agreement_nothing_is_written(runs_dir: Path, capsys: pytest.CaptureFixture[str]):
    request = TrainRequest("CartPole-v1", TINY)
    assert foreground.train_here(request, show="ending", agreed=lambda: False) is None
    assert "256 env steps" in capsys.readouterr().out, "the plan is shown before"
    assert not runs_dir.exists()


def test_mistakes_are_found_before_anything_is_written(runs_dir: Path):
    with pytest.raises(ConfigError, match=r"algo\.lrr"):
        foreground.train_here(TrainRequest("CartPole-v1", {"algo.lrr": 1}))
    with pytest.raises(UsageError, match="did you mean policy/kl"):
        foreground.train_here(TrainRequest("CartPole-v1", TINY), pinned=["policy/kll"])
    assert not runs_dir.exists()


def test_a_group_of_seeds_is_trained_and_scored():
    request = TrainRequest("CartPole-v1", TINY, name="pair")
    trained = foreground.train_group_here(request, seeds=[4, 5], names=["a", "b"], jobs=2)
    assert (trained.group, trained.ok, trained.errors) == ("pair", True, {})
    assert trained.result == api.group("pair")
    assert [entry.seed for entry in trained.result.scores] == [4, 5]
    assert_round_trips(trained)
    failed = foreground.train_group_here(request, seeds=[4], names=["a"])
    assert not failed.ok
    assert "the name 'a' is taken" in failed.errors[4]
    assert_round_trips(failed)


def test_a_game_is_played_and_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.setenv(name, "")
    film, lines = tmp_path / "random.mp4", list[str]()
    request = PlayRequest("CartPole-v1", seed=3, episodes=2, record=str(film))
    played = foreground.play_here(request, echo=lines.append)
    assert (played.player, played.record) == ("random", str(film))
    assert film.stat().st_size > 0
    assert [episode.seed for episode in played.episodes] == [3, 4]
    assert f"return {played.episodes[0].raw_return:.6g} in" in lines[0]
    assert_round_trips(played)
    assert_round_trips(request)
    with pytest.raises(UsageError, match="has no policy"):
        foreground.play_here(PlayRequest("CartPole-v1", "policy"))
