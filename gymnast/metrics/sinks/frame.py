"""Layout of one frame of the live table: progress, metrics by section, alerts. Pure functions.

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

from rich.text import Text

from gymnast.clock import clock_label
from gymnast.metrics.alert import Alert
from gymnast.metrics.metric import Metric
from gymnast.metrics.sinks.history import History
from gymnast.metrics.specs import metric_for_key, section, sort_keys, split_key
from gymnast.text.chart import sparkline
from gymnast.text.formatting import duration, wrap_words

MARKS = {"error": "✖", "warning": "▲"}
STYLES = {"error": "red", "warning": "yellow"}
NUMBER, UNIT, CHANGE = 11, 6, 11
"""Widths of these columns; the columns of section and label are as wide as their content."""
SHORTEST_BAR, SHORTEST_LABEL = 10, 8
SPARKLINE = (8, 40)
"""Minimum and maximum width. The sparkline uses the remaining width, or is omitted."""


@dataclass(frozen=True)
class View:
    """The content of one frame."""

    metrics: Mapping[str, Metric]
    history: History
    alerts: Sequence[Alert]
    """The active alerts, errors first."""
    title: str = ""
    budget: tuple[str, float] | None = None
    """The main clock and its total."""
    since_row: float = 0.0
    """Seconds since the latest row, to be added to the elapsed time."""
    last_event: str = ""
    paused: bool = False
    keys: str = ""
    """Help for the command keys, while it is displayed."""
    pinned: Sequence[str] = ()
    """Keys that are always displayed, whatever their priority."""


def frame(view: View, width: int, height: int, *, ascii_only: bool = False) -> Text:
    """Lays out a frame of at most `width` columns and `height` lines; if space is short, metrics of low
    priority are omitted. `ascii_only`: without colors and special characters."""
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
    keys = choose_keys(view, room)
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


def choose_keys(view: View, room: int) -> list[str]:
    """Returns the keys to display, at most `room` (but at least one), in table order.

    Keys with an alert are chosen first, then pinned keys, then the metrics of the live table by priority.
    """
    names = view.history.names()
    pinned, alerting = names.intersection(view.pinned), {alert.key for alert in view.alerts}
    in_table = {key for key in names if metric_for_key(key, view.metrics).in_table}
    ordered = sort_keys(in_table | pinned | alerting, view.metrics)
    by_importance = sorted(
        ordered, key=lambda key: (key not in alerting, key not in pinned, _priority(view, key))
    )
    kept = set(by_importance[: max(room, 1)])
    return [key for key in ordered if key in kept]


def _priority(view: View, key: str) -> int:
    return metric_for_key(key, view.metrics).priority


def _progress(view: View, width: int, ascii_only: bool) -> Text:
    """Returns the progress bar, followed by as many details as fit into `width`; without a budget, only the
    steps and the elapsed time."""
    latest = view.history.latest
    share, remaining = latest("progress/share"), latest("progress/remaining")
    elapsed = duration(latest("clock/seconds") + view.since_row)
    left = ""
    if math.isfinite(remaining) and share < 1:
        left = f"  {duration(max(remaining - view.since_row, 0.0))} left"
    if not math.isfinite(share):
        return Text.assemble(_counted(view), "  ", (elapsed, "bold blue"), " elapsed")
    # From the most to the least detailed text, until the bar keeps its minimum width.
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
    """Returns `62,464 of 100,000 env steps`, on the clock of the budget or, if that is time, in env steps.
    The total is only added with `total`."""
    clock, goal = view.budget or ("env_steps", math.nan)
    if clock == "seconds":  # elapsed and remaining time are displayed anyway
        clock, goal = "env_steps", math.nan
    value = view.history.latest(f"clock/{clock}")
    of = f" of {goal:,.0f}" if total and math.isfinite(goal) else ""
    return f"{0 if math.isnan(value) else value:,.0f}{of} {clock_label(clock)}"


def _bar(share: float, width: int, ascii_only: bool) -> Text:
    """Returns a progress bar of this width."""
    full = min(width, int(share * width))
    if ascii_only:
        return Text("#" * full + "-" * (width - full))
    head = "╸" if full < width else ""
    return Text.assemble(
        ("━" * full + head, "green"), ("━" * (width - full - len(head)), "bright_black")
    )


def _table(view: View, keys: Sequence[str], width: int, ascii_only: bool) -> list[Text]:
    """Returns one line per key: section, label, number and unit, and where there is space also the change
    and a sparkline."""
    # Reversed, so that an error, which comes first, wins over a warning of the same key.
    alerts = {alert.key: alert for alert in reversed(view.alerts)}
    first = max((len(section(key)) for key in keys), default=0) + 2
    second = max((len(_label(key)) for key in keys), default=0) + 1
    number = NUMBER
    if 2 + first + second + number + UNIT > width:  # numbers are never truncated
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
        counter = key.startswith("clock/")  # a sparkline of a counter is a straight line
        if spark >= SPARKLINE[0] and len(values) > 1 and not (ascii_only or counter):
            line.append("  " + sparkline(values, spark), style="bright_black")
        lines.append(line)
    return lines


def _parts(view: View, key: str) -> tuple[str, str]:
    return metric_for_key(key, view.metrics).format_parts(view.history.latest(key))


def _clipped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _label(key: str) -> str:
    """Returns the name within its section; a scoped key also drops `episode/`."""
    scopes, name = split_key(key)
    return name.removeprefix("episode/") if scopes else name.partition("/")[2]


def _cells(view: View, key: str, alert: Alert | None, title: str, label: str, width: int) -> Text:
    """Returns the first cells of a line: mark of the alert, section, label, number and unit. `title` and
    `label` are already padded; `width` is that of the number. Bold is for priority 1, color for alerts: both
    can apply."""
    metric = metric_for_key(key, view.metrics)
    color = STYLES[alert.level] if alert else ""
    weight = "bold " if metric.priority == 1 else ""
    number, unit = _parts(view, key)
    return Text.assemble(
        (f"{MARKS[alert.level] if alert else ' '} ", color),
        (title, "cyan"),
        (label, f"{weight}{color}"),
        (f"{number:>{width}} ", f"{weight}{color}"),
        (f"{unit:<{UNIT - 1}}", color or "bright_black"),
    )


def _change(view: View, key: str) -> Text:
    """Returns the change since the row before: green for an improvement, red for the opposite, blank if there
    is none."""
    metric, change = metric_for_key(key, view.metrics), view.history.change(key)
    if not math.isfinite(change):
        return Text(" " * CHANGE)
    style = {True: "green", False: "red", None: "bright_black"}[metric.is_improvement(change)]
    text = metric.format_change(change, view.history.latest(key))
    return Text(f"{text:>{CHANGE}}", style=style)


def _alerts(alerts: Sequence[Alert], width: int, room: int) -> list[Text]:
    """Returns as many complete alerts as fit into `room` lines, then `and N more`. The first alert is always
    shown, truncated if it must be."""
    lines: list[Text] = []
    for index, alert in enumerate(alerts):
        wrapped = [
            *_wrapped(f"{MARKS[alert.level]} {alert.message}", STYLES[alert.level], width),
            *_wrapped(f"  {alert.advice}", "dim", width),
        ]
        others = len(alerts) - index - 1
        if len(lines) + len(wrapped) + bool(others) > room:
            lines += [] if lines else wrapped[: room - bool(others)]
            others += index > 0  # this alert is not shown, unless it is the first
            lines += [Text(f"  and {others} more", style="dim")] if others else []
            break
        lines += wrapped
    return lines


def _wrapped(text: str, style: str, width: int) -> list[Text]:
    """Returns a text as lines of at most this width."""
    return [Text(line, style=style) for line in wrap_words(text, width).split("\n")]


def _ascii(line: Text) -> Text:
    """Returns a line without styles and without characters that such a terminal cannot show."""
    swaps = str.maketrans({"✖": "!", "▲": "!", "·": "-", "…": ".", "±": "~"})
    return Text(line.plain.translate(swaps).encode("ascii", "replace").decode(), no_wrap=True)
