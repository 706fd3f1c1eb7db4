"""`--debug`: the same run with the same numbers, but in one process and with anomaly detection.

The stored config stays unchanged, so that the run can be resumed without --debug.
"""

from __future__ import annotations

import faulthandler
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from gymnast.config.config import Config
from gymnast.config.serialize import SettingChange, setting_changes
from gymnast.policy.policy import Policy


def single_process_config(cfg: Config) -> Config:
    """Returns the config with environments and evaluation in this process and one thread. The computed
    numbers stay the same, but an environment fault ends training instead of restarting the copy."""
    return cfg.model_copy(
        update={
            "threads": 1,
            "collect": cfg.collect.model_copy(update={"on": "here"}),
            "env": cfg.env.model_copy(update={"backend": "inprocess", "on_fault": "stop"}),
            "eval": cfg.eval.model_copy(update={"mode": "inline"}),
        }
    )


@contextmanager
def detect_anomalies() -> Iterator[None]:
    """A context in which every Python warning is shown, and crashes in C print a traceback."""
    with suppress(OSError, ValueError):  # stderr may be no real file
        faulthandler.enable(sys.stderr)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            yield
        finally:
            if "torch" in sys.modules:
                _detect_anomalies(False)


def start_debugging(cfg: Config, policies: Iterable[Policy]) -> list[SettingChange]:
    """Turns on torch's anomaly detection, which finds the origin of NaN, if torch is the engine of one of
    the policies. Returns the settings (key, from, to) that --debug replaces in this session."""
    if any(policy.engine == "torch" for policy in policies):
        _detect_anomalies(True)
    return setting_changes(cfg, single_process_config(cfg))


def _detect_anomalies(on: bool) -> None:
    from gymnast.engine.torch import anomaly

    anomaly.detect(on)
