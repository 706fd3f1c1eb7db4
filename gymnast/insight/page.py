"""The list of runs and the page of one run, as plain text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from gymnast.text import wording
from gymnast.text.chart import short, sparkline

EVENTS = 12
"""How many of the latest events a page shows."""


def runs_table(runs: Sequence[dict[str, Any]]) -> str:
    """One line per run; with their sizes and the sum where `bytes` are given."""
    head = ("id", "name", "preset", "status", "score", "solved", "steps", "time", "age")
    now = time.time()
    lines = [_line(run, now) for run in runs]
    notes = [f"{run['id']}: {run['problem']}" for run in runs if "problem" in run]
    if runs and "bytes" in runs[0]:
        head = (*head, "size")
        lines = [(*line, wording.size(run["bytes"])) for line, run in zip(lines, runs, strict=True)]
        total = wording.size(sum(run["bytes"] for run in runs))
        notes.append(f"{total} in {len(runs)} run{'s' if len(runs) > 1 else ''}")
    return "\n".join([wording.table(head, lines, right="steps time age size"), *notes])


def run_page(run: dict[str, Any]) -> str:
    """A run as `api.show` gives it, from how it stands down to what to do next."""
    sections = {
        "settings that are not defaults": _settings(run),
        "checkpoints": _checkpoints(run),
        "videos": _videos(run),
        "alerts": _alerts(run),
        "events": _events(run),
        "next": _next(run),
    }
    filled = {title: list(lines) for title, lines in sections.items()}
    parts = ["\n".join([title, *lines]) for title, lines in filled.items() if lines]
    return "\n\n".join(["\n".join(_standing(run)), *parts])


def _line(run: dict[str, Any], now: float) -> tuple[str, ...]:
    if "problem" in run:
        return (
            run["id"],
            "",
            "",
            run["status"],
            "-",
            "",
            "-",
            "-",
            wording.age(now - run["created"]),
        )
    clocks = run["clocks"]
    return (
        run["id"],
        run["name"],
        f"{run['preset']} #{run['seed']}",
        run["status"],
        wording.score(run["score"]),
        _yes(run["solved"]),
        short(clocks.get("env_steps", 0)),
        wording.duration(clocks.get("seconds")),
        wording.age(now - run["created"]),
    )


def _yes(solved: bool | None) -> str:
    return "" if solved is None else "yes" if solved else "no"


def _standing(run: dict[str, Any]) -> Iterator[str]:
    name = f"  {run['name']}" if run["name"] else ""
    yield f"run {run['id']}{name}  {run['preset']}  seed {run['seed']}"
    yield f"  status   {run['status']}" + (f": {run['reason']}" if run["reason"] else "")
    score = run["score"]
    episodes = f" over {score['episodes']} episodes" if score else ""
    goal = "" if run["threshold"] is None else f", threshold {wording.number(run['threshold'])}"
    solved = {True: ", solved", False: ", not solved"}.get(run["solved"], "")
    yield f"  score    {wording.score(score)}{episodes}{goal}{solved}"
    curve = [point["return"] for point in run["evaluations"]]
    if curve:
        ends = f"{wording.number(curve[0])} -> {wording.number(curve[-1])}"
        yield f"  curve    {sparkline(curve, 40)}  {ends} in {len(curve)} evaluations"
    clocks = ("env_steps", "vec_steps", "updates", "rollouts", "episodes")
    yield "  clocks   " + ", ".join(f"{wording.count(run[c])} {c}" for c in clocks)
    created = time.strftime("%Y-%m-%d %H:%M", time.localtime(run["created"]))
    yield f"  time     {wording.duration(run['seconds'])}, created {created} on {run['host']}"
    for key in ("engine", "parent", "group", "tags", "note"):
        if run.get(key):
            text = ", ".join(run[key]) if key == "tags" else run[key]
            yield f"  {key:<8} {text}"
    if run.get("live"):
        changed = ", ".join(f"{key} {value}" for key, value in run["live"].items())
        yield f"  live     {changed}"
    yield f"  where    {run['path']} ({wording.size(run['bytes'])})"


def _settings(run: dict[str, Any]) -> list[str]:
    chosen = {k: o for k, o in run["provenance"].items() if o != "default"}
    shown = [(k, _value(run["config"], k), o) for k, o in chosen.items() if not _is_fact(k)]
    if not shown:
        return []
    return ["  " + line for line in wording.table(("", "", ""), shown).splitlines() if line]


def _is_fact(key: str) -> bool:
    return key.partition(".")[0] == "facts"


def _value(config: Any, key: str) -> str:
    """A key of the config may have dots in it, as those of `rules.NAME.change` have."""
    if not isinstance(config, dict):
        return ""
    if key in config:
        return str(config[key])
    first, _, rest = key.partition(".")
    return _value(config.get(first), rest)


def _checkpoints(run: dict[str, Any]) -> Iterator[str]:
    for word in ("best", "latest"):
        found = run["checkpoints"][word]
        if found:
            yield f"  {word:<7} {found['step']:>11,}  {found['path']}"
    others = run["checkpoints"]["steps"]
    if others:
        yield "  all     " + ", ".join(map(str, others))
    for problem in run["checkpoints"]["damaged"]:
        yield f"  DAMAGED {problem}"


def _videos(run: dict[str, Any]) -> Iterator[str]:
    for film in run["videos"]:
        mark = "best" if film["is_best"] else ""
        told = f"  return {wording.number(film['return'])}" if "return" in film else ""
        yield f"  {mark:<7} {film['path']}{told}"


def _alerts(run: dict[str, Any]) -> Iterator[str]:
    for alert in run["alerts"]:
        state = "" if alert.get("active") else " (gone)"
        yield f"  {alert['level']}{state}: {alert['message']}, {alert['count']} rows"
        if alert.get("advice"):
            yield f"    {alert['advice']}"


def _events(run: dict[str, Any]) -> Iterator[str]:
    events = run["events"]
    if len(events) > EVENTS:
        yield f"  ... {len(events) - EVENTS} earlier ones (--json has all)"
    told = ("time", "kind", "env_steps", "vec_steps", "frames", "updates", "rollouts", "episodes")
    for event in events[-EVENTS:]:
        told_elsewhere = (*told, "seconds", "traceback", "id")
        detail = {k: v for k, v in event.items() if k not in told_elsewhere}
        text = ", ".join(f"{key} {_brief(value)}" for key, value in detail.items())
        yield f"  {event.get('env_steps', 0):>11,}  {event['kind']:<12} {text}".rstrip()


def _brief(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        return "; ".join(map(_brief, value))
    if isinstance(value, dict) and {"key", "from", "to"} == value.keys():
        return wording.change(value)
    if isinstance(value, dict) and {"mean", "low", "high"} <= value.keys():
        return wording.score(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _next(run: dict[str, Any]) -> Iterator[str]:
    if run["checkpoints"]["latest"] and run["status"] in ("stopped", "failed", "lost"):
        yield f"  gymnast resume {run['id']}"
    if run["checkpoints"]["best"]:
        yield f"  gymnast eval {run['id']}:best --episodes 100"
        yield f"  gymnast play {run['id']}"
    yield f"  gymnast rows {run['id']} --csv"
