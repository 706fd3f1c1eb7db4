"""Presets: environments with tested settings."""

from __future__ import annotations

from gymnast.insight.preset_list import PresetSummary, list_presets


def presets(search: str = "") -> list[PresetSummary]:
    """Lists the presets whose name contains the text, ignoring letter case, or that define a variant of this
    name; if there are none, those with similar names. All if the text is empty."""
    return list_presets(search)
