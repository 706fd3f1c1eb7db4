"""Helpers for tests that train in the background through the API."""

from __future__ import annotations

import json

from gymnast import api
from gymnast.records import from_json, json_schema, to_json
from tests.waiting import wait_for

TINY: dict[str, object] = {
    "eval.mode": "inline",
    "eval.every": "off",
    "eval.confirm_episodes": 2,
    "env.n_envs": 2,
    "algo.n_steps": 16,
    "algo.batch_size": "50%",
    "policy.hidden": [8],
    "stop.solved": "off",
    "stop.eval_return": "off",
    "checkpoint.every": "2 rollouts",
    "checkpoint.keep": 40,
    "stop.env_steps": 256,
}
"""Settings with which a run takes about a second."""
ENDLESS = TINY | {"stop.env_steps": "50M", "checkpoint.every": "off"}


def wait_until(run: str, status: str) -> None:
    wait_for(lambda: api.wait([run], timeout=0)[0].status == status)


def assert_round_trips(record: object) -> None:
    """Asserts that a record is equal to itself after it was written as JSON text and read again."""
    text = json.dumps(to_json(record), allow_nan=False)
    assert from_json(type(record), json.loads(text)) == record
    assert json_schema(type(record))["type"] == "object"
