"""The operations of `gymnast.api` over HTTP: which are offered, with which arguments, and calling them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from pydantic import ConfigDict, ValidationError, validate_call

from gymnast.api import OPERATIONS, READS, Operation
from gymnast.errors import Failure, GymnastError
from gymnast.records import JsonValue
from gymnast.studio.options import StudioOptions
from gymnast.tasks import Task, TaskInfo
from gymnast.text.suggestions import did_you_mean

NOT_EXPOSED = {
    "config_check": "reads files of the user by path; `settings_form` checks settings",
    "config_fmt": "rewrites files of the user by path",
    "init": "writes a project into a directory of the user",
    "wait": "would hold a connection until a run ends; the streams report that",
}
"""Operation -> why the server does not offer it."""
SERVER_ARGUMENTS = ("runs_dir",)
"""Arguments that the server sets and a request cannot."""
PATH_ARGUMENTS = ("out", "grid")
"""Arguments that name a file to write, which a request cannot choose: files are written into the run."""


@dataclass(frozen=True)
class Exposed:
    """An operation that the server offers."""

    operation: Operation

    @cached_property
    def schema(self) -> dict[str, JsonValue]:
        """The JSON schema of the arguments that a request may have."""
        schema = dict(self.operation.arguments_schema())
        properties = schema.get("properties")
        assert isinstance(properties, dict)
        hidden = (*SERVER_ARGUMENTS, *PATH_ARGUMENTS)
        schema["properties"] = {
            name: value for name, value in properties.items() if name not in hidden
        }
        return schema

    @property
    def arguments(self) -> dict[str, JsonValue]:
        """Argument -> its JSON schema."""
        properties = self.schema["properties"]
        assert isinstance(properties, dict)
        return properties

    @cached_property
    def takes_runs_dir(self) -> bool:
        properties = self.operation.arguments_schema().get("properties")
        return isinstance(properties, dict) and "runs_dir" in properties

    @cached_property
    def from_json(self) -> Callable[..., object]:
        """The function, with arguments that must have the JSON types of the schema."""
        return validate_call(config=ConfigDict(strict=True))(self.operation.function)

    @cached_property
    def from_query(self) -> Callable[..., object]:
        """The function, with arguments that may also be texts, as in a query string."""
        return validate_call(self.operation.function)


@cache
def exposed() -> dict[str, Exposed]:
    """Returns name -> operation, for all that the server offers."""
    return {
        name: Exposed(operation)
        for name, operation in OPERATIONS.items()
        if name not in NOT_EXPOSED
    }


def query_arguments(operation: Exposed, query: list[tuple[str, str]]) -> dict[str, object]:
    """Returns the arguments of a query string: a list is a repeated parameter, a mapping is JSON text. Raises
    ValueError if a parameter that is no list is repeated."""
    found: dict[str, object] = {}
    for name, text in query:
        kinds = _kinds(operation.arguments.get(name))
        if "object" in kinds and text.lstrip().startswith("{"):
            found[name] = json.loads(text)
        elif "array" in kinds:
            earlier = found.setdefault(name, [])
            assert isinstance(earlier, list)
            earlier.append(text)
        elif name in found:
            raise ValueError(f"{name} is given more than once")
        else:
            found[name] = text
    return found


def call(
    operation: Exposed,
    arguments: Mapping[str, object],
    options: StudioOptions,
    *,
    is_query: bool,
) -> object | Failure:
    """Returns what an operation returned (the TaskInfo of a task that it started), or its error."""
    name = operation.operation.name
    for argument in arguments:
        if argument not in operation.arguments:
            problem = f"unknown argument {argument!r}{did_you_mean(argument, operation.arguments)}"
            known = ", ".join(operation.arguments) or "none"
            return Failure("usage", problem, at=name, fix=f"its arguments are: {known}")
    if options.read_only and operation.operation.effect != READS:
        fix = "restart it without --read-only"
        return Failure("read_only", f"this studio is read-only, {name} is not", at=name, fix=fix)
    function = operation.from_query if is_query else operation.from_json
    server = {"runs_dir": options.runs_dir} if operation.takes_runs_dir else {}
    try:
        value = function(**arguments, **server)
        return value.info() if isinstance(value, Task) else value
    except ValidationError as error:
        return Failure("usage", _problems(error), at=name, fix="see /openapi.json")
    except GymnastError as error:
        return error.to_failure()


def is_started_task(operation: Exposed, value: object) -> bool:
    """Returns whether the value is the TaskInfo of a task that this call started."""
    return operation.operation.effect == "task" and isinstance(value, TaskInfo)


def _problems(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
        for problem in error.errors()
    )


def _kinds(schema: object) -> set[object]:
    """Returns the JSON types that an argument may have."""
    if not isinstance(schema, dict):
        return set()
    choices = schema.get("anyOf", [schema])
    return {choice.get("type") for choice in choices}
