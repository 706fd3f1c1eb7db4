"""A worker of the process backend: `python -m gymnast.envs.backends.process_worker FD PID`.

It holds some of the copies, as the in-process backend would, but writes into memory that it shares
with the trainer. Its end of the connection is the file descriptor named on the command line; when
the other end closes, it ends too. It imports no torch.
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
from typing import Any

import numpy as np

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends import child, messages
from gymnast.envs.backends.arrays import CopyArrays
from gymnast.envs.backends.backend import Fault
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError
from gymnast.spaces import spaces

GRACE = 1.0
"""Seconds to close the environments once the trainer is gone."""


def main() -> None:
    link = socket.socket(fileno=child.begin())
    faulthandler.enable()  # where it crashed, or was aborted for hanging, is the last thing it says
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    _leave_the_trainer_its_core()
    link.set_inheritable(False)
    threading.Thread(target=_end_with_the_trainer, args=[link], daemon=True).start()
    try:
        worker = Worker(link, messages.receive(link))
        worker.serve()
        worker.envs.close()
    except EnvError as problem:
        cause = problem.__cause__
        text = "".join(traceback.format_exception(cause)) if cause else ""
        messages.send(link, {"refused": [problem.message, problem.fix, text]})
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    sys.stdout.flush()
    os._exit(0)  # whatever an environment left running ends here


class Worker:
    def __init__(self, link: socket.socket, order: dict[str, Any]) -> None:
        cfg = EnvConfig.model_validate(order["env"])
        self.link, self.info_keys = link, order["info_keys"]
        self.copies = range(*order["copies"])
        make = partial(make_env, cfg, limit=EpisodeLimit(*order["limit"]))
        keys = order["step_keys"]
        self.envs = InProcessBackend(
            make, len(self.copies), cfg.id, masked=cfg.action_mask, step_keys=keys
        )
        elements = int(np.prod(self.envs.envs[0].action_space.shape or (), dtype=int))
        made = {
            "obs_space": spaces.to_json(self.envs.obs_space),
            "action_space": spaces.to_json(self.envs.action_space),
            "described": self.envs.space_texts,
            "time_limit": self.envs.time_limit,
            "has_default_limit": self.envs.has_default_limit,
            "elements": elements,
        }
        messages.send(link, {"made": made})
        _, (memory, *_), _, _ = socket.recv_fds(link, 1, 1)
        self.whole = CopyArrays.of(
            self.envs.obs_space,
            self.envs.action_space,
            cfg.n_envs,
            elements=elements,
            parts=order["parts"],
            keys=len(keys),
            memory=mmap.mmap(memory, 0),
        )
        self.rows = self.whole.part(order["part"], self.copies)
        self.envs.use(self.rows)
        self.actions = self.whole.action  # of what type is told before the first step

    def serve(self) -> None:
        """Do what is asked until the other end closes."""
        while command := self.link.recv(1):
            if command == messages.ACTIONS:
                told = messages.receive(self.link)
                whole = self.whole.actions(told["dtype"], tuple(told["shape"]))
                self.actions = whole[self.copies.start : self.copies.stop]
                continue
            report = self._reset() if command == messages.RESET_CHOSEN else self._step(command)
            if report is None:
                self.link.send(messages.NOTHING)
            else:
                messages.send(self.link, report)

    def _reset(self) -> dict[str, Any] | None:
        copies = np.flatnonzero(self.rows.chosen).tolist()
        faults = self.envs.reset(copies, self.rows.seed[copies].tolist())
        return {"faults": self._told(faults)} if faults else None

    def _step(self, command: bytes) -> dict[str, Any] | None:
        some = command == messages.STEP_CHOSEN
        copies = np.flatnonzero(self.rows.chosen).tolist() if some else None
        try:
            step = self.envs.step(self.actions.copy(), copies)  # an environment may keep its action
        except EnvError as problem:
            return {"refused": [problem.message, problem.fix]}
        infos: list[Any] = []
        if self.info_keys:
            ended = np.flatnonzero(step.terminated | step.truncated).tolist()
            infos = [[self.copies[i], self._asked_for(step.infos[i])] for i in ended]
        if not (infos or step.faults):
            return None
        return {"faults": self._told(step.faults), "infos": infos}

    def _told(self, faults: tuple[Fault, ...]) -> list[Any]:
        return [[self.copies[f.copy], f.step, f.what, f.traceback] for f in faults]

    def _asked_for(self, info: dict[str, Any]) -> dict[str, Any]:
        return {key: _plain(info[key]) for key in self.info_keys if key in info}


def _leave_the_trainer_its_core() -> None:
    """It has other workers to wake. As a batch process, one that it woke does not take its place but
    waits until it waits, or for another core: 5 % of a step less on idle cores, 10 to 30 on busy ones."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _plain(value: Any) -> Any:
    """A number, or the text of what should have been one."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value if isinstance(value, str) else repr(value)


def _end_with_the_trainer(link: socket.socket) -> None:
    """Also when an environment never comes back from its step."""
    gone = select.poll()
    gone.register(link.fileno(), 0)
    gone.poll()
    time.sleep(GRACE)
    os._exit(1)


if __name__ == "__main__":
    main()
