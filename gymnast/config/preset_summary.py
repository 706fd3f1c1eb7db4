"""The row of a preset in `gymnast presets`, from its file alone."""

from __future__ import annotations

from typing import TypedDict, TypeGuard

from gymnast.config.families import OTHERS, YOURS, family_of
from gymnast.config.plain_value import PlainValue
from gymnast.config.presets import Preset


class PublishedScore(TypedDict):
    """An entry of `facts.published`, as far as it is known to be valid."""

    score: float


class PresetSummary(TypedDict):
    """The row of a preset in `gymnast presets`. The facts are as written in the file, not validated."""

    name: str
    family: str
    default: str
    variants: list[str]
    threshold: PlainValue
    optimum: PlainValue
    source: PlainValue
    published: PublishedScore | None
    """The highest published score."""
    path: str
    shipped: bool


def summarize(preset: Preset) -> PresetSummary:
    facts = preset.data.get("facts")
    facts = facts if isinstance(facts, dict) else {}
    published = facts.get("published")
    scores = [x for x in published if _has_score(x)] if isinstance(published, list) else []
    family = family_of(preset.env_id)
    return {
        "name": preset.name,
        "family": (family.name if family else OTHERS) if preset.is_builtin else YOURS,
        "default": preset.default_variant,
        "variants": preset.listed_variants,
        "threshold": facts.get("threshold", "off"),
        "optimum": facts.get("optimum", "off"),
        "source": facts.get("source", "off"),
        "published": max(scores, key=lambda entry: entry["score"], default=None),
        "path": str(preset.path),
        "shipped": preset.is_builtin,
    }


def _has_score(entry: PlainValue) -> TypeGuard[PublishedScore]:
    return isinstance(entry, dict) and isinstance(entry.get("score"), int | float)
