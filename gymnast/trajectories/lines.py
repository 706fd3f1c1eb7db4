"""One line of a trajectory file: written as JSON, and validated when it is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from gymnast.errors import GymnastError
from gymnast.league.results import DRAW
from gymnast.records import to_json
from gymnast.runs.episode_kinds import KINDS
from gymnast.text.suggestions import did_you_mean
from gymnast.trajectories.trajectory import FORMAT, AgentPath, Tag, Trajectory

_REMEDY = "fix the program that writes the file; the format is described in docs/trajectories.md"
_UNKNOWN_FIELD = "unexpected_keyword_argument"
"""The name of this error in pydantic."""
_ADAPTER = TypeAdapter(Trajectory)
_FIELDS = [name for kind in (Trajectory, AgentPath, Tag) for name in kind.__dataclass_fields__]


def to_line(trajectory: Trajectory) -> str:
    """Returns the line of a trajectory, with all numbers at full precision and without a newline."""
    return json.dumps(to_json(trajectory), allow_nan=False, separators=(",", ":"))


def parse_line(text: str, at: str) -> Trajectory:
    """Returns the trajectory of a line. `at`: file and line, for messages. Raises GymnastError with the first
    field that is wrong, what is expected there and what to do."""
    try:
        fields: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"the line is not JSON: {error} (expected one JSON object per line)"
        raise GymnastError(problem, at=at, fix=_remedy(text)) from None
    if isinstance(fields, dict) and (found := fields.get("format", FORMAT)) != FORMAT:  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        problem = f"format: is {found!r} (expected {FORMAT}, the version that this gymnast reads)"
        raise GymnastError(problem, at=at, fix="update gymnast, or write the file again")
    try:
        trajectory = _ADAPTER.validate_json(text, strict=True)
    except ValidationError as error:
        # An unknown field first: if it was renamed, another one is missing because of that.
        first = min(error.errors(), key=lambda one: one["type"] != _UNKNOWN_FIELD)
        raise GymnastError(_explained(first), at=at, fix=_REMEDY) from None
    for field, problem in _contradictions(trajectory):
        raise GymnastError(f"{field}: {problem}", at=at, fix=_REMEDY)
    return trajectory


def _remedy(text: str) -> str:
    """Returns the suggestion for a line that is not JSON."""
    if text.startswith("{") and not text.rstrip().endswith("}"):
        return "the line was cut off: write the file again, or delete this line"
    return _REMEDY


def _explained(error: ErrorDetails) -> str:
    """Returns the field, its value and what is expected, from an error of pydantic."""
    # Alternatives of a union follow the field in the location; a field has a name or an index.
    place = [str(part) for part in error["loc"] if str(part) in _FIELDS or isinstance(part, int)]
    last = str(error["loc"][-1]) if error["loc"] else "line"
    if error["type"] == "missing":
        return f"{'.'.join([*place[:-1], last])}: is missing (expected by format {FORMAT})"
    if error["type"] == _UNKNOWN_FIELD:
        known = did_you_mean(last, _FIELDS)
        return f"{'.'.join([*place, last])}: is not a field of format {FORMAT}{known}"
    message = error["msg"].removeprefix("Input should be ")
    return f"{'.'.join(place) or last}: is {_short(error['input'])} (expected {message})"


def _short(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _contradictions(t: Trajectory) -> Iterator[tuple[str, str]]:
    """Yields (field, problem) for fields that contradict each other."""
    if not re.fullmatch(r"\w[\w.-]*", t.run):  # it becomes part of file names
        yield "run", f"is {t.run!r} (expected letters, digits, _, - and .)"
    if t.kind not in KINDS:
        yield "kind", f"is {t.kind!r} (expected {', '.join(KINDS)})"
    for name, value in {"version": t.version, "number": t.number}.items():
        if value < 0:
            yield name, f"is {value} (expected 0 or more)"
    if t.length < 1:
        yield "length", f"is {t.length} (expected at least 1 step)"
    if t.winner not in (None, DRAW, *t.cast):
        roles = ", ".join(map(repr, t.cast))
        yield "winner", f"is {t.winner!r} (expected a role of cast ({roles}), '' or null)"
    if t.distance is not None and len(t.distance) != t.length:
        yield "distance", _wrong_length(len(t.distance), t.length, "one per step")
    for i, agent in enumerate(t.agents):
        yield from ((f"agents.{i}.{field}", text) for field, text in _agent_problems(agent, t))
    for role in t.cast:
        if not t.of_role(role):
            yield "agents", f"none has the role {role!r} of cast (expected at least one)"
    for i, tag in enumerate(t.tags):
        if not 0 <= tag.agent < len(t.agents):
            yield f"tags.{i}.agent", f"is {tag.agent} (expected an index of agents)"
        if not 1 <= tag.step <= t.length:
            yield f"tags.{i}.step", f"is {tag.step} (expected 1 to {t.length})"
    if t.arena is not None and (t.arena.x[0] >= t.arena.x[1] or t.arena.y[0] >= t.arena.y[1]):
        yield "arena", "has no area (expected x and y as [low, high] with low < high)"


def _agent_problems(agent: AgentPath, t: Trajectory) -> Iterator[tuple[str, str]]:
    if agent.role not in t.cast:
        yield "role", f"is {agent.role!r} (expected a role of cast: {', '.join(t.cast)})"
    if not 0 <= agent.steps <= t.length:
        yield "steps", f"is {agent.steps} (expected 0 to the length, {t.length})"
    for field, values in {"action": agent.action, "reward": agent.reward}.items():
        if len(values) != t.length:
            yield field, _wrong_length(len(values), t.length, "one per step")
    for field, values in {"position": agent.position, "heading": agent.heading}.items():
        if values is not None and len(values) != t.length + 1:
            yield field, _wrong_length(len(values), t.length + 1, "one per step and the final one")


def _wrong_length(found: int, expected: int, why: str) -> str:
    return f"has {found} entries (expected {expected}, {why})"
