"""Checks that preset files are valid and complete, by resolving every variant as `gymnast train` does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gymnast.config.families import is_multi_agent
from gymnast.config.presets import Preset, all_presets, find_preset
from gymnast.config.problems import InvalidConfig, Problem
from gymnast.config.resolve import resolve_preset
from gymnast.config.serialize import is_run_config, load
from gymnast.config.target import split_target

REQUIRED_FACTS = ("actions", "observations", "reward", "returns", "threshold", "fps", "source")
"""Facts that a preset shipped with gymnast must declare, even if only as `off` or empty."""
SINGLE_AGENT_FACTS = {"actions", "observations", "reward", "returns", "fps"}
"""Facts that are not required for multi-agent environments."""


def check(targets: Iterable[str] = ()) -> dict[str, list[Problem]]:
    """Returns target -> problems. Targets are preset names or files; default: all presets."""
    targets = list(targets) or list(all_presets())
    return {target: _problems(target) for target in targets}


def _problems(target: str) -> list[Problem]:
    """Returns the problems of one target: a preset name, optionally with `:variant`, or a file ending in
    .yaml or .yml that holds a preset or the config of a run. A file that cannot be read is a problem too."""
    try:
        if not target.endswith((".yaml", ".yml")):
            name, variant = split_target(target)
            return _in_preset(find_preset(name), variant)
        path = Path(target)
        preset = Preset(path.stem.replace("__", "/"), path)
        if is_run_config(preset.source.data):
            load(path.read_text(encoding="utf-8"), at=target)
            return []
        return _in_preset(preset, None)
    except InvalidConfig as error:
        return error.details
    except OSError as error:
        return [Problem(target, "", error.strerror or "cannot be read")]


def _in_preset(preset: Preset, variant: str | None) -> list[Problem]:
    """Returns the problems of one variant, or of all variants if `variant` is None: invalid settings and, in
    a preset shipped with gymnast, missing facts. A preset without a file is a problem as well."""
    # A dict as an ordered set: a mistake in a shared section is reported once, not once per variant.
    problems: dict[Problem, None] = {}
    for name in [variant] if variant else preset.variants:
        try:
            config = resolve_preset(preset, name).config
        except InvalidConfig as error:
            problems |= dict.fromkeys(error.details)
            continue
        nameless = config.env.view in ("image", "ram")  # pixels and bytes have no names
        required = {f for f in REQUIRED_FACTS if not (nameless and f == "observations")}
        required -= SINGLE_AGENT_FACTS if is_multi_agent(config.env.id) else set()
        missing = required - config.facts.model_fields_set if preset.is_builtin else ()
        for fact in sorted(missing):
            at = preset.source.location(("facts",))
            problems[Problem(at, f"facts.{fact}", "is missing")] = None
    if preset.path is None:
        problems[Problem("", preset.name, "has no preset")] = None
    return list(problems)
