"""Environments that break while a run trains are named, restarted and recorded, or end it cleanly."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from gymnast.errors import EnvError
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.seeds import episode_seed
from tests.small_runs import resume_run, rows, train_small

TINY = {"env.n_envs": 4, "algo.n_steps": 16, "stop.rollouts": 3, "eval.every": "off"}
PROCESS = {"env.backend": "process", "env.workers": 2, "env.timeout": 1.0}
YES = {"facts.deterministic": "yes"}
"""Declared, because trying out the seeds in this process would break it."""
BAD = episode_seed(0, "episode", "agent", 1, 0)


def faults(run: Run) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["kind"] == "fault"]


CONTRACT = {
    "raises": "ZeroDivisionError: the physics went wrong",
    "nan obs": "not finite at index [1]",
    "nan reward": "the reward is nan",
    "shape": "shape (4,), its space says (3,)",
    "text obs": "not numbers",
}


@pytest.mark.parametrize("backend", ["inprocess", "process"])
@pytest.mark.parametrize(("how", "what"), CONTRACT.items(), ids=CONTRACT)
def test_an_environment_that_breaks_its_contract_costs_one_episode(how, what, backend: str):
    settings = TINY | PROCESS | YES | {"env.backend": backend}
    run = train_small("Broken", settings | {"env.kwargs": {"how": how, "at": 5, "only": BAD}})
    assert run.info["status"] == "finished"
    (fault,) = faults(run)
    assert (fault["copy"], fault["step"]) == (1, 5)
    assert what in fault["what"]
    assert [row["rollout/faults"] for row in rows(run)] == [1, 0, 0]
    if how == "raises":
        assert "in _shown" in fault["traceback"]
        assert "in _shown" in (run.path / "log.txt").read_text()


WORKER = {
    "killed": "was killed by SIGKILL",
    "exits": "exited with code 7",
    "hangs": "took longer than env.timeout",
    "memory": "MemoryError",
}


@pytest.mark.slow
@pytest.mark.parametrize(("how", "what"), WORKER.items(), ids=WORKER)
def test_a_worker_that_dies_or_hangs_costs_the_episodes_it_was_in(how: str, what: str):
    """A copy breaks after a number of episodes that a new copy does not reach in so short a run."""
    settings = TINY | PROCESS | YES | {"env.kwargs": {"how": how, "after": 5}, "stop.rollouts": 4}
    run = train_small("Trouble", settings)
    assert run.info["status"] == "finished"
    found = faults(run)
    assert any(what in fault["what"] for fault in found), found
    assert {fault["copy"] for fault in found} <= {0, 1, 2, 3}
    assert run.info["clocks"]["env_steps"] == 4 * 4 * 16


def test_a_slow_copy_is_waited_for():
    settings = TINY | PROCESS | YES | {"env.kwargs": {"seconds": 0.02}, "stop.rollouts": 1}
    run = train_small("Slow", settings)
    assert run.info["status"] == "finished"
    assert faults(run) == []


@pytest.mark.parametrize("backend", ["inprocess", "process"])
def test_a_copy_that_always_breaks_ends_training_with_a_checkpoint_to_resume_from(
    backend: str, runs_dir
):
    settings = TINY | PROCESS | YES | {"env.backend": backend, "env.max_faults": 3}
    bad = {"env.kwargs": {"how": "raises", "at": 2, "only": "all"}}
    with pytest.raises(EnvError, match=r"copy \d, step 2 .*the physics went wrong") as raised:
        train_small("Broken", settings | bad)
    assert "`gymnast check py:tests.scripted:Broken`" in str(raised.value)
    (path,) = runs_dir.glob("*/run.json")
    run = Run(path.parent)
    assert run.info["status"] == "failed"
    assert "the physics went wrong" in run.info["reason"]
    assert checkpoint.latest(run.path).step == run.info["clocks"]["env_steps"] > 0


def test_a_run_whose_environment_was_fixed_can_be_resumed(tmp_path, monkeypatch, runs_dir):
    module = tmp_path / "shaky_world.py"
    text = "from tests.scripted import Broken\nclass World(Broken):\n    def __init__(self):\n"
    module.write_text(text + "        super().__init__('raises', 2, 'all')\n")
    monkeypatch.chdir(tmp_path)
    target = "py:shaky_world:World-v"  # small_runs takes a name with -v as it stands
    settings = TINY | YES | {"env.id": "py:shaky_world:World"}
    with pytest.raises(EnvError, match="the physics went wrong"):
        train_small(target, settings)
    (path,) = runs_dir.glob("*/run.json")
    module.write_text(text + "        super().__init__('fine')\n")
    monkeypatch.delitem(sys.modules, "shaky_world")
    run = resume_run(Run(path.parent))
    assert run.info["status"] == "finished"
    assert run.info["clocks"]["rollouts"] == 3
