"""The place where rollouts are collected, and the order of collecting and learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo

from gymnast.config.applies import Applies
from gymnast.config.numbers import Count, Positive
from gymnast.config.section import Section

if TYPE_CHECKING:
    from gymnast.config.config import Config

Place = Literal["auto", "here", "local", "ray"]
Mode = Literal["sync", "overlap", "async"]

ON_HOSTS = Applies("with collect.on=local or ray", lambda on: on.config.collect.on != "here")
ASYNC = Applies("with collect.mode=async", lambda on: on.config.collect.mode == "async")
ON_RAY = Applies("with collect.on=ray", lambda on: on.config.collect.on == "ray")
PLACE = frozenset(
    {f"collect.{name}" for name in ("on", "hosts", "address", "inference", "timeout", "wait")}
    | {f"env.{name}" for name in ("backend", "workers", "timeout", "on_fault", "max_faults")}
)
"""Settings that say where rollouts are collected, and what happens to faults. The numbers of a run do not
depend on them, so that it can be resumed with others; with `mode` async it is not reproducible anyway."""


def _place(value: str, known: ValidationInfo) -> str:
    """Resolves `auto` during validation, so that a stored config contains the place that was used. `known`
    holds the fields that are declared above `on`."""
    if value != "auto":
        return value
    needs_hosts = known.data.get("mode") == "async" or known.data.get("inference") == "central"
    return "local" if needs_hosts else "here"


class CollectConfig(Section):
    mode: Mode = "sync"
    """`sync`: collect, then update. `overlap`: collect the next rollout while updating from the previous one;
    the collecting policy is then exactly one update behind. `async`: hosts collect without waiting for
    updates; V-trace corrects for their older policies, and runs are not reproducible."""
    inference: Annotated[Literal["hosts", "central"], ON_HOSTS] = "hosts"
    """`hosts`: each host has a copy of the policy and chooses the actions of its env copies. `central`: hosts
    only step environments, and the training process chooses all actions; for networks that take longer than
    a message, or that need a GPU."""
    on: Annotated[Place, AfterValidator(_place)] = "auto"
    """Place where the env copies are stepped: in the training process (here), in processes of this machine
    (local), or in processes of a Ray cluster (ray). The numbers of a run are the same everywhere, unless
    `mode` is async. `auto`: local if `mode` is async or `inference` is central, which need hosts, else
    here."""
    hosts: Annotated[Count, ON_HOSTS, Field(le=10_000)] = 2
    """Number of processes that collect. The env copies are divided among them."""
    address: Annotated[str, ON_RAY] = "local"
    """Address of the Ray cluster, such as 10.0.0.1:6379; `auto` for the one of this machine, `local` to start
    one for this run."""
    max_staleness: Annotated[Count, ASYNC] = 4
    """Largest number of updates between the policy that collected a part of a rollout and the policy that
    learns from it. Older parts are dropped."""
    vtrace_rho: Annotated[Positive, ASYNC] = 1.0
    """Cap of the importance ratios that weight TD errors (rho of V-trace). A higher one estimates the values
    of the current policy with less bias and more variance."""
    vtrace_c: Annotated[Positive, ASYNC] = 1.0
    """Cap of the importance ratios that weight what later steps contribute (c of V-trace)."""
    timeout: Annotated[Positive, ON_HOSTS] = 300.0
    """Seconds that a host may take for its part of a rollout before it is replaced."""
    wait: Annotated[Positive, ON_HOSTS] = 300.0
    """Seconds that training waits for hosts that cannot be started, before it saves a checkpoint and
    stops."""


def async_conflicts(cfg: Config) -> list[tuple[str, str]]:
    """Returns settings that contradict `collect.mode=async`, as (dotted key, message)."""
    collect, n_envs = cfg.collect, cfg.env.n_envs
    if collect.mode != "async":
        return []
    mode, problems = "collect.mode=async", list[tuple[str, str]]()
    if cfg.algo.async_obstacle is not None:
        what = f"{cfg.algo.name} cannot learn asynchronously: {cfg.algo.async_obstacle}"
        problems.append(("collect.mode", f"{what} (expected sync, or algo ppo or a2c)"))
    if collect.on == "here":
        problems.append(("collect.mode", "async needs hosts (set collect.on=local or ray)"))
    elif n_envs % collect.hosts:
        what = f"{n_envs} env copies cannot be divided equally among {collect.hosts} hosts"
        problems.append(("collect.hosts", f"{what}, as {mode} needs it"))
    if cfg.policy.memory is not None:
        what = "the states of the current policy in the episodes of older ones are not known"
        problems.append(("policy.memory", f"{what} ({mode}; expected off)"))
    if cfg.shaping:
        what = "shaping terms need the steps of every env copy in order, without gaps"
        problems.append(("shaping", f"{what} ({mode}; expected none)"))
    if collect.inference == "central":
        what = "central inference always acts with the newest parameters"
        problems.append(("collect.inference", f"{what} ({mode}; expected hosts)"))
    return problems
