"""Does every preset still do what presets are for? Each is trained, scored, recorded and replayed, in
a second or two, and its environment is held against its facts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from gymnast.check.environment import check_environment
from gymnast.check.finding import Finding
from gymnast.check.matches.matches import check_matches
from gymnast.config.config import Config
from gymnast.config.families import has_roles
from gymnast.config.presets import Preset, all_presets, find, split
from gymnast.config.resolve import load, resolve
from gymnast.config.saved import plain
from gymnast.envs.backends.backend import raise_fault
from gymnast.errors import EnvError, GymnastError, NotInstalled
from gymnast.evaluation.rescore import policy_of
from gymnast.film.frames import Differs
from gymnast.film.matches.frames import MatchStage, replay_match
from gymnast.film.stage import Stage, without_screen
from gymnast.metrics.sinks.console import Console
from gymnast.runs import checkpoint
from gymnast.runs.match_trace import read_matches
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace, read_traces
from gymnast.selfplay.evaluation import MatchEvaluator
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.lifecycle.start import start_run
from gymnast.training.notebook import evaluate

STEPS = 300
"""Random steps for the check of an environment."""
_COPIES, _SPAN, _UPDATES, _LENGTH = 2, 16, 2, 40
"""Copies, vector steps per rollout, rollouts, longest evaluation episode."""

_ELSEWHERE = ("n_envs", "backend", "workers", "timeout", "on_fault", "max_faults")
"""Keys of `env` that do not change what an episode is."""


@dataclass(frozen=True)
class Outcome:
    target: str
    """`ENV:variant`."""
    verdict: Literal["passed", "failed", "skipped"]
    reason: str = ""
    """Why it failed, or what is missing."""
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    """What is wrong with its environment or its facts."""

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "findings": [finding.as_json() for finding in self.findings]}


class Failed(Exception):
    """Something that a preset must be able to do did not come out."""


def chosen(targets: Sequence[str] = ()) -> list[str]:
    """`ENV:variant` of these presets, every variant of each; of all that ship without a name."""
    if not targets:
        shipped = (preset for preset in all_presets().values() if preset.shipped)
        return [target for preset in shipped for target in _variants(preset, None)]
    return [target for name in targets for target in _variants(*_named(name))]


def check_presets(
    targets: Iterable[str], *, steps: int = STEPS, seed: int = 0, allow: Sequence[str] = ()
) -> Iterator[Outcome]:
    """One after the other, as they are done."""
    checked: dict[str, tuple[Finding, ...]] = {}
    for target in targets:
        began = time.perf_counter()
        outcome = _tried(target, steps, seed, allow, checked)
        yield replace(outcome, seconds=time.perf_counter() - began)


def _tried(
    target: str,
    steps: int,
    seed: int,
    allow: Sequence[str],
    checked: dict[str, tuple[Finding, ...]],
) -> Outcome:
    """`checked`: what was found of environments already, which variants may share."""
    try:
        cfg = resolve(target).config
        episode = {k: v for k, v in plain(cfg)["env"].items() if k not in _ELSEWHERE}
        key = repr((episode, plain(cfg)["facts"], plain(cfg)["metrics"]))
        if key not in checked:
            examined = check_matches if has_roles(cfg.env.id) else check_environment
            report = examined(target, cfg, steps=steps, seed=seed).allowing(allow)
            checked[key] = tuple(report.wrong)
        if checked[key]:
            first = checked[key][0]
            return Outcome(target, "failed", f"{first.check}: {first.what}", findings=checked[key])
        with TemporaryDirectory(prefix="gymnast-check-") as directory:
            _exercised(target, cfg, Path(directory))
    except NotInstalled as problem:
        return Outcome(target, "skipped", f"{problem.message} ({problem.fix})")
    except (Failed, GymnastError) as problem:
        said = problem.message if isinstance(problem, GymnastError) else str(problem)
        return Outcome(target, "failed", said.splitlines()[0])
    except Exception as problem:  # our own mistake: named, and the other presets are still tried
        return Outcome(target, "failed", f"{type(problem).__name__}: {problem}")
    return Outcome(target, "passed")


def _exercised(target: str, cfg: Config[Any], directory: Path) -> None:
    """Train a little, score it, score it again from what was stored, replay what was recorded."""
    prepared = prepare(target, small(cfg))
    run, summary = start_run(
        prepared.resolved,
        prepared.collector,
        directory,
        console=lambda metrics, _: Console(metrics, quiet=True),
    )
    if summary.get("interrupted"):
        raise KeyboardInterrupt
    updates = run.info["clocks"]["updates"]
    if updates < _UPDATES:
        raise Failed(f"{updates} updates came of {_UPDATES} rollouts")
    score = run.info["score"]
    if score is None or run.info["checkpoints"]["best"] is None:
        raise Failed("training ended without an evaluation")
    used = _config(run)
    repeats = used.facts.deterministic == "yes"
    several = has_roles(used.env.id)
    again = _scored_again(run, used) if several else evaluate(run, runs_dir=directory)["mean"]
    if repeats and again != score["mean"]:
        raise Failed(f"scored {score['mean']:g}, then {again:g} from the stored policy")
    if several:
        _replay_matches(run, used)
        return
    traces = [t for file in sorted(run.traces.glob("confirm-*")) for t in read_traces(file)]
    if not traces:
        raise Failed("no episode was recorded")
    for trace in traces:
        replay(used, trace)


def small(cfg: Config[Any]) -> dict[str, Any]:
    """Overrides under which a training takes a second; what the preset says otherwise stays."""
    own = type(cfg.algo).model_fields
    algo: dict[str, Any] = {
        "n_steps": _SPAN,
        "episodes": 1,
        "epochs": 1,
        "batch_size": _SPAN,
        "gradient_steps": 2,
        "warmup": _SPAN,
    }
    settings = {
        "env.n_envs": _COPIES,
        "stop.env_steps": _UPDATES * _COPIES * _SPAN,
        "stop.solved": "off",
        "eval.every": f"{_UPDATES} rollouts",
        "eval.mode": "inline",
        "eval.episodes": 1,
        "eval.confirm_episodes": 1,
        "eval.n_envs": 1,
        "eval.starts": "seeds",
        "eval.steps": "off",
        "eval.warmup": "off",
        "eval.start_at": "off",
        "traces.eval": "on",
        "traces.film": "off",
    }
    if not has_roles(cfg.env.id):  # matches are as long as they are
        settings["eval.max_episode_steps"] = _LENGTH
    if cfg.env.backend == "process":
        settings["env.workers"] = 1
    if cfg.starting_values().span().episodes:  # whole ones, so that they must be short
        settings["env.max_episode_steps"] = _SPAN
        algo["n_steps"] = "off"
    return settings | {f"algo.{name}": value for name, value in algo.items() if name in own}


def replay(cfg: Config[Any], trace: Trace) -> None:
    """What was recorded happens again; where that cannot be, it is stored."""
    if trace.obs is not None:
        if len(trace.obs) != len(trace) + 1:
            raise Failed(f"{len(trace.obs)} observations were stored of {len(trace)} steps")
        return
    with closing(Stage(cfg, draws=False)) as stage:
        stage.env.reset(seed=trace.seed)
        for step, (action, reward) in enumerate(zip(trace.action, trace.reward, strict=True), 1):
            _, now, terminated, truncated = stage.step(stage.takes(action))
            over = terminated or truncated
            if now != reward or over != (step == len(trace)):
                raise Failed(f"the recorded episode goes otherwise when replayed, at step {step}")


def _scored_again(run: Run, cfg: Config[Any]) -> float:
    """Of a run with several roles: the mean of the role that does worst."""
    saved = checkpoint.find(run.path, "best")
    policies = {role: policy_of(saved, role) for role in saved.document("policy")}
    with closing(MatchEvaluator(cfg)) as evaluator:
        result, _ = evaluator.evaluate(policies, saved.step, evaluator.plan("confirm"))
    return result.score()["mean"]


def _replay_matches(run: Run, cfg: Config[Any]) -> None:
    """What was recorded happens again, where seeds say what happens, and can be looked at."""
    traces = [t for file in sorted(run.matches.glob("confirm-*")) for t in read_matches(file)]
    if not traces:
        raise Failed("no match was recorded")
    with without_screen(), closing(MatchStage(cfg)) as stage:
        for trace in traces if stage.matches.restore != "none" else ():
            try:
                replay_match(stage, trace)
            except Differs as differs:
                raise Failed(str(differs)) from None
        raise_fault(stage.matches.name, stage.matches.reset([0], [traces[0].seed]))
        stage.picture()


def _config(run: Run) -> Config[Any]:
    return load(run.config(), at=str(run.path / "config.yaml"))


def _named(name: str) -> tuple[Preset, str | None]:
    env, variant = split(name)
    preset = find(env)
    if preset.path is None:
        raise EnvError(f"{env} has no preset", fix=f"`gymnast check {name}` needs none")
    return preset, variant


def _variants(preset: Preset, variant: str | None) -> list[str]:
    """Those that the file defines, or the one that is named."""
    names = [variant] if variant else list(preset.own) or [preset.default]
    return [f"{preset.name}:{name}" for name in names]
