"""The agent of a W&B sweep: what it does with the commands of a server, and when it ends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count

import pytest

from gymnast.errors import GymnastError
from gymnast.sweep.wandb_agent import MAX_FAILURES, OUTAGE_SECONDS, AgentRun, AgentStatus, run_agent
from gymnast.sweep.wandb_server import Command, ServerError, SweepDeleted

Answer = Sequence[Command] | GymnastError


class Server:
    """Answers heartbeats as scripted, then says `exit`; raises answers that are errors."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.heartbeats: list[list[str]] = []

    def heartbeat(self, running: Collection[str]) -> list[Command]:
        self.heartbeats.append([*running])
        answer = self.answers.pop(0) if self.answers else [Command("exit")]
        if isinstance(answer, GymnastError):
            raise answer
        return [*answer]


class Runs:
    """Runs that end after a number of heartbeats, or when they are stopped."""

    def __init__(self, *lengths: int, ends: AgentStatus = "finished") -> None:
        self.left: dict[str, int] = {}
        self.lengths, self.ends = list(lengths), ends
        self.stopped: list[str] = []

    def start(self, command: Command) -> AgentRun:
        self.left[command.run_id] = self.lengths.pop(0)
        started = AgentRun(command.run_id, f"run-{command.run_id}", "started", command.settings)
        return started if self.left[command.run_id] else replace(started, status="invalid", run="")

    def ended(self, run: AgentRun) -> AgentRun | None:
        self.left[run.wandb_id] -= 1
        if run.wandb_id in self.stopped:
            return replace(run, status="stopped")
        return None if self.left[run.wandb_id] else replace(run, status=self.ends, reason="over")

    def stop(self, run: AgentRun) -> None:
        self.stopped.append(run.wandb_id)


def start(run_id: str) -> Command:
    return Command("run", run_id, {"algo.lr": "3e-4 -> 0"})


def outcome(server: Server, runs: Runs, most: int | None = None) -> list[tuple[str, str]]:
    clock = count(0.0, 100.0)
    ended = run_agent(server, runs, count=most, pause=lambda _: None, now=lambda: next(clock))
    return [(run.wandb_id, run.status) for run in ended]


def test_runs_start_when_the_server_says_so_and_are_reported_until_they_end():
    server = Server([start("a")], [], [], [start("b")], [])
    runs = Runs(3, 2)
    assert outcome(server, runs) == [
        *(("a", "started"), ("a", "finished"), ("b", "started"), ("b", "finished")),
    ]
    assert server.heartbeats == [[], ["a"], ["a"], [], ["b"], []]
    assert not runs.stopped


def test_an_agent_ends_after_its_number_of_runs_without_asking_for_another():
    server = Server([start("a")], [], [start("b")])
    assert outcome(server, Runs(2, 1), most=1) == [("a", "started"), ("a", "finished")]
    assert len(server.heartbeats) == 2


def test_a_stop_command_stops_its_run_and_the_agent_continues():
    server = Server([start("a")], [Command("stop", "a")], [Command("stop", "x")], [start("b")])
    runs = Runs(50, 1)
    assert outcome(server, runs)[:3] == [("a", "started"), ("a", "stopped"), ("b", "started")]
    assert runs.stopped == ["a"]


def test_exit_stops_the_run_that_trains_and_waits_for_its_end():
    runs = Runs(50)
    assert outcome(Server([start("a")], [Command("exit")]), runs) == [
        ("a", "started"),
        ("a", "stopped"),
    ]


def test_a_deleted_sweep_is_an_error_after_the_run_that_trains_has_ended():
    server = Server([start("a")], SweepDeleted("gone"), [start("b")])
    agent = run_agent(server, Runs(3, 1), pause=lambda _: None)
    assert [next(agent).status, next(agent).status] == ["started", "finished"]
    with pytest.raises(SweepDeleted):
        next(agent)


def test_an_outage_does_not_disturb_a_run_and_ends_an_idle_agent_in_the_end():
    server = Server([start("a")], *[ServerError("no answer")] * 100)
    runs = Runs(80)
    with pytest.raises(ServerError, match="no answer"):
        outcome(server, runs)
    assert not runs.stopped
    idle = len(server.heartbeats) - 80
    assert 1 < idle <= OUTAGE_SECONDS / 100.0 + 1


@pytest.mark.parametrize(
    "runs", [Runs(1, 1, 1, 1, ends="failed"), Runs(0, 0, 0, 0)], ids=["failed", "invalid"]
)
def test_failures_in_a_row_end_the_agent(runs: Runs):
    server = Server([start("a")], [start("b")], [start("c")], [start("d")])
    with pytest.raises(GymnastError, match=f"{MAX_FAILURES} runs of the sweep failed in a row"):
        outcome(server, runs)
    assert [*runs.left] == ["a", "b", "c"]


def test_an_unknown_command_is_an_error_and_the_run_is_stopped():
    runs = Runs(50)
    with pytest.raises(ServerError, match="unknown command 'dance'"):
        outcome(Server([start("a")], [Command("dance")]), runs)
    assert runs.stopped == ["a"]


def test_a_run_is_stopped_if_the_agent_is_interrupted():
    runs = Runs(50)
    agent = run_agent(Server([start("a")], []), runs, pause=lambda _: None)
    assert next(agent).status == "started"
    with pytest.raises(KeyboardInterrupt):
        agent.throw(KeyboardInterrupt())  # pyright: ignore[reportAttributeAccessIssue] (it is a generator)
    assert runs.stopped == ["a"]


@pytest.mark.parametrize("arguments", [{"algo.lr": 1e-3}, {"algo.lr": {}}, [1]], ids=str)
def test_arguments_without_values_are_an_error(arguments: object):
    with pytest.raises(ServerError, match="have no values"):
        Command.from_answer({"type": "run", "run_id": "a", "args": arguments})
