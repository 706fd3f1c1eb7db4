"""Resumes a run exactly as if it had never stopped, unless settings are changed on purpose.

From the newest checkpoint, the run itself continues. From an earlier one, a branch continues: a new run
(`branch.py`), so that nothing the old run has achieved since is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from gymnast.collect.collector import Collector
from gymnast.config.config import Config
from gymnast.config.live import overridden_live_keys, with_live_changes
from gymnast.config.resolve import apply_overrides, save
from gymnast.config.sections.collect import PLACE
from gymnast.config.serialize import SettingChange, setting_changes
from gymnast.metrics.recorder import Summary
from gymnast.runs import checkpoint, layout, machine
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.events import DROPPED, is_reapplied
from gymnast.runs.info import WEIGHTS, branch_point
from gymnast.runs.layout import RunFile
from gymnast.runs.run import Run
from gymnast.selfplay.snapshots import Snapshots
from gymnast.training.lifecycle.branch import branch, has_later_checkpoint, settings_at
from gymnast.training.lifecycle.debug import single_process_config
from gymnast.training.lifecycle.label import Label
from gymnast.training.lifecycle.resume_checks import (
    check_budget,
    check_can_continue,
    check_compatible,
    check_no_label,
)
from gymnast.training.lifecycle.start import (
    ConsoleFactory,
    OpenRun,
    engine_name,
    open_run,
    start_fresh,
    train_to_end,
    validate_before_start,
)
from gymnast.training.live.watchdog import PreparationReport, Watchdog


def resume(
    run: Run,
    make_collector: Callable[[Config], Collector],
    *,
    at: str = "latest",
    overrides: Mapping[str, object],
    optimizer: bool = True,
    label: Label = Label(),  # noqa: B008
    console: ConsoleFactory,
    keyboard: bool = False,
    debug: bool = False,
    pause_at: int | None = None,
    on_branch: Callable[[Run], None] = lambda _: None,
) -> tuple[Run, Summary]:
    """Continues training from the checkpoint `at` (latest, best, or env steps) and returns the run that
    trained.

    If the checkpoint is not the newest, that is a new run (a branch) with this `label`, and `on_branch` is
    called with it before it trains. `make_collector` opens the environments of a config; `overrides`: dotted
    key -> new value of a setting; `optimizer`: restore the state of the algorithm as well; `keyboard`: keys
    pressed in the terminal are commands; `pause_at`: as in `ResumeRequest`.
    """
    planned = plan_resume(run, at=at, overrides=overrides, label=label)
    saved, branches, before, cfg = planned.saved, planned.branches, planned.before, planned.cfg
    provenance = planned.provenance
    overruled, changed = overridden_live_keys(overrides), planned.changed
    used = single_process_config(cfg) if debug else cfg
    with Watchdog(used.env.timeout, PreparationReport(), starts=True):
        collector = make_collector(used)
    validate_before_start(cfg, collector, None)
    if saved is not None and branches:
        run = branch(run, saved, before, provenance, label)
        on_branch(run)
    with open_run(
        run, used, collector, console, keyboard=keyboard, rerun_resumes=not branches
    ) as opened:
        row: Mapping[str, float] = {}
        if saved is None:
            start_fresh(opened.session, opened.writer, _parent_of(run))
            opened.writer.event("restarted", why="the run ended before its first checkpoint")
            _schedule_live_changes(opened, overruled)
        else:
            row = saved.document("metrics")
            if branches:
                opened.writer.event("branched", parent=run.info["parent"], step=saved.step)
            restarted = opened.session.restore(
                saved,
                opened.writer.alerts,
                optimizer=optimizer,
                overridden_keys=overruled,
                # what ended the run may not hold with the new settings
                stays_ended=not changed,
                branch_point=branch_point(run.info),
            )
            _rewind(opened, saved, restarted)
            _record_resume(
                opened, before, cfg, saved, restarted, optimizer=optimizer, overruled=overruled
            )
        changed_keys = [c["key"] for c in (*_changes(before, cfg), *_moves(before, cfg))]
        opened.announce(changed_keys, cfg if debug else None)
        if cfg != before:
            run.write_config(save(cfg), provenance)
        return run, train_to_end(opened, row, pause_at=pause_at)


@dataclass(frozen=True)
class ResumePlan:
    """The decisions of a resume, which are made before the environments are opened."""

    saved: Checkpoint | None
    """None for a run that ended before its first checkpoint."""
    branches: bool
    """Whether a new run continues, because the checkpoint is not the newest."""
    before: Config
    """The config at the checkpoint."""
    cfg: Config
    """The config with which it continues."""
    provenance: dict[str, str]
    changed: bool
    """Whether settings differ from those at the checkpoint."""


def plan_resume(run: Run, *, at: str, overrides: Mapping[str, object], label: Label) -> ResumePlan:
    """Returns what `resume` with the same arguments does. Raises for everything that it refuses and that can
    be found without the environment; nothing is written."""
    run.trusted_config()
    saved = _where_to_resume(run, at)
    branches = saved is not None and at != "latest" and has_later_checkpoint(run, saved)
    if saved is not None and branches:
        before, provenance = settings_at(run, saved)
    else:
        check_no_label(run, label)
        before = run.config()
        provenance = run.provenance()
    cfg = before
    if overrides:
        cfg, provenance = apply_overrides(before, overrides, provenance=provenance, origin="resume")
        check_compatible(before, cfg)
    overruled, changed = overridden_live_keys(overrides), bool(_changes(before, cfg))
    if saved is not None:
        live = saved.document("state").get("live", {})
        changed = changed or bool(overruled & live.keys())
        check_can_continue(run, saved, changed=changed, branches=branches)
        live_kept = {key: value for key, value in live.items() if key not in overruled}
        check_budget(
            run,
            saved,
            with_live_changes(before, live),
            with_live_changes(cfg, live_kept),
            branches=branches,
        )
    return ResumePlan(saved, branches, before, cfg, provenance, changed)


def _where_to_resume(run: Run, at: str) -> Checkpoint | None:
    """Returns the checkpoint to resume from; None for a run that ended before its first checkpoint."""
    if at == "latest" and not checkpoint.list_checkpoints(run.path):
        return None
    return checkpoint.find(run.path, at)


def _parent_of(run: Run) -> tuple[Run, Checkpoint] | None:
    """Returns the run and checkpoint whose weights this run starts from (`--from`), if any."""
    info = run.info
    step = info.get("parent_step")
    if info.get("parent_kind", WEIGHTS) != WEIGHTS or info["parent"] is None or step is None:
        return None
    parent = Run(run.path.parent / info["parent"])
    return parent, checkpoint.find(parent.path, step)


def _rewind(opened: OpenRun, saved: Checkpoint, restarted: Mapping[int, str]) -> None:
    """Removes everything that the run wrote after the checkpoint, and records what could not be restored.
    `restarted`: copy -> reason for every copy whose running episode is lost."""
    session, writer = opened.session, opened.writer
    # metric bounds follow the restored settings, and below run.json does too
    writer.adopt_settings(session.cfg, session.collector)
    for file in layout.FILES:
        if file in _REWIND:
            _REWIND[file](opened, saved)
    writer.restore_progress()
    writer.live_settings(session.settings.live, session.clock.limits)
    # Only a damaged newest checkpoint is later than the one that is resumed: otherwise this is a branch.
    damaged = checkpoint.set_aside_damaged(writer.run.path, saved.step)
    if restarted:
        why = "; ".join(dict.fromkeys(restarted.values()))
        writer.event("episodes restarted", copies=list(restarted), why=why)
    for sentence in saved.skipped_errors:
        writer.event("checkpoint skipped", why=sentence)
    if damaged:
        why = "no later checkpoint can be loaded; rows after this one are computed again"
        writer.event("recovered", checkpoint=saved.step, damaged=damaged, why=why)
    dropped = session.drop_best_unless(checkpoint.list_checkpoints(writer.run.path))
    if dropped is not None:
        counts = session.scores.counts(dropped["env_steps"])
        why = "its checkpoint is no longer stored" if counts else "it is the score of its parent"
        writer.event("best score dropped", score=dropped, why=why)


def _rewind_metrics(opened: OpenRun, _saved: Checkpoint) -> None:
    rollouts = opened.session.clock.rollouts
    opened.writer.store.supersede(rollouts, keep=opened.session.late_rows + (rollouts > 0))


def _rewind_episodes(directory: Path, saved: Checkpoint) -> None:
    """Deletes the stored episodes or matches of policy versions after the checkpoint, and unfinished
    files."""
    for file in directory.glob("*-*.safetensors"):
        if int(file.stem.rpartition("-")[2]) > saved.step:
            file.unlink()
    for draft in directory.glob(".*"):  # the run was killed while writing it
        draft.unlink(missing_ok=True)


_REWIND: dict[RunFile, Callable[[OpenRun, Checkpoint], None]] = {
    layout.METRICS: _rewind_metrics,
    layout.EVENTS: lambda opened, _: opened.writer.run.supersede_after(
        opened.session.clock.rollouts
    ),
    layout.TRACES: lambda opened, saved: _rewind_episodes(opened.writer.run.traces, saved),
    layout.MATCHES: lambda opened, saved: _rewind_episodes(opened.writer.run.matches, saved),
    layout.LEAGUE: lambda opened, saved: Snapshots(opened.writer.run.path).delete_after(saved.step),
}
"""File -> the function that removes what was written after the checkpoint."""


def _schedule_live_changes(
    opened: OpenRun, overruled: Collection[str], live: Collection[str] = ()
) -> tuple[list[str], list[dict[str, object]]]:
    """Schedules the live changes that were recorded after the checkpoint to be applied again, except
    for overruled keys. `live` are the keys with a live value at the checkpoint. Returns the keys whose
    live value is dropped, and the changes still to come."""
    rollouts, writer = opened.session.clock.rollouts, opened.writer
    events = writer.run.events()
    ahead = [e for e in events if is_reapplied(e) and e.get("rollouts", 0) >= rollouts]
    keys = {change["key"] for event in ahead for change in event.get("changes", ())} | {*live}
    dropped = sorted(keys & {*overruled})
    if dropped:
        writer.event(DROPPED, keys=dropped, why="set anew on resume")
    # read the events once more: the one just written makes earlier changes of its keys void
    again = opened.commands.schedule_reapply(
        writer.run.events(), rollouts, opened.session.applied_commands
    )
    fields = ("kind", "rollouts", "changes")
    return dropped, [{key: event[key] for key in fields if key in event} for event in again]


def _record_resume(
    opened: OpenRun,
    before: Config,
    cfg: Config,
    saved: Checkpoint,
    restarted: Mapping[int, str],
    *,
    optimizer: bool,
    overruled: Collection[str],
) -> None:
    """Records a "resumed" event: what changed from `before` to `cfg`, and whether the continuation is
    bit-exact. `restarted`: copy -> why its episode could not be restored; `overruled`: keys whose live values
    are dropped."""
    live = saved.document("state").get("live", {})
    dropped, ahead = _schedule_live_changes(opened, overruled, live)
    session, writer = opened.session, opened.writer
    machine_before, here = _fingerprint(writer.run.info), _fingerprint(machine.machine_info())
    differs = [key for key in here if here[key] != machine_before.get(key)]
    engine, engine_before = engine_name(session), writer.run.info.get("engine", "torch")
    writer.run.update(engine=engine)
    if session.clock.rollouts > 0 and engine != engine_before:
        writer.event("engine changed", **{"from": engine_before, "to": engine})
        differs.append("engine")
    changes = _changes(before, cfg)
    because = {
        "settings were changed": changes,
        "live changes were dropped": dropped,
        "the optimizer's state was left out": not optimizer,
        f"computed with other {' and '.join(differs)}": differs,
        "the run depends on the wall clock": not writer.run.info.get("repeatable", True),
        "hosts collect asynchronously (collect.mode=async)": cfg.collect.mode == "async",
    }
    inexact = [reason for reason, holds in because.items() if holds]
    inexact += [f"episodes were restarted: {why}" for why in dict.fromkeys(restarted.values())]
    writer.event(
        "resumed",
        checkpoint=saved.step,
        changes=changes,
        moved=_moves(before, cfg),
        fresh_optimizer=not optimizer,
        bit_exact=not inexact,
        not_exact_because=inexact,
        differs=differs,
        live_changes_ahead=ahead,
    )
    if changes and before.stop.limits() != cfg.stop.limits():
        moved = session.schedules.budget_dependent()
        writer.event("budget changed", schedules_moved=moved)


def _changes(before: Config, cfg: Config) -> list[SettingChange]:
    """Returns the changed settings (key, from, to) on which the numbers of a run may depend. Trackers only
    observe, and collecting elsewhere gives the same numbers."""
    return [
        change
        for change in setting_changes(before, cfg)
        if not change["key"].startswith("track.") and change["key"] not in PLACE
    ]


def _moves(before: Config, cfg: Config) -> list[SettingChange]:
    """Returns the changed settings that say where rollouts are collected."""
    return [change for change in setting_changes(before, cfg) if change["key"] in PLACE]


def _fingerprint(info: Mapping[str, object]) -> dict[str, object]:
    """Returns what must be equal for bit-exact results: library versions and CPU."""
    return {key: info.get(key) for key in ("versions", "cpu")}
