"""The comparison as a picture: env steps per CPU second, a panel per task, as SVG."""

from __future__ import annotations

from html import escape
from statistics import median
from typing import Any

from benchmarks.libraries import LABELS
from benchmarks.results import Samples, median_speed, ratios
from benchmarks.tables import rounded
from benchmarks.tasks import TASKS

COLUMNS, PANEL, GAP, ROW, NAMES, BARS = 2, 470, 30, 22, 115, 215
OURS, PEER, ALONE, INK, FAINT = "#0b6e99", "#b8c4cc", "#e9edf0", "#1f2933", "#64707a"


def draw(tasks: dict[str, Any]) -> str:
    """Returns the chart of all tasks as SVG, COLUMNS panels per row."""
    height = {letter: _height(entry["samples"]) for letter, entry in tasks.items()}
    letters, parts, top = list(tasks), list[str](), 66
    for start in range(0, len(letters), COLUMNS):
        row = letters[start : start + COLUMNS]
        for column, letter in enumerate(row):
            parts.append(_panel(letter, tasks[letter]["samples"], 20 + column * (PANEL + GAP), top))
        top += max(height[letter] for letter in row) + GAP
    width = 40 + COLUMNS * PANEL + GAP
    title = "Env steps per CPU second, learning included, one core and one thread"
    about = "Median of the rounds. In parentheses: how many times as fast gymnast is, in the same round."
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" '
            f'viewBox="0 0 {width} {top}" font-family="system-ui, sans-serif" font-size="13">',
            f'<rect width="{width}" height="{top}" fill="#ffffff"/>',
            _text(20, 28, title, INK, size=17, bold=True),
            _text(20, 48, about, FAINT),
            *parts,
            "</svg>",
            "",
        ]
    )


def _height(samples: Samples) -> int:
    return 30 + ROW * len(samples)


def _panel(letter: str, samples: Samples, left: int, top: int) -> str:
    """Draws bars scaled to the fastest library; the environment alone may exceed the panel."""
    task = TASKS[letter]
    speeds = {who: median_speed(of) for who, of in samples.items()}
    learners = {who: speed for who, speed in speeds.items() if who != "alone"}
    order = [*sorted(learners, key=lambda who: -learners[who]), "alone"]
    scale = BARS / max(learners.values())
    name = f"{letter}  {task.env}, {task.n_envs} x {task.n_steps}, batch {task.batch_size}"
    name += f", {task.epochs} epoch{'s' if task.epochs > 1 else ''}"
    parts = [_text(left, top + 14, name, INK, bold=True)]
    for i, who in enumerate(order):
        y, speed = top + 26 + i * ROW, speeds[who]
        length = min(BARS, speed * scale)
        color = OURS if who == "ours" else ALONE if who == "alone" else PEER
        value = rounded(speed)
        if who not in ("ours", "alone"):
            value += f"  ({median(ratios(samples, who)):.1f}x)"
        end = left + NAMES + length
        parts += [
            _text(left, y + 13, LABELS[who].replace("environment", "env"), INK, bold=who == "ours"),
            f'<rect x="{left + NAMES}" y="{y + 2}" width="{max(length, 1):.1f}" height="14" '
            f'fill="{color}"/>',
            _text(round(end) + 6, y + 13, value, INK if who == "ours" else FAINT),
        ]
        if speed * scale > BARS:  # longer than the panel: drawn with a gap
            parts.append(f'<path d="M{end - 12} {y} l-5 18 h5 l5 -18 z" fill="#ffffff"/>')
    return "\n".join(parts)


def _text(x: int, y: int, text: str, color: str, *, size: int = 13, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}" fill="{color}" font-size="{size}"{weight}>{escape(text)}</text>'
