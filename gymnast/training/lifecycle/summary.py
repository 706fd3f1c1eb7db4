"""The texts that the console shows before the first step (pre-flight) and after the last one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gymnast.clock import clock_label
from gymnast.metrics.recorder import Summary
from gymnast.metrics.score import RunScore
from gymnast.text import formatting


@dataclass(frozen=True)
class ChosenSetting:
    """A setting that differs from its default."""

    key: str
    value: str
    origin: str
    """The origin of its value: a preset, a variant, the spaces, --set."""


@dataclass(frozen=True)
class Preflight:
    """The content of the pre-flight text. Empty fields are not shown."""

    preset: str = ""
    has_preset: bool = True
    """False if there is no preset file and defaults for the type of spaces are used."""
    seed: int | None = None
    n_envs: int | None = None
    """Number of env copies."""
    observation: str = ""
    """Description of the observation space."""
    action: str = ""
    """Description of the action space."""
    network: str = ""
    """Layer widths, such as "4 -> 64 -> 64 -> 2"."""
    parameters: int | None = None
    """Number of parameters of all networks."""
    engine: str = ""
    """The compute engine, and why it was chosen."""
    time_limit: str = ""
    """Time limit of an episode, if it is not the environment's own."""
    budget: Mapping[str, float] = field(default_factory=dict[str, float])
    """Clock -> limit, the main one first."""
    threshold: float | None = None
    threshold_origin: str = ""
    """The origin of the threshold, if it is not a preset."""
    stops: tuple[str, ...] = ()
    """Conditions that end training before the budget does, each a clause."""
    settings: tuple[ChosenSetting, ...] = ()
    """Every setting that is not a default."""
    warnings: tuple[str, ...] = ()
    """One sentence each."""


def preflight_text(before: Preflight) -> str:
    """Returns the pre-flight text: spaces, network, budget, settings that are not defaults, warnings."""
    lines = [_title(before)]
    facts = {
        "obs": before.observation,
        "actions": before.action,
        "network": _network(before),
        "engine": before.engine,
        "limit": f"time limit {before.time_limit}" if before.time_limit else "",
        "budget": _budget(before.budget),
        "goal": _goal(before.threshold, before.threshold_origin),
        "stops": " or ".join(before.stops),
    }
    lines += [f"  {title:<9} {text}" for title, text in facts.items() if text]
    if before.settings:
        rows = [(setting.key, setting.value, setting.origin) for setting in before.settings]
        lines += ["  settings that differ from the defaults"]
        table = formatting.table(("", "", ""), rows)
        lines += [f"    {line}" for line in table.splitlines() if line.strip()]
    lines += [f"  warning: {warning}" for warning in before.warnings]
    return "\n".join(lines)


def end_text(summary: Summary) -> str:
    """Returns the text after training. The first line has the result, the rest the reason, the
    directory and commands to try next."""
    lines = [end_line(summary)]
    if reason := summary.get("reason"):
        lines.append(f"  stopped   {reason}")
    if "path" in summary:
        lines.append(f"  path      {summary['path']}")
    if "id" in summary:
        commands = [f"gymnast show {summary['id']}"]
        if summary.get("best") is not None:
            commands.append(f"gymnast eval {summary['id']}:best")
        if summary.get("stopped"):
            commands.append(f"gymnast resume {summary['id']}")
        titles = ["next", *[""] * len(commands)]
        lines += [f"  {t:<9} {c}" for t, c in zip(titles, commands, strict=False)]
    return "\n".join(lines)


def end_line(summary: Summary) -> str:
    """Returns the result in one line: `solved: CartPole-v1:ppo scored 498.2 [495.1, 500.0], ...`"""
    score, threshold = summary.get("score"), summary.get("threshold")
    low, confirmed = score["low"] if score else None, summary.get("confirmed", True)
    solved = formatting.solved_label(summary.get("solved"), low, threshold, confirmed)
    doubts = summary.get("doubts", [])
    verdict = solved or ("doubtful" if doubts else "done")
    preset = summary.get("preset", "")
    parts = [f"{preset} was not scored".lstrip()]
    if score is not None:
        planned, missing = score.get("planned"), score.get("missing", "")
        episodes = formatting.episodes_text(score["episodes"], planned, missing)
        interval = formatting.interval(score["mean"], score["low"], score["high"])
        kind = "confirmed" if confirmed else "evaluated"
        caveat = RunScore.from_info(score, kind).caveat
        caveat = f" ({caveat})" if caveat else ""
        parts = [f"{preset} scored {interval} over {episodes}{caveat}".lstrip()]
        if threshold is not None and not math.isfinite(score["low"]):
            parts.append("one episode has no interval")
        elif threshold is not None:
            side = "below" if score["low"] < threshold else "reached"
            bound, goal = formatting.number(score["low"]), formatting.number(threshold)
            parts.append(f"lower bound {bound} {side} the threshold {goal}")
    if verdict == "not confirmed":
        parts.append("stopped before it was scored on held-out seeds")
    if "env_steps" in summary:
        parts.append(f"{summary['env_steps']:,} env steps")
    if "seconds" in summary:
        parts.append(formatting.duration(summary["seconds"]))
    if "id" in summary:
        parts.append(f"run {summary['id']}")
    but = f"; but {'; '.join(doubts)}" if doubts else ""
    return f"{verdict}: {', '.join(parts)}{but}"


def _title(before: Preflight) -> str:
    """Returns the first line: preset, seed and number of environments."""
    parts = [before.preset]
    if not before.has_preset:
        parts.append("(no preset: defaults for its spaces)")
    if before.seed is not None:
        parts.append(f"seed {before.seed}")
    if before.n_envs is not None:
        parts.append(formatting.count_noun(before.n_envs, "environment"))
    return "  ".join(part for part in parts if part)


def _network(before: Preflight) -> str:
    parts = [before.network] if before.network else []
    if before.parameters is not None:
        parts.append(f"{before.parameters:,} parameters")
    return ", ".join(parts)


def _budget(budget: Mapping[str, float]) -> str:
    """Returns a text such as `100,000 env steps or 10 min, whichever comes first`."""
    limits = [
        formatting.duration(total) if clock == "seconds" else f"{total:,.0f} {clock_label(clock)}"
        for clock, total in budget.items()
    ]
    if not limits:
        return "none: trains until another stop condition holds, or Ctrl-C"
    return " or ".join(limits) + (", whichever comes first" if len(limits) > 1 else "")


def _goal(threshold: float | None, origin: str) -> str:
    if threshold is None:
        return "no threshold known: nothing counts as solved"
    goal = f"solved when the lower bound of the score reaches {formatting.number(threshold)}"
    return f"{goal} ({origin})" if origin else goal
