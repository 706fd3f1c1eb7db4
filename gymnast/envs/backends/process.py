"""The backend `process`: copies of an environment in worker processes, with arrays in shared memory.

A vector step wakes every worker with one short message and then waits for all of them, so they run in
parallel. When a worker dies or hangs, each of its copies has a fault, and the next reset of one of them
starts the worker again. Nothing is pickled.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from gymnast.config.episode_limit import ENV_LIMIT, EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends import messages
from gymnast.envs.backends.arrays import NO_COPY, CopyArrays
from gymnast.envs.backends.backend import Fault, Step
from gymnast.envs.backends.worker import Worker, WorkerLost
from gymnast.envs.env_types import Info
from gymnast.errors import EnvError
from gymnast.runs.machine import usable_cores
from gymnast.spaces import spaces

Array = np.ndarray
CLOSE_SECONDS = 0.15
"""Seconds that workers get in total to close their environments."""


class ProcessBackend:
    """Implements `Backend` with several workers, each of which runs a contiguous range of the copies."""

    restore_mode: Literal["replay", "together", "history", "none"] = "replay"

    def __init__(
        self,
        cfg: EnvConfig,
        *,
        limit: EpisodeLimit = ENV_LIMIT,
        info_keys: Sequence[str] = (),
        step_keys: Sequence[str] = (),
        on_output: Callable[[str], None],
    ) -> None:
        """`info_keys`: entries to keep from the last info of an episode; `step_keys`: numbers to read from
        the info of every step; `on_output`: called with each line that the environments print."""
        n = cfg.n_envs
        self.name, self.n_envs = cfg.id, n
        parts = min(cfg.workers or usable_cores(), n)
        # Worker k runs the copies edges[k] to edges[k + 1] - 1: contiguous, and as even as possible.
        edges = [n * part // parts for part in range(parts + 1)]
        env = cfg.model_dump(mode="json")
        self._n_keys = len(step_keys)
        self.workers = [
            Worker(
                range(first, last),
                messages.WorkerSpec(
                    env=env,
                    limit=limit,
                    info_keys=list(info_keys),
                    step_keys=list(step_keys),
                    part=part,
                    parts=parts,
                    copies=(first, last),
                ),
                cfg.timeout,
                lambda line, part=part: on_output(f"environment worker {part}: {line}"),
            )
            for part, (first, last) in enumerate(pairwise(edges))
        ]
        self._owner = [worker for worker in self.workers for _ in worker.copies]
        """The worker that runs each copy."""
        self._env_info: messages.EnvInfo
        """Spaces and limits of the environment, as worker 0 reported them."""
        self._memory: int | None = None
        """File descriptor of the shared memory."""
        self._pending_faults: dict[int, Fault] = {}
        """Faults of copies that were lost with their worker in a call that did not concern them. Each is
        reported by the copy's next step."""
        self._age = np.zeros(n, dtype=np.int64)
        """Steps in the current episode, [N]. Kept here because a dead worker cannot be asked."""
        self._infos: list[Info] = [{} for _ in range(n)]
        try:
            self._open(parts)
        except BaseException:
            self.close()
            raise

    def _open(self, parts: int) -> None:
        """Starts all workers, reads the spaces from the first and gives all of them the shared memory.
        `parts`: number of workers. Raises EnvError if the environment cannot be created."""
        # 1. All workers start at the same time; imports and constructors dominate.
        for worker in self.workers:
            worker.start()
        try:
            # 2. The size of the shared memory follows from the spaces, which only a worker knows.
            self._env_info = info = self.workers[0].receive_env_info()
            self.obs_space = spaces.from_json(info["obs_space"])
            self.action_space = spaces.from_json(info["action_space"])
            obs_text, action_text = info["described"]
            self.space_texts = obs_text, action_text
            self.time_limit = info["time_limit"]
            self.has_default_limit = info["has_default_limit"]
            shape = self.obs_space, self.action_space, self.n_envs
            sizes = {"elements": info["elements"], "parts": parts, "keys": self._n_keys}
            self._memory = memory = _anonymous_file(CopyArrays.size(*shape, **sizes))
            self._rows = CopyArrays.create(*shape, **sizes, memory=mmap.mmap(memory, 0))
            self._rows.clear_outputs(self.obs_space)
            self._rows.now[:] = NO_COPY
            self.obs = self._rows.obs
            # A placeholder: the first step sets the dtype and shape of the actions.
            self._actions = self._rows.actions(np.uint8, ())
            # 3. Every worker gets the memory; the copies of all of them must have the same spaces.
            self._connect(self.workers[0], info)
            for worker in self.workers[1:]:
                self._connect(worker, worker.receive_env_info())
        except WorkerLost as lost:
            what = f"{self.name} cannot be created: {lost.message}"
            raise EnvError(what, fix="see the log", traceback=lost.output) from None

    @property
    def mask(self) -> Array | None:
        return self._rows.mask if self._rows.masked[0] else None

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Starts a new episode in each of these copies, with its seed, and returns their faults. Lost workers
        of these copies are started again first."""
        chosen = self._choose(copies)
        self._rows.seed[chosen] = seeds
        self._age[chosen] = 0
        workers = self._owners(chosen)
        faults = self._restart([worker for worker in workers if not worker.running])
        faults += self._command(messages.RESET_CHOSEN, [w for w in workers if w.running])
        self._pending_faults = {
            i: fault for i, fault in self._pending_faults.items() if i not in chosen
        }
        return tuple(self._split_faults(chosen, faults))

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        """Steps all copies, or only the given ones, with the actions [N, ...] and returns the result. All
        copies of a worker that dies or hangs have a fault; a fault of a copy that was not to be stepped is
        reported by its next step."""
        if action.dtype != self._actions.dtype or action.shape != self._actions.shape:
            self._actions = self._rows.actions(action.dtype, action.shape[1:])
            for worker in self.workers:
                self._send_action_type(worker)
        self._actions[...] = action
        if copies is None and not self._pending_faults:
            self._age += 1
            faults = self._command(messages.STEP, self.workers)
        else:
            faults = self._step_some(range(self.n_envs) if copies is None else copies)
        rows = self._rows
        ends = rows.terminated, rows.truncated
        numbers = rows.numbers if self._n_keys else None
        return Step(
            rows.obs, rows.reward, *ends, self._infos, faults=tuple(faults), info_values=numbers
        )

    def _step_some(self, copies: Sequence[int]) -> list[Fault]:
        """Steps these copies and returns their faults. A copy with a pending fault is not stepped."""
        pending = [
            self._pending_faults.pop(copy) for copy in copies if copy in self._pending_faults
        ]
        lost = {fault.copy for fault in pending}
        chosen = self._choose([copy for copy in copies if copy not in lost])
        self._age[chosen] += 1
        faults = self._command(messages.STEP_CHOSEN, self._owners(chosen))
        return [*pending, *self._split_faults(chosen, faults)]

    def _split_faults(self, copies: Sequence[int], faults: Iterable[Fault]) -> list[Fault]:
        """Returns the faults of these copies; those of others are kept for their next step."""
        named = set(copies)
        self._pending_faults |= {fault.copy: fault for fault in faults if fault.copy not in named}
        return [fault for fault in faults if fault.copy in named]

    def close(self) -> None:
        """Ends all workers, kills the ones still running after CLOSE_SECONDS, and frees the shared memory."""
        for worker in self.workers:
            worker.finish()
        # One deadline for all: they close their environments in parallel.
        deadline = time.monotonic() + CLOSE_SECONDS
        for worker in self.workers:
            worker.kill(deadline)
        if self._memory is not None:
            os.close(self._memory)
            self._memory = None

    # ---- commands ----------------------------------------------------------------------------

    def _choose(self, copies: Sequence[int]) -> list[int]:
        """Marks these copies in the shared memory as the ones that the next command concerns."""
        chosen = list(copies)
        self._rows.chosen[:] = False
        self._rows.chosen[chosen] = True
        return chosen

    def _owners(self, copies: Iterable[int]) -> list[Worker]:
        """Returns the workers that run these copies, each once."""
        return list(dict.fromkeys(self._owner[copy] for copy in copies))

    def _command(self, command: bytes, workers: Sequence[Worker]) -> list[Fault]:
        """Sends a command to all of these workers, waits for their replies and returns the faults. Raises
        EnvError for an info value that is not a number, which no restart would fix."""
        for worker in workers:
            worker.request(
                command
            )  # all of them before waiting for any, so that they run in parallel
        faults: list[Fault] = []
        late = False  # one worker hung for the whole timeout, which the others had as well
        for worker in workers:
            try:
                report = worker.wait_for_reply(no_wait=late)
            except WorkerLost as lost:
                faults += self._faults_of(worker, lost.message, lost.output)
                late = late or lost.hung
                continue
            if report is not None:
                if "refused" in report:
                    message, fix = report["refused"]
                    raise EnvError(message, fix=fix)
                faults += [Fault(*fault) for fault in report.get("faults", ())]
                for copy, info in report.get("infos", ()):
                    self._infos[copy] = info
        return faults

    # ---- lost workers ------------------------------------------------------------------------

    def _faults_of(self, worker: Worker, what: str, text: str) -> list[Fault]:
        """Returns a fault for every copy of a lost worker; the copy that was being called is the cause.
        `what`: how the worker was lost; `text`: what it printed last."""
        part = worker.spec["part"]
        # Shared memory outlives the worker: it still says which copy was being called.
        called = int(self._rows.now[part, 0])
        self._rows.now[part] = NO_COPY
        self._rows.clear_outputs(self.obs_space, slice(worker.copies.start, worker.copies.stop))
        culprit = None if called == NO_COPY else worker.copies[called]
        faults: list[Fault] = []
        for copy in worker.copies:
            step = int(self._age[copy])
            if culprit is None or copy == culprit:
                faults.append(Fault(copy, step, what, text))
            else:
                lost_too = f"{what}; it was running copy {culprit}"
                faults.append(Fault(copy, step, lost_too, caused_by=culprit))
        return faults

    def _restart(self, workers: Sequence[Worker]) -> list[Fault]:
        """Starts lost workers again, all in parallel, and returns the faults of any that fail to start."""
        faults: list[Fault] = []
        for worker in workers:
            worker.start()
        for worker in workers:
            try:
                self._connect(worker, worker.receive_env_info())
            except EnvError as problem:
                faults += self._faults_of(worker, problem.message, problem.traceback)
            except WorkerLost as lost:
                faults += self._faults_of(worker, lost.message, lost.output)
        return faults

    def _connect(self, worker: Worker, env_info: messages.EnvInfo) -> None:
        """Gives a worker the shared memory. `env_info`: the spaces and limits that it reported. Raises
        EnvError if its copies differ from those of the others, for example after the source of the
        environment was changed during a run."""
        if env_info != self._env_info:
            worker.kill()
            ours, its = self._env_info["described"], env_info["described"]
            raise EnvError(f"{self.name}: copies have different spaces, {ours} and {its}")
        assert self._memory is not None
        worker.share(self._memory)
        self._send_action_type(worker)

    def _send_action_type(self, worker: Worker) -> None:
        """Sends how to read the bytes of the actions in the shared memory."""
        dtype, shape = self._actions.dtype.str, self._actions.shape[1:]
        worker.notify(messages.ACTIONS, messages.ActionType(dtype=dtype, shape=shape))


def _anonymous_file(size: int) -> int:
    """Returns the descriptor of a new file without a name, in memory if the system supports that. The file
    disappears with the processes that use it, even if they are killed."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("gymnast environments")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.ftruncate(file, size)
    return file
