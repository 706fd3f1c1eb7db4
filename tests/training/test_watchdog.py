"""A call of an in-process environment that hangs is reported, the run is shown as stalled, and the report is
cleared when the call returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gymnast import api
from gymnast.insight.page import run_page, runs_table
from tests.scripted import Stuck
from tests.small_runs import train_small
from tests.waiting import PATIENCE

SETTINGS = {
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.rollouts": 2,
    "eval.every": "1 rollouts",
    "facts.deterministic": "yes",  # it is not tried out: the environment counts its calls
    "env.timeout": 0.5,
}


@pytest.fixture
def stuck_until() -> Iterator[Callable[[Callable[[], bool]], None]]:
    def use(until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        Stuck.calls, Stuck.until = 0, staticmethod(lambda: until() or time.monotonic() > deadline)

    yield use
    Stuck.until = staticmethod(lambda: True)


@pytest.mark.parametrize(
    ("where", "at", "copy", "step"),
    [("step", 10, 1, 5), ("reset", 5, 1, 0), ("step", 2 * 8 + 3, 2, 1)],
    ids=["step", "reset", "step of an inline evaluation"],
)
def test_a_call_that_hangs_is_reported_while_it_hangs_and_cleared_when_it_returns(
    where: str, at: int, copy: int, step: int, stuck_until, runs_dir: Path
):
    pages: list[str] = []

    def is_marked() -> bool:
        (run,) = api.runs().runs
        if pages:  # the calls after it wait until the watchdog has noticed that it returned
            return any(event.kind == "stall ended" for event in api.events(run.id).events)
        if run.status == "stalled" and any(runs_dir.glob("*/events.jsonl")):
            pages.append(runs_table([run]) + run_page(api.show(run.id)))
        return bool(pages)

    stuck_until(is_marked)
    run = train_small("Stuck", SETTINGS | {"env.kwargs": {"where": where, "at": at}})
    assert run.info["status"] == "finished"
    (event,) = [event for event in run.events() if event["kind"] == "stalled"]
    assert (event["copy"], event["step"]) == (copy, step)
    assert "in wait_for_the_simulator" in event["traceback"]
    assert "env.backend=process" in event["message"]
    call = f"step() {step} of its episode" if step else "reset()"
    assert f"stalled: copy {copy} has been in {call} for more than 0.5 s" in pages[0]
    (ended,) = [event for event in run.events() if event["kind"] == "stall ended"]
    assert ended["lasted"] >= 0.5
    log = (run.path / "log.txt").read_text()
    assert "in wait_for_the_simulator" in log
    assert "training continues" in log
