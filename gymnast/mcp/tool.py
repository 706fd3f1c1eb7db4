"""One tool: its function, what it may do, and its definition for clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import cleandoc
from typing import Literal

from mcp_types import Tool as ToolDefinition
from mcp_types import ToolAnnotations

from gymnast.mcp.answer import DEFAULT_TOKENS, MAX_TOKENS, Answer, FittedAnswer, fit
from gymnast.mcp.context import ToolContext
from gymnast.mcp.parameters import Parameter, checked_arguments, input_schema, parameters_of
from gymnast.records import JsonValue

Effect = Literal["reads", "changes", "destroys"]
Detail = Literal["brief", "full"]
"""How much a tool answers: 4 significant digits and 1,000 tokens, or all digits and up to 8,000 tokens."""


@dataclass(frozen=True)
class Tool:
    function: Callable[..., Answer]
    """Its first argument is the context, the others are those of a call. The docstring is the description."""
    effect: Effect
    """Whether it only reads, changes something, or may also delete."""
    output: Mapping[str, str] | None
    """Field -> JSON type, of the fields that every answer has; None if it answers with pictures or a text,
    which clients drop if there is structured content, too."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return parameters_of(self.function)

    @cached_property
    def output_schema(self) -> dict[str, JsonValue] | None:
        """The JSON schema of its answers, as short as possible: models see it in every conversation."""
        if self.output is None:
            return None
        return {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in self.output.items()},
            "required": list(self.output),
        }

    def definition(self, *, text: bool) -> ToolDefinition:
        """Returns what clients see of it. `text`: answers are texts, so there is no output schema."""
        return ToolDefinition(
            name=self.name,
            description=" ".join(cleandoc(self.function.__doc__ or "").split()),
            input_schema=input_schema(self.parameters),
            output_schema=None if text else self.output_schema,
            annotations=self._annotations(),
        )

    def call(self, context: ToolContext, given: Mapping[str, object]) -> FittedAnswer:
        """Returns the answer to a call, in its number of tokens. Raises ToolError."""
        arguments = checked_arguments(self.name, self.parameters, given)
        full = arguments.get("detail") == "full"
        more = full or arguments.get("limit") is not None or arguments.get("points") is not None
        tokens = MAX_TOKENS if more else DEFAULT_TOKENS
        return fit(self.function(context, **arguments), tokens=tokens, full=full)

    def _annotations(self) -> ToolAnnotations:
        if self.effect == "reads":
            return ToolAnnotations(read_only_hint=True, open_world_hint=False)
        return ToolAnnotations(destructive_hint=self.effect == "destroys", open_world_hint=False)
