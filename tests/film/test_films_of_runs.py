"""`gymnast video` on the command line, and the films that are made automatically after training."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pygame
import pytest

from gymnast.config.resolve import resolve
from gymnast.film import worker
from gymnast.film.background import film_in_background
from gymnast.runs import film_queue, films, lock
from gymnast.runs.film_queue import FilmRequest
from gymnast.runs.run import Run
from tests.e2e.commands import (
    read_json,
    run_checked,
    run_gymnast,
    run_here,
    run_json,
    small_settings,
)
from tests.film.film_envs import decode_film
from tests.small_runs import traces, train_small
from tests.waiting import wait_for

pytestmark = pytest.mark.slow


def typed(run: Run, *words: str):
    (film,) = run_json(run.path.parent, "video", run.id, *words)["films"]
    return film


@pytest.fixture
def copy(cartpole: Run, tmp_path: Path) -> Run:
    """Returns a copy of the run in its own runs directory."""
    shutil.copytree(cartpole.path, tmp_path / "runs" / cartpole.id)
    return Run(tmp_path / "runs" / cartpole.id)


def test_a_film_of_the_best_episode_is_stored_described_and_listed(copy: Run):
    about = typed(copy)
    best = copy.info["checkpoints"]["best"]
    film = Path(about["path"])
    assert film == copy.path / "videos" / f"eval-{best:012d}-best.mp4"
    episode = max(traces(copy, "eval")[best], key=lambda trace: trace.raw_return)
    assert (about["seed"], about["episode_return"]) == (episode.seed, episode.raw_return)
    frames, stream = decode_film(film)
    assert stream["fps"] == about["fps"] == 50  # from the preset
    assert len(frames) == about["frames"] == len(episode) + 1 + 50
    assert frames.shape[1:] == (484, 600, 3)
    assert np.abs(frames[0].astype(int) - frames[len(episode)]).max() > 100
    assert frames[:, 400:].mean() < 60  # the dark band, below the white picture
    assert frames[:, :300].mean() > 200
    assert about["exact"]

    info = run_json(copy.path.parent, "show", copy.id)
    (listed,) = info["videos"]
    assert listed["path"] == str(film)
    assert listed["is_best"]
    page = run_checked(copy.path.parent, "show", copy.id)
    assert f"best    {film}" in page


def test_frame_rate_file_and_episode_follow_the_options(copy: Run, tmp_path: Path):
    about = typed(copy, "--episode", "2", "--fps", "5", "--out", str(tmp_path / "x.mp4"))
    frames, stream = decode_film(tmp_path / "x.mp4")
    assert stream["fps"] == 5
    assert len(frames) == about["length"] + 1 + 5
    assert not (tmp_path / "x.json").exists()
    assert not (copy.path / "videos").exists()


def test_a_grid_shows_eight_frames(copy: Run, tmp_path: Path):
    run_checked(copy.path.parent, "video", copy.id, "--grid", str(tmp_path / "grid.png"))
    picture = pygame.surfarray.array3d(pygame.image.load(tmp_path / "grid.png")).swapaxes(0, 1)
    height, width = picture.shape[:2]
    assert width == 4 * 320 + 3 * 6
    tiles = [picture[: height // 2 - 3, 326 * i : 326 * i + 320] for i in range(4)]
    assert all(not np.array_equal(a, b) for a, b in pairwise(tiles))
    refused = run_gymnast(copy.path.parent, "video", copy.id, "--grid", str(tmp_path / "grid.gif"))
    assert refused.returncode == 2


def test_a_film_of_learning_shows_each_evaluation_in_1080p(copy: Run):
    about = typed(copy, "--learning", "--fps", "2")
    frames, stream = decode_film(Path(about["path"]))
    assert stream["codec"] == "h264"
    assert frames.shape[1:] == (1080, 1920, 3)
    lengths = {
        version: next(len(t) for t in episodes if t.seed == about["clips"][0]["seed"])
        for version, episodes in traces(copy, "eval").items()
    }
    versions = [clip["version"] for clip in about["clips"]]
    assert versions == list(lengths)
    assert len(frames) == sum(length + 1 + 2 for length in lengths.values())
    first, second = frames[0, :100], frames[lengths[versions[0]] + 3, :100]
    assert not np.array_equal(first, second)  # the title


def test_an_environment_without_a_renderer_raises_a_clear_error(runs_dir: Path):
    run = train_small("Script", {"stop.env_steps": 64, "env.n_envs": 4, "algo.n_steps": 16})
    refused = run_gymnast(runs_dir, "video", run.id)
    assert refused.returncode == 1
    assert "has no render mode that can be filmed" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (run.path / "videos").exists()


def filmed_training(runs: Path, *words: str) -> Run:
    """Trains with automatic films enabled; returns when training has ended."""
    command = [
        sys.executable,
        "-m",
        "gymnast",
        "train",
        *words,
        *small_settings(),
        "--runs",
        str(runs),
    ]
    done = subprocess.run(
        [*command, "--quiet", "--env-steps", "512"],
        env={k: v for k, v in os.environ.items() if k != "GYMNAST_FILM"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (path,) = runs.glob("*/run.json")
    return Run(path.parent)


def test_best_and_last_episodes_are_filmed_automatically_after_training(tmp_path: Path):
    cut = ("--set", "eval.max_episode_steps=12", "--set", "facts.fps=10")
    run = filmed_training(tmp_path / "runs", "CartPole-v1", *cut)
    videos = run.path / "videos"
    best, last = run.info["checkpoints"]["best"], max(traces(run, "eval"))
    expected = [f"eval-{best:012d}-best", f"eval-{last:012d}-last"]
    wait_for(lambda: all((videos / f"{n}.json").exists() for n in expected))
    for name in expected:
        about = films.read_description(videos / f"{name}.mp4")
        frames, _ = decode_film(videos / f"{name}.mp4")
        assert about["exact"]
        assert len(frames) == about["length"] + 1 + 10
    wait_for(lambda: f"{expected[1]}.mp4" in (videos / "film.log").read_text())
    assert {p.suffix for p in videos.iterdir()} == {".mp4", ".json", ".log"}


def test_the_film_log_has_the_reason_why_there_is_no_film(tmp_path: Path):
    run = filmed_training(tmp_path / "runs", "py:tests.scripted:Script")
    log = run.path / "videos" / "film.log"
    wait_for(lambda: log.exists() and log.read_text().count("no render mode") == 2)
    assert run.info["status"] == "finished"


def test_filming_can_be_switched_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GYMNAST_FILM")
    settings = {"stop.env_steps": 64, "env.n_envs": 4, "algo.n_steps": 16, "traces.film": "off"}
    run = train_small("Script", settings)
    assert not (run.path / "videos").exists()


def test_if_filming_cannot_start_only_a_warning_is_logged(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv("GYMNAST_FILM")
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    run = train_small("Script", {"stop.env_steps": 64, "env.n_envs": 4, "algo.n_steps": 16})
    assert run.info["status"] == "finished"
    assert (
        "the process that makes videos and trajectories could not be started"
        in (run.path / "log.txt").read_text()
    )


def work(runs: Path) -> None:
    """Runs the process that makes what waits in the queue, until it is empty."""
    command = [sys.executable, "-m", "gymnast.film.worker", str(runs)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def film(run: Run) -> str:
    """Makes the films of a run, and returns what was added to its film log."""
    log = run.path / "videos" / "film.log"
    before = log.read_text() if log.exists() else ""
    film_queue.add(run.path, "films")
    work(run.path.parent)
    return log.read_text().removeprefix(before)


def test_the_films_of_a_deleted_run_are_removed_from_the_queue(copy: Run):
    film_queue.add(copy.path, "films")
    shutil.rmtree(copy.path)
    work(copy.path.parent)
    assert film_queue.waiting(copy.path.parent) == []


def test_existing_films_are_made_again_only_if_they_show_another_episode(copy: Run):
    assert film(copy).count("frames, return") == 2
    assert film(copy) == ""
    best = copy.path / "videos" / f"eval-{copy.info['checkpoints']['best']:012d}-best.mp4"
    about = films.read_description(best)
    films.write_description(best, about | {"return": about["return"] + 1})
    assert film(copy).count("frames, return") == 1
    assert films.read_description(best)["return"] == about["return"]


def test_trajectories_and_short_films_are_made_first_whatever_the_order_of_the_runs(
    copy: Run, monkeypatch: pytest.MonkeyPatch
):
    steps = {"long": 500, "short": 20, "middle": 100}
    monkeypatch.setattr(film_queue, "_steps", lambda run: steps[run.name])
    runs = copy.path.parent
    for name in steps:
        for part in ("films", "trajectories"):
            film_queue.add(runs / name, part)
    found = [(request.part, request.run) for request in film_queue.waiting(runs)]
    order = ["short", "middle", "long"]
    assert found == [(part, name) for part in ("trajectories", "films") for name in order]
    shown = read_json(runs, "films")
    assert [(request["part"], request["run"]) for request in shown] == found
    assert run_here(runs, "films", "--clear").stdout.count("removed") == len(found)
    assert run_here(runs, "films").stdout == "nothing waits\n"


def test_no_second_process_starts_while_one_makes_films(copy: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GYMNAST_FILM")
    monkeypatch.setattr(
        sys, "executable", "/no/such/python"
    )  # a process that is started would fail
    runs = copy.path.parent
    with lock.exclusive_if_free(film_queue.lock_file(runs)) as is_free:
        assert is_free
        film_in_background(copy.path, copy.config())
        monkeypatch.undo()
        work(runs)  # nor does it wait
        assert film_queue.take(runs) == FilmRequest(copy.id, "films", steps=ANY)
        assert film_queue.running(runs) == FilmRequest(copy.id, "films", running=True)
    assert film_queue.running(runs) is None


def test_a_film_that_takes_longer_than_the_training_is_given_up_with_a_note(
    copy: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(worker, "FREE_SECONDS", 0.0)
    monkeypatch.setattr(worker, "MEASURING_SECONDS", 0.0)
    copy.update(clocks={**copy.info["clocks"], "seconds": 0.0})
    worker.film_run(copy)
    assert capsys.readouterr().out.count("is not made: filming") == 2
    assert list((copy.path / "videos").iterdir()) == []
    copy.update(clocks={**copy.info["clocks"], "seconds": 1000.0})
    worker.film_run(copy)
    assert len(list((copy.path / "videos").glob("*.mp4"))) == 2


def test_without_traces_there_is_nothing_to_film(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GYMNAST_FILM")
    for without in ({"traces.eval": "off"}, {"eval.every": "off"}):
        film_in_background(tmp_path, resolve("CartPole-v1", without).config)
    assert list(tmp_path.iterdir()) == []
