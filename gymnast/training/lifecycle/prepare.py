"""Prepares a training from the name of an environment: resolves the config, opens the environments,
and collects what the user should know before it starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gymnast.clock import clock_label
from gymnast.collect.collector import Collector
from gymnast.config.episode_limit import DEFAULT_EPISODE_STEPS, ENV_LIMIT
from gymnast.config.numbers import quote_value
from gymnast.config.presets import find_preset
from gymnast.config.resolve import (
    OTHER_TASK_ORIGIN,
    REGISTERED_ORIGIN,
    SPACE_DEFAULT_ORIGIN,
    ResolvedConfig,
)
from gymnast.config.serialize import flat_values
from gymnast.config.target import split_target
from gymnast.engine.choice import choose_engine
from gymnast.envs.backends.active_calls import START_SECONDS
from gymnast.envs.build.defaults import resolve_for_spaces
from gymnast.envs.build.env_ids import preset_of
from gymnast.metrics.tracking import require_packages
from gymnast.policy.layers import (
    Conv,
    Embedding,
    Linear,
    Network,
    Parallel,
    Pixels,
    Stack,
    iter_layers,
)
from gymnast.training.collectors import open_collector
from gymnast.training.learner import build_policy
from gymnast.training.lifecycle.debug import single_process_config
from gymnast.training.lifecycle.stop import stop_conditions
from gymnast.training.lifecycle.summary import ChosenSetting, Preflight
from gymnast.training.lifecycle.unused_settings import unused_settings
from gymnast.training.live.settings import Settings
from gymnast.training.live.watchdog import PreparationReport, Watchdog

_SHOWN_ELSEWHERE = ("facts.", "env.id", "algo.name", "stop.", "seed")
"""Settings that other lines of the pre-flight text contain."""


@dataclass(frozen=True)
class PreparedRun:
    resolved: ResolvedConfig
    collector: Collector

    def preflight(self) -> Preflight:
        """Returns the content of the pre-flight text."""
        cfg, provenance = self.resolved.config, self.resolved.provenance
        observation, action = self.collector.env.space_texts
        settings = Settings(cfg)
        policies = {
            role: build_policy(obs, action_space, settings.for_role(role))
            for role, (obs, action_space) in self.collector.spaces.items()
        }
        known = flat_values(cfg)
        chosen = [
            ChosenSetting(key, quote_value(known[key]), origin)
            for key, origin in provenance.items()
            if origin != "default" and key in known and not key.startswith(_SHOWN_ELSEWHERE)
        ]
        return Preflight(
            preset=self.resolved.preset,
            has_preset=self.resolved.has_preset,
            seed=cfg.seed,
            n_envs=cfg.env.n_envs,
            observation=observation,
            action=action,
            network=" and ".join(network_text(p.network) for p in policies.values()),
            parameters=sum(p.parameters.count for p in policies.values()),
            engine=str(choose_engine(cfg, next(iter(policies.values())).network)),
            time_limit=self.time_limit_text(),
            budget=dict(cfg.stop.limits()),
            threshold=cfg.facts.threshold,
            threshold_origin=REGISTERED_ORIGIN
            if provenance.get("facts.threshold") == REGISTERED_ORIGIN
            else "",
            stops=tuple(stop_conditions(cfg)),
            settings=tuple(chosen),
            warnings=tuple(self.warnings()),
        )

    def time_limit_text(self) -> str:
        """Returns the time limit of training episodes and its origin; empty if it is the
        environment's own."""
        cfg, steps = self.resolved.config, self.collector.env.time_limit
        if steps is not None and self.collector.env.has_default_limit:
            from_eval = cfg.training_limit().default != DEFAULT_EPISODE_STEPS
            source = "eval.max_episode_steps" if from_eval else "default"
            return f"{steps:,} steps ({source}: the environment declares none)"
        if (given := cfg.training_limit().steps) is not None:
            return f"{given:,} steps (env.max_episode_steps)"
        return "none (the environment declares none)" if steps is None else ""

    def warnings(self) -> list[str]:
        """Returns what the user should know before training starts, one sentence each."""
        cfg, warnings = self.resolved.config, list[str]()
        name = split_target(self.resolved.preset)[0]
        if found_as := self.resolved.found_as:
            warnings.append(f"using {name}, {found_as}")
        if (preset := find_preset(name)).shadows_builtin:
            warnings.append(f"{preset.source.name} replaces the built-in preset for {name}")
        if not self.resolved.has_preset:
            other = preset_of(cfg.env.id)
            instead = f"; {other} is the same environment with a preset" if other else ""
            warnings.append(
                f"no preset for {cfg.env.id}: using defaults for its type of spaces{instead}"
            )
        if self.resolved.provenance.get("env.keep") == SPACE_DEFAULT_ORIGIN:
            kept = ", ".join(cfg.env.keep)
            warnings.append(
                f"the policy sees only these parts of the observation: {kept} (env.keep)"
            )
        if cfg.facts.threshold is None:
            origin = self.resolved.provenance["facts.threshold"]
            changed = origin.startswith(OTHER_TASK_ORIGIN.format(""))
            why = f"the threshold is {origin}" if changed else "no threshold is declared"
            warnings.append(f"{why}, so nothing counts as solved (facts.threshold)")
        warnings += self.collector.seeding_warnings
        if not self.collector.env.resumes_exactly and not self.collector.seeding_warnings:
            warnings.append(
                "this environment does not replay exactly: resume restarts its episodes"
            )
        if cfg.collect.mode == "async":
            warnings.append(
                "collect.mode=async: what a rollout consists of depends on the speed of the hosts, so that "
                "the run cannot be repeated exactly"
            )
        if cfg.evaluation_limit() == ENV_LIMIT and self.collector.env.time_limit is None:
            warnings.append(
                f"{cfg.env.id} declares no time limit and eval.max_episode_steps is off: an evaluation "
                "may last until eval.timeout"
            )
        idle = unused_settings(self.resolved.explicit_keys, cfg, self.collector)
        warnings += [f"{key} has no effect: {why}" for key, why in idle]
        steps = cfg.initial_hyperparameters().rollout_length().steps or 1
        for clock, rollout in (("env_steps", cfg.env.n_envs * steps), ("vec_steps", steps)):
            total = cfg.stop.limits().get(clock, math.inf)
            if total < rollout:
                size = f"{rollout:,} {clock_label(clock)}"
                warnings.append(f"the budget ({total:,.0f}) is less than one rollout ({size})")
        return warnings


