"""Measures where the time of a run goes, and what more hosts would change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from gymnast.clock import Clock
from gymnast.collect.collector import ROLE, Collector
from gymnast.config.config import Config
from gymnast.config.section import RolloutLength
from gymnast.engine.choice import splits_batch_over_threads
from gymnast.engine.threads import set_num_threads
from gymnast.errors import GymnastError
from gymnast.progress import ProgressCallback, no_progress
from gymnast.runs.machine import usable_cores
from gymnast.seeds import stream
from gymnast.training.collectors import open_collector
from gymnast.training.learner import Learner
from gymnast.tune.record import HostsPrediction, ScaleResult
from gymnast.tune.scale_model import ScaleModel

ROLLOUTS = 3
"""Minimum number of measured rollouts, after one that is not measured."""
PROBE_HOSTS = (1, 2)
"""Numbers of local hosts with which the cost of messages is measured."""
PREDICTED = (1, 2, 4, 8, 16, 32, 64, 128, 256)
WORTH, ENOUGH = 1.3, 0.9
"""Hosts are recommended if they make a run this many times as fast; the smallest number of them that reaches
this part of the highest speed."""
UNEVEN = 1.5
"""Ratio of the slowest host's time to the median above which hosts wait for each other too long."""
STEPS_LIMIT = 4_096
"""Maximum number of vector steps in a measured rollout."""


@dataclass(frozen=True)
class _Times:
    """Median seconds of a rollout."""

    env: float
    inference: float
    update: float
    total: float
    """Seconds of collecting, as the training process waits for it."""
    slowest: float
    """Seconds of the slowest host."""
    unevenness: float
    """The slowest host's seconds divided by the median's; 1 in one process."""
    n_bytes: float
    env_steps: int


def tune_scale(
    target: str, cfg: Config, seconds: float, on_progress: ProgressCallback = no_progress
) -> ScaleResult:
    """Measures one process, local hosts and central inference, each for up to `seconds`, and predicts other
    numbers of hosts."""
    places = ["here", *(f"local {h}" for h in PROBE_HOSTS), "central"]
    here = _measure(_with(cfg, on="here"), seconds, updates=True)
    on_progress(1, len(places))
    probes: dict[int, _Times] = {}
    for done, hosts in enumerate((h for h in PROBE_HOSTS if h <= cfg.env.n_envs), start=2):
        probes[hosts] = _measure(_with(cfg, on="local", hosts=hosts), seconds)
        on_progress(done, len(places))
    central = _central_speed(cfg, seconds)
    on_progress(len(places), len(places))
    # What the training process does while no host works, per host.
    waits = [max(t.total - t.slowest, 0.0) / h for h, t in probes.items()]
    model = ScaleModel(here.update, here.env + here.inference, min(waits))
    predictions = tuple(_predictions(cfg, model, here.env_steps))
    uneven = max((t.unevenness for t in probes.values()), default=1.0)
    best = _best(cfg, predictions, here)
    patch, advice = _advice(cfg, here, best, central, uneven)
    return ScaleResult(
        target=target,
        cores=usable_cores(),
        env_steps=here.env_steps,
        env_seconds=here.env,
        inference_seconds=here.inference,
        update_seconds=here.update,
        message_seconds=model.message,
        bytes_per_step=max(t.n_bytes / t.env_steps for t in probes.values()),
        speed_here=here.env_steps / (here.total + here.update),
        speed_central=central,
        unevenness=uneven,
        predictions=predictions,
        patch=patch,
        advice=tuple(advice),
    )


def _with(cfg: Config, **collect: object) -> Config:
    """Returns the config with other settings of `collect`."""
    section = cfg.collect.model_copy(update={"mode": "sync", "inference": "hosts", **collect})
    return cfg.model_copy(update={"collect": section})


def _measure(cfg: Config, seconds: float, *, updates: bool = False) -> _Times:
    """Collects rollouts, and with `updates` learns from them, for up to `seconds`; returns the medians."""
    rows: list[tuple[float, ...]] = []
    with closing(open_collector(cfg)) as collector:
        learner = Learner(ROLE, *collector.spaces[ROLE], cfg, cfg.env.n_envs)
        network = learner.policy.network
        set_num_threads(cfg.threads, split_batch=splits_batch_over_threads(cfg, network))
        collector.start_episodes()
        began, clock, env_steps = perf_counter(), Clock(limits=cfg.stop.limits()), 0
        while len(rows) <= ROLLOUTS or perf_counter() - began < seconds:
            row, env_steps = _rollout(cfg, collector, learner, clock, updates=updates)
            rows.append(row)
    columns = [median(column) for column in zip(*rows[1:], strict=True)]
    return _Times(*columns, env_steps=env_steps)


