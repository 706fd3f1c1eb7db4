"""A chart of a run as data: series with their own x values, lines, bands and marks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["line", "stacked", "heat"]
Span = tuple[float | None, float | None]
"""Lower and upper end of a range; None for an open end."""


@dataclass(frozen=True)
class ChartSeries:
    key: str
    """Key of the metric in the rows."""
    label: str
    x: list[float]
    y: list[float | None]
    """None where the value is not finite."""
    low: list[float | None] | None = None
    """Lower edge of the band around the series: minimum of the averaged rows, or confidence bound."""
    high: list[float | None] | None = None


@dataclass(frozen=True)
class ChartLine:
    """A horizontal line."""

    y: float
    label: str


@dataclass(frozen=True)
class ChartTicks:
    """Rows that are marked with a tick at the bottom."""

    label: str
    x: list[float]


@dataclass(frozen=True)
class ChartAlert:
    id: str
    level: Literal["error", "warning"]
    message: str
    count: int
    """Number of rows for which it was active."""
    x: float
    """Position at which it was raised."""
    until: float


@dataclass(frozen=True)
class ChartEvent:
    """An event that changed how the run trains; drawn as a vertical line."""

    kind: str
    text: str
    x: float


@dataclass(frozen=True)
class ChartData:
    name: str
    family: str
    title: str
    about: str
    """Section of the docs that explains it."""
    x: str
    """The clock on the x axis."""
    series: list[ChartSeries]
    kind: Kind = "line"
    """Stacked series are shares of their sum; many of them are a heat map."""
    unit: str = ""
    log: bool = False
    """Whether the y axis is logarithmic."""
    scale_each: bool = False
    """Whether each series is drawn relative to its largest absolute value."""
    left_out: int = 0
    """Number of series that are omitted because there are too many."""
    healthy: Span | None = None
    """The healthy range of the first metric."""
    range: Span | None = None
    """The range that the y axis covers at least."""
    lines: list[ChartLine] = field(default_factory=list[ChartLine])
    ticks: ChartTicks | None = None
    alerts: list[ChartAlert] = field(default_factory=list[ChartAlert])
    events: list[ChartEvent] = field(default_factory=list[ChartEvent])
