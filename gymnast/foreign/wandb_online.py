"""Reads a run from the server of W&B, by the package `wandb`, if the user is logged in."""

from __future__ import annotations

from typing import Any

from gymnast.errors import RunError
from gymnast.foreign.log import Logged, RunLog

PREFIX = "wandb:"
ONLINE = "run on the server of W&B"


def read_wandb_run(ref: str) -> tuple[RunLog, str]:
    """Returns the history and config of the run `wandb:ENTITY/PROJECT/RUN`, and its name. Raises RunError if
    the package is missing, or if W&B refuses."""
    path = ref.removeprefix(PREFIX)
    if len([part for part in path.split("/") if part]) != 3:
        problem = f"{ref!r} does not name a run of W&B"
        raise RunError(problem, fix=f"write {PREFIX}ENTITY/PROJECT/RUN")
    try:
        import wandb
    except ImportError as error:
        problem = "W&B is not installed"
        raise RunError(problem, at=ref, fix='pip install "gymnast[wandb]"') from error
    try:
        run: Any = wandb.Api().run(path)
        logged = tuple(map(_logged, run.scan_history()))
        config, name, ended = dict(run.config), str(run.name), str(run.state) == "finished"
    except Exception as error:  # the package raises its own, those of requests, and ValueError
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        fix = "check the name, and log in with `wandb login`; or read its offline directory"
        raise RunError(f"cannot be read from W&B: {reason}", at=ref, fix=fix) from error
    return RunLog(ONLINE, (ref,), logged, config, steps_are_calls=True, ended=ended), name


def _logged(row: dict[str, Any]) -> Logged:
    numbers = {
        key: float(value)
        for key, value in row.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    values = {key: value for key, value in numbers.items() if not key.startswith("_")}
    return Logged(values, step=numbers.get("_step"), time=numbers.get("_timestamp"))