def _rollout(
    cfg: Config, collector: Collector, learner: Learner, clock: Clock, *, updates: bool
) -> tuple[tuple[float, ...], int]:
    """Collects one rollout; returns its times, in the order of `_Times`, and its number of env steps."""
    hparams = cfg.algo.values_at(clock)
    length = hparams.rollout_length()
    span = length if length.episodes else RolloutLength(min(length.steps or 1, STEPS_LIMIT))
    began = perf_counter()
    collected = collector.collect({ROLE: learner.policy}, span, clock)
    total = perf_counter() - began
    began = perf_counter()
    if updates:
        rollout = learner.scale_rewards(collected.rollouts[ROLE])
        rng = stream(cfg.seed, "batch", ROLE, clock.rollouts)
        learner.update(rollout, hparams, rng, network_stats=False)
    update = perf_counter() - began if updates else 0.0
    clock.rollouts += 1
    hosts = collected.host_row
    slowest = hosts.get("hosts/slowest", total)
    middle = hosts.get("hosts/median", slowest)
    times = (collected.env_seconds, collected.inference_seconds, update, total, slowest)
    return (*times, slowest / max(middle, 1e-9), hosts.get("hosts/bytes", 0.0)), collected.steps


def _central_speed(cfg: Config, seconds: float) -> float | None:
    """Returns the env steps per second of collecting with central inference on one local host; None if the
    backend cannot be used with it."""
    try:
        times = _measure(_with(cfg, on="local", hosts=1, inference="central"), seconds)
    except GymnastError:
        return None
    return times.env_steps / times.total


def _predictions(cfg: Config, model: ScaleModel, env_steps: int) -> Iterator[HostsPrediction]:
    """Yields the predicted speed of each number of hosts, with one core per host."""
    for hosts in (h for h in PREDICTED if h <= cfg.env.n_envs):
        overlap = None
        if cfg.algo.tolerates_stale_policy:
            overlap = env_steps / model.seconds(hosts, overlap=True)
        yield HostsPrediction(hosts, env_steps / model.seconds(hosts), overlap)


def _best(
    cfg: Config, predictions: tuple[HostsPrediction, ...], here: _Times
) -> HostsPrediction | None:
    """Returns the smallest number of hosts that is nearly as fast as any; None if one process, which may
    collect and learn at the same time, is enough."""
    overlaps = cfg.algo.tolerates_stale_policy and usable_cores() > 1
    alone = max(here.total, here.update) if overlaps else here.total + here.update
    speeds = [max(p.sync, p.overlap or 0.0) for p in predictions]
    if max(speeds) < WORTH * here.env_steps / alone:
        return None
    return next(
        p for p, speed in zip(predictions, speeds, strict=True) if speed >= ENOUGH * max(speeds)
    )


def _advice(
    cfg: Config,
    here: _Times,
    best: HostsPrediction | None,
    central: float | None,
    uneven: float,
) -> tuple[dict[str, dict[str, int | str]], list[str]]:
    """Returns the settings to use, and sentences about them."""
    total, advice = here.total + here.update, list[str]()
    shares = {"environment": here.env, "policy": here.inference, "update": here.update}
    parts = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in shares.items())
    advice.append(f"time of a rollout of {here.env_steps:,} env steps in one process: {parts}")
    patch: dict[str, dict[str, int | str]] = {}
    cores, now = usable_cores(), here.env_steps / total
    if best is None:
        advice.append("one process is enough: hosts divide only the environment and the policy")
        gain = total / max(here.total, here.update)
        if cfg.algo.tolerates_stale_policy and cores > 1 and gain > WORTH:
            patch = {"collect": {"mode": "overlap"}}
            advice.append(f"collecting and learning at the same time is {gain:.2g} times as fast")
    else:
        patch = {"collect": {"on": "ray" if best.hosts > cores else "local", "hosts": best.hosts}}
        advice.append(f"{best.hosts} hosts with a core each: {best.sync / now:.2g} times as fast")
        if best.hosts > cores:
            here_hosts = f"this machine has {cores}"
            advice.append(
                f"that needs {best.hosts} cores ({here_hosts}): several machines, with Ray"
            )
        if best.overlap is not None and best.overlap > WORTH * best.sync:
            patch["collect"]["mode"] = "overlap"
            advice.append(f"with collect.mode=overlap: {best.overlap / now:.2g} times as fast")
    if uneven > UNEVEN:
        advice.append(
            f"the slowest host takes {uneven:.2g} times as long as the median: collect.mode=async does not "
            "wait for it, but runs are then not reproducible"
        )
    if central is not None:
        collecting = here.env_steps / here.total
        word = "slower" if central < collecting else "faster"
        ratio = max(collecting / central, central / collecting)
        advice.append(f"central inference collects {ratio:.2g} times {word} than one process")
    return patch, advice
