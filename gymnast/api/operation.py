"""One operation of the API, described: its name, what it does to runs, and where it is defined."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from gymnast.records import JsonValue, json_schema

Effect = Literal["reads", "changes", "task"]
READS: Effect = "reads"
"""It changes nothing on disk."""
CHANGES: Effect = "changes"
"""It changes runs, jobs or files."""
TASK: Effect = "task"
"""It starts a child process and returns its `Task` at once."""


@dataclass(frozen=True)
class Operation:
    name: str
    effect: Effect
    module: str
    """Module of `gymnast.api` that defines the function with this name."""

    @property
    def function(self) -> Callable[..., object]:
        """The function, imported on first use."""
        return getattr(importlib.import_module(f"gymnast.api.{self.module}"), self.name)

    @property
    def description(self) -> str:
        return cleandoc(self.function.__doc__ or "")

    @property
    def result_type(self) -> type[object]:
        """The type of what it returns; of a task's result if it starts a task."""
        from gymnast.tasks.task import Task

        returned = get_type_hints(self.function)["return"]
        return get_args(returned)[0] if get_origin(returned) is Task else returned

    def arguments_schema(self) -> dict[str, JsonValue]:
        """Returns the JSON schema of the keyword arguments."""
        from pydantic import TypeAdapter

        # pydantic accepts functions too, which its annotations do not say
        schema = TypeAdapter(self.function).json_schema()  # pyright: ignore[reportArgumentType, reportUnknownMemberType]
        return _with_options(schema)

    def result_schema(self) -> dict[str, JsonValue]:
        """Returns the JSON schema of the result."""
        return json_schema(self.result_type)


def _with_options(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Returns a schema in which the options of `**options: Unpack[...]` are arguments like the others."""
    rest, properties = schema.get("additionalProperties"), schema.get("properties")
    definitions = dict(cast("dict[str, Any]", schema.get("$defs", {})))
    if not isinstance(rest, dict) or not isinstance(properties, dict):
        return schema
    options = definitions.pop(str(rest["$ref"]).rpartition("/")[2])
    kept = {key: value for key, value in schema.items() if key != "$defs"}
    kept |= {"$defs": definitions} if definitions else {}
    merged = {**properties, **options["properties"]}
    return {**kept, "properties": merged, "additionalProperties": False}
