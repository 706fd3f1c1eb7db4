"""Hosts as actors of a Ray cluster.

Ray unpickles whatever reaches it, so that a cluster belongs into a trusted network (docs/scale.md).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

from gymnast.collect.shards.carrier import Answer, Lost
from gymnast.collect.shards.orders import Order
from gymnast.config.sections.collect import CollectConfig
from gymnast.errors import HostsMissing
from gymnast.processes import guard
from gymnast.processes.local_ray import (
    QUIET,
    load_ray,
    require_head,
    require_reachable,
    start_cluster,
)

Array = np.ndarray
SHARED_BYTES = 100_000
"""Parameters above this size are stored once in the cluster; smaller ones reach hosts faster as arguments."""
OBJECT_STORE_BYTES = 2**30
"""Size of the object store of a cluster that we start: answers wait there until they are read."""
HEALTH = {
    "health_check_initial_delay_ms": 2_000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2_000,
    "health_check_failure_threshold": 3,
}
"""Health checks of a cluster that we start: with Ray's own, a dead machine is noticed after 15 s."""
HEAD_SECONDS = 15.0
"""Time for which the head of a cluster may be out of reach."""


class RayCarrier:
    """Implements `Carrier` with one actor per host, each with one CPU."""

    def __init__(self, cfg: CollectConfig) -> None:
        """Connects to the cluster, or starts one on this machine. Raises HostsMissing if there is none."""
        self._ray = load_ray()
        self._cluster = _Cluster(self._ray, cfg)
        self._actors: dict[int, Any] = {}
        self._pids: dict[int, int] = {}
        self._pending: dict[Any, tuple[int, bool]] = {}
        """Reference -> its host, and whether it is only the host's process id."""
        self._lost: list[Answer] = []
        from gymnast.collect.shards.host import Host

        # We replace hosts ourselves: a restarted actor would have lost the state of its shard.
        self._actor_class = self._ray.remote(Host).options(
            num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )

    def start(self, host: int) -> None:
        self.end(host)
        try:
            actor = self._actors[host] = self._actor_class.remote()
            self._pending[actor.pid.remote()] = host, True
        except self._ray.exceptions.RayError as problem:
            self._lost.append(Answer(host, Lost(_text(problem), has_worked=False)))

    def share(self, parameters: dict[str, Array]) -> object:
        size = sum(array.nbytes for array in parameters.values())
        return self._ray.put(parameters) if size > SHARED_BYTES else parameters

    def send(self, host: int, orders: Sequence[Order], parameters: object = None) -> None:
        if host not in self._actors:
            return  # it could not be started, which `receive` reports
        reference = self._actors[host].carry_out.remote(tuple(orders), parameters)
        self._pending[reference] = host, False

    def receive(self, timeout: float) -> Answer | None:
        deadline = time.monotonic() + timeout
        if not self._pending and not self._lost:
            time.sleep(timeout)
            return None
        while not self._lost:
            left = max(deadline - time.monotonic(), 0.0)
            ready, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=left)
            if not ready:
                self._cluster.check_head()
                return None
            host, is_pid = self._pending.pop(ready[0])
            try:
                value = self._ray.get(ready[0])
            except self._ray.exceptions.RayError as problem:
                if not is_pid:  # else the orders fail too
                    died = isinstance(problem, self._ray.exceptions.RayActorError)
                    return Answer(host, Lost(_text(problem), has_worked=died))
                continue
            if is_pid:
                self._pids[host] = value
                self._cluster.report_processes()
                continue
            return Answer(host, value, _size(value))
        return self._lost.pop(0)

    def pid(self, host: int) -> int | None:
        return self._pids.get(host)

    def describe(self) -> str:
        total, free = (
            resources.get("CPU", 0.0)
            for resources in (self._ray.cluster_resources(), self._ray.available_resources())
        )
        return f"the cluster has {total:g} CPUs, {free:g} of them free, and every host needs one"

    def end(self, host: int) -> None:
        actor = self._actors.pop(host, None)
        self._pids.pop(host, None)
        self._pending = {ref: of for ref, of in self._pending.items() if of[0] != host}
        if actor is not None:
            with suppress(Exception):  # it is dead already
                self._ray.kill(actor)

    def close(self) -> None:
        for host in list(self._actors):
            self.end(host)
        self._cluster.close()


class _Cluster:
    """The connection to a cluster, and the cluster itself if this run has started it."""

    def __init__(self, ray: Any, cfg: CollectConfig) -> None:
        self._ray, self._folder = ray, None
        self._reached = time.monotonic()
        """Last time at which the head was reached."""
        if ray.is_initialized():
            self._is_ours = (
                False  # the user's own program has connected, or another run of this process
            )
            return
        self._is_ours = True
        # The guardian ends what Ray starts, should this process be killed.
        with guard.watch():
            try:
                if cfg.address == "local":
                    self._folder = start_cluster(
                        ray,
                        cpus=cfg.hosts,
                        object_store_bytes=OBJECT_STORE_BYTES,
                        health=HEALTH,
                    )
                else:
                    require_reachable(cfg.address)
                    ray.init(address=cfg.address, **QUIET)
            except (ConnectionError, RuntimeError, ValueError, OSError) as problem:
                what = f"no Ray cluster at {cfg.address}: {problem}"
                fix = "start one (ray start --head), or set collect.address=local"
                raise HostsMissing(what, at="collect.address", fix=fix) from None

        _keep_terminal_clean()

    def report_processes(self) -> None:
        """Reports the processes of a cluster that this run has started to the guardian."""
        if self._folder is not None:
            guard.report_descendants()

    def check_head(self) -> None:
        """Raises HostsMissing if the head of the cluster cannot be reached for a while. Ray itself would end
        this process after a minute, without a checkpoint."""
        try:
            require_head(self._ray)
            self._reached = time.monotonic()
        except OSError as problem:
            away = time.monotonic() - self._reached
            if away > HEAD_SECONDS:
                what = f"the head of the Ray cluster cannot be reached for {away:.0f} s: {problem}"
                fix = "start the cluster again, then resume the run, there or elsewhere"
                raise HostsMissing(what, at="collect.address", fix=fix) from None

    def close(self) -> None:
        if self._is_ours:
            self._ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _keep_terminal_clean() -> None:
    """Keeps Ray's long texts about lost processes off the terminal: a run reports its lost hosts itself.
    Ray has no setting for this."""
    worker = import_module("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None  # type: ignore[attr-defined]


def _size(value: Any) -> int:
    """Returns the size of the arrays in an answer, whose last part is `Collected`."""
    last = value[-1] if isinstance(value, list) and value else None
    fragment = getattr(last, "fragment", None)
    if fragment is None:
        return 0
    return sum(column.nbytes for column in fragment.columns.values()) + fragment.last_obs.nbytes


def _text(problem: Exception) -> str:
    """Returns the first sentence of Ray's message, which is followed by advice of many lines."""
    return str(problem).strip().split("\n")[0][:300]
