"""`--debug`: the same run with the same numbers, in one process and watched more closely.

The run's config stays as it is, so that resuming without --debug is resuming that very run.
"""

from __future__ import annotations

import faulthandler
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from gymnast.config.config import Config
from gymnast.config.saved import diff
from gymnast.training.loop import Loop


def in_one_process(cfg: Config[Any]) -> Config[Any]:
    """Where things run, never what they compute: environments and evaluation here, one thread; an
    environment that breaks ends the training instead of beginning anew."""
    return cfg.model_copy(
        update={
            "threads": 1,
            "env": cfg.env.model_copy(update={"backend": "inprocess", "on_fault": "stop"}),
            "eval": cfg.eval.model_copy(update={"mode": "inline"}),
        }
    )


@contextmanager
def detect_anomalies() -> Iterator[None]:
    """While inside: every Python warning, a traceback even of a crash in C."""
    with suppress(OSError, ValueError):  # stderr may be no real file
        faulthandler.enable(sys.stderr)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            yield
        finally:
            if "torch" in sys.modules:
                _detect_anomalies(False)


def announce(loop: Loop, cfg: Config[Any]) -> None:
    """Look for the origin of NaN, where torch computes; and an event that says which settings of the
    run did not hold in this session."""
    if any(learner.policy.engine == "torch" for learner in loop.session.learners.values()):
        _detect_anomalies(True)
    changes = [{"key": k, "from": a, "to": b} for k, a, b in diff(cfg, in_one_process(cfg))]
    loop.event("debugging", changes=changes)


def _detect_anomalies(on: bool) -> None:
    from gymnast.engine.torch import anomaly

    anomaly.detect(on)
