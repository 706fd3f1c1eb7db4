"""The list of presets, with their stored results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from gymnast.config.families import FAMILIES, OTHERS, YOURS, family_of
from gymnast.config.presets import Preset, search_presets
from gymnast.errors import ConfigError
from gymnast.insight.results import ResultSummary, result_summaries


@dataclass(frozen=True)
class PublishedScore:
    """A score that someone else has published."""

    score: float
    algorithm: str = ""
    source: str = ""


@dataclass(frozen=True)
class PresetSummary:
    """One preset of a list. If its file cannot be read, only `name`, `path` and `problem` are known."""

    name: str
    path: str
    shipped: bool
    """Whether it is shipped with gymnast, and not the user's own."""
    problem: str = ""
    """The reason why the file cannot be read."""
    family: str = ""
    default: str = ""
    """The variant that the bare name refers to."""
    variants: list[str] = field(default_factory=list[str])
    threshold: float | None = None
    """The score that counts as solved."""
    optimum: float | None = None
    """The best possible score, if it is known."""
    source: str = ""
    """Page that describes the environment."""
    published: PublishedScore | None = None
    """The best published score."""
    results: dict[str, ResultSummary] = field(default_factory=dict[str, ResultSummary])
    """Variant -> the result that is shipped with gymnast; empty for the user's own presets."""


def list_presets(search: str = "") -> list[PresetSummary]:
    """Returns the presets that `search_presets` finds for the text, by family; all if it is empty."""
    order = [*(family.name for family in FAMILIES), OTHERS, YOURS, ""]
    listed: list[PresetSummary] = []
    results = result_summaries()
    for preset in search_presets(search):
        try:
            listed.append(_summary(preset, results.get(preset.name, {})))
        except ConfigError as error:  # one broken file must not hide the others
            broken = PresetSummary(
                preset.name, str(preset.path), preset.is_builtin, problem=str(error)
            )
            listed.append(broken)
    return sorted(listed, key=lambda preset: order.index(preset.family))


def _summary(preset: Preset, results: dict[str, ResultSummary]) -> PresetSummary:
    """Returns the summary of a preset, whose values are not validated. `results`: variant -> its stored
    result."""
    data = preset.source.data
    section = data.get("facts") if isinstance(data, Mapping) else None
    facts = cast("dict[str, object]", section) if isinstance(section, dict) else {}
    family = family_of(preset.env_id)
    return PresetSummary(
        name=preset.name,
        path=str(preset.path),
        shipped=preset.is_builtin,
        family=(family.name if family else OTHERS) if preset.is_builtin else YOURS,
        default=preset.default_variant,
        variants=preset.listed_variants,
        threshold=_number(facts.get("threshold")),
        optimum=_number(facts.get("optimum")),
        source=str(facts.get("source", "")),
        published=_best_published(facts.get("published")),
        results=results if preset.is_builtin else {},
    )


def _best_published(published: object) -> PublishedScore | None:
    entries = cast("list[object]", published) if isinstance(published, list) else []
    scores: list[PublishedScore] = []
    for entry in entries:
        fields = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
        score = _number(fields.get("score"))
        if score is not None:
            by = (str(fields.get(key, "")) for key in ("algorithm", "source"))
            scores.append(PublishedScore(score, *by))
    return max(scores, key=lambda entry: entry.score, default=None)


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
