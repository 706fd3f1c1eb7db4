"""The distribution of the lengths of evaluated matches per role, or of the episodes of a single agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np

from gymnast.config.sections.league import LEARNER
from gymnast.insight.lengths import count_lengths, length_edges
from gymnast.monitor.monitored_run import Array, MonitoredRun
from gymnast.monitor.records import MonitorChart, MonitorSeries, SourceColumn
from gymnast.text.formatting import count_noun

KINDS = ("eval", "confirm")
"""Kinds of stored matches that are counted: those of evaluations. They are played against the same opponents
at every version, so that their lengths can be compared."""


def run_lengths_chart(run: MonitoredRun) -> MonitorChart | None:
    """Returns the lengths of the stored evaluation matches in both halves of training, per role; None if none
    is stored."""
    half = float(run.env_steps[-1]) / 2
    lengths: dict[tuple[str, str], Array] = {}
    for role in run.roles or ("",):
        lengths[role, "first half of training"] = evaluated_lengths(run, role, until=half)
        lengths[role, "second half"] = evaluated_lengths(run, role, after=half)
    series = _histograms({(*key, run.approach): values for key, values in lengths.items()})
    if not series:
        return None
    return MonitorChart(
        name=_name(run, run.run),
        title=_title(run),
        about="run",
        run=run.run,
        unit="share",
        kind="histogram",
        x_label=_x_label(run),
        series=series,
        sources=_sources(run),
        runs=[run.run],
        note=_count_note(lengths.values(), run),
    )


def approach_lengths_chart(
    runs: Mapping[str, Sequence[MonitoredRun]], prefix: str
) -> MonitorChart | None:
    """Returns the lengths of the evaluation matches of the second half of training, per role and approach,
    with the matches of all runs of an approach together; None if none is stored. `runs`: approach -> its
    runs, all of the same environment; `prefix`: start of the name of the chart."""
    everything = [run for of_approach in runs.values() for run in of_approach]
    roles = dict.fromkeys(role for run in everything for role in run.roles or ("",))
    lengths = {
        (role, approach, approach): np.concatenate(
            [evaluated_lengths(run, role, after=float(run.env_steps[-1]) / 2) for run in of_it]
        )
        for role in roles
        for approach, of_it in runs.items()
    }
    series = _histograms(lengths)
    if not series:
        return None
    return MonitorChart(
        name=_name(everything[0], prefix),
        title=f"{_title(everything[0])}, second half of training",
        about="approach",
        run="",
        unit="share",
        kind="histogram",
        x_label=_x_label(everything[0]),
        series=series,
        sources=[source for run in everything for source in _sources(run)],
        runs=[run.run for run in everything if _sources(run)],
        note=_count_note(lengths.values(), everything[0]),
    )


def evaluated_lengths(
    run: MonitoredRun, role: str, *, after: float = -1.0, until: float = np.inf
) -> Array:
    """Returns the lengths in steps of the stored evaluation matches in which only `role` was played by the
    learning policy. `after`, `until`: only versions within these env steps."""
    table = run.matches
    if table is None:
        return np.empty(0, dtype=np.int64)
    played = np.isin(np.asarray(table.kind), KINDS)
    for other in run.roles:
        players = np.asarray(table.players.get(other, ("",) * len(table)))
        played &= (players == LEARNER) == (other == role)
    return table.length[played & (after < table.version) & (table.version <= until)]


def _histograms(lengths: Mapping[tuple[str, str, str], Array]) -> list[MonitorSeries]:
    """Returns a histogram with common bins per entry that has matches. `lengths`: (role, label, approach) ->
    lengths in steps."""
    longest = max((int(values.max()) for values in lengths.values() if len(values)), default=0)
    edges = length_edges(longest)
    return [
        MonitorSeries(
            label=label,
            role=role,
            approach=approach,
            x=edges,
            y=[count / len(values) for count in count_lengths(values.tolist(), edges)],
        )
        for (role, label, approach), values in lengths.items()
        if len(values)
    ]


def _sources(run: MonitoredRun) -> list[SourceColumn]:
    """Returns the stored files of evaluations, those of one kind and folder as one entry."""
    files = [PurePosixPath(file) for file in run.sources[1:]]
    names = {
        (file.parent / f"{kind}-*{file.suffix}").as_posix()
        for file in files
        for kind in KINDS
        if file.name.startswith(f"{kind}-")
    }
    return [SourceColumn(name, "length") for name in sorted(names)]


def _name(run: MonitoredRun, prefix: str) -> str:
    return f"{prefix}-{'match' if run.roles else 'episode'}-lengths"


def _title(run: MonitoredRun) -> str:
    return f"Lengths of evaluated {'matches' if run.roles else 'episodes'}"


def _x_label(run: MonitoredRun) -> str:
    return f"steps per {'match' if run.roles else 'episode'}"


def _count_note(lengths: Iterable[Array], run: MonitoredRun) -> str:
    noun = ("stored match", "stored matches") if run.roles else ("stored episode", "")
    return f"{count_noun(sum(map(len, lengths)), *noun)}."
