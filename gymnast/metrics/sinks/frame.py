"""One picture of a run for the terminal: progress, the table by section, alerts. Pure layout.

CartPole-v1:ppo · seed 0
━━━━━━━━━━━━━━━━━━╸━━━━━━━━━  62.5%  62,464 of 100,000 env steps  12.3 s  7.4 s left

  episode   return            201.40       +3.20  ▁▂▂▃▄▅▆▇█
  policy    entropy       0.551 nats      -0.002  █▇▆▅▅▄▃▂▁
▲           kl           0.0812 nats     +0.0101  ▁▁▁▂▂▃▅▆█

▲ policy/kl is high: 0.0790 nats (mean of 5 rows), healthy is 0 to 0.05 nats
  Updates are too large. Lower algo.lr or algo.epochs, or set algo.target_kl.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.text import Text

from gymnast.metrics.alerts import Alert
from gymnast.metrics.metric import Metric
from gymnast.metrics.sinks.history import History
from gymnast.metrics.specs import in_order, section, spec, split
from gymnast.text.chart import sparkline
from gymnast.text.wording import duration

MARKS = {"error": "✖", "warning": "▲"}
STYLES = {"error": "red", "warning": "yellow"}
NUMBER, UNIT, CHANGE = 11, 6, 11
"""Widths of these columns; section and label take what their names need."""
SHORTEST_BAR, SHORTEST_LABEL = 10, 8
SPARKLINE = (8, 40)
"""The sparkline takes what is left, or is left out."""


@dataclass(frozen=True)
class View:
    """What one frame shows."""

    metrics: Mapping[str, Metric]
    history: History
    alerts: Sequence[Alert]
    """What holds now, errors first."""
    title: str = ""
    budget: tuple[str, float] | None = None
    """The main clock and its total."""
    since_row: float = 0.0
    """Seconds since the latest row, during which the clock went on."""
    last_event: str = ""
    paused: bool = False
    keys: str = ""
    """What may be pressed, while that is asked for."""
    pinned: Sequence[str] = ()
    """Keys that are shown whatever their priority."""


def frame(view: View, width: int, height: int, *, ascii_only: bool = False) -> Text:
    """Fits the given size: where room is short, what has the least priority is left out."""
    paused = "   paused" if view.paused else ""
    title = Text.assemble(
        (view.title or "training", "bold"),
        (paused, "bold yellow"),
        (f"   {view.last_event}", "dim"),
    )
    head = [title, _progress(view, width, ascii_only)]
    head += [Text(f"  {view.keys}", style="cyan")] if view.keys else []
    foot = _alerts(view.alerts, width, max(2, min(8, height // 4)))
    room = height - len(head) - len(foot) - 2  # a blank line above and below the table
    keys = chosen(view, room)
    lines = [*head, Text(), *_table(view, keys, width, ascii_only)]
    if foot:
        lines += [Text(), *foot]
    for line in lines:
        line.rstrip()
        line.truncate(width, overflow="crop" if ascii_only else "ellipsis")
        line.no_wrap = True
    if ascii_only:
        lines = [_ascii(line) for line in lines]
    return Text("\n", no_wrap=True).join(lines)


def chosen(view: View, room: int) -> list[str]:
    """The keys worth a line: the most important first in, the table's own order kept."""
    names = view.history.names()
    pinned, alerting = names.intersection(view.pinned), {alert.key for alert in view.alerts}
    shown = {key for key in names if spec(key, view.metrics).in_table}
    ordered = in_order(shown | pinned | alerting, view.metrics)
    by_worth = sorted(
        ordered, key=lambda key: (key not in alerting, key not in pinned, _priority(view, key))
    )
    kept = set(by_worth[: max(room, 1)])
    return [key for key in ordered if key in kept]


def _priority(view: View, key: str) -> int:
    return spec(key, view.metrics).priority


def _progress(view: View, width: int, ascii_only: bool) -> Text:
    """The bar, and as many facts beside it as fit."""
    latest = view.history.latest
    share, remaining = latest("progress/share"), latest("progress/remaining")
    elapsed = duration(latest("clock/seconds") + view.since_row)
    left = ""
    if math.isfinite(remaining) and share < 1:
        left = f"  {duration(max(remaining - view.since_row, 0.0))} left"
    if not math.isfinite(share):
        return Text.assemble(_counted(view), "  ", (elapsed, "bold blue"), " elapsed")
    counted, of_total = f"  {_counted(view)}", f"  {_counted(view, total=True)}"
    facts = Text()
    for steps, word in ((of_total, " elapsed"), (of_total, ""), (counted, ""), ("", "")):
        facts = Text.assemble(
            (f"  {share:.1%}", "bold"), steps, "  ", (elapsed, "bold blue"), word, left
        )
        if len(facts) <= width - SHORTEST_BAR:
            break
    return Text.assemble(_bar(share, min(60, width - len(facts)), ascii_only), facts)


