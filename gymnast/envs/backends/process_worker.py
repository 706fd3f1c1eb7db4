"""A worker of the process backend: `python -m gymnast.envs.backends.process_worker FD PID`.

It runs some of the copies with an in-process backend whose buffers lie in memory shared with the
trainer. FD is its end of the socket; when the trainer closes the other end, the worker ends. It does
not import torch.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import resource
import select
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from functools import partial

import numpy as np

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends import child, messages
from gymnast.envs.backends.arrays import CopyArrays
from gymnast.envs.backends.backend import Fault, as_float
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.build.make import make_env
from gymnast.envs.env_types import Info
from gymnast.errors import EnvError
from gymnast.spaces import spaces

GRACE_SECONDS = 1.0
"""Seconds to close the environments once the trainer has ended."""


def main() -> None:
    """Runs the worker until the trainer closes the socket, then ends the process. If the copies cannot be
    created, the error is sent to the trainer."""
    link = socket.socket(fileno=child.setup())
    faulthandler.enable()  # prints the stack after a crash, or after SIGABRT for a hang
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # else SIGABRT would write a core dump
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    _yield_core_to_trainer()
    # A process that an environment starts must not keep the socket open after this one has died:
    # the trainer notices a dead worker by the closed socket.
    link.set_inheritable(False)
    threading.Thread(target=_end_with_trainer, args=[link], daemon=True).start()
    try:
        worker = Worker(link, messages.receive(link))
        worker.serve()
        worker.envs.close()
    except EnvError as problem:
        cause = problem.__cause__
        text = "".join(traceback.format_exception(cause)) if cause else ""
        messages.send(link, {"refused": [problem.message, problem.fix, text]})
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the trainer has ended, so there is nobody to report to
    sys.stdout.flush()
    os._exit(0)  # also ends threads that an environment left running


class Worker:
    """The environments of this process, and the loop that executes the trainer's commands."""

    def __init__(self, link: socket.socket, spec: messages.WorkerSpec) -> None:
        """Creates the copies, reports their spaces, and waits for the shared memory that follows from
        them. `spec`: what `ProcessBackend` sends."""
        cfg = EnvConfig.model_validate(spec["env"])
        self.link, self.info_keys = link, spec["info_keys"]
        self.copies = range(*spec["copies"])
        make = partial(make_env, cfg, limit=EpisodeLimit(*spec["limit"]))
        keys = spec["step_keys"]
        self.envs = InProcessBackend(
            make, len(self.copies), cfg.id, masked=cfg.action_mask, step_keys=keys
        )
        elements = len(self.envs.action_space.elements)
        made = messages.EnvInfo(
            obs_space=spaces.to_json(self.envs.obs_space),
            action_space=spaces.to_json(self.envs.action_space),
            described=self.envs.space_texts,
            time_limit=self.envs.time_limit,
            has_default_limit=self.envs.has_default_limit,
            elements=elements,
        )
        messages.send(link, messages.Reply(made=made))
        _, (memory, *_), _, _ = socket.recv_fds(link, 1, 1)
        self.all_rows = CopyArrays.create(
            self.envs.obs_space,
            self.envs.action_space,
            cfg.n_envs,
            elements=elements,
            parts=spec["parts"],
            keys=len(keys),
            memory=mmap.mmap(memory, 0),
        )
        self.rows = self.all_rows.worker_view(spec["part"], self.copies)
        self.envs.use_buffers(self.rows)
        # Untyped bytes until the ACTIONS message arrives, which is before the first step.
        self.actions = self.all_rows.action

    def serve(self) -> None:
        """Executes commands until the other end closes."""
        while command := self.link.recv(1):
            if command == messages.ACTIONS:
                action_type: messages.ActionType = messages.receive(self.link)
                actions = self.all_rows.actions(action_type["dtype"], tuple(action_type["shape"]))
                self.actions = actions[self.copies.start : self.copies.stop]
                continue
            report = self._reset() if command == messages.RESET_CHOSEN else self._step(command)
            if report is None:
                self.link.send(messages.EMPTY_REPLY)
            else:
                messages.send(self.link, report)

    def _reset(self) -> messages.Reply | None:
        """Resets the copies that are marked in the shared memory, with the seeds stored there. Returns their
        faults as a document, None if there are none."""
        copies = np.flatnonzero(self.rows.chosen).tolist()
        faults = self.envs.reset(copies, self.rows.seed[copies].tolist())
        return {"faults": self._fault_rows(faults)} if faults else None

    def _step(self, command: bytes) -> messages.Reply | None:
        """Steps all copies or, for STEP_CHOSEN, the ones marked in the shared memory. Returns what has to be
        reported, None if nothing has. Observations, rewards and end flags are not part of the report: the
        trainer reads them from the shared memory."""
        is_partial = command == messages.STEP_CHOSEN
        copies = np.flatnonzero(self.rows.chosen).tolist() if is_partial else None
        try:
            step = self.envs.step(self.actions.copy(), copies)  # an environment may keep its action
        except EnvError as problem:
            return {"refused": [problem.message, problem.fix]}
        # Infos can hold anything and cost a JSON document, so only the last of an episode is sent.
        infos: list[tuple[int, Info]] = []
        if self.info_keys:
            ended = np.flatnonzero(step.terminated | step.truncated).tolist()
            infos = [(self.copies[i], self._kept_info(step.infos[i])) for i in ended]
        if not (infos or step.faults):
            return None
        return {"faults": self._fault_rows(step.faults), "infos": infos}

    def _fault_rows(self, faults: tuple[Fault, ...]) -> list[tuple[int, int, str, str]]:
        """Returns the faults as JSON, with the trainer's numbers of the copies."""
        return [(self.copies[f.copy], f.step, f.message, f.traceback) for f in faults]

    def _kept_info(self, info: Info) -> Info:
        return {key: _plain(info[key]) for key in self.info_keys if key in info}


def _yield_core_to_trainer() -> None:
    """Makes this a batch process, which does not preempt the trainer that has just woken it.

    The trainer still has to wake the other workers. A batch process waits until the trainer blocks or
    another core is free: a step takes 5 % less time on idle cores, 10 to 30 % less on busy ones.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _plain(value: object) -> float | str:
    """Returns the value as a float or, if it is not a number, as text for the error message."""
    try:
        return as_float(value)
    except (TypeError, ValueError):
        return value if isinstance(value, str) else repr(value)


def _end_with_trainer(link: socket.socket) -> None:
    """Ends this process when the socket closes, even if an environment never returns from its step."""
    closed = select.poll()
    closed.register(link.fileno(), 0)  # no events but hang-up and error: commands do not wake it
    closed.poll()
    time.sleep(GRACE_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
