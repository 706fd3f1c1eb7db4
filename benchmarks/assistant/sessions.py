"""Plays the calls of tasks: by the official MCP client over stdio, and by the command line with JSON."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from benchmarks.assistant.task import Step, Task, evaluate, filled, wrong_answers

BYTES_PER_TOKEN = 4
SECONDS = 300.0
"""Deadline of one call."""


@dataclass
class Played:
    """The effort and the result of one side of a task."""

    solved: bool = False
    wrong: list[str] = field(default_factory=list[str])
    """The parts of the answer that are not true, or the error of a call."""
    answer: dict[str, Any] = field(default_factory=dict[str, Any])
    calls: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return round((self.bytes_sent + self.bytes_received) / BYTES_PER_TOKEN)

    def count(self, sent: str, received: str) -> None:
        self.calls += 1
        self.bytes_sent += len(sent.encode())
        self.bytes_received += len(received.encode())


def play_mcp(tasks: Sequence[Task], runs: Path) -> tuple[dict[str, Played], int]:
    """Returns what each task took, and the tokens of all tool definitions."""
    return asyncio.run(_play_mcp(tasks, runs))


async def _play_mcp(tasks: Sequence[Task], runs: Path) -> tuple[dict[str, Played], int]:
    arguments = ["-m", "gymnast", "mcp", "--runs", str(runs)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(server, read_timeout_seconds=SECONDS) as client:
        listed = (await client.list_tools()).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        definitions = round(len(_compact(listed["tools"]).encode()) / BYTES_PER_TOKEN)
        played: dict[str, Played] = {}
        for task in tasks:
            played[task.name] = await _play_task(client, task, runs)
        return played, definitions


async def _play_task(client: Client, task: Task, runs: Path) -> Played:
    played, values, started = Played(), dict[str, Any](), time.monotonic()
    try:
        for step in task.steps["mcp"]:
            arguments = filled(step.arguments, values)
            result = await client.call_tool(step.call, arguments)
            sent = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            for block in sent["content"]:
                if block["type"] == "image":
                    block["data"] = ""  # a model sees a picture, not its bytes
            played.count(_compact({"name": step.call, "arguments": arguments}), _compact(sent))
            if result.is_error:
                raise ValueError(_text(sent))
            evaluate(step, result.structured_content or _text(sent), values)
        _judge(task, values, runs, played)
    except Exception as error:  # one wrong task must not end the others
        played.wrong = [f"{type(error).__name__}: {error}"]
    played.seconds = round(time.monotonic() - started, 2)
    return played


def play_cli(tasks: Sequence[Task], runs: Path) -> tuple[dict[str, Played], int]:
    """Returns what each task took, and the tokens of the list of commands (`gymnast --help`)."""
    listed, _ = _run("gymnast --help", runs)
    return (
        {task.name: _play_commands(task, runs) for task in tasks},
        round(len(listed.encode()) / BYTES_PER_TOKEN),
    )


def _play_commands(task: Task, runs: Path) -> Played:
    played, values, started = Played(), dict[str, Any](), time.monotonic()
    try:
        for step in task.steps["cli"]:
            command = filled(step.call, values)
            output, errors = _run(command, runs)
            played.count(command, output + errors)
            evaluate(step, _parsed(step, output) if output.strip() else errors, values)
        _judge(task, values, runs, played)
    except Exception as error:
        played.wrong = [f"{type(error).__name__}: {error}"]
    played.seconds = round(time.monotonic() - started, 2)
    return played


def _run(command: str, runs: Path) -> tuple[str, str]:
    """Returns what a command prints to standard output and to standard error."""
    program, *words = shlex.split(command)
    if program != "gymnast":
        raise ValueError(f"{command!r} is not a gymnast command")
    done = subprocess.run(
        [sys.executable, "-m", "gymnast", *words],
        env=os.environ | {"GYMNAST_RUNS": str(runs)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    return done.stdout, done.stderr


def _parsed(step: Step, output: str) -> Any:
    return json.loads(output) if "--json" in step.call else output


def _judge(task: Task, values: dict[str, Any], runs: Path, played: Played) -> None:
    played.wrong = wrong_answers(task, values, runs)
    played.solved = not played.wrong
    played.answer = {key: values.get(key) for key in task.truth}


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _text(sent: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in sent["content"] if block["type"] == "text")