def _counted(view: View, *, total: bool = False) -> str:
    """`62,464 of 100,000 env steps`, on the budget's clock unless that is time."""
    clock, goal = view.budget or ("env_steps", math.nan)
    if clock == "seconds":  # elapsed and remaining time say it already
        clock, goal = "env_steps", math.nan
    value = view.history.latest(f"clock/{clock}")
    of = f" of {goal:,.0f}" if total and math.isfinite(goal) else ""
    return f"{0 if math.isnan(value) else value:,.0f}{of} {clock.replace('_', ' ')}"


def _bar(share: float, width: int, ascii_only: bool) -> Text:
    full = min(width, int(share * width))
    if ascii_only:
        return Text("#" * full + "-" * (width - full))
    head = "╸" if full < width else ""
    return Text.assemble(
        ("━" * full + head, "green"), ("━" * (width - full - len(head)), "bright_black")
    )


def _table(view: View, keys: Sequence[str], width: int, ascii_only: bool) -> list[Text]:
    alerts = {alert.key: alert for alert in reversed(view.alerts)}
    first = max((len(section(key)) for key in keys), default=0) + 2
    second = max((len(_label(key)) for key in keys), default=0) + 1
    number = NUMBER
    if 2 + first + second + number + UNIT > width:  # no number is ever cut
        number = max(len(_parts(view, key)[0]) for key in keys) + 1
        second = min(second, max(width - 2 - first - number - UNIT, SHORTEST_LABEL))
    left = width - 2 - first - second - number - UNIT - 1
    spark = min(SPARKLINE[1], left - CHANGE - 2)
    lines, above = [], ""
    for key in keys:
        title = section(key) if section(key) != above else ""
        above = section(key)
        label = _clipped(_label(key), second - 1)
        cells = (f"{title:<{first}}", f"{label:<{second}}", number)
        line = _cells(view, key, alerts.get(key), *cells)
        if left >= CHANGE:
            line.append_text(_change(view, key))
        values = view.history.values(key)
        counter = key.startswith("clock/")  # its curve says nothing
        if spark >= SPARKLINE[0] and len(values) > 1 and not (ascii_only or counter):
            line.append("  " + sparkline(values, spark), style="bright_black")
        lines.append(line)
    return lines


def _parts(view: View, key: str) -> tuple[str, str]:
    return spec(key, view.metrics).parts(view.history.latest(key))


def _clipped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _label(key: str) -> str:
    """The name within its section; what a scope is about is its episodes."""
    scopes, name = split(key)
    return name.removeprefix("episode/") if scopes else name.partition("/")[2]


def _cells(view: View, key: str, alert: Alert | None, title: str, label: str, width: int) -> Text:
    """Mark, section, label, number and unit. Highlight is weight, alert is colour: both show."""
    metric = spec(key, view.metrics)
    colour = STYLES[alert.level] if alert else ""
    weight = "bold " if metric.priority == 1 else ""
    number, unit = _parts(view, key)
    return Text.assemble(
        (f"{MARKS[alert.level] if alert else ' '} ", colour),
        (title, "cyan"),
        (label, f"{weight}{colour}"),
        (f"{number:>{width}} ", f"{weight}{colour}"),
        (f"{unit:<{UNIT - 1}}", colour or "bright_black"),
    )


def _change(view: View, key: str) -> Text:
    """Green is for the better, which for a loss is down."""
    metric, change = spec(key, view.metrics), view.history.change(key)
    if not math.isfinite(change):
        return Text(" " * CHANGE)
    style = {True: "green", False: "red", None: "bright_black"}[metric.improved(change)]
    shown = metric.format_change(change, view.history.latest(key))
    return Text(f"{shown:>{CHANGE}}", style=style)


def _alerts(alerts: Sequence[Alert], width: int, room: int) -> list[Text]:
    """Whole ones, as many as there is room for; of the first at least its beginning."""
    lines: list[Text] = []
    for place, alert in enumerate(alerts):
        told = [
            *_wrapped(f"{MARKS[alert.level]} {alert.message}", STYLES[alert.level], width),
            *_wrapped(f"  {alert.advice}", "dim", width),
        ]
        others = len(alerts) - place - 1
        if len(lines) + len(told) + bool(others) > room:
            lines += [] if lines else told[: room - bool(others)]
            others += place > 0
            lines += [Text(f"  and {others} more", style="dim")] if others else []
            break
        lines += told
    return lines


def _wrapped(text: str, style: str, width: int) -> list[Text]:
    lines = wrap(text, width, subsequent_indent="  ", drop_whitespace=True)
    return [Text(line, style=style) for line in lines]


def _ascii(line: Text) -> Text:
    swaps = str.maketrans({"✖": "!", "▲": "!", "·": "-", "…": ".", "±": "~"})
    return Text(line.plain.translate(swaps).encode("ascii", "replace").decode(), no_wrap=True)
