"""Converts the config of a W&B sweep to a search space of gymnast, so that it can be searched without W&B."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gymnast.config.plain_value import PlainValue
from gymnast.config.problems import InvalidConfig, Problem
from gymnast.config.source import Source
from gymnast.errors import UsageError
from gymnast.sweep.wandb_parameters import OTHERS, WandbParameter, read_parameters

SAMPLERS = {"bayes": "tpe", "random": "random", "grid": "grid"}
"""Method of a W&B sweep -> sampler."""
RETURN_METRICS = ("eval:episode/return", "result/score/mean")
"""Metrics that are the return of evaluations, which is what the objective `score` measures."""
KNOWN = (
    *("program", "method", "metric", "parameters", "early_terminate", "command", "name", "project"),
    *("entity", "description", "run_cap", "controller", "settings", "imageuri", "job", "launch"),
)
"""Keys of a W&B sweep config."""


def convert_sweep(text: str, name: str, target: str | None = None) -> str:
    """Returns the YAML text of the search space that a W&B sweep config describes. `name`: the file, for
    messages; `target`: what to train, by default the program of the config. Raises InvalidConfig with the
    lines of all mistakes, and for distributions that only W&B samples from."""
    source = Source.parse(text, name)
    config: Any = source.data
    if not isinstance(config, Mapping):
        raise InvalidConfig([Problem(name, "", "is no sweep config (expected `key: value` lines)")])
    wrong = [key for key in config if key not in KNOWN]
    parameters = read_parameters(config, source.location)
    problems = [
        *source.duplicate_keys,
        *(
            Problem(source.location((key,)), str(key), "unknown key of a W&B sweep")
            for key in wrong
        ),
        *(
            _unsupported(one, source.location(("parameters", one.key)))
            for one in _others(parameters)
        ),
    ]
    if problems:
        raise InvalidConfig(problems)
    target = target or str(config.get("program") or "")
    if not target or target.endswith((".py", ".sh")):
        problem = f"{name} does not name an environment as its program"
        raise UsageError(problem, fix="name it: gymnast sweep init ENV --from-wandb FILE")
    return "\n".join([*_lines(config, parameters, target, name), ""])


def _lines(
    config: Mapping[str, Any], parameters: list[WandbParameter], target: str, name: str
) -> Iterator[str]:
    """Yields the lines of the space."""
    yield f"# Search space, converted from the W&B sweep {name}."
    yield f"target: {_text(target)}"
    if constant := [one for one in parameters if len(one.values) == 1]:
        yield "settings: # the same for all trials"
        yield from (f"  {one.key}: {_text(one.values[0])}" for one in constant)
    yield "parameters:"
    yield from (f"  {one.key}: {_spec(one)}" for one in parameters if len(one.values) != 1)
    metric = config.get("metric") or {}
    if isinstance(metric, Mapping) and metric.get("name") in RETURN_METRICS:
        yield "objective: {kind: score} # the return of the last evaluations"
    else:
        named = metric.get("name") if isinstance(metric, Mapping) else metric
        yield f"objective: {{kind: area}} # area under the evaluation curve, instead of {named}"
    yield "search:"
    yield f"  sampler: {SAMPLERS.get(str(config.get('method')), 'tpe')}"
    if isinstance(config.get("run_cap"), int):
        yield f"  trials: {config['run_cap']}"
    if config.get("early_terminate"):
        yield "  rungs: 3 # weak trials stop early, as with early_terminate"


def _spec(parameter: WandbParameter) -> str:
    """Returns the range or the choices of a parameter as YAML."""
    if parameter.values:
        return f"{{choices: [{', '.join(map(_text, parameter.values))}]}}"
    whole = parameter.distribution == "int_uniform"
    fields = [f"{name}: {_number(x, whole)}" for name, x in _ends(parameter)]
    if whole:
        fields.append("type: int")
    if parameter.distribution in ("log_uniform", "log_uniform_values"):
        fields.append("log: true")
    if parameter.step is not None:
        fields.append(f"step: {_number(parameter.step, False)}")
    return f"{{{', '.join(fields)}}}"


def _ends(parameter: WandbParameter) -> tuple[tuple[str, float], tuple[str, float]]:
    return ("low", parameter.low), ("high", parameter.high)


def _number(value: float, whole: bool) -> str:
    return str(int(value)) if whole else f"{value:.6g}"


def _text(value: PlainValue) -> str:
    """Returns a value as YAML, which JSON is."""
    return json.dumps(value, ensure_ascii=False)


def _others(parameters: list[WandbParameter]) -> list[WandbParameter]:
    return [one for one in parameters if one.distribution in OTHERS or one.probabilities]


def _unsupported(parameter: WandbParameter, at: str) -> Problem:
    what = (
        "probabilities" if parameter.probabilities else f"the distribution {parameter.distribution}"
    )
    return Problem(at, parameter.key, f"{what}: only W&B samples from it (use a range or values)")
