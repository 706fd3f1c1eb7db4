"""The tool `chart`: metrics of runs as a picture or as text."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Annotated, Literal

from gymnast import api
from gymnast.clock import ClockName
from gymnast.mcp.answer import Answer, Picture
from gymnast.mcp.context import ToolContext
from gymnast.mcp.shape import rounded

Format = Literal["png", "text"]
LEGEND = 6
"""Curves that the summary names."""


def chart(
    context: ToolContext,
    runs: Sequence[str],
    names: Annotated[Sequence[str], "metrics, a panel each; default: the score"] = (),
    format: Format = "png",
    x: ClockName | None = None,
) -> Answer:
    """Draws metrics of one or more runs as a picture, or as text."""
    found = context.ask(api.chart, list(runs), list(names), format=format, x=x or "")
    lines = [
        f"{curve.panel} {curve.label} {_value(curve.first)} -> {_value(curve.last)}"
        for curve in found.curves[:LEGEND]
    ]
    more = f"; {len(found.curves) - LEGEND} more curves" if len(found.curves) > LEGEND else ""
    lacking = f"; {found.left_out} metrics were not drawn" if found.left_out else ""
    summary = f"{len(found.curves)} curves over {found.x}: {'; '.join(lines)}{more}{lacking}"
    if found.png:
        return Answer(summary, {}, pictures=(Picture(base64.b64decode(found.png)),))
    return Answer(summary, {}, text=found.text)


def _value(value: float | None) -> str:
    return "nothing" if value is None else str(rounded(value))
