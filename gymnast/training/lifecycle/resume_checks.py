"""Checks before a run is resumed, which refuse what cannot work while nothing has been written yet."""

from __future__ import annotations

from gymnast.clock import Clock
from gymnast.config.config import Config
from gymnast.config.sections.env import SAME_NUMBERS, EnvConfig
from gymnast.config.sections.league import RoleConfig
from gymnast.errors import ConfigError, RunError, UsageError
from gymnast.runs import checkpoint
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.run import Run
from gymnast.training.lifecycle.label import Label


def check_no_label(run: Run, label: Label) -> None:
    """Raises UsageError if a name or tags are given for a run that continues: only a branch, which is
    a new run, can get them."""
    if label.name or label.tags:
        raise UsageError(
            f"{run.id} itself continues from its newest checkpoint, so --name and --tag do not apply",
            fix=f"branch from an earlier one with --at CHECKPOINT, or: gymnast runs tag {run.id} TAG",
        )


def check_can_continue(run: Run, saved: Checkpoint, *, changed: bool, branches: bool) -> None:
    """Raises RunError if the run has ended and no setting was changed that could continue it. `changed`: a
    setting was changed; `branches`: a new run continues from the checkpoint, not the run itself."""
    info = run.info
    if changed or not (branches or info["status"] == "finished"):
        return
    # A branch has ended if its checkpoint was saved with an end reason, unless the run itself went past
    # that reason before. The run has ended if run.json says so and the checkpoint is its last state.
    if branches:
        ended = saved.document("state")["ended"]
        if ended is None or _resumed_from(run, saved):
            return
        what, reason, kind = f"{run.id} ended at {saved.step:,}", ended["text"], ended["kind"]
    elif saved.step < info["clocks"]["env_steps"]:
        return
    else:
        what, reason, kind = f"{run.id} is finished", info["reason"], info.get("reason_kind", "")
    ways_to_continue = {"solved": "--set stop.solved=off", "plateau": "--set stop.plateau=off"}
    how = ways_to_continue.get(kind, "--env-steps N")
    at = f"--at {saved.step} {how}" if branches else f"{how}, or --at CHECKPOINT for a branch"
    raise RunError(f"{what} ({reason})", fix=f"gymnast resume {run.id} {at}")


def check_budget(
    run: Run, saved: Checkpoint, before: Config, cfg: Config, *, branches: bool
) -> None:
    """Raises RunError for a budget that is used up already or, for the run itself, smaller than its stored
    budget. `before` and `cfg` are the settings at the checkpoint and the requested ones; `branches`: a new
    run continues from the checkpoint."""
    stored, asked = before.stop.limits(), cfg.stop.limits()
    clock = Clock(limits=asked)
    clock.load(saved.document("state")["clock"])
    if stored == asked and run.info["status"] != "finished":
        return  # only the final score may be left to compute
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
    """Returns the two ways out of a budget that is too small, as a hint for the user."""
    option = "--minutes" if name == "seconds" else f"--{name.replace('_', '-')}"
    end = min(saved.step, total) if name == "env_steps" else saved.step
    earlier = [step for step in checkpoint.list_checkpoints(run.path) if 0 < step < end]
    where = f"--at {earlier[-1]}" if earlier else "--at 0"
    return f"give a larger {option}, or branch from an earlier checkpoint: {where}"


def _resumed_from(run: Run, saved: Checkpoint) -> bool:
    """True if the run itself was resumed from this checkpoint with changed settings."""
    resumed = (e for e in run.events() if e["kind"] == "resumed")
    return any(e.get("changes") for e in resumed if e.get("checkpoint") == saved.step)


def check_compatible(before: Config, cfg: Config) -> None:
    """Raises ConfigError for changed settings that a checkpoint cannot be loaded into."""
    # These determine the shapes of stored arrays, the meaning of stored statistics, and the episodes
    # that are restored by replaying their actions.
    fixed = ("seed", "policy", "env", "normalize")
    before = before.model_copy(update={"env": _moved(before.env, cfg.env)})
    changed = [name for name in fixed if getattr(before, name) != getattr(cfg, name)]
    if _shaping_terms(before) != _shaping_terms(cfg):
        changed.append("shaping (except weights)")
    if _roles(before) != _roles(cfg):
        changed.append("roles (except algo.* and transaction.*)")
    if before.algo.name != cfg.algo.name:
        changed.append("algo.name")
    if changed:
        raise ConfigError(
            f"resume cannot change {', '.join(changed)}",
            fix="start a new run from its weights: gymnast train ... --from RUN",
        )


def _moved(before: EnvConfig, env: EnvConfig) -> EnvConfig:
    """Returns the settings `before` with the place of the copies, and the reactions to faults, of `env`."""
    names = {"workers", "timeout", "on_fault", "max_faults"}
    if {before.backend, env.backend} <= SAME_NUMBERS:
        names.add("backend")
    return before.model_copy(update={name: getattr(env, name) for name in names})


def _shaping_terms(cfg: Config) -> dict[str, object]:
    """Returns the settings that the state of shaping terms depends on."""
    return {name: (term.term, term.kwargs) for name, term in cfg.shaping.items()}


def _roles(cfg: Config) -> dict[str, object]:
    """Returns, for every role that differs from the default, who plays it and the settings that its
    policy and state depend on."""
    changeable = ("algo.", "transaction.")
    fixed = {
        name: (
            role.plays,
            role.agents,
            [item for item in role.set.items() if not item[0].startswith(changeable)],
        )
        for name, role in cfg.roles.items()
    }
    default = RoleConfig()
    return {name: own for name, own in fixed.items() if own != (default.plays, default.agents, [])}
