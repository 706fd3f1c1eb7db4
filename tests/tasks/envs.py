"""Environments for commands that run as tasks."""

from __future__ import annotations

import os
import time
from typing import Any

from tests.check.planted import Healthy


class Hangs(Healthy):
    """Hangs in its second step. It holds the write end of the named pipe HANGS_PIPE meanwhile."""

    def step(self, action: Any) -> Any:
        if self.t < 1:
            return super().step(action)
        held = os.open(os.environ["HANGS_PIPE"], os.O_WRONLY)
        os.write(held, b"ready\n")
        while True:
            time.sleep(60)


class Prints(Healthy):
    def reset(self, **options: Any) -> Any:
        print("reset with print")
        os.write(1, b"reset with C code\n")
        return super().reset(**options)


class Dies(Healthy):
    def step(self, action: Any) -> Any:
        os.abort()
