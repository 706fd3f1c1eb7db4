"""Opens a W&B sweep as an agent: checks its config before anything is registered or trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gymnast.config.named_code import code_of_target
from gymnast.config.plain_value import PlainValue
from gymnast.config.problems import InvalidConfig
from gymnast.config.resolve import resolve
from gymnast.errors import ConfigError, UsageError
from gymnast.sweep.wandb_agent import AgentRun, run_agent
from gymnast.sweep.wandb_parameters import WandbParameter, read_parameters
from gymnast.sweep.wandb_runs import SweepRuns, refuse_untrusted
from gymnast.sweep.wandb_server import SweepPath, WandbSweep


def open_agent(
    sweep: str,
    *,
    env: str | None = None,
    overrides: Mapping[str, object],
    count: int | None = None,
    limit: int | None = None,
    runs_dir: Path,
) -> Iterator[AgentRun]:
    """Connects to a sweep, `entity/project/sweep`, and returns what `run_agent` yields. `env`: the target to
    train, by default the program of the sweep's config; `overrides`: settings of all runs; `count`: number of
    runs; `limit`: number of jobs that train at once on this machine.

    Raises UsageError and ServerError as `WandbSweep`, and ConfigError for a target or a parameter that is
    unknown, before this process is registered."""
    if count is not None and count < 1:
        raise UsageError(f"an agent needs at least one run, not {count}")
    path = SweepPath.parse(sweep)
    server = WandbSweep(path)
    target = env or program_target(server.config, path)
    check_config(server.config, target, path, overrides)
    server.register()
    runs = SweepRuns(path, target, runs_dir, overrides, limit)
    return run_agent(server, runs, count=count)


def check_config(
    config: Mapping[str, Any],
    target: str,
    path: SweepPath,
    overrides: Mapping[str, object] | None = None,
) -> None:
    """Raises InvalidConfig for parameters of a sweep that are no config keys, or whose values a config does
    not accept, and ConfigError for values that name code. Values that only contradict each other are not
    reported: the server may choose others together."""
    origin = f"sweep {path}"
    parameters = read_parameters(config, lambda _: origin)
    refuse_untrusted({one.key: list(one.examples) for one in parameters}, path)
    resolve(target, overrides or {})
    problems = [p for one in parameters for p in _problems(one, target, overrides or {}, origin)]
    if problems:
        raise ConfigError([*dict.fromkeys(problems)])


def _problems(
    parameter: WandbParameter, target: str, overrides: Mapping[str, object], origin: str
) -> Iterator[str]:
    """Yields the mistakes of the key of a parameter and of its values."""
    examples: tuple[PlainValue, ...] = (*parameter.examples,) or (None,)
    for value in examples:
        try:
            resolve(target, {**overrides, parameter.key: value}, origin=origin)
        except InvalidConfig as error:
            mine = [p for p in error.details if p.key.startswith(parameter.key)]
            # a distribution that only W&B samples from has no examples: then only its key is checked
            shown = [p for p in mine if parameter.examples or p.is_unknown_key]
            yield from map(str, shown)


def program_target(config: Mapping[str, Any], path: SweepPath) -> str:
    """Returns the target that a sweep's config names as its program."""
    program = str(config.get("program") or "")
    if not program or program.endswith((".py", ".sh")) or any(code_of_target(program)):
        named = f"names the program {program}" if program else "names no program"
        problem = f"the sweep {path} {named}, which is no environment"
        raise UsageError(
            problem, fix="name the environment: --env CartPole-v1, or in the sweep as `program`"
        )
    return program
