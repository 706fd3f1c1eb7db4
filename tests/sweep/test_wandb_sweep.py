"""A W&B sweep against a server on this machine that answers the requests of the installed client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gymnast.config.resolve import resolve
from gymnast.config.serialize import to_plain
from gymnast.runs import store
from gymnast.runs.run import Run
from tests.small_runs import rows
from tests.sweep.wandb_stand_in import API_KEY, StandIn, serve
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.slow

CONFIG = """\
program: CartPole-v1:ppo
method: random
metric: {name: eval:episode/return, goal: maximize}
parameters:
  algo.lr: {values: [1e-3 -> 1e-4, {0%: 1e-3, 50%: 3e-4, 100%: 1e-5}]}
  algo: {parameters: {clip: {min: 0.1, max: 0.3}, batch_size: {values: [32, 64]}}}
  algo.gamma: {distribution: inv_log_uniform_values, min: 0.9, max: 0.999}
  policy.activation: {value: relu}
"""
CHOSEN: Mapping[str, Mapping[str, Any]] = {
    "r1": {
        "algo.lr": "1e-3 -> 1e-4",
        "algo": {"clip": 0.15, "batch_size": 32},
        "algo.gamma": 0.97,
        "policy.activation": "relu",
    },
    "r2": {
        "algo.lr": {"0%": "1e-3", "50%": 3e-4, "100%": 1e-5},
        "algo": {"clip": 0.25, "batch_size": 64},
        "algo.gamma": "0.9999",
        "policy.activation": "relu",
    },
}
"""Id of a run in W&B -> the values that the server chooses."""
SMALL = {
    "env.n_envs": 4,
    "algo.n_steps": 32,
    "eval.episodes": 4,
    "eval.confirm_episodes": 4,
    "eval.every": "256 env_steps",
    "eval.mode": "inline",
    "policy.hidden": [16],
    "stop.env_steps": 512,
}


@pytest.fixture
def server() -> Iterator[StandIn]:
    stand_in = StandIn("s1", CONFIG)
    with serve(stand_in):
        yield stand_in


def environment(address: str, home: Path) -> dict[str, str]:
    """Returns the environment variables of a process that knows only the stand-in."""
    folders = {name: str(home) for name in ("HOME", "WANDB_CONFIG_DIR", "WANDB_CACHE_DIR")}
    mine = {"WANDB_BASE_URL": address, "WANDB_API_KEY": API_KEY, "WANDB_HTTP_TIMEOUT": "60"}
    return {**os.environ, **folders, **mine, "NETRC": str(home / "netrc")}


def agent(
    address: str,
    home: Path,
    *words: str,
    settings: Mapping[str, object] = SMALL,
    variables: Mapping[str, str] = {},
) -> subprocess.CompletedProcess[str]:
    """Runs `gymnast sweep agent` with small runs. `variables`: environment variables; empty: without."""
    small = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    kept = {**environment(address, home), **variables}
    return subprocess.run(
        [sys.executable, "-m", "tests.sweep.agent_process", *words, *small],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        env={name: value for name, value in kept.items() if value},
    )


def command(run_id: str, settings: Mapping[str, Any], kind: str = "run") -> dict[str, Any]:
    values = {key: {"value": value} for key, value in settings.items()}
    return {"type": kind, "run_id": run_id, "program": "CartPole-v1:ppo", "args": values}


def test_runs_have_exactly_the_configs_of_the_server_and_report_to_it(
    server: StandIn, tmp_path: Path, runs_dir: Path
):
    server.commands = [[command(run_id, chosen)] for run_id, chosen in CHOSEN.items()]
    done = agent(server.address, tmp_path, "team/proj/s1", "--json")
    assert done.returncode == 0, done.stderr
    ended = {run["wandb_id"]: run for run in json.loads(done.stdout)}
    assert {key: run["status"] for key, run in ended.items()} == dict.fromkeys(CHOSEN, "finished")
    for run_id, chosen in CHOSEN.items():
        run = Run(runs_dir / ended[run_id]["run"])
        # 1. the config of the run is that of `gymnast train` with the same values, except for tracking
        expected = to_plain(resolve("CartPole-v1:ppo", {**chosen, **SMALL}).config)
        stored = to_plain(run.config())
        assert {**stored, "track": None} == {**expected, "track": None}
        assert "wandb-sweep" in run.info["tags"]
        # 2. W&B has the values as it wrote them, the resolved config, and the run as a part of the sweep
        reported = server.runs[run_id]
        config = {
            key: entry["value"]
            for key, entry in json.loads(reported["config"]).items()
            if key != "_wandb"
        }
        assert (reported["sweep"], reported["project"], reported["entity"]) == (
            "s1",
            "proj",
            "team",
        )
        assert {key: config[key] for key in chosen if key != "algo"} == {
            key: value for key, value in chosen.items() if key != "algo"
        }
        assert config["algo"]["clip"] == chosen["algo"]["clip"]
        assert config["algo"]["lr"] == stored["algo"]["lr"]  # pyright: ignore
        # 3. and every row, and how the run ended
        wait_for(lambda run_id=run_id: run_id in server.exit_codes)
        assert server.exit_codes[run_id] == 0
        logged = [
            row
            for row in server.history[run_id]
            if "rollout/return" in row or "clock/rollouts" in row
        ]
        assert [row["clock/env_steps"] for row in logged] == [
            r["clock/env_steps"] for r in rows(run)
        ]
    running = [json.loads(sent["runState"]) for sent in server.variables("Heartbeat")]
    assert {"r1": True} in running
    assert {"r2": True} in running
    assert running[-1] == {}


def test_the_requests_are_those_of_the_installed_client(server: StandIn, tmp_path: Path):
    program = """
        import socket, wandb
        from wandb.apis.public.sweeps import _agent_heartbeat, _register_agent
        api = wandb.Api()
        agent = _register_agent(api, socket.gethostname(), sweep_id="s1", project="proj", entity="team")
        _agent_heartbeat(api, agent["id"], {}, {})
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    subprocess.run(command, check=True, env=environment(server.address, tmp_path), timeout=PATIENCE)
    theirs = (dict(server.documents), dict(server.requests))
    server.documents.clear()
    server.requests.clear()
    done = agent(server.address, tmp_path, "team/proj/s1")
    assert done.stdout.strip() == "0 runs ended", done.stderr
    for name in ("Viewer", "CreateAgent", "Heartbeat"):
        assert server.documents[name] == theirs[0][name]
        assert server.variables(name)[0] == theirs[1][name]


