"""What is refused before a run is resumed, while nothing has been written yet."""

from __future__ import annotations

from typing import Any

from gymnast.clock import Clock
from gymnast.config.config import Config
from gymnast.config.sections.league import RoleConfig
from gymnast.errors import ConfigError, RunError, UsageError
from gymnast.runs import checkpoint
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.run import Run
from gymnast.training.lifecycle.label import Label


def refuse_label(run: Run, label: Label) -> None:
    """A run that continues keeps its name; only a branch gets one of its own."""
    if label.name or label.tags:
        raise UsageError(
            f"{run.id} itself continues from its newest checkpoint, so --name and --tag do not apply",
            fix=f"branch from an earlier one with --at CHECKPOINT, or: gymnast runs tag {run.id} TAG",
        )


def refuse_nothing_to_do(run: Run, saved: Checkpoint, *, changed: bool, branches: bool) -> None:
    """Refuse to resume what has ended, where nothing was changed that could make it go further."""
    info = run.info
    if changed or not (branches or info["status"] == "finished"):
        return
    if branches:
        ended = saved.document("state")["ended"]
        if ended is None or _resumed_from(run, saved):
            return
        what, reason, kind = f"{run.id} ended at {saved.step:,}", ended["text"], ended["kind"]
    elif saved.step < info["clocks"]["env_steps"]:
        return
    else:
        what, reason, kind = f"{run.id} is finished", info["reason"], info.get("reason_kind", "")
    further = {"solved": "--set stop.solved=off", "plateau": "--set stop.plateau=off"}
    how = further.get(kind, "--env-steps N")
    at = f"--at {saved.step} {how}" if branches else f"{how}, or --at CHECKPOINT for a branch"
    raise RunError(f"{what} ({reason})", fix=f"gymnast resume {run.id} {at}")


def refuse_small_budget(
    run: Run, saved: Checkpoint, before: Config[Any], cfg: Config[Any], *, branches: bool
) -> None:
    """Refuse a budget that is used up already, and one smaller than the run was given. `before` and
    `cfg`: the settings in use at the checkpoint, and those asked for."""
    stored, asked = before.stop.limits(), cfg.stop.limits()
    clock = Clock(limits=asked)
    clock.load(saved.document("state")["clock"])
    if stored == asked and run.info["status"] != "finished":
        return  # all that is left to do may be its final score
    for name, total in asked.items():
        used = clock.read(name)
        smaller = not branches and total < stored.get(name, 0)
        if used < total and not smaller:
            continue
        given = f" of a budget of {stored[name]:,.0f}" if name in stored else ""
        where = "the checkpoint" if branches else "the run"
        raise RunError(
            f"a budget of {total:,.0f} {name} is too small to resume {run.id}: "
            f"{where} has used {used:,.0f}{given}",
            fix=_larger_or_earlier(run, saved, name, total),
        )


def _larger_or_earlier(run: Run, saved: Checkpoint, name: str, total: float) -> str:
    option = "--minutes" if name == "seconds" else f"--{name.replace('_', '-')}"
    end = min(saved.step, total) if name == "env_steps" else saved.step
    earlier = [step for step in checkpoint.steps(run.path) if 0 < step < end]
    where = f"--at {earlier[-1]}" if earlier else "--at 0"
    return f"give a larger {option}, or branch from an earlier checkpoint: {where}"


def _resumed_from(run: Run, saved: Checkpoint) -> bool:
    """Whether the run itself went on from this checkpoint with other settings."""
    resumed = (e for e in run.events() if e["kind"] == "resumed" and e["checkpoint"] == saved.step)
    return any(event["changes"] for event in resumed)


def refuse_other_shape(before: Config[Any], cfg: Config[Any]) -> None:
    """Refuse settings that a checkpoint cannot be loaded into."""
    fixed = ("seed", "policy", "env", "normalize")
    changed = [name for name in fixed if getattr(before, name) != getattr(cfg, name)]
    if _shaping_terms(before) != _shaping_terms(cfg):
        changed.append("shaping (but for weights)")
    if _roles(before) != _roles(cfg):
        changed.append("roles (but for algo.* and transaction.*)")
    if before.algo.name != cfg.algo.name:
        changed.append("algo.name")
    if changed:
        raise ConfigError(
            f"resume cannot change {', '.join(changed)}",
            fix="start a new run from its weights: gymnast train ... --from RUN",
        )


def _shaping_terms(cfg: Config[Any]) -> dict[str, Any]:
    """What shaping terms remember depends on."""
    return {name: (term.term, term.kwargs) for name, term in cfg.shaping.items()}


def _roles(cfg: Config[Any]) -> dict[str, Any]:
    """Who plays them, and what their policies and memories depend on."""
    free = ("algo.", "transaction.")
    told = {
        name: (role.plays, role.agents, [s for s in role.set.items() if not s[0].startswith(free)])
        for name, role in cfg.roles.items()
    }
    unsaid = RoleConfig()
    return {name: of for name, of in told.items() if of != (unsaid.plays, unsaid.agents, [])}
