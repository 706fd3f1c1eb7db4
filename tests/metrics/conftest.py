"""A fixture that makes rows like those of the training loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gymnast.clock import CLOCKS


@pytest.fixture
def row() -> Callable[..., dict[str, float]]:
    """Returns a function: `row(3, policy__entropy=0.5)` has all clocks at rollout 3, and these values."""

    def make(rollouts: int = 1, values: dict[str, Any] | None = None, **more: float):
        clocks = {f"clock/{clock}": float(rollouts) for clock in CLOCKS}
        clocks["clock/env_steps"] = 1024.0 * rollouts
        return clocks | (values or {}) | {k.replace("__", "/"): v for k, v in more.items()}

    return make
