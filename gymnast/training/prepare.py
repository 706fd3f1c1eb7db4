"""From a name to everything that is needed before the first step, and what a person should know."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from gymnast.collect.collector import Collector
from gymnast.config.config import Config
from gymnast.config.families import has_roles
from gymnast.config.numbers import show
from gymnast.config.resolve import Resolved, resolve
from gymnast.config.saved import values
from gymnast.engine.choice import choose
from gymnast.envs.defaults import suggested
from gymnast.envs.make import make_env
from gymnast.envs.open_matches import open_matches
from gymnast.metrics.tracking import refuse_missing
from gymnast.policy import spaces
from gymnast.policy.layers import (
    Conv,
    Embedding,
    Linear,
    Network,
    Parallel,
    Pixels,
    Stack,
    walk,
)
from gymnast.training.control import Settings
from gymnast.training.debug import in_one_process
from gymnast.training.effects import settings_without_effect
from gymnast.training.learner import policy_for
from gymnast.training.session import open_collector
from gymnast.training.summary import Preflight

_UNTOLD = ("facts.", "env.id", "algo.name", "stop.", "seed")
"""Settings that the rest of the pre-flight text already says."""


@dataclass(frozen=True)
class Prepared:
    resolved: Resolved
    collector: Collector

    def preflight(self) -> Preflight:
        """What is about to happen, as plain values."""
        cfg, provenance = self.resolved.config, self.resolved.provenance
        observation, action = self.collector.described
        settings = Settings(cfg)
        policies = {
            role: policy_for(obs, does, settings.of(role))
            for role, (obs, does) in self.collector.spaces.items()
        }
        known = values(cfg)
        chosen = [
            (key, show(known[key]), origin)
            for key, origin in provenance.items()
            if origin != "default" and key in known and not key.startswith(_UNTOLD)
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
            engine=str(choose(cfg, next(iter(policies.values())).network)),
            budget=cfg.stop.limits(),
            threshold=cfg.facts.threshold,
            settings=chosen,
            warnings=self.warnings(),
        )

    def warnings(self) -> list[str]:
        cfg, found = self.resolved.config, []
        if not self.resolved.has_preset:
            found.append(f"no preset for {cfg.env.id}: defaults for its kind of spaces are used")
        if cfg.facts.threshold is None:
            found.append("no threshold is declared, so nothing counts as solved (facts.threshold)")
        found += self.collector.doubts
        if not self.collector.goes_on_exactly and not self.collector.doubts:
            found.append("this environment does not replay exactly: resume restarts its episodes")
        if cfg.eval.max_episode_steps is None and self.collector.time_limit is None:
            found.append(
                "no time limit is known: an evaluation lasts as long as its episodes do "
                "(eval.max_episode_steps)"
            )
        idle = settings_without_effect(self.resolved.given, cfg, self.collector)
        found += [f"{key} has no effect: {why}" for key, why in idle]
        rollout = cfg.env.n_envs * (cfg.starting_values().span().steps or 1)
        total = cfg.stop.env_steps
        if total is not None and total < rollout:
            found.append(f"the budget ({total:,}) is less than one rollout ({rollout:,} env steps)")
        return found


def prepare(
    target: str, overrides: Mapping[str, Any], algo: str | None = None, *, debug: bool = False
) -> Prepared:
    """Resolve the config, with defaults for its spaces where there is no preset, and open the
    training environments. Nothing is written."""
    resolved = resolve(target, overrides, algo=algo)
    refuse_missing(resolved.config.track.to)
    if not resolved.has_preset:
        settings = suggested(*_spaces(resolved.config), resolved.config.algo.name)
        resolved = resolve(target, overrides, algo=algo, suggested=settings)
    cfg = in_one_process(resolved.config) if debug else resolved.config
    return Prepared(resolved, open_collector(cfg))


def _spaces(cfg: Config[Any]) -> tuple[spaces.Observation, spaces.Action]:
    """Of the environment, or of the first of its roles."""
    if has_roles(cfg.env.id):
        with closing(open_matches(cfg, 1)) as matches:
            role = next(iter(matches.roles.values()))
            return role.obs, role.action
    with closing(make_env(cfg.env)) as env:
        return spaces.observation(env.observation_space), spaces.action(env.action_space)


def network_text(network: Network) -> str:
    """`4 -> 64 -> 64 -> 2 | 4 -> 64 -> 64 -> 1`: actor and critic, or trunk and both heads."""
    if network.module is not None:
        return f"{network.module.path} -> {network.module.n_outputs} | 1"
    return " | ".join(_widths(stack) for _, stack in network.stacks() if stack)


def _widths(stack: Stack) -> str:
    widths: list[str] = []
    for layer in stack:
        match layer:
            case Embedding(n, width):
                widths += [f"{n} embedded", str(width)]
            case Linear(n_in, n_out):
                widths += [str(n_out)] if widths else [str(n_in), str(n_out)]
            case Pixels(shape):
                convolutions = sum(isinstance(one, Conv) for _, one in walk("", stack))
                widths.append(f"{' x '.join(map(str, shape))} image")
                widths.append(f"{convolutions} convolutions")
            case Parallel(_, branches):
                parts = (f"{name}: {_widths(s)}" if _widths(s) else name for name, s in branches)
                widths.append(f"({', '.join(parts)})")
            case _:
                pass
    return " -> ".join(widths)
