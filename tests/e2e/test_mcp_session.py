"""Whole sessions of the official SDK client with `gymnast mcp`, over stdio and HTTP, with real trainings."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from mcp import Client
from mcp_types import ImageContent

from gymnast import api
from gymnast.mcp.tools.train import TAG
from tests.mcp.sessions import (
    http_server,
    over_http,
    over_stdio,
    run_in_thread,
    text_of,
    tokens,
)

pytestmark = pytest.mark.slow
SHORT = {"stop.env_steps": 20_000, "stop.solved": "off"}
HOT = SHORT | {"algo.lr": 0.05}
ENDLESS = {"stop.env_steps": "50M", "stop.solved": "off", "stop.eval_return": "off"}
Connect = Callable[[], AbstractAsyncContextManager[Client]]


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state directory of the test: not that of the user who runs it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(autouse=True)
def end_jobs(runs_dir: Path) -> Iterator[None]:
    """Kills the trainings that a test has left."""
    yield
    for job in api.jobs(runs_dir=runs_dir):
        if job.is_live and job.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(job.pid, signal.SIGKILL)


class Server:
    """The server of a test, over one transport; it can be killed and connected to again."""

    def __init__(self, transport: str, runs_dir: Path) -> None:
        self.transport, self.runs_dir = transport, runs_dir
        self._http = None if transport == "stdio" else http_server(runs_dir)
        self._running = self._http.__enter__() if self._http else None

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Client]:
        if self._running is None:
            async with over_stdio(self.runs_dir) as client:
                yield client
        else:
            async with over_http(*self._running[:2]) as client:
                yield client

    def kill(self) -> None:
        """Kills the server with SIGKILL; over HTTP, starts another one at the same address."""
        if self._running is None:
            for process in psutil.Process().children():
                with suppress(psutil.NoSuchProcess):  # a zombie is one, too: it has ended already
                    if "mcp" in process.cmdline():
                        process.kill()
            return
        address, token, process = self._running
        process.kill()
        process.wait()
        port = address.rpartition(":")[2].partition("/")[0]
        self._http = http_server(self.runs_dir, "--port", port)
        self._running = self._http.__enter__()
        assert self._running[:2] == (address, token)  # the client keeps its configuration

    def close(self) -> None:
        if self._http is not None:
            self._http.__exit__(None, None, None)


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, runs_dir: Path) -> Iterator[Server]:
    running = Server(request.param, runs_dir)
    yield running
    running.close()


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Returns the answer to a call, which must not fail and must be short."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    assert tokens(result) <= 1000
    return result.structured_content


async def wait(client: Client, run: str) -> tuple[dict[str, Any], list[tuple[float, str]]]:
    """Returns the run after its end, and the progress notifications."""
    progress: list[tuple[float, str]] = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        assert total == 1.0
        progress.append((done, message or ""))

    result = await client.call_tool("wait", {"runs": [run]}, progress_callback=report)
    assert isinstance(result.structured_content, dict)
    assert result.structured_content["ended"] == 1
    return result.structured_content["runs"][0], progress


def test_an_assistant_finds_trains_diagnoses_patches_compares_and_looks(server: Server):
    async def first_half(client: Client) -> tuple[str, dict[str, Any]]:
        found = await ask(client, "find", query="balance a pole on a cart", kind="preset")
        target = found["hits"][0]["name"]
        assert target == "CartPole-v1"
        checked = await ask(client, "config", target=target, overrides=HOT)
        assert checked["valid"]
        started = await ask(client, "train", target=target, overrides=HOT, name="hot")
        assert started["minutes_limit"] == 60
        run = started["runs"][0]["id"]
        ended, progress = await wait(client, run)
        assert ended["status"] == "finished"
        assert ended["tags"] == [TAG]
        shares = [share for share, _ in progress]
        assert progress
        assert shares == sorted(shares)
        assert run in progress[0][1]
        diagnosis = await ask(client, "diagnose", run=run)
        assert diagnosis["outcome"] == "failed"
        assert "learning rate" in diagnosis["causes"][0]["cause"]
        assert "algo.lr" in diagnosis["patch"]
        return run, diagnosis["patch"]

    async def second_half(client: Client, hot: str, patch: dict[str, Any]) -> None:
        started = await ask(client, "train", target="CartPole-v1", overrides=SHORT | patch)
        better, _ = await wait(client, started["runs"][0]["id"])
        compared = await ask(client, "compare", runs=[hot, better["id"]])
        verdict = compared["verdicts"][0]
        assert verdict["better"] == better["id"]
        assert "algo.lr" in compared["settings"]
        frame = await client.call_tool("frame", {"run": better["id"], "steps": [5]})
        assert isinstance(frame.content[1], ImageContent)
        more = {"stop.env_steps": 22_000, "stop.eval_return": "off"}
        resumed = await ask(client, "train", resume=better["id"], overrides=more)
        assert resumed["runs"][0]["id"] == better["id"]
        longer, _ = await wait(client, better["id"])
        assert (longer["status"], longer["env_steps"]) == ("finished", 22_000)
        branch = await ask(client, "train", resume=hot, at="best", overrides=patch, name="branch")
        assert branch["parent"] == hot
        child, _ = await wait(client, branch["runs"][0]["id"])
        assert (child["name"], child["tags"]) == ("branch", [TAG])

    async def session() -> None:
        async with server.connect() as client:
            hot, patch = await first_half(client)
        server.kill()
        async with server.connect() as client:
            await second_half(client, hot, patch)

    run_in_thread(session())


def test_killing_the_server_leaves_a_training_untouched_and_another_one_stops_it(server: Server):
    async def session() -> None:
        run = ""
        with suppress(Exception):  # its connection breaks
            async with server.connect() as client:
                started = await ask(client, "train", target="CartPole-v1", overrides=ENDLESS)
                run = started["runs"][0]["id"]
                waiting = asyncio.create_task(client.call_tool("wait", {"runs": [run]}))
                while (await ask(client, "runs", run=run))["run"]["status"] != "running":
                    await asyncio.sleep(0.1)
                server.kill()
                await asyncio.wait_for(waiting, 5)
        async with server.connect() as client:
            shown = (await ask(client, "runs", run=run))["run"]
            assert shown["status"] == "running"
            stopped = await ask(client, "control", run=run, action="stop")
            assert stopped["done"]
            ended, _ = await wait(client, run)
            assert ended["status"] == "stopped"
            await ask(client, "control", run=run, action="remove")  # only says what would be lost
            assert (await ask(client, "runs"))["total"] == 1

    run_in_thread(session())


def test_closing_a_client_leaves_its_training_running(server: Server, runs_dir: Path):
    async def session() -> str:
        async with server.connect() as client:
            started = await ask(client, "train", target="CartPole-v1", overrides=ENDLESS)
            run = started["runs"][0]["id"]
            while (await ask(client, "runs", run=run))["run"]["status"] != "running":
                await asyncio.sleep(0.1)
            changed = await ask(
                client, "control", run=run, action="set", settings={"algo.lr": 1e-4}
            )
            assert changed["runs"][0]["changes"][0]["after"] == 1e-4
            return run

    run = run_in_thread(session())
    before = api.show(run, runs_dir=runs_dir)
    assert before.status == "running"
    assert before.events[-1].detail["by"] == "assistant"
    pid = next(job.pid for job in api.jobs(runs_dir=runs_dir))
    assert pid is not None
    assert psutil.pid_exists(pid)


def test_two_clients_at_once_start_runs_and_see_those_of_the_other(server: Server):
    async def one(connect: Connect, name: str) -> str:
        async with connect() as client:
            started = await ask(client, "train", target="CartPole-v1", overrides=SHORT, name=name)
            ended, _ = await wait(client, started["runs"][0]["id"])
            return ended["id"]

    async def session() -> None:
        ids = await asyncio.gather(one(server.connect, "left"), one(server.connect, "right"))
        assert len(set(ids)) == 2
        async with server.connect() as client:
            listed = await ask(client, "runs", filter=f"tag={TAG}")
            assert {run["id"] for run in listed["runs"]} == set(ids)
            same = await ask(client, "compare", runs=list(ids))
            assert "settings" not in same  # the same seed and settings

    run_in_thread(session())


WRONG = [
    ("trian", {"target": "CartPole-v1"}, "train"),
    ("train", {"taget": "CartPole-v1"}, "target"),
    ("train", {"target": "CartPole-v1", "overrides": {"algo.gama": 0.9}}, "algo.gamma"),
    ("train", {"target": "CartPole-v1", "overrides": {"stop.minutes": 1e6}}, ""),
    ("train", {"target": "py:os:system"}, ""),
    ("runs", {"limit": "ten"}, ""),
    ("runs", {"run": "../../etc"}, ""),
    ("diagnose", {"run": "nothing", "view": "evnts"}, "events"),
    ("wait", {"runs": ["nothing"]}, ""),
    ("control", {"run": "nothing", "action": "stop"}, ""),
]


def test_ten_wrong_calls_are_structured_errors(server: Server):
    async def session() -> None:
        async with server.connect() as client:
            for tool, arguments, nearest in WRONG:
                result = await client.call_tool(tool, arguments)
                assert result.is_error, (tool, arguments)
                error = result.structured_content
                assert isinstance(error, dict)
                assert error["code"] in ("usage", "config", "limit", "code", "run", "environment")
                assert error["message"] in text_of(result)
                assert error.get("closest", "") == nearest, error
                assert "Traceback" not in text_of(result)

    run_in_thread(session())
    assert len(WRONG) == 10


def test_a_page_of_another_origin_and_a_client_without_the_token_are_refused(runs_dir: Path):
    with http_server(runs_dir) as (address, token, _):
        own = {"authorization": f"Bearer {token}"}
        refused = httpx.post(address, headers=own | {"origin": "http://evil.example"}, json={})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert httpx.post(address, json={}).status_code == 401
        rebound = httpx.post(address, headers=own | {"host": "evil.example"}, json={})
        assert rebound.status_code == 421


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_of_both_generations_of_the_protocol_are_served(runs_dir: Path, mode: str):
    async def session() -> None:
        async with over_stdio(runs_dir, "--read-only", mode=mode) as client:
            assert (await ask(client, "runs"))["total"] == 0
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "train" not in names
        with http_server(runs_dir, "--text") as (address, token, _):
            async with over_http(address, token, mode=mode) as client:
                result = await client.call_tool("find", {"query": "cartpole", "kind": "preset"})
                assert result.structured_content is None
                assert '"name":"CartPole-v1"' in text_of(result)

    run_in_thread(session())
