"""Path pictures and films of trajectories, of runs and of files from elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from gymnast.errors import GymnastError, UsageError
from gymnast.film.headless import headless_rendering
from gymnast.film.make import FilmOptions
from gymnast.progress import no_progress
from gymnast.runs.run import Run
from gymnast.trajectories.colors import PALETTE, role_colors
from gymnast.trajectories.drawing import drawn_frames
from gymnast.trajectories.files import read_file
from gymnast.trajectories.films import film_trajectory
from gymnast.trajectories.lines import parse_line
from gymnast.trajectories.selection import first_of_each_cast, one_of_each_result
from gymnast.trajectories.task import trajectory_paths, trajectory_replay
from gymnast.trajectories.trajectory import Trajectory
from gymnast.trajectories.write import write_trajectories
from tests.trajectories.made import foreign_line, write_lines


def lines_of(run: Run, data: Path) -> list[Trajectory]:
    return read_file(Path(write_trajectories(run, data).files[0].path))


def paths(ref: str, runs: Path, out: Path, number: int | None = None):
    return trajectory_paths(
        ref, kind="eval", number=number, out=str(out), data=None, runs_dir=str(runs),
        progress=no_progress,
    )  # fmt: skip


def replay(ref: str, runs: Path, out: Path, number: int | None = None):
    return trajectory_replay(
        ref, kind="eval", number=number, out=str(out), data=None, runs_dir=str(runs), fps=None,
        progress=no_progress,
    )  # fmt: skip


def test_a_picture_shows_several_matches_or_one(tag: Run, tmp_path: Path) -> None:
    runs = tag.path.parent
    (several,) = paths(tag.id, runs, tmp_path).pictures
    (one,) = paths(tag.id, runs, tmp_path, number=5).pictures
    assert len(several.numbers) == 24
    assert one.numbers == (5,)
    with Image.open(several.path) as many, Image.open(one.path) as single:
        assert many.width > 2 * single.width
        colors = {color for _, color in single.convert("RGB").getcolors(1 << 24) or ()}
    for color in role_colors(["seeker", "hider"]).values():
        # the strongest shade of each role is drawn; a small palette rounds it
        assert min(np.abs(np.subtract(seen, color)).max() for seen in colors) <= 8
    with pytest.raises(UsageError, match="no trajectory number 99"):
        paths(tag.id, runs, tmp_path, number=99)


def test_paths_of_an_environment_without_positions_are_refused(pole: Run, tmp_path: Path) -> None:
    with pytest.raises(GymnastError, match="CartPole-v1 has no positions") as error:
        paths(pole.id, pole.path.parent, tmp_path)
    assert "facts.position" in error.value.fix
    assert not list(tmp_path.glob("*.png"))


def test_paths_of_cells_are_drawn(lake: Run, tmp_path: Path) -> None:
    (picture,) = paths(lake.id, lake.path.parent, tmp_path).pictures
    assert len(picture.numbers) == 6


def test_a_film_of_a_match_is_an_exact_replay_with_a_frame_per_step(
    tag: Run, tmp_path: Path
) -> None:
    (film,) = replay(tag.id, tag.path.parent, tmp_path, number=0).films
    assert film.exact
    assert film.cast
    with av.open(film.path) as video:
        frames = sum(1 for _ in video.decode(video=0))
    assert frames == film.frames == (film.length or 0) + 1 + round(film.fps)  # the end is held 1 s


def test_a_film_of_a_changed_trajectory_says_that_it_differs(pole: Run, tmp_path: Path) -> None:
    line = lines_of(pole, tmp_path)[0]
    agent = line.agents[0]
    changed = replace(agent, reward=(*agent.reward[:-1], 7.0))
    options = FilmOptions(tmp_path / "x.mp4", write_description=False)
    with headless_rendering():
        film = film_trajectory(replace(line, agents=(changed,)), pole.config(), options)
        exact = film_trajectory(line, pole.config(), options)
    assert not film.exact
    assert f"from step {line.length}" in film.note
    assert exact.exact


def test_files_of_other_programs_are_drawn_and_filmed(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "in" / "godot.jsonl",
        foreign_line(),
        foreign_line(number=1, outcome=None, winner=None, tags=[]),
        foreign_line(run="godot-8"),
    )
    pictures = paths(str(tmp_path / "in"), tmp_path, tmp_path / "out").pictures
    assert [(one.run, one.numbers) for one in pictures] == [("godot-7", (0, 1)), ("godot-8", (0,))]
    films = replay(str(tmp_path / "in"), tmp_path, tmp_path / "out").films
    assert [film.outcome for film in films] == ["tag", "", "tag"]
    assert len({film.path for film in films}) == 3
    bare = foreign_line(distance=None, tags=[])
    for agent in bare["agents"]:
        agent["position"] = None
    write_lines(tmp_path / "bare" / "x.jsonl", bare)
    for make in (paths, replay):
        with pytest.raises(GymnastError, match="arena3d has no positions"):
            make(str(tmp_path / "bare"), tmp_path, tmp_path / "out")


def test_agents_are_drawn_where_they_are() -> None:
    """The pixel of an agent's position has the color of its role, in every frame."""
    line = parse_line(json.dumps(foreign_line(tags=[])), "here:1")
    assert line.arena is not None
    for frame in drawn_frames(line):
        height, width, _ = frame.picture.shape
        assert (width, height) == (480, 320)  # the arena is 6 x 4
        for agent, color in zip(line.agents, PALETTE, strict=False):
            assert agent.position is not None
            x, y = agent.position[frame.step]
            # above the middle, on which the heading of the first agent is drawn
            pixel = frame.picture[round((2 - y - 0.12) * 80), round((x + 1) * 80)]
            assert np.abs(pixel.astype(int) - color).max() < 12
        assert bool(frame.ending) == (frame.step == 2)
        total = sum(line.agents[0].reward[: frame.step])
        assert frame.returns["chaser"] == pytest.approx(total)


def test_selections_have_every_cast_and_every_result(tag: Run, data: Path) -> None:
    lines = lines_of(tag, data)
    casts = {tuple(line.cast.items()) for line in lines}
    assert {tuple(line.cast.items()) for line in first_of_each_cast(lines, len(casts))} == casts
    filmed = [(*line.cast.items(), line.outcome) for line in one_of_each_result(lines)]
    assert len(filmed) == len(set(filmed))
    assert set(filmed) == {(*line.cast.items(), line.outcome) for line in lines}
