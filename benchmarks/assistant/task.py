"""A task: a question, the truth, and the calls with which a sensible assistant answers it, as a YAML file.

    question: Which of the groups `base` and `frozen` is better, and is it more than noise?
    known: frozen was trained with a learning rate of 1e-6, so that it cannot learn.
    truth: {better: base, more_than_noise: true}
    mcp:
      - compare: {runs: [base, frozen]}
        let: {better: "r.verdicts[0].better", more_than_noise: "r.verdicts[0].exceeds_noise"}
    cli:
      - run: gymnast compare base frozen --json
        let: {better: "r.improvements[0].better", more_than_noise: "r.improvements[0].exceeds_noise"}

`let` computes values from `r`, the answer of this call, and from the values before it, as Python expressions;
missing fields are None. `$name` in the arguments of a later call is replaced by such a value. The answer is
the values with the names of the truth. A truth is a value; or {about: X, within: Y}; or {one_of: [...]}; or
{contains: TEXT}; or {fact: NAME, of: RUN}, read from the files of the run (`facts.py`) and not by a tool,
with a `metric` if it is about one, and `within` if it need not be exact.
`state` lists such facts that must hold after the session: {fact: NAME, of: RUN, is: VALUE} or at_least: X.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from benchmarks.assistant import facts

FOLDER = Path(__file__).with_name("tasks")
SIDES = ("mcp", "cli")


class Fields(dict[str, Any]):
    """A JSON object whose fields are attributes; None if it lacks one."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)


@dataclass(frozen=True)
class Step:
    """One call of a session."""

    call: str
    """Name of the tool, or the command line."""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of the tool."""
    let: dict[str, str] = field(default_factory=dict[str, str])
    """Name -> expression."""


@dataclass(frozen=True)
class Task:
    name: str
    question: str
    known: str
    """How the truth is known."""
    truth: dict[str, Any]
    steps: dict[str, list[Step]]
    """Side -> its calls."""
    state: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def load_tasks(folder: Path = FOLDER, names: Sequence[str] = ()) -> list[Task]:
    """Returns the tasks of a folder in the order of their files, or only those with these names."""
    files = (file for file in folder.glob("*.yaml") if file.name != "runs.yaml")
    tasks = [_load(file) for file in sorted(files)]
    unknown = set(names) - {task.name for task in tasks}
    if unknown:
        raise SystemExit(f"there is no task {', '.join(sorted(unknown))} in {folder}")
    return [task for task in tasks if not names or task.name in names]


def _load(file: Path) -> Task:
    try:
        return _task(file, YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8")))
    except (YAMLError, KeyError, TypeError, AttributeError) as error:
        raise SystemExit(f"{file} is not a task: {type(error).__name__}: {error}") from None


def _task(file: Path, data: Mapping[str, Any]) -> Task:
    return Task(
        name=file.stem,
        question=" ".join(data["question"].split()),
        known=" ".join(data["known"].split()),
        truth=data["truth"],
        steps={side: [_step(entry, file) for entry in data[side]] for side in SIDES},
        state=data.get("state", []),
    )


def _step(entry: Mapping[str, Any], file: Path) -> Step:
    let = {name: str(expression) for name, expression in entry.get("let", {}).items()}
    if "run" in entry:
        return Step(entry["run"], let=let)
    tools = [key for key in entry if key != "let"]
    if len(tools) != 1:
        raise SystemExit(f"{file}: a step names one tool, or `run`: {dict(entry)}")
    return Step(tools[0], entry[tools[0]] or {}, let)


def with_fields(value: Any) -> Any:
    """Returns JSON with `Fields` as its objects."""
    if isinstance(value, Mapping):
        return Fields({str(key): with_fields(item) for key, item in value.items()})  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return [with_fields(item) for item in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]


def evaluate(step: Step, answer: Any, values: dict[str, Any]) -> None:
    """Adds the values that a step computes from its answer to `values`."""
    r = with_fields(answer)
    for name, expression in step.let.items():
        values[name] = eval(expression, {"r": r, "re": re, **values})


def filled(value: Any, values: Mapping[str, Any]) -> Any:
    """Returns arguments with `$name` replaced by the value of this name."""
    if isinstance(value, str):
        if value.startswith("$") and value[1:] in values:
            return values[value[1:]]
        return re.sub(r"\$(\w+)", lambda found: str(values.get(found[1], found[0])), value)
    if isinstance(value, Mapping):
        return {key: filled(item, values) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return [filled(item, values) for item in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]


def wrong_answers(task: Task, values: Mapping[str, Any], runs: Path) -> list[str]:
    """Returns a text for each part of the answer that is not true, and for each state that does not hold."""
    wrong = [
        f"{key}: {values.get(key)!r} is not {truth!r}"
        for key, truth in task.truth.items()
        if not _holds(values.get(key), truth, runs)
    ]
    for condition in task.state:
        value = _fact(condition, runs)
        limit = condition.get("at_least")
        holds = value >= limit if limit is not None else value == condition["is"]
        wrong += [] if holds else [f"state: {condition} but it is {value!r}"]
    return wrong


def _holds(value: Any, truth: Any, runs: Path) -> bool:
    """Returns whether a part of an answer is true."""
    if not isinstance(truth, Mapping):
        return _equal(value, truth)
    if "fact" in truth:
        known = _fact(truth, runs)
        return _close(value, known, truth["within"]) if "within" in truth else _equal(value, known)
    if "about" in truth:
        return _close(value, truth["about"], truth["within"])
    if "one_of" in truth:
        return any(_equal(value, one) for one in truth["one_of"])
    if "contains" in truth:
        return str(truth["contains"]).lower() in str(value).lower()
    return _equal(value, truth)


def _fact(of: Mapping[str, Any], runs: Path) -> Any:
    return facts.fact(of["fact"], of["of"], runs, of.get("metric", ""))


def _equal(value: Any, truth: Any) -> bool:
    if isinstance(value, float) and isinstance(truth, int | float):
        return _close(value, truth, 1e-3 * max(1.0, abs(truth)))  # answers are rounded
    if isinstance(value, list) and isinstance(truth, list):
        return sorted(map(str, value)) == sorted(map(str, truth))  # pyright: ignore[reportUnknownArgumentType]
    return bool(value == truth)


def _close(value: Any, truth: float, within: float) -> bool:
    return isinstance(value, int | float) and abs(value - truth) <= within
