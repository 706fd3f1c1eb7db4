"""How resuming lost or misreported something before. Numbers as in the list of traps."""

from __future__ import annotations

from pathlib import Path

from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from tests.small_runs import arrays, exact, resumed, rows, same_arrays, trained

ROLLOUT = 2 * 8
SETTINGS = {
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.env_steps": 8 * ROLLOUT,
    "eval.every": "2 rollouts",
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 20,
}


def files_of(run: Run) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}


def test_50_going_back_is_a_branch_and_the_run_stays_as_it_is_to_the_byte():
    run = trained("CartPole-v1", SETTINGS | {"eval.max_episode_steps": 50})
    before = files_of(run)
    branch = resumed(run, {"stop.env_steps": 5 * ROLLOUT}, at=str(3 * ROLLOUT))
    assert files_of(run) == before
    assert branch.id != run.id
    parent = {key: branch.info[key] for key in ("parent", "parent_step", "parent_kind")}
    assert parent == {"parent": run.id, "parent_step": 3 * ROLLOUT, "parent_kind": "branch"}
    assert max(checkpoint.steps(branch.path)) == 5 * ROLLOUT
    whole = resumed(run, at=str(3 * ROLLOUT))
    assert same_arrays(arrays(whole), arrays(run))
    assert [exact(row) for row in rows(whole)] == [exact(row) for row in rows(run)]
    (event,) = [e for e in whole.events() if e["kind"] == "resumed"]
    assert event["bit_exact"]
