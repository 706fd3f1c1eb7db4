"""Small steps in place of those of a real night."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gymnast.nightly.step import Job, NightlyStep, StepContext
from gymnast.nightly.steps import STEPS

Planned = tuple[str, dict[str, object]] | str | Exception
"""The name of a function in `functions.py`, with arguments or without; or an error of the plan."""
UseSteps = Callable[..., None]


@pytest.fixture
def use_steps(monkeypatch: pytest.MonkeyPatch) -> UseSteps:
    """Returns a function that replaces the registry: name of a step = the functions of its jobs."""

    def replace(deadline: float = 30.0, **steps: list[Planned]) -> None:
        for name in list(STEPS):
            monkeypatch.delitem(STEPS, name)
        for name, jobs in steps.items():
            step = NightlyStep(name, f"{name} holds", 1.0, "thing", _plan(name, jobs, deadline))
            monkeypatch.setitem(STEPS, name, step)

    return replace


def _plan(
    name: str, jobs: list[Planned], deadline: float
) -> Callable[[StepContext], Iterator[Job]]:
    def plan(_: StepContext) -> Iterator[Job]:
        for job in jobs:
            if isinstance(job, Exception):
                raise job
            function, arguments = (job, {}) if isinstance(job, str) else job
            path = f"tests.nightly.functions:{function}"
            yield Job(f"{name} {function}", path, arguments, deadline, f"gymnast {name} {function}")

    return plan
