"""The handlers of resources and prompts. Their errors are errors of the protocol, with the same fields."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from gymnast.errors import GymnastError
from gymnast.mcp import prompts, resources
from gymnast.mcp.context import ToolContext
from gymnast.mcp.options import McpOptions
from gymnast.mcp.problem import Problem, ToolError, from_failure
from gymnast.mcp.shape import compact
from gymnast.serving.threads import run_in_thread

Request = ServerRequestContext[Any, Any]
R = TypeVar("R")


def resource_handlers(options: McpOptions) -> dict[str, Any]:
    """Returns the handlers of the resources, as arguments of the server."""
    context = ToolContext(options)

    async def list_resources(
        _request: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = (params.cursor or "") if params else ""
        listed, following = await _answer(lambda: resources.list_resources(context, cursor))
        return types.ListResourcesResult(resources=listed, next_cursor=following)

    async def list_templates(
        _request: Request, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read(
        _request: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        found = await _answer(lambda: resources.read_resource(context, str(params.uri)))
        return types.ReadResourceResult(contents=[found])

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read,
    }


def prompt_handlers(options: McpOptions) -> dict[str, Any]:
    """Returns the handlers of the prompts, as arguments of the server."""
    context = ToolContext(options)

    async def list_prompts(
        _request: Request, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=await _answer(lambda: prompts.list_prompts(context)))

    async def get(_request: Request, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        given = params.arguments or {}
        return await _answer(lambda: prompts.get_prompt(context, params.name, given))

    return {"on_list_prompts": list_prompts, "on_get_prompt": get}


async def _answer(function: Callable[[], R]) -> R:
    """Returns what a function returns, which runs in a thread; its errors become those of the protocol."""
    try:
        return await run_in_thread(function)
    except ToolError as error:
        raise _protocol_error(error.problem) from None
    except GymnastError as error:
        raise _protocol_error(from_failure(error.to_failure())) from None
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        problem = f"{type(error).__name__}; the log of the server has the details"
        raise MCPError(types.INTERNAL_ERROR, problem) from None


def _protocol_error(problem: Problem) -> MCPError:
    return MCPError(types.INVALID_PARAMS, problem.text, compact(problem))
