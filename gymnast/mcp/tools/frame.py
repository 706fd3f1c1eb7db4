"""The tool `frame`: pictures of a stored episode."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Annotated

from gymnast import api
from gymnast.api.inspector import episode_frames
from gymnast.mcp.answer import Answer, Picture
from gymnast.mcp.context import ToolContext
from gymnast.mcp.problem import Problem, ToolError
from gymnast.runs.episode_kinds import Kind

MAX_PICTURES = 4
MIN_WIDTH, MAX_WIDTH = 64, 1024
PNG = b"\x89PNG"


def frame(
    context: ToolContext,
    run: str,
    kind: Kind = "eval",
    version: int | None = None,
    number: int | None = None,
    steps: Annotated[Sequence[int], "at most 4"] = (0,),
    width: int = 320,
) -> Answer:
    """Shows pictures of a stored episode at these steps."""
    if not 1 <= len(steps) <= MAX_PICTURES:
        problem = f"{len(steps)} steps were asked for, not 1 to {MAX_PICTURES}"
        raise ToolError(Problem("usage", problem, at="frame.steps"))
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        problem = f"width is {width}, not between {MIN_WIDTH} and {MAX_WIDTH} pixels"
        raise ToolError(Problem("usage", problem, at="frame.width"))
    address = context.ask(api.find_episode, run, kind, version, number)
    pictures: list[Picture] = []
    shown: list[int] = []
    note = ""
    for step in dict.fromkeys(steps):
        found, payload = context.ask(
            episode_frames, run, kind, version, number, first=step, last=step, width=width
        )
        note = note or found.note
        for at, data in _frames(payload):
            shown.append(at)
            mime = "image/png" if data.startswith(PNG) else "image/jpeg"
            pictures.append(Picture(data, mime))
    if not pictures:
        raise ToolError(
            Problem("run", note or "there is no picture of this step", at="frame.steps")
        )
    where = f"{address.path.name} {kind} {address.version} #{address.number}"
    lacking = f"; {note}" if note else ""
    return Answer(f"{where}: {_steps_text(shown)}{lacking}", {}, pictures=tuple(pictures))


def _steps_text(steps: Sequence[int]) -> str:
    return f"step {steps[0]}" if len(steps) == 1 else f"steps {', '.join(map(str, steps))}"


def _frames(payload: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the step and the picture of each frame; the format is that of `FrameSet`."""
    (count,) = struct.unpack_from("<I", payload)
    offset = 4
    for _ in range(count):
        step, length = struct.unpack_from("<II", payload, offset)
        offset += 8
        yield step, payload[offset : offset + length]
        offset += length
