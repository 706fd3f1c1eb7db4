"""The output of `gymnast runs` and `gymnast show`: a list of runs, and the page of one run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from gymnast.clock import clock_label
from gymnast.config.families import is_multi_agent
from gymnast.runs.doubts import start_text
from gymnast.text import formatting
from gymnast.text.chart import short_number, sparkline

if TYPE_CHECKING:
    from gymnast.metrics.score import RunScore
    from gymnast.runs.details import RunDetails
    from gymnast.runs.events import RunEvent
    from gymnast.runs.summary import Learning, RunSummary

EVENTS = 12
"""Number of the latest events on the page of a run."""


def runs_table(runs: Sequence[RunSummary]) -> str:
    """Formats one line per run; with sizes and their total if they are known."""
    head = ("id", "name", "preset", "status", "score", "solved", "area", "steps", "time", "age")
    now = time.time()
    lines = [_line(run, now) for run in runs]
    if any(run.remaining_seconds is not None for run in runs):
        head = (*head, "left")
        left = [formatting.duration(run.remaining_seconds) for run in runs]
        lines = [(*line, text) for line, text in zip(lines, left, strict=True)]
    notes = [f"{run.id}: {run.problem}" for run in runs if run.problem]
    if runs and runs[0].bytes is not None:
        head = (*head, "size")
        sizes = [run.bytes or 0 for run in runs]
        lines = [(*line, formatting.size(size)) for line, size in zip(lines, sizes, strict=True)]
        total = formatting.size(sum(sizes))
        notes.append(f"{total} in {formatting.count_noun(len(runs), 'run')}")
    return "\n".join([formatting.table(head, lines, right="area steps time age left size"), *notes])


def run_page(run: RunDetails) -> str:
    """Formats a run (the result of `api.show`), from its status to the next commands."""
    sections = {
        "settings that differ from the defaults": _settings(run),
        "checkpoints": _checkpoints(run),
        "videos": _videos(run),
        "alerts": _alerts(run),
        "events": _events(run),
        "bundle": _bundle(run),
        "next": _next(run),
    }
    filled = {title: list(lines) for title, lines in sections.items()}
    parts = ["\n".join([title, *lines]) for title, lines in filled.items() if lines]
    return "\n\n".join(["\n".join(_status(run)), *parts])


def _line(run: RunSummary, now: float) -> tuple[str, ...]:
    """Returns the cells of a run's line in the list of runs. `now`: the current time, for its
    age."""
    age = formatting.age(now - run.created)
    if run.problem:  # run.json cannot be read: the problem is printed below the table
        return (run.id, "", "", run.status, "-", "", "-", "-", "-", age)
    return (
        run.id,
        run.name,
        f"{run.preset} #{run.seed}",
        run.status,
        score_text(run.score),
        _SOLVED[run.verdict],
        formatting.area(run.learning.area if run.learning else None),
        short_number(run.clocks.get("env_steps", 0)),
        formatting.duration(run.clocks.get("seconds")),
        age,
    )


def score_text(score: RunScore | None) -> str:
    """Formats a score with its 95 % interval and its caveat; a dash for None."""
    if score is None:
        return "-"
    caveat = f" ({score.caveat})" if score.caveat else ""
    return formatting.interval(score.mean, score.low, score.high) + caveat


_SOLVED = {
    "": "",
    "solved": "yes",
    "not solved": "no",
    "not confirmed": "unconfirmed",
    "doubtful": "doubtful",
}
"""Verdict -> the text in the list of runs."""


def _status(run: RunDetails) -> Iterator[str]:
    name = f"  {run.name}" if run.name else ""
    yield f"run {run.id}{name}  {run.preset}  seed {run.seed}"
    for title, text in status_lines(run):
        yield f"  {title:<8} {text}"


def status_lines(run: RunDetails) -> Iterator[tuple[str, str]]:
    """Yields the status of a run as (title, text)."""
    yield "status", run.status + (f": {run.reason}" if run.reason else "")
    yield "score", _score_line(run)
    if run.start_score:
        yield "start", f"{score_text(run.start_score)}, {start_text(run.parent_kind)}"
    yield from (("doubt", doubt) for doubt in run.doubts)
    curve = [point.mean_return for point in run.evaluations]
    if curve:
        ends = f"{formatting.number(curve[0])} -> {formatting.number(curve[-1])}"
        yield (
            "curve",
            f"{sparkline(curve, 40)}  {ends} in {formatting.count_noun(len(curve), 'evaluation')}",
        )
    if run.learning:
        yield "learning", learning_text(run.learning)
    clocks = ("env_steps", "vec_steps", "updates", "rollouts", "episodes")
    counts = (f"{formatting.count(run.clocks.get(c, 0))} {clock_label(c)}" for c in clocks)
    yield "clocks", ", ".join(counts)
    created = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
    seconds = formatting.duration(run.clocks.get("seconds", 0))
    yield "time", f"{seconds}, created {created} on {run.host}"
    if run.parent:
        how = "branch" if run.parent_kind == "branch" else "weights"
        yield "parent", f"{run.parent} at {formatting.count(run.parent_step)} ({how})"
    labels = {"engine": run.engine, "group": run.group, "tags": ", ".join(run.tags)}
    yield from ((key, text) for key, text in (labels | {"note": run.note}).items() if text)
    if run.live:
        yield "live", ", ".join(f"{key} {value}" for key, value in run.live.items())
    size = "" if run.bytes is None else f" ({formatting.size(run.bytes)})"
    yield "path", f"{run.path}{size}"


def _score_line(run: RunDetails) -> str:
    """Returns score, number of episodes, threshold and verdict as one line."""
    score, threshold = run.score, run.threshold
    text = "-"
    if score:
        count = formatting.episodes_text(score.episodes, score.planned, score.missing)
        text = f"{formatting.interval(score.mean, score.low, score.high)} over {count}"
        text += f" ({score.caveat})" if score.caveat else ""
    goal = "" if threshold is None else f", threshold {formatting.number(threshold)}"
    verdict = f", {run.verdict}" if run.verdict else ""
    return f"{text}{goal}{verdict}"


def learning_text(summary: Learning) -> str:
    """Formats the learning summary: `mean return of the evaluation curve 341.2; area under it 0.71 of 1
    (1: at the threshold from the start), with 65% of the budget unused; lower bound reached the threshold
    after 34,816 env steps, 1.3 s`. Parts that are None in the summary are left out."""
    parts = [f"mean return of the evaluation curve {formatting.number(summary.mean_return)}"]
    if summary.area is not None:
        # A run that stops early is rated as if its last evaluation lasted to the end of the budget.
        rest = (
            f", with {summary.unused:.0%} of the budget unused" if summary.unused >= 0.005 else ""
        )
        scale = "of 1 (1: at the threshold from the start)"
        parts.append(f"area under it {formatting.area(summary.area)} {scale}{rest}")
    if summary.steps_to_threshold is not None:
        steps = summary.steps_to_threshold
        seconds = formatting.duration(summary.seconds_to_threshold)
        parts.append(f"lower bound reached the threshold after {steps:,} env steps, {seconds}")
    return "; ".join(parts)


def changed_settings(run: RunDetails) -> list[tuple[str, str, str]]:
    """Returns key, value and origin of the settings that differ from the defaults."""
    origins = {k: o for k, o in run.provenance.items() if o != "default"}
    # Facts describe the environment; nobody chose them for this run.
    return [(k, _value(run.config, k), o) for k, o in origins.items() if not _is_fact(k)]


def _settings(run: RunDetails) -> list[str]:
    rows = changed_settings(run)
    if not rows:
        return []
    return ["  " + line for line in formatting.table(("", "", ""), rows).splitlines() if line]


def _is_fact(key: str) -> bool:
    return key.partition(".")[0] == "facts"


def _value(config: object, key: str) -> str:
    """Returns the value of a dotted key as text; "" if the config lacks it. Config keys may
    themselves contain dots, as in `rules.NAME.change`."""
    if not isinstance(config, dict):
        return ""
    section = cast("dict[str, object]", config)
    if key in section:  # first, because a key such as `algo.lr` may be one name here
        return str(section[key])
    first, _, rest = key.partition(".")
    return _value(section.get(first), rest)


def _checkpoints(run: RunDetails) -> Iterator[str]:
    """Yields a line for the best and for the latest checkpoint, the steps of all that are kept, and
    a line per damaged one."""
    kept = run.checkpoints
    for word, checkpoint in (("best", kept.best), ("latest", kept.latest)):
        if checkpoint:
            yield f"  {word:<7} {checkpoint.step:>11,}  {checkpoint.path}"
    if kept.steps:
        yield "  kept    " + ", ".join(f"{step:,}" for step in kept.steps)
    for problem in kept.damaged:
        yield f"  DAMAGED {problem}"


def _videos(run: RunDetails) -> Iterator[str]:
    """Yields a line per film: its path, its return (per role for a match), and a mark if it shows
    the best checkpoint."""
    for film in run.videos:
        mark = "best" if film.is_best else ""
        text = "" if film.raw_return is None else f"  return {formatting.number(film.raw_return)}"
        if film.cast:  # a match: one return per role
            returns = (f"{role} {formatting.number(r)}" for role, r in film.returns.items())
            text = f"  return {', '.join(returns)}"
        yield f"  {mark:<7} {film.path}{text}"


def _alerts(run: RunDetails) -> Iterator[str]:
    """Yields two or three lines per alert: message and duration, advice if there is any, and the
    section of the docs that explains it."""
    from gymnast.insight.charts import docs_section

    for alert in run.alerts:
        state = "" if alert.active else " (resolved)"
        rows = formatting.count_noun(alert.count, "row")
        yield f"  {alert.level}{state}: {alert.message}; active for {rows}"
        if alert.advice:
            yield f"    {alert.advice}"
        yield f"    see {docs_section(alert.key)}"


def _events(run: RunDetails) -> Iterator[str]:
    """Yields a line for each of the latest EVENTS events, and first how many earlier ones there
    are."""
    if len(run.events) > EVENTS:
        yield f"  ... {len(run.events) - EVENTS} earlier events (--json has all)"
    cells = event_cells(run.events[-EVENTS:])
    width = max((len(kind) for _, kind, _ in cells), default=0)
    for steps, kind, text in cells:
        yield f"  {steps:>11}  {kind:<{width}}  {text}".rstrip()


def event_cells(events: Sequence[RunEvent]) -> list[tuple[str, str, str]]:
    """Returns env steps, kind and details of each event."""
    return [(f"{event.env_steps or 0:,}", event.kind, event.text) for event in events]


def _bundle(run: RunDetails) -> Iterator[str]:
    """Yields where a bundle was made, and what it lacks."""
    if run.bundle is None:
        return
    machine, memory = run.bundle.machine, formatting.size(run.bundle.machine.memory)
    cores = formatting.count_noun(machine.cores, "core")
    packages = formatting.count_noun(len(machine.packages), "package")
    yield f"  made     by gymnast {run.bundle.gymnast}; status of the run then: {run.bundle.status}"
    yield f"  on       {machine.system}, {machine.cpu}, {cores}, {memory}"
    yield f"  with     Python {machine.python}, {packages} (--json lists them)"
    for file in run.bundle.files:
        if file.note:
            yield f"  cut      {file.name}: {file.note}"
    for missing in run.bundle.left_out:
        yield f"  without  {missing.name} ({formatting.size(missing.size)}): {missing.reason}"


def _next(run: RunDetails) -> Iterator[str]:
    return (f"  {command}" for command, _ in next_steps(run))


def next_steps(run: RunDetails) -> Iterator[tuple[str, str]]:
    """Yields suggested commands, each with its purpose."""
    id = run.id
    if run.path.endswith(".zip"):  # not unpacked into a runs directory
        yield from _next_for_bundle(run)
        return
    if run.status in ("failed", "lost"):
        yield f"gymnast bundle {id}", "write an archive for a bug report, without anything private"
    if run.checkpoints.latest and run.status in ("stopped", "failed", "lost"):
        yield f"gymnast resume {id}", "continue exactly where it stopped"
    if run.alerts:
        yield f"gymnast doctor {id}", "rank the likely causes and suggest changes"
    if run.checkpoints.best:
        yield f"gymnast eval {id}:best --episodes 100", "evaluate the best checkpoint again"
        if is_multi_agent(run.env):
            yield f"gymnast video {id}", "record a video of its matches"
        else:
            yield f"gymnast play {id}", "watch the policy"
    yield f"gymnast rows {id} --csv", "export all rows"


def _next_for_bundle(run: RunDetails) -> Iterator[tuple[str, str]]:
    """Yields the commands that read bundles, and the one after which all others can be used."""
    yield f"gymnast doctor {run.path}", "rank the likely causes and suggest changes"
    yield f"gymnast report {run.path}", "draw its charts"
    yield f"gymnast rows {run.path} --csv", "export all rows"
    yield f"unzip {run.path} -d runs", "evaluate, play or resume it here"
