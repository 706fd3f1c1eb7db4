"""Trajectory files and rebuilt metrics as tables of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.trajectories.record import RebuiltEvaluation, TrajectoryFiles, TrajectoryMetrics


def files_text(found: TrajectoryFiles) -> str:
    """Returns a table with a line per file."""
    head = ["kind", "version", "episodes", "steps", "positions", "file"]
    lines = [
        [
            file.kind,
            f"{file.version:,}",
            f"{file.episodes:,}",
            f"{file.steps:,}",
            "yes" if file.has_positions else "no",
            file.path,
        ]
        for file in found.files
    ]
    return formatting.table(head, lines, right="version episodes steps")


def metrics_text(rebuilt: TrajectoryMetrics) -> str:
    """Returns all metrics of one evaluation, or a table of several with a line per version and role."""
    if len(rebuilt.evaluations) == 1:
        return _all_metrics(rebuilt.evaluations[0])
    head = ["run", "kind", "version", "role", "episodes", "return", "win rate", "outcomes"]
    head += ["length", "distance", "compared with the record"]
    lines = [line for one in rebuilt.evaluations for line in _role_lines(one)]
    # Columns that are empty for a single agent are left out.
    shown = [i for i in range(len(head)) if any(line[i] for line in lines)]
    table = formatting.table(
        [head[i] for i in shown],
        [[line[i] for i in shown] for line in lines],
        right="version episodes return length distance",
    )
    notes = dict.fromkeys(one.note for one in rebuilt.evaluations if one.note)
    return "\n".join([table, *notes])


def _role_lines(one: RebuiltEvaluation) -> Iterator[list[str]]:
    """Yields the cells of an evaluation, a line per role."""
    value = {metric.name: metric.value for metric in one.metrics}
    scopes = [name.partition(":")[0] for name in value if name.endswith(":match/count")]
    for scope in scopes or [one.kind]:

        def number(name: str, scope: str = scope) -> str:
            found = value.get(f"{scope}:{name}")
            return "" if found is None else formatting.number(found)

        interval = [value.get(f"{scope}:match/win_{end}") for end in ("rate", "low", "high")]
        outcomes = {
            name.removeprefix(f"{scope}:match/").removesuffix("_share"): share
            for name, share in value.items()
            if name.startswith(f"{scope}:match/") and name.endswith("_share") and share
        }
        counted = f"{scope}:match/count" if scopes else f"{scope}:episode/count"
        yield [
            one.run,
            one.kind,
            f"{one.version:,}",
            scope.partition("/")[2],
            f"{value[counted]:,.0f}",
            number("episode/return"),
            "" if None in interval else "{:.0%} [{:.0%}, {:.0%}]".format(*interval),
            ", ".join(f"{outcome} {share:.0%}" for outcome, share in outcomes.items()),
            number("match/duration" if scopes else "episode/length"),
            number("env/distance"),
            _verdict(one),
        ]


def _verdict(one: RebuiltEvaluation) -> str:
    """Returns in a few words whether the metrics agree with what training recorded."""
    compared = [metric.equal for metric in one.metrics if metric.equal is not None]
    if one.note:
        return "only part was stored"
    if not compared:
        return "nothing was recorded"
    if all(compared):
        return f"all {len(compared)} metrics are equal"
    return f"{compared.count(False)} of {len(compared)} metrics differ"


def _all_metrics(one: RebuiltEvaluation) -> str:
    """Returns the table of one evaluation, below a line that says whether it agrees with the record."""
    count = formatting.count_noun(one.episodes, "trajectory", "trajectories")
    head = f"{one.run} {one.kind} {one.version:,}, {count}: {one.note or _verdict(one)}"
    lines = [
        [
            metric.name,
            f"{metric.value:.6g}",
            "" if metric.recorded is None else f"{metric.recorded:.6g}",
            {None: "", True: "equal", False: "differs"}[metric.equal],
        ]
        for metric in one.metrics
    ]
    columns = ["metric", "trajectories", "recorded", ""]
    return f"{head}\n{formatting.table(columns, lines, right='trajectories recorded')}"