def prepare(
    target: str, overrides: Mapping[str, object], algo: str | None = None, *, debug: bool = False
) -> PreparedRun:
    """Resolves the config and opens the training environments. Nothing is written to disk. `target`:
    `ENV[:variant]`; `overrides`: dotted key -> value; `debug`: open the environments in this process."""
    with Watchdog(START_SECONDS, PreparationReport(), starts=True):
        resolved = resolve_for_spaces(target, overrides, algo=algo)
    require_packages(resolved.config.track.to)
    cfg = single_process_config(resolved.config) if debug else resolved.config
    with Watchdog(cfg.env.timeout, PreparationReport(), starts=True):
        return PreparedRun(resolved, open_collector(cfg))


def network_text(network: Network) -> str:
    """Returns the layer widths of actor and critic, or of the trunk and both heads, such as
    `4 -> 64 -> 64 -> 2 | 4 -> 64 -> 64 -> 1`."""
    if network.module is not None:
        return f"{network.module.path} -> {network.module.n_outputs} | 1"
    return " | ".join(_widths(stack) for _, stack in network.stacks() if stack)


def _widths(stack: Stack) -> str:
    """Returns the widths of a stack of layers. Layers without a width (activations) are not shown."""
    widths: list[str] = []
    for layer in stack:
        match layer:
            case Embedding(n, width):
                widths += [f"{n} embedded", str(width)]
            case Linear(n_in, n_out):
                # the input of a later layer is the output of the one before
                widths += [str(n_out)] if widths else [str(n_in), str(n_out)]
            case Pixels(shape):
                convolutions = sum(isinstance(one, Conv) for _, one in iter_layers("", stack))
                widths.append(f"{' x '.join(map(str, shape))} image")
                widths.append(f"{convolutions} convolutions")
            case Parallel(_, branches):
                parts = (f"{name}: {_widths(s)}" if _widths(s) else name for name, s in branches)
                widths.append(f"({', '.join(parts)})")
            case _:
                pass
    return " -> ".join(widths)