def test_a_stop_command_of_the_server_stops_the_run_with_a_checkpoint(
    server: StandIn, tmp_path: Path, runs_dir: Path
):
    server.commands = [[command("r1", {"algo.lr": 1e-3})], [command("r1", {}, kind="stop")]]
    long = {**SMALL, "stop.env_steps": 50_000_000}
    done = agent(server.address, tmp_path, "team/proj/s1", settings=long)
    assert "r1: stopped" in done.stdout, done.stderr
    (run,) = store.list_runs(runs_dir)
    assert run.status == "stopped"
    assert [*Path(run.path, "checkpoints").iterdir()]
    senders = [event.get("by") for event in Run(run.path).events() if event["kind"] == "stop asked"]
    assert senders == ["W&B sweep"]


@pytest.mark.parametrize(
    ("words", "variables", "message"),
    [
        (["team/proj/other"], {}, "the W&B server has no sweep team/proj/other"),
        (
            ["team/proj/s1"],
            {"WANDB_API_KEY": "f" * 40},
            "the W&B server does not accept the API key",
        ),
        (["team/proj/s1"], {"WANDB_API_KEY": ""}, "there is no login for W&B"),
        (
            ["team/proj/s1"],
            {"WANDB_BASE_URL": "http://127.0.0.1:9", "WANDB_HTTP_TIMEOUT": "2"},
            "did not answer within 2 s",
        ),
    ],
    ids=["unknown sweep", "unauthorized", "no login", "unreachable"],
)
def test_what_the_agent_cannot_do_is_explained(
    words: list[str], variables: dict[str, str], message: str, server: StandIn, tmp_path: Path
):
    done = agent(server.address, tmp_path, *words, variables=variables)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not server.variables("CreateAgent")
