"""Runs `gymnast ...` in a child process, or within this process, which saves the start of an interpreter."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from gymnast.cli import main

SMALL = (
    "eval.episodes=4",
    "eval.confirm_episodes=4",
    "eval.every=50%",
    "env.n_envs=4",
    "algo.n_steps=64",
)
"""Settings with which training is cheap."""


def run_gymnast(
    runs: Path, *words: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gymnast", *words, "--runs", str(runs)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
    )


def run_here(runs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command within this process. Use it where the process of the command is not what is tested."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["gymnast", *words, "--runs", str(runs)]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
        return subprocess.CompletedProcess(sys.argv, code, out.getvalue(), err.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("every command exits")


def read_json(runs: Path, *words: str, code: int = 0) -> Any:
    """Returns what a command that runs within this process prints with `--json`."""
    done = run_here(runs, *words, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def run_checked(runs: Path, *words: str) -> str:
    done = run_gymnast(runs, *words)
    assert done.returncode == 0, f"gymnast {' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_json(runs: Path, *words: str) -> Any:
    return json.loads(run_checked(runs, *words, "--json"))


def small_settings(*more: str) -> list[str]:
    return [word for setting in (*SMALL, *more) for word in ("--set", setting)]
