"""The format of trajectory files: what is written is read back, and every mistake has one clear message."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from gymnast.envs.matches.placement import Arena
from gymnast.errors import GymnastError
from gymnast.trajectories.files import find_files, read_file
from gymnast.trajectories.lines import parse_line, to_line
from gymnast.trajectories.trajectory import FORMAT, AgentPath, Tag, Trajectory
from tests.trajectories.made import ANY, foreign_line, write_lines

DOCS = Path(__file__).parents[2] / "docs" / "trajectories.md"


def test_a_line_is_read_back_as_it_was_written() -> None:
    line = parse_line(json.dumps(foreign_line()), "here:1")
    assert parse_line(to_line(line), "there:1") == line
    assert line.agents[0].action == ((0.5, 1), (0, 1))
    assert line.agents[1].heading is None
    assert "\n" not in to_line(line)


def test_numbers_keep_every_bit() -> None:
    reward = [0.1 + 0.2, 1 / 3]
    agents = foreign_line()["agents"]
    agents[0]["reward"] = reward
    line = parse_line(json.dumps(foreign_line(agents=agents)), "here:1")
    assert list(parse_line(to_line(line), "there:1").agents[0].reward) == reward


def _without(name: str) -> ANY:
    line = foreign_line()
    del line[name]
    return line


def _agent(**changes: Any) -> ANY:
    line = foreign_line()
    line["agents"][1] |= changes
    return line


FAULTS: dict[str, tuple[ANY, str]] = {
    "another version": (foreign_line(format=2), r"format: is 2 \(expected 1"),
    "no version": (_without("format"), r"format: is missing"),
    "a missing field": (_without("winner"), r"winner: is missing \(expected by format 1\)"),
    "a renamed field": (
        _without("outcome") | {"outcomes": "tag"},
        r"outcomes: is not a field of format 1; did you mean outcome",
    ),
    "a renamed field of an agent": (
        _agent(rewards=[1, 2]),
        r"agents.1.rewards: is not a field of format 1; did you mean reward",
    ),
    "a text for a number": (foreign_line(version="1k"), r'version: is "1k" \(expected a valid int'),
    "a switch for a number": (foreign_line(length=True), r"length: is true \(expected a valid int"),
    "an unknown kind": (foreign_line(kind="test"), r"kind: is 'test' \(expected train, eval"),
    "a path for a run": (foreign_line(run="../x"), r"run: is '../x' \(expected letters"),
    "no steps": (foreign_line(length=0), r"length: is 0 \(expected at least 1 step\)"),
    "a negative number": (foreign_line(number=-1), r"number: is -1 \(expected 0 or more\)"),
    "a winner without a role": (
        foreign_line(winner="seeker"),
        r"winner: is 'seeker' \(expected a role of cast \('chaser', 'runner'\)",
    ),
    "a role without agents": (
        foreign_line(cast={"chaser": "learner", "runner": "random", "referee": "random"}),
        r"agents: none has the role 'referee'",
    ),
    "an agent without a role": (_agent(role="pilot"), r"agents.1.role: is 'pilot' \(expected a"),
    "too few rewards": (_agent(reward=[0]), r"agents.1.reward: has 1 entries \(expected 2, one"),
    "no final position": (
        _agent(position=[[0, 0], [1, 1]]),
        r"agents.1.position: has 2 entries \(expected 3, one per step and the final one\)",
    ),
    "a position with one number": (
        _agent(position=[[0, 0], [1], [1, 1]]),
        r"agents.1.position.1.1: is missing",
    ),
    "too many steps": (_agent(steps=3), r"agents.1.steps: is 3 \(expected 0 to the length, 2\)"),
    "too many distances": (foreign_line(distance=[1, 2, 3]), r"distance: has 3 entries"),
    "a tag of nobody": (
        foreign_line(tags=[{"step": 1, "agent": 5, "position": [0, 0]}]),
        r"tags.0.agent: is 5 \(expected an index of agents\)",
    ),
    "a tag before the start": (
        foreign_line(tags=[{"step": 0, "agent": 1, "position": [0, 0]}]),
        r"tags.0.step: is 0 \(expected 1 to 2\)",
    ),
    "an arena without area": (
        foreign_line(arena={"x": [1, 1], "y": [0, 2]}),
        r"arena: has no area",
    ),
    "not a number": (
        _agent(reward=[float("nan"), 0]),
        r"agents.1.reward.0: is NaN \(expected a fin",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_names_file_line_field_expectation_and_remedy(name: str, tmp_path: Path) -> None:
    fields_, message = FAULTS[name]
    path = write_lines(tmp_path / "eval.jsonl", foreign_line(number=7), fields_)
    with pytest.raises(GymnastError) as error:
        read_file(path)
    assert error.value.at == f"{path}:2"
    assert error.value.fix
    assert re.match(message, error.value.message), error.value.message


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "an empty file": (lambda path: path.write_text("\n"), "is empty"),
    "a table": (lambda path: path.write_text("a,b\n1,2\n"), "is not JSON"),
    "a line that was cut off": (
        lambda path: path.write_text(json.dumps(foreign_line())[:-9]),
        "is not JSON",
    ),
    "a list": (lambda path: path.write_text("[1]"), "line: is "),
    "bytes": (lambda path: path.write_bytes(b"\xff\xfe{}"), "is not UTF-8"),
    "a number twice": (
        lambda path: write_lines(path, foreign_line(), foreign_line()),
        "number: 0 is that of line 1 too",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_rejected(name: str, tmp_path: Path) -> None:
    write, message = BROKEN[name]
    path = tmp_path / "eval.jsonl"
    write(path)
    with pytest.raises(GymnastError, match=message) as error:
        read_file(path)
    assert error.value.at.startswith(str(path))
    assert error.value.fix


def test_files_are_found_in_all_folders_and_a_directory_without_any_is_an_error(
    tmp_path: Path,
) -> None:
    with pytest.raises(GymnastError, match="has no trajectory files"):
        find_files(tmp_path)
    path = write_lines(tmp_path / "a" / "b" / "x.jsonl", foreign_line())
    assert find_files(tmp_path) == find_files(path) == [path]


def test_the_documented_table_has_exactly_the_fields_of_the_format() -> None:
    text = DOCS.read_text()
    documented = set(re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE))
    kinds = {"": Trajectory, "agents.": AgentPath, "tags.": Tag, "arena.": Arena}
    assert documented == {f"{at}{f.name}" for at, kind in kinds.items() for f in fields(kind)}
    assert f"format {FORMAT}" in text


def test_the_documented_example_is_a_valid_line() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert parse_line(json.dumps(json.loads(example)), "docs:1").is_match
