"""Requests that would import Python code named by a config, which needs --allow-code.

The names of such code can be in the request (`py:` environments, algorithms and shaping terms,
`policy.module`), in the preset that it names, and in the stored config of a run that it evaluates or resumes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gymnast.api import TASK, Operation
from gymnast.api.review import DEFAULT_LAST
from gymnast.config.presets import find_preset
from gymnast.config.problems import InvalidConfig
from gymnast.config.resolve import parse_assignment
from gymnast.config.target import split_target
from gymnast.errors import ConfigError, Failure, GymnastError
from gymnast.jobs.groups import group_runs
from gymnast.review.several import last_runs
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.serving.options import ServerOptions
from gymnast.serving.references import references, texts

CREATES_ENVIRONMENTS = (
    *("start", "resume", "dry_run", "config_show", "config_diff", "settings_form"),
    *("inspect", "steps", "steps_csv", "episode_frames", "branch", "branch_frames", "what_if"),
    *("attribution", "obs_images", "play_start", "review_contents"),
)
"""Operations that create an environment or a network although they are no tasks."""
SHOWS_RUNS = ("config_show", "config_diff", "settings_form")
"""Operations that create an environment for a preset, but not for a run, of which they load the config."""
LAST_RUNS = ("review_runs", "prompt")
"""Operations that read the last runs if none is named."""
LOADS_CONFIGS = ("compare", "doctor", "export", "report", "set_live", *LAST_RUNS)
"""Operations that validate the stored config of a run, which imports the class of a custom algorithm."""
WRITES_PATHS = ("traces.data",)
"""Settings that name a directory to write to, which a request cannot choose."""
_PREFIX = re.compile(r"(^|[:/=\s\"'\[{,])py:")
"""`py:` at a place where it may start the path of a class."""
_OFF = (None, False, "", "off", "none", "null", "no", "false")


def code_refusal(
    operation: Operation, arguments: Mapping[str, object], options: ServerOptions
) -> Failure | None:
    """Returns the error for a request that would import code named by a config; None if it would not."""
    creates = operation.effect == TASK or operation.name in CREATES_ENVIRONMENTS
    if not creates and operation.name not in LOADS_CONFIGS:
        return None
    for where, code in _named_code(operation.name, arguments, options.runs_dir, creates):
        return Failure(
            "code",
            f"{where} names code, or a path that would be read or written: {code}",
            at=operation.name,
            fix=f"restart the {options.NAME} with --allow-code, if you trust it",
        )
    return None


def code_in(values: object, key: str = "") -> Iterator[str]:
    """Yields `key: value` for every setting that names code to import, in nested or dotted settings."""
    if isinstance(values, Mapping):
        for name, value in values.items():  # pyright: ignore[reportUnknownVariableType]
            inner = f"{key}.{name}" if key else str(name)  # pyright: ignore[reportUnknownArgumentType]
            if _PREFIX.search(str(name)):  # pyright: ignore[reportUnknownArgumentType]
                yield inner
            yield from code_in(value, inner)
    elif isinstance(values, Sequence) and not isinstance(values, str):
        for value in values:
            yield from code_in(value, key)
    elif _names_code(key.split("."), values):
        yield f"{key}: {values}"


def _names_code(key: Sequence[str], value: object) -> bool:
    """Returns whether a setting names code, or a file for an environment. `key`: the parts of its key."""
    if key[-1] == "module":
        return value not in _OFF
    if not isinstance(value, str):
        return False
    if "kwargs" in key and ("/" in value or "\\" in value):
        return True  # e.g. the model file of a MuJoCo environment
    # Gymnasium imports the module of `module:Env-v0`.
    return _PREFIX.search(value) is not None or (key[-1] == "id" and ":" in value)


def _named_code(
    operation: str, arguments: Mapping[str, object], runs_dir: Path, creates: bool
) -> Iterator[tuple[str, str]]:
    """Yields (where it is named, the code). `creates`: whether environments and networks are created; else
    only the algorithms of stored configs matter."""
    for argument in ("overrides", "assignments"):
        settings = _assignments(arguments.get(argument))
        named = (*code_in(settings), *_paths_in(settings))
        yield from ((f"argument {argument}", code) for code in named)
    for named in references(operation, arguments):
        if named.is_target:
            yield from (
                (f"argument {named.argument}", code) for code in _code_of_target(named.text)
            )
        yield from _code_of_runs(named.text, runs_dir, creates and operation not in SHOWS_RUNS)
    if operation in LAST_RUNS and not arguments.get("refs"):
        last = arguments.get("last")
        for run in last_runs(runs_dir, last if isinstance(last, int) else DEFAULT_LAST):
            yield from _code_of_runs(run.id, runs_dir, creates)


def _paths_in(values: object, key: str = "") -> Iterator[str]:
    """Yields `key: value` for every setting that names a directory to write to. Those of stored configs were
    chosen by whoever started the run."""
    if isinstance(values, Mapping):
        for name, value in values.items():  # pyright: ignore[reportUnknownVariableType]
            yield from _paths_in(value, f"{key}.{name}" if key else str(name))  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(values, Sequence) and not isinstance(values, str):
        for value in values:
            yield from _paths_in(value, key)
    elif key in WRITES_PATHS and values not in _OFF:
        yield f"{key}: {values}"


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


def _code_of_target(target: str) -> Iterator[str]:
    """Yields the code that an environment id, an algorithm or their preset names."""
    if _PREFIX.search(target):
        yield target
        return
    try:
        env, _ = split_target(target)
    except ConfigError:
        return  # a run with a checkpoint
    if ":" in env:
        yield target
    try:
        yield from code_in(find_preset(env).data)
    except (InvalidConfig, OSError):
        return  # the operation reports it


def _code_of_runs(ref: str, runs_dir: Path, creates: bool) -> Iterator[tuple[str, str]]:
    """Yields the code that the stored config of a run, or of the runs of a group, names."""
    for part in ref.split("+"):
        for run in _runs(part, runs_dir):
            try:
                values: object = run.config_values() if creates else {"algo": run.info["algo"]}
            except Exception:  # unreadable: the operation reports it
                continue
            yield from ((f"the config of run {run.id}", code) for code in code_in(values))


def _runs(ref: str, runs_dir: Path) -> list[Run]:
    try:
        return [store.resolve(ref, runs_dir)[0]]
    except GymnastError:
        return [Run(Path(run.path)) for run in group_runs(runs_dir, ref)]
