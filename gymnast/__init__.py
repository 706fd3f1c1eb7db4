"""Train reinforcement-learning agents; every run can be resumed, evaluated and read from its directory.

run = gymnast.train("CartPole-v1:ppo", seed=0)
run.rows()                          # the metrics, a pandas DataFrame
gymnast.load(run).act(obs)          # the best policy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gymnast.config.config import Config as Config
    from gymnast.runs.run import Run as Run
    from gymnast.training.python_api import evaluate as evaluate
    from gymnast.training.python_api import load as load
    from gymnast.training.python_api import train as train

__all__ = ["Config", "Run", "evaluate", "load", "train"]

_MODULES = {
    "Config": "gymnast.config.config",
    "Run": "gymnast.runs.run",
    "train": "gymnast.training.python_api",
    "evaluate": "gymnast.training.python_api",
    "load": "gymnast.training.python_api",
}
"""Public name -> module that defines it; imported on first use."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'gymnast' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
