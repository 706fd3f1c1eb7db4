"""Calls of the operations of `gymnast.api` for a client: which arguments it may choose, what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ConfigDict, ValidationError, validate_call

from gymnast.api import READS, Operation
from gymnast.errors import Failure, GymnastError, RunError
from gymnast.jobs import status
from gymnast.records import JsonValue
from gymnast.serving.limits import limit_refusal
from gymnast.serving.options import ServerOptions
from gymnast.serving.references import path_refusal, references
from gymnast.serving.user_code import code_refusal
from gymnast.tasks import Task
from gymnast.text.suggestions import did_you_mean

SERVER_ARGUMENTS = ("runs_dir", "by")
"""Arguments that the server sets and a request cannot."""
PATH_ARGUMENTS = ("out", "grid", "data", "files", "column_map")
"""Arguments that name files, which a request cannot choose: files are written into the run or the data
directory."""


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
    def name(self) -> str:
        return self.operation.name

    @property
    def arguments(self) -> dict[str, JsonValue]:
        """Argument -> its JSON schema."""
        properties = self.schema["properties"]
        assert isinstance(properties, dict)
        return properties

    @cached_property
    def defaults(self) -> dict[str, object]:
        """Argument -> its default, without the arguments that are required."""
        return {
            name: schema["default"]
            for name, schema in self.arguments.items()
            if isinstance(schema, dict) and "default" in schema
        }

    @cached_property
    def server_arguments(self) -> list[str]:
        """The arguments that the server sets."""
        properties = self.operation.arguments_schema().get("properties")
        assert isinstance(properties, dict)
        return [name for name in SERVER_ARGUMENTS if name in properties]

    @cached_property
    def from_json(self) -> Callable[..., object]:
        """The function, with arguments that must have the JSON types of the schema."""
        return validate_call(config=ConfigDict(strict=True))(self.operation.function)

    @cached_property
    def from_query(self) -> Callable[..., object]:
        """The function, with arguments that may also be texts, as in a query string."""
        return validate_call(self.operation.function)


def call(
    operation: Exposed,
    arguments: Mapping[str, object],
    options: ServerOptions,
    *,
    is_query: bool = False,
) -> object | Failure:
    """Returns what an operation returned (the TaskInfo of a task that it started), or its error. `is_query`:
    numbers and switches may be texts."""
    refused = _refusal(operation, arguments, options)
    if refused is not None:
        return refused
    function = operation.from_query if is_query else operation.from_json
    own = {"runs_dir": options.runs_dir, "by": options.SENDER}
    server = {name: value for name, value in own.items() if name in operation.server_arguments}
    try:
        value = function(**arguments, **server)
        return value.info() if isinstance(value, Task) else value
    except ValidationError as error:
        return Failure("usage", _problems(error), at=operation.name, fix="see openapi.json")
    except GymnastError as error:
        return error.to_failure()


def is_conflict(
    operation: Exposed, arguments: Mapping[str, object], failure: Failure, runs_dir: Path
) -> bool:
    """Returns whether an operation failed although the runs that it names exist: because of their state, or
    because a name is taken."""
    if failure.code != RunError.code or operation.operation.effect == READS:
        return False
    try:
        for named in references(operation.name, operation.defaults | dict(arguments)):
            if not named.is_target:
                for member in status.group_members(named.text, runs_dir):
                    status.find(member, runs_dir)
    except GymnastError:
        return False
    return True


def _refusal(
    operation: Exposed, arguments: Mapping[str, object], options: ServerOptions
) -> Failure | None:
    """Returns why the server does not accept a request; None if it does."""
    name = operation.name
    for argument in arguments:
        if argument not in operation.arguments:
            problem = f"unknown argument {argument!r}{did_you_mean(argument, operation.arguments)}"
            known = ", ".join(operation.arguments) or "none"
            return Failure("usage", problem, at=name, fix=f"its arguments are: {known}")
    if options.read_only and operation.operation.effect != READS:
        problem = f"this {options.NAME} is read-only, and {name} may change something"
        return Failure("read_only", problem, at=name, fix="restart it without --read-only")
    complete = operation.defaults | dict(arguments)
    refused = limit_refusal(name, complete) or path_refusal(name, complete)
    if refused is None and not options.allow_code:
        refused = code_refusal(operation.operation, complete, options)
    return refused


def _problems(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
        for problem in error.errors()
    )
