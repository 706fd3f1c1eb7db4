"""Checks that preset files are valid and complete, by resolving every variant as `gymnast train` does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gymnast.config.families import has_roles
from gymnast.config.presets import Preset, all_presets, find, split
from gymnast.config.problems import Problem, Refused
from gymnast.config.resolve import resolve_preset
from gymnast.config.saved import is_stored, load

COMPLETE = ("actions", "observations", "reward", "returns", "threshold", "fps", "source")
"""Facts that a preset shipped with gymnast must declare, even if only as `off` or empty."""
OF_ONE_AGENT = {"actions", "observations", "reward", "returns", "fps"}
"""Facts that are not required for multi-agent environments."""


def check(targets: Iterable[str] = ()) -> dict[str, list[Problem]]:
    """Returns target -> problems. Targets are preset names or files; default: all presets."""
    targets = list(targets) or list(all_presets())
    return {target: _problems(target) for target in targets}


def _problems(target: str) -> list[Problem]:
    try:
        if not target.endswith((".yaml", ".yml")):
            name, variant = split(target)
            return _in_preset(find(name), variant)
        path = Path(target)
        preset = Preset(path.stem.replace("__", "/"), path)
        if is_stored(preset.source.data):
            load(path.read_text(encoding="utf-8"), at=target)
            return []
        return _in_preset(preset, None)
    except Refused as refused:
        return refused.found
    except OSError as error:
        return [Problem(target, "", error.strerror or "cannot be read")]


def _in_preset(preset: Preset, variant: str | None) -> list[Problem]:
    found: dict[
        Problem, None
    ] = {}  # a mistake in a shared section is reported once, not once per variant
    for name in [variant] if variant else preset.variants:
        try:
            config = resolve_preset(preset, name).config
        except Refused as refused:
            found |= dict.fromkeys(refused.found)
            continue
        nameless = config.env.view in ("image", "ram")  # pixels and bytes have no names
        wanted = {f for f in COMPLETE if not (nameless and f == "observations")}
        wanted -= OF_ONE_AGENT if has_roles(config.env.id) else set()
        missing = wanted - config.facts.model_fields_set if preset.shipped else ()
        for fact in sorted(missing):
            found[Problem(preset.source.at(("facts",)), f"facts.{fact}", "is missing")] = None
    if preset.path is None:
        found[Problem("", preset.name, "has no preset")] = None
    return list(found)
