"""`gymnast presets`: lists environments with tested settings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.text.formatting import count_noun

if TYPE_CHECKING:
    from gymnast.insight.preset_list import PresetSummary, PublishedScore

_HEAD = ("", "threshold", "published best", "ours", "variants")


@click.command()
@click.argument("search", default="")
@runs_option
@json_option
def presets(search: str, runs_dir: str | None, as_json: bool) -> None:
    """List presets by family: all, or only the ones that match SEARCH.

    A preset matches if its name contains SEARCH, or if it has a variant of this name. If none does, those
    with similar names are listed.

    `ours` is the stored result that `gymnast reproduce` repeats. Any other Gymnasium id can be trained
    too, with default settings and any algorithm that supports its action space: Acrobot-v1:a2c. Your
    own presets are YAML files in ./presets or in the directories in GYMNAST_PRESETS.

    \b
    gymnast presets
    gymnast presets lander
    gymnast config show LunarLander-v3:continuous
    """
    matching = api.presets(search)
    if as_json:
        echo_json(matching)
    elif matching:
        for line in _listing(matching):
            click.echo(line)
    else:
        click.echo(f"no preset matches {search!r}; `gymnast presets` lists them all")


def _listing(presets: Sequence[PresetSummary]) -> list[str]:
    """Returns a table grouped by family, and a line for each preset file that cannot be read."""
    readable = [preset for preset in presets if not preset.problem]
    cells = {preset.name: _cells(preset) for preset in readable}
    widths = [max(map(len, column)) for column in zip(_HEAD, *cells.values(), strict=True)]
    widths[0] += 2  # names are indented below their family

    def line(row: Sequence[str]) -> str:
        return "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()

    lines = [line(_HEAD)] if readable else []
    for family, members in groupby(readable, key=lambda preset: preset.family):
        lines.append(family)
        lines += [line((f"  {preset.name}", *cells[preset.name][1:])) for preset in members]
    broken = (preset for preset in presets if preset.problem)
    return [*lines, *(f"{preset.name}  BROKEN: {preset.problem}" for preset in broken)]


def _cells(preset: PresetSummary) -> tuple[str, ...]:
    """Returns the cells of a preset's line in the table, in the order of _HEAD. The variants of the
    user's own presets are followed by the path of the file."""
    others = [v for v in preset.variants if v != preset.default]
    variants = f"{preset.default} (default){''.join(f', {v}' for v in others)}"
    own = "" if preset.shipped else f"  {preset.path}"
    return (
        preset.name,
        "-" if preset.threshold is None else f"{preset.threshold:g}",
        _published(preset.published),
        _ours(preset),
        f"{variants}{own}",
    )


def _published(best: PublishedScore | None) -> str:
    if best is None:
        return "-"
    by = ", ".join(text for text in (best.algorithm, best.source) if text)
    return f"{best.score:g} {', '.join(by.split(', ')[:2])}".rstrip()


def _ours(preset: PresetSummary) -> str:
    """Returns the stored result of the default variant or, if it has none, of the best variant."""
    results = preset.results
    if not results:
        return "-"
    variant = preset.default
    if variant not in results:
        variant = max(results, key=lambda name: results[name].mean)
    result = results[variant]
    solved = "" if preset.threshold is None else f"{result.solved}/"
    variant_note = "" if variant == preset.default else f" ({variant})"
    seeds = count_noun(result.seeds, "seed")
    return f"{result.mean:.4g}, {solved}{seeds}{variant_note}"
