"""Writes a search space as YAML, so that a study that was not made from a file can be read and edited."""

from __future__ import annotations

from io import StringIO

from ruamel.yaml import YAML

from gymnast.sweep.objective import Objective
from gymnast.sweep.parameter import Choices, Parameter
from gymnast.sweep.space import Space


def write_space(space: Space, objective: Objective) -> str:
    """Returns the text of a space, which is read as the same space."""
    in_templates = {name for one in space.templates.values() for name in one.parts.values()}
    parameters: dict[str, object] = {}
    for parameter in space.parameters:
        if parameter.name not in in_templates:
            parameters[parameter.name] = _spec(parameter)
            continue
        for key, template in space.templates.items():
            for part, name in template.parts.items():
                if name == parameter.name:
                    entry = parameters.setdefault(key, {"value": template.text, "parts": {}})
                    assert isinstance(entry, dict)
                    entry["parts"][part] = _spec(parameter)
    written = {
        "target": space.target,
        "settings": dict(space.settings),
        "parameters": parameters,
        "objective": {"kind": objective.kind},
    }
    out = StringIO()
    yaml = YAML()
    yaml.width = 110
    yaml.default_flow_style = None  # short mappings on one line  # pyright: ignore[reportAttributeAccessIssue]
    yaml.dump(written, out)
    return out.getvalue()


def _spec(parameter: Parameter) -> dict[str, object]:
    when = {"when": {k: [*v] for k, v in parameter.when.items()}} if parameter.when else {}
    if isinstance(parameter, Choices):
        return {"choices": [*parameter.choices], **when}
    found: dict[str, object] = {"low": parameter.low, "high": parameter.high}
    if parameter.whole:
        found = {"low": int(parameter.low), "high": int(parameter.high), "type": "int"}
    if parameter.log:
        found["log"] = True
    if parameter.step is not None:
        found["step"] = parameter.step
    return {**found, **when}
