"""The settings that a run uses now, and the settings that training would use for an environment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gymnast.config.config import Config
from gymnast.config.live import with_live_changes
from gymnast.config.resolve import resolve
from gymnast.config.space_settings import SpaceSettings, resolve_with
from gymnast.errors import EnvError, NotInstalled, UsageError
from gymnast.runs.events import CHANGED
from gymnast.runs.run import Run
from gymnast.tasks import Task, start

_SEED = re.compile(r"^seed: (\d+)$", re.MULTILINE)
"""The line of a stored config with its seed."""


def settings_in_use(run: Run) -> tuple[Config, dict[str, str]]:
    """Returns the config, and key -> origin of the value, such as `live change at 12,288 env steps`."""
    config, origins = run.config(), run.provenance()
    live = run.info.get("live", {})
    if not live:
        return config, origins
    for event in run.events():
        # Later events overwrite earlier ones, so the last change of each key remains.
        source = CHANGED if event["kind"] == CHANGED else f"rule {event.get('rule', '')}".rstrip()
        for change in event.get("changes", ()) if event["kind"] in (CHANGED, "rule") else ():
            if change["key"] in live:
                origins[change["key"]] = f"{source} at {event.get('env_steps', 0):,} env steps"
    return with_live_changes(config, live), origins


def configs_in_use(runs: Sequence[Run]) -> list[Config]:
    """Returns the config of every run, including live changes. Configs that differ only in the seed, such as
    those of a group of seeds, are parsed once, because that takes most of the time."""
    parsed: dict[tuple[str, str], Config] = {}
    configs: list[Config] = []
    for run in runs:
        text, live = run.config_text(), run.info.get("live", {})
        seed = _SEED.search(text)
        key = (_SEED.sub("", text), repr(live))
        if key not in parsed:
            parsed[key] = settings_in_use(run)[0]
        config = parsed[key]
        configs.append(config.model_copy(update={"seed": int(seed[1])}) if seed else config)
    return configs


def settings_of_environment(
    name: str, overrides: Mapping[str, object]
) -> tuple[str, Config, dict[str, str]]:
    """Returns the preset (with a note), the config, and key -> origin of the value.

    The environment is only loaded if defaults depend on its spaces.
    """
    resolved, note = resolve(name, overrides), ""
    if resolved.space_defaults:
        try:
            found = look_up_spaces(name, overrides).finish()
            resolved = resolve_with(found, overrides)
        except NotInstalled as problem:
            note = f"\nwithout the defaults for its spaces: {problem.message} ({problem.fix})"
        except EnvError as problem:
            if not resolved.has_preset:
                message = (
                    f"{name} is neither a run nor a preset nor an environment: {problem.message}"
                )
                raise UsageError(message, fix=problem.fix) from None
            note = f"\nwithout the defaults for its spaces: {problem.message}"
    return f"{resolved.title}{note}", resolved.config, resolved.provenance


def look_up_spaces(
    name: str,
    overrides: Mapping[str, object],
    *,
    algo: str | None = None,
    deadline: float | None = None,
) -> Task[SpaceSettings]:
    """Starts a task that creates the environment and returns the settings that follow from its spaces."""
    return start(
        "gymnast.training.lifecycle.task:spaces",
        {"target": name, "overrides": overrides, "algo": algo},
        SpaceSettings,
        title=f"look up the spaces of {name}",
        deadline=deadline,
    )
