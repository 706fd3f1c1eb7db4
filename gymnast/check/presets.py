"""Tests presets end to end (`gymnast check --all`): each is trained for a second or two, evaluated,
recorded, replayed and inspected, and its environment is checked against its facts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gymnast.check.environment import check_environment
from gymnast.check.finding import Finding, PresetOutcome
from gymnast.check.inspection import inspection_problem
from gymnast.check.matches.matches import check_matches
from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.config.presets import Preset, all_presets, find_preset
from gymnast.config.resolve import resolve
from gymnast.config.serialize import to_plain
from gymnast.config.target import split_target
from gymnast.envs.backends.backend import raise_fault
from gymnast.errors import EnvError, GymnastError, NotInstalled
from gymnast.evaluation.rescore import load_policy
from gymnast.film.headless import headless_rendering
from gymnast.film.matches.replay import MatchRenderer, replay_match
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import ReplayMismatch
from gymnast.metrics.sinks.console import Console
from gymnast.runs import checkpoint
from gymnast.runs.match_trace import read_matches
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace, read_traces
from gymnast.selfplay.evaluation import MatchEvaluator
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.lifecycle.start import start_run
from gymnast.training.python_api import evaluate

STEPS = 300
"""Number of random steps for the check of an environment."""
_COPIES, _SPAN, _UPDATES, _LENGTH = 2, 16, 2, 40
"""Env copies, vector steps per rollout, number of rollouts, maximum length of evaluation episodes."""

_NOT_EPISODE = ("n_envs", "backend", "workers", "timeout", "on_fault", "max_faults")
"""Keys of `env` that do not change the episodes, so that variants can share the check of the environment."""


class PresetFailure(Exception):
    """Raised if a preset fails one of the steps: training, evaluation, recording, replay or inspection."""


def preset_targets(targets: Sequence[str] = ()) -> list[str]:
    """Returns `ENV:variant` for every variant of these presets; without targets, of all shipped presets."""
    if not targets:
        shipped = (preset for preset in all_presets().values() if preset.is_builtin)
        return [target for preset in shipped for target in _variants(preset, None)]
    return [target for name in targets for target in _variants(*_named(name))]


def check_presets(
    targets: Iterable[str], *, steps: int = STEPS, seed: int = 0, allow: Sequence[str] = ()
) -> Iterator[PresetOutcome]:
    """Tests the targets one after the other and yields each outcome as soon as it is known. `steps`: number
    of random steps per environment; `allow`: names of checks whose errors count as notes."""
    checked: dict[str, tuple[Finding, ...]] = {}
    for target in targets:
        began = time.perf_counter()
        outcome = _check_preset(target, steps, seed, allow, checked)
        yield replace(outcome, seconds=time.perf_counter() - began)


def _check_preset(
    target: str,
    steps: int,
    seed: int,
    allow: Sequence[str],
    checked: dict[str, tuple[Finding, ...]],
) -> PresetOutcome:
    """Tests one target. `checked` caches the findings of environments that several variants share."""
    try:
        # 1. The environment against its facts, once for all variants with the same episodes.
        cfg = resolve(target).config
        episode = {
            k: v for k, v in cfg.env.model_dump(mode="json").items() if k not in _NOT_EPISODE
        }
        key = repr((episode, to_plain(cfg)["facts"], to_plain(cfg)["metrics"]))
        if key not in checked:
            check = check_matches if is_multi_agent(cfg.env.id) else check_environment
            report = check(target, cfg, steps=steps, seed=seed).with_allowed(allow)
            checked[key] = report.errors
        if checked[key]:
            first = checked[key][0]
            return PresetOutcome(
                target, "failed", f"{first.check}: {first.what}", findings=checked[key]
            )
        # 2. A short run in a directory that is deleted afterwards.
        with TemporaryDirectory(prefix="gymnast-check-") as directory:
            _train_and_replay(target, cfg, Path(directory))
    except NotInstalled as problem:
        return PresetOutcome(target, "skipped", f"{problem.message} ({problem.fix})")
    except (PresetFailure, GymnastError) as problem:
        message = problem.message if isinstance(problem, GymnastError) else str(problem)
        return PresetOutcome(target, "failed", message.splitlines()[0])
    except Exception as problem:  # a bug of ours must not keep the other presets from being tested
        return PresetOutcome(target, "failed", f"{type(problem).__name__}: {problem}")
    return PresetOutcome(target, "passed")


def _train_and_replay(target: str, cfg: Config, directory: Path) -> None:
    """Trains briefly, evaluates, evaluates again from the checkpoint, and replays and inspects the recorded
    episodes."""
    # 1. Train.
    prepared = prepare(target, short_run_overrides(cfg))
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
        raise PresetFailure(f"{_UPDATES} rollouts led to only {updates} updates")
    # 2. Evaluate again from the checkpoint: the stored policy must play as the trained one did.
    score = run.info["score"]
    if score is None or run.info["checkpoints"]["best"] is None:
        raise PresetFailure("training ended without an evaluation")
    used = run.config()
    repeats = used.facts.deterministic == "yes"
    several = is_multi_agent(used.env.id)
    again = _evaluate_again(run, used) if several else evaluate(run, runs_dir=directory).mean
    if repeats and again != score["mean"]:
        raise PresetFailure(
            f"scored {score['mean']:g}, but {again:g} when evaluated again from the stored policy"
        )
    # 3. Replay: the recorded actions must lead to the recorded rewards.
    if several:
        _replay_matches(run, used)
    else:
        traces = [t for file in sorted(run.traces.glob("confirm-*")) for t in read_traces(file)]
        if not traces:
            raise PresetFailure("no episode was recorded")
        for trace in traces:
            replay(used, trace)
    # 4. Inspect: the page of an episode must open, whatever its spaces, facts and renderer are.
    if problem := inspection_problem(run, deterministic=repeats):
        raise PresetFailure(f"inspector: {problem}")


def short_run_overrides(cfg: Config) -> dict[str, object]:
    """Returns overrides that make training take about a second; all other settings stay as in the preset."""
    own = type(cfg.algo).model_fields
    algo: dict[str, object] = {
        "n_steps": _SPAN,
        "episodes": 1,
        "epochs": 1,
        "batch_size": _SPAN,
        "gradient_steps": 2,
        "warmup": _SPAN,
    }
    settings: dict[str, object] = {
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
    if not is_multi_agent(cfg.env.id):  # the length of matches cannot be limited
        settings["eval.max_episode_steps"] = _LENGTH
    if cfg.env.backend == "process":
        settings["env.workers"] = 1
    if cfg.initial_hyperparameters().rollout_length().episodes:
        # The algorithm needs whole episodes, so these must be short.
        settings["env.max_episode_steps"] = _SPAN
        algo["n_steps"] = "off"
    # Each algorithm has only some of these settings.
    return settings | {f"algo.{name}": value for name, value in algo.items() if name in own}


def replay(cfg: Config, trace: Trace) -> None:
    """Replays a recorded episode and compares rewards and ends. A trace that stores its observations
    (because it cannot be replayed) is only checked for completeness."""
    if trace.obs is not None:
        if len(trace.obs) != len(trace) + 1:
            raise PresetFailure(f"{len(trace.obs)} observations were stored for {len(trace)} steps")
        return
    with closing(EnvRenderer(cfg, render=False)) as renderer:
        renderer.env.reset(seed=trace.seed)
        for step, (action, reward) in enumerate(zip(trace.action, trace.reward, strict=True), 1):
            _, now, terminated, truncated = renderer.step(renderer.to_env_action(action))
            over = terminated or truncated
            if now != reward or over != (step == len(trace)):
                raise PresetFailure(f"the replay differs from the recorded episode at step {step}")


def _evaluate_again(run: Run, cfg: Config) -> float:
    """Evaluates a multi-agent run again; returns the mean score of the weakest role."""
    saved = checkpoint.find(run.path, "best")
    policies = {role: load_policy(saved, role) for role in saved.document("policy")}
    with closing(MatchEvaluator(cfg)) as evaluator:
        result, _ = evaluator.evaluate(policies, saved.step, evaluator.plan("confirm"))
    return result.score()["mean"]


def _replay_matches(run: Run, cfg: Config) -> None:
    """Replays recorded matches, if the environment is reproducible, and renders one frame."""
    traces = [t for file in sorted(run.matches.glob("confirm-*")) for t in read_matches(file)]
    if not traces:
        raise PresetFailure("no match was recorded")
    with headless_rendering(), closing(MatchRenderer(cfg)) as renderer:
        for trace in traces if renderer.matches.restore_mode != "none" else ():
            try:
                replay_match(renderer, trace)
            except ReplayMismatch as differs:
                raise PresetFailure(str(differs)) from None
        raise_fault(renderer.matches.name, renderer.matches.reset([0], [traces[0].seed]))
        renderer.render()


def _named(name: str) -> tuple[Preset, str | None]:
    """Returns the preset and the variant of a target. Raises EnvError for an id without a preset."""
    env, variant = split_target(name)
    preset = find_preset(env)
    if preset.path is None:
        raise EnvError(
            f"{env} has no preset", fix=f"run `gymnast check {name}`, which needs no preset"
        )
    return preset, variant


def _variants(preset: Preset, variant: str | None) -> list[str]:
    """Returns the named variant, or all that the preset defines."""
    names = [variant] if variant else preset.defined_variants
    return [f"{preset.name}:{name}" for name in names]
