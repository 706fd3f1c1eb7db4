"""Runs with W&B and TensorBoard: the trackers get the same numbers and are closed on every exit."""

from __future__ import annotations

import json
from typing import Any

from tests.small_runs import assert_same_run, copy_killed_at, resume_run, rows, train_small
from tests.tracker_files import (
    exit_codes,
    rows_as_bits,
    tensorboard_rows,
    tensorboard_scalars,
    wandb_files,
    wandb_history,
    wandb_records,
    wandb_rows,
)

ROLLOUT = 2 * 8
SETTINGS: dict[str, Any] = {
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.env_steps": 4 * ROLLOUT,
    "eval.every": "2 rollouts",
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 20,
    "traces.train": "100%",
}
BOTH = {**SETTINGS, "track.to": ["wandb", "tensorboard"]}


def test_trackers_have_every_recorded_metric_and_a_resumed_run_continues_in_them():
    plain = train_small("CartPole-v1", SETTINGS)
    whole = train_small("CartPole-v1", BOTH)
    assert_same_run(plain, whole)  # who looks on changes nothing
    (file,) = wandb_files(whole.path / "wandb")
    recorded = rows(whole)
    assert rows_as_bits(wandb_rows(file)) == rows_as_bits(recorded)
    assert rows_as_bits(tensorboard_rows(whole.path / "tensorboard")) == rows_as_bits(recorded)
    assert exit_codes(file) == [0]

    (begun,) = (r.run for r in wandb_records(file) if r.WhichOneof("record_type") == "run")
    assert (begun.run_id, begun.display_name) == (whole.id, f"ppo-{whole.id}")
    assert begun.project == "CartPole-v1"
    settings = {update.key: json.loads(update.value_json) for update in begun.config.update}
    stored = whole.config().model_dump(mode="json")
    assert {key: settings[key] for key in stored} == stored

    before = copy_killed_at(whole, 2 * ROLLOUT)
    known = set(wandb_files(before.path / "wandb"))
    film = before.path / "videos" / f"eval-{2 * ROLLOUT:012d}-best.mp4"
    film.parent.mkdir(exist_ok=True)
    film.write_bytes(b"a film")
    film.with_suffix(".json").write_text(json.dumps({"version": 2 * ROLLOUT, "return": 9.0}))
    after = resume_run(before)
    assert_same_run(whole, after)
    (event,) = (e for e in after.events() if e["kind"] == "resumed")
    assert event["bit_exact"]
    (more,) = set(wandb_files(after.path / "wandb")) - known
    assert rows_as_bits(wandb_rows(more)) == rows_as_bits(rows(after)[2:])
    drawn = tensorboard_scalars(after.path / "tensorboard")["clock/rollouts"]
    assert drawn == [(row["clock/vec_steps"], row["clock/rollouts"]) for row in rows(after)]
    (again,) = (r.run for r in wandb_records(more) if r.WhichOneof("record_type") == "run")
    assert again.run_id == before.id
    (shown,) = [row for row in wandb_history(more) if "films/eval-best._type" in row]
    assert shown["clock/vec_steps"] == 2 * 8  # the step of its episode, not of the end
    assert shown["films/eval-best._type"] == "video-file"
