"""Stored matches and episodes become trajectories by replaying them, or are reported."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gymnast.errors import RunError
from gymnast.runs.match_trace import read_match_meta, read_matches, write_matches
from gymnast.runs.run import Run
from gymnast.runs.trace import read_traces
from gymnast.trajectories.files import read_file, run_folder, trajectory_file
from gymnast.trajectories.write import write_trajectories


@pytest.fixture
def tag_copy(tag: Run, tmp_path: Path) -> Run:
    """Returns a copy of the run of tag that a test may damage."""
    return Run(shutil.copytree(tag.path, tmp_path / "runs" / tag.id))


def test_every_stored_match_has_a_line_with_what_was_stored(tag: Run, tmp_path: Path) -> None:
    written = write_trajectories(tag, tmp_path)
    assert not written.skipped
    assert [Path(file.path) for file in written.files] == sorted(
        run_folder(tmp_path, tag.id).glob("eval-*.jsonl")
    )
    for file in written.files:
        stored = read_matches(tag.matches / f"eval-{file.version:012d}.safetensors")
        lines = read_file(Path(file.path))
        assert len(lines) == len(stored) == 2 * 2 * 6  # roles x opponents x episodes: all of them
        for number, (line, match) in enumerate(zip(lines, stored, strict=True)):
            assert (line.number, line.seed, line.length) == (number, match.seed, len(match))
            assert line.cast == match.cast
            assert line.outcome == match.outcome
            assert line.winner == {"tag": "seeker", "timeout": "hider"}[match.outcome]
            for role in match.rewards:
                assert (line.rewards(role) == match.rewards[role]).all()
                assert (line.actions(role) == match.actions[role]).all()


def test_positions_follow_the_rules_of_the_game(tag: Run, data: Path) -> None:
    """Agents stay in the arena and out of walls, a tag is within reach, and distances are those of the
    positions; all of it computed here again, agent by agent."""
    lines = [line for f in write_trajectories(tag, data).files for line in read_file(Path(f.path))]
    assert any(line.tags for line in lines)
    for line in lines:
        assert line.arena is not None
        assert line.arena.radius is not None
        for agent in line.agents:
            assert agent.position is not None
            assert agent.heading is not None
            for x, y in agent.position:
                assert line.arena.x[0] < x < line.arena.x[1]
                assert line.arena.y[0] < y < line.arena.y[1]
                for left, low, right, high in line.arena.walls:
                    assert not (left < x < right and low < y < high)
        for tag_ in line.tags:
            caught = line.agents[tag_.agent]
            assert caught.role == "hider"
            assert caught.steps == tag_.step
            assert caught.position is not None
            assert tag_.position == caught.position[tag_.step]
            seekers = [a.position[tag_.step] for a in line.of_role("seeker") if a.position]
            assert min(math.dist(tag_.position, at) for at in seekers) <= 1.0
        assert len(line.tags) == 2 if line.outcome == "tag" else len(line.tags) < 2
        assert line.distance is not None
        for t, distance in enumerate(line.distance):
            pairs = [
                math.dist(one.position[t + 1], other.position[t + 1])
                for one in line.of_role("seeker")
                for other in line.of_role("hider")
                if one.position and other.position and t < min(one.steps, other.steps)
            ]
            assert distance == pytest.approx(min(pairs), rel=1e-12)


def test_a_single_agent_has_positions_if_the_facts_declare_them(
    lake: Run, pole: Run, tmp_path: Path
) -> None:
    file = write_trajectories(lake, tmp_path).files[-1]
    stored = read_traces(lake.traces / f"eval-{file.version:012d}.safetensors")
    for line, trace in zip(read_file(Path(file.path)), stored, strict=True):
        assert line.cast == {"agent": "learner"}
        assert line.outcome == ("terminated" if trace.terminated else "truncated")
        path = np.array(line.agents[0].position)
        assert path[0].tolist() == [0.5, 3.5]  # the upper left cell
        # A step goes to a neighbor, or nowhere at the edge.
        assert (np.abs(np.diff(path, axis=0)).sum(1) <= 1).all()
    (first, *_) = read_file(Path(write_trajectories(pole, tmp_path).files[0].path))
    assert not first.has_positions
    assert first.arena is None


def test_a_replay_that_differs_is_reported_and_not_written(tag_copy: Run, tmp_path: Path) -> None:
    file = sorted(tag_copy.matches.glob("eval-*"))[0]
    matches = read_matches(file)
    changed = {role: actions.copy() for role, actions in matches[3].actions.items()}
    changed["seeker"][0] = (changed["seeker"][0] + 1) % 2
    matches[3] = replace(matches[3], actions=changed)
    write_matches(file, matches, read_match_meta(file))
    written = write_trajectories(tag_copy, tmp_path)
    assert [(one.version, one.number) for one in written.skipped] == [(matches[0].version, 3)]
    assert "differs from the recorded match" in written.skipped[0].why
    numbers = [line.number for line in read_file(Path(written.files[0].path))]
    assert numbers == [n for n in range(len(matches)) if n != 3]


def test_files_are_written_once_and_again_if_the_episodes_changed(
    tag_copy: Run, tmp_path: Path
) -> None:
    first = write_trajectories(tag_copy, tmp_path)
    assert all(file.written for file in first.files)
    again = write_trajectories(tag_copy, tmp_path)
    assert not any(file.written for file in again.files)
    damaged, lost = (Path(file.path) for file in first.files[:2])
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-20])
    lost.unlink()
    repaired = write_trajectories(tag_copy, tmp_path)
    assert [file.written for file in repaired.files] == [True, True] + [False] * (
        len(first.files) - 2
    )
    assert damaged.read_bytes() == content


def test_lines_of_episodes_that_were_removed_from_the_run_are_kept(
    tag_copy: Run, data: Path
) -> None:
    before = write_trajectories(tag_copy, data).files[0]
    file = tag_copy.matches / f"eval-{before.version:012d}.safetensors"
    write_matches(file, read_matches(file)[:2], read_match_meta(file))
    after = write_trajectories(tag_copy, data).files[0]
    assert after == replace(before, written=False)


def test_a_run_without_stored_episodes_of_the_kind_says_what_stores_them(
    pole: Run, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match="no fresh episodes are stored"):
        write_trajectories(pole, tmp_path, "fresh")
    with pytest.raises(RunError, match="of version 7"):
        write_trajectories(pole, tmp_path, "eval", 7)
    assert not trajectory_file(run_folder(tmp_path, pole.id), "eval", 7).exists()
