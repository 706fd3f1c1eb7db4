"""Requests that would import Python code named by a config, which needs --allow-code.

The names of such code can be in the request (`py:` environments, algorithms and shaping terms,
`policy.module`), in the preset that it names, and in the stored config of a run that it evaluates or resumes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gymnast.api import TASK, Operation
from gymnast.config.named_code import code_in, code_of_target, untrusted_settings
from gymnast.config.resolve import parse_assignment
from gymnast.config.source import Source
from gymnast.errors import ConfigError, Failure, GymnastError
from gymnast.jobs.groups import group_runs
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.serving.options import ServerOptions
from gymnast.serving.references import references, texts
from gymnast.sweep import study as studies

CREATES_ENVIRONMENTS = (
    *("start", "resume", "dry_run", "config_show", "config_diff", "settings_form"),
    *("inspect", "steps", "steps_csv", "episode_frames", "branch", "branch_frames", "what_if"),
    *("attribution", "obs_images", "play_start", "review_contents"),
    *("sweep_init", "sweep_plan", "sweep_start", "tune_preset", "set_live"),
)
"""Operations that create an environment or a network although they are no tasks."""
SHOWS_RUNS = ("config_show", "config_diff", "settings_form")
"""Operations that create an environment for a preset, but only read a run."""
RUNS_STUDIES = ("sweep_resume",)
"""Operations that train the space of a stored study."""


def code_refusal(
    operation: Operation, arguments: Mapping[str, object], options: ServerOptions
) -> Failure | None:
    """Returns the error for a request that would import code named by a config; None if it would not."""
    if operation.effect != TASK and operation.name not in (*CREATES_ENVIRONMENTS, *RUNS_STUDIES):
        return None  # what only reads a run imports nothing that it names
    for where, code in _named_code(operation.name, arguments, options.runs_dir):
        return Failure(
            "code",
            f"{where} names code, or a path that would be read or written: {code}",
            at=operation.name,
            fix=f"restart the {options.NAME} with --allow-code, if you trust it",
        )
    return None


def _named_code(
    operation: str, arguments: Mapping[str, object], runs_dir: Path
) -> Iterator[tuple[str, str]]:
    """Yields (where it is named, the code)."""
    for argument in ("overrides", "assignments"):
        settings = _assignments(arguments.get(argument))
        yield from ((f"argument {argument}", code) for code in untrusted_settings(settings))
    yield from _code_of_study(operation, arguments, runs_dir)
    for named in references(operation, arguments):
        if named.is_target:
            yield from ((f"argument {named.argument}", code) for code in code_of_target(named.text))
        if operation not in SHOWS_RUNS:
            yield from _code_of_runs(named.text, runs_dir)


def _code_of_study(
    operation: str, arguments: Mapping[str, object], runs_dir: Path
) -> Iterator[tuple[str, str]]:
    """Yields the code that a search space names: its target, settings and choices."""
    if not {"space", "wandb"} & set(arguments) and operation not in RUNS_STUDIES:
        return
    try:
        text = arguments.get("space", arguments.get("wandb"))
        if text is None:
            text = studies.find(str(arguments.get("study")), runs_dir).space.text
        data: Any = Source.parse(str(text)).data
    except GymnastError:
        return  # the operation reports it
    if isinstance(data, Mapping):
        target = str(data.get("target", data.get("program", "")))
        named = (*code_of_target(target), *untrusted_settings(_flat(data)))
        yield from (("the search space", code) for code in named)


def _flat(data: Mapping[Any, Any]) -> list[object]:
    """Returns the settings of a space, and the values of each parameter under its config key."""
    return [data.get("settings"), *_values(data.get("parameters"), "")]


def _values(parameters: object, above: str) -> Iterator[dict[str, list[object]]]:
    """Yields config key -> everything that a parameter has. Those of W&B may be nested; `above`: the key of
    the section, with a dot at its end."""
    for name, spec in parameters.items() if isinstance(parameters, Mapping) else ():  # pyright: ignore[reportUnknownVariableType]
        if isinstance(spec, Mapping):
            yield {f"{above}{name}": [*spec.values()]}  # pyright: ignore[reportUnknownMemberType]
            yield from _values(spec.get("parameters"), f"{above}{name}.")  # pyright: ignore[reportUnknownMemberType]


def _assignments(value: object) -> object:
    """Returns overrides as settings; KEY=VALUE texts are parsed."""
    if isinstance(value, Mapping) or not isinstance(value, Sequence):
        return value  # pyright: ignore[reportUnknownVariableType]
    settings: list[object] = []
    for text in texts(value):
        try:
            key, parsed = parse_assignment(text)
        except ConfigError:  # the operation reports it
            key, parsed = "", text
        settings.append({key: parsed})
    return settings


def _code_of_runs(ref: str, runs_dir: Path) -> Iterator[tuple[str, str]]:
    """Yields the code that the stored config of a run, or of the runs of a group, names."""
    # An empty text names no run, while `group_runs` would return those without a group.
    for part in filter(None, ref.split("+")):
        for run in _runs(part, runs_dir):
            try:
                named = [*run.config_code(), *code_in({"preset": run.info["preset"]})]
            except Exception:  # unreadable: the operation reports it
                continue
            yield from ((f"the config of run {run.id}", code) for code in named)


def _runs(ref: str, runs_dir: Path) -> list[Run]:
    try:
        return [store.resolve(ref, runs_dir)[0]]
    except GymnastError:
        return [Run(Path(run.path)) for run in group_runs(runs_dir, ref)]
