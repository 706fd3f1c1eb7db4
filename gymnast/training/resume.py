"""Go on with a run, exactly as if nothing had happened, unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from gymnast.collect.collector import Collector
from gymnast.config.config import Config
from gymnast.config.live import overlaid, overruled
from gymnast.config.resolve import load, revise, save
from gymnast.config.saved import diff
from gymnast.config.sections.league import RoleConfig
from gymnast.errors import ConfigError, RunError
from gymnast.metrics.recorder import Summary
from gymnast.runs import checkpoint, document, durable, machine
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.events import DROPPED, stands
from gymnast.runs.run import Run
from gymnast.training.commands import adopt
from gymnast.training.debug import announce, in_one_process
from gymnast.training.effects import note_settings_without_effect
from gymnast.training.loop import Loop
from gymnast.training.snapshots import Snapshots
from gymnast.training.start import (
    ConsoleFor,
    note_engine,
    open_run,
    refuse_what_cannot_begin,
    start_fresh,
    train_to_end,
)


def resume(
    run: Run,
    collector_for: Callable[[Config[Any]], Collector],
    *,
    at: str = "latest",
    overrides: Mapping[str, Any],
    optimizer: bool = True,
    console: ConsoleFor,
    keyboard: bool = False,
    debug: bool = False,
) -> tuple[Run, Summary]:
    """Go on from a checkpoint, exactly as if nothing had happened, unless told otherwise."""
    before = load(run.config(), at=str(run.path / "config.yaml"))
    cfg, provenance = before, run.provenance()
    if overrides:
        cfg, provenance = revise(before, overrides, provenance=provenance, origin="resume")
        _refuse_other_shape(before, cfg)
    saved = _where_to_resume(run, at)
    gone, changed = overruled(overrides), bool(_changes(before, cfg))
    if saved is not None:
        live = saved.document("state").get("live", {})
        changed = changed or bool(gone & live.keys())
        _refuse_nothing_to_do(run, saved, changed=changed)
        overlaid(cfg, {k: v for k, v in live.items() if k not in gone})  # or refused in time
    held = in_one_process(cfg) if debug else cfg
    collector = collector_for(held)
    refuse_what_cannot_begin(cfg, collector, None)
    with open_run(run, held, collector, console, keyboard=keyboard) as loop:
        if saved is None:
            start_fresh(loop, _parent_of(run))
            loop.event("begun again", why="it was ended before its first checkpoint")
            _live_changes_ahead(loop, gone)
        else:
            _restore(loop, saved, optimizer=optimizer, overruled=gone)
            if changed:
                loop.session.ended = None  # whatever ended it may no longer do so
            _say_what_changed(loop, before, cfg, saved, optimizer=optimizer, overruled=gone)
        note_settings_without_effect(loop, [change["key"] for change in _changes(before, cfg)])
        if debug:
            announce(loop, cfg)
        if cfg != before:
            durable.replace(run.path / "config.yaml", save(cfg).encode())
            origins = document.dumps(dict(provenance), indent=1).encode()
            durable.replace(run.path / "provenance.json", origins)
        return run, train_to_end(loop)


def _where_to_resume(run: Run, at: str) -> Checkpoint | None:
    """None for a run that was ended before its very first checkpoint."""
    if at == "latest" and not checkpoint.steps(run.path):
        return None
    return checkpoint.find(run.path, at)


def _parent_of(run: Run) -> tuple[Run, Checkpoint] | None:
    info = run.info
    if info["parent"] is None:
        return None
    parent = Run(run.path.parent / info["parent"])
    return parent, checkpoint.find(parent.path, info["parent_step"])


def _restore(loop: Loop, saved: Checkpoint, *, optimizer: bool, overruled: Collection[str]) -> None:
    run, session = loop.run, loop.session
    restarted = session.restore(
        saved, loop.recorder.alerts, optimizer=optimizer, overruled=overruled
    )
    adopt(loop, [])  # bounds follow the settings in use
    rollouts = session.clock.rollouts
    loop.row = dict(saved.document("metrics"))
    loop.store.supersede(rollouts, keep=session.late_rows + (rollouts > 0))
    run.supersede(rollouts)
    checkpoint.supersede(run.path, saved.step)
    for directory in (run.traces, run.matches):
        for file in directory.glob("*-*.safetensors"):
            if int(file.stem.rpartition("-")[2]) > saved.step:
                file.unlink()
        for draft in directory.glob(".*"):  # a kill came while it was being written
            draft.unlink(missing_ok=True)
    Snapshots(run.path).supersede(saved.step)
    if restarted:
        loop.event("episodes restarted", copies=restarted, why="they could not be replayed")
    for sentence in saved.skipped:
        loop.event("checkpoint skipped", why=sentence)


def _live_changes_ahead(
    loop: Loop, overruled: Collection[str], held: Collection[str] = ()
) -> tuple[list[str], list[dict[str, Any]]]:
    """Have live changes made after this point made again, but for overruled ones. Returns the keys
    whose live value ends, among them those `held` now, and what is still to come."""
    rollouts = loop.session.clock.rollouts
    to_come = [e for e in loop.run.events() if stands(e) and e["rollouts"] >= rollouts]
    keys = {change["key"] for event in to_come for change in event.get("changes", ())} | {*held}
    dropped = sorted(keys & {*overruled})
    if dropped:
        loop.event(DROPPED, keys=dropped, why="set anew on resume")
    again = loop.commands.repeat(loop.run.events(), loop)
    told = ("kind", "rollouts", "changes")
    return dropped, [{key: event[key] for key in told if key in event} for event in again]


def _say_what_changed(
    loop: Loop,
    before: Config[Any],
    cfg: Config[Any],
    saved: Checkpoint,
    *,
    optimizer: bool,
    overruled: Collection[str],
) -> None:
    held = saved.document("state").get("live", {})
    dropped, ahead = _live_changes_ahead(loop, overruled, held)
    machine_before, here = _fingerprint(loop.run.info), _fingerprint(machine.here())
    differs = [key for key in here if here[key] != machine_before.get(key)]
    differs += note_engine(loop)
    changes = _changes(before, cfg)
    exact = optimizer and not differs and not changes and not dropped
    loop.event(
        "resumed",
        checkpoint=saved.step,
        changes=changes,
        fresh_optimizer=not optimizer,
        bit_exact=exact,
        differs=differs,
        live_changes_ahead=ahead,
    )
    if changes and before.stop.limits() != cfg.stop.limits():
        moved = loop.session.control.moved_by_budget()
        loop.event("budget changed", schedules_moved=moved)


def _changes(before: Config[Any], cfg: Config[Any]) -> list[dict[str, Any]]:
    """Other settings than those of the run; who looks on is no matter."""
    told = ({"key": key, "from": a, "to": b} for key, a, b in diff(before, cfg))
    return [change for change in told if not change["key"].startswith("track.")]


def _refuse_other_shape(before: Config[Any], cfg: Config[Any]) -> None:
    """What a checkpoint cannot be poured into."""
    fixed = ("seed", "policy", "env", "normalize")
    changed = [name for name in fixed if getattr(before, name) != getattr(cfg, name)]
    if _terms(before) != _terms(cfg):
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


def _terms(cfg: Config[Any]) -> dict[str, Any]:
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


def _refuse_nothing_to_do(run: Run, saved: Checkpoint, *, changed: bool) -> None:
    info = run.info
    if changed or info["status"] != "finished" or saved.step < info["clocks"]["env_steps"]:
        return
    further = {"solved": "--set stop.solved=off", "plateau": "--set stop.plateau=off"}
    how = further.get(info.get("reason_kind", ""), "--env-steps N")
    raise RunError(
        f"{run.id} is finished ({info['reason']})",
        fix=f"gymnast resume {run.id} {how}, or --at CHECKPOINT",
    )


def _fingerprint(info: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for the same bits."""
    return {key: info.get(key) for key in ("versions", "cpu")}
