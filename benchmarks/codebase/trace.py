"""Finds the files and lines of a tree that a training executes. It is run by path, in the tree's interpreter.

PPO is trained on CartPole with a checkpoint after every rollout, in one process: once to load everything,
once for one rollout and once for three. Lines that were executed more often in the longer training belong to
a rollout: collecting, learning, recording, saving. Only code inside of functions counts; code that runs on
import does not.

python benchmarks/codebase/trace.py TREE
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

SETTINGS: dict[str, Any] = {
    "env.n_envs": 2,
    "algo.n_steps": 16,
    "algo.batch_size": 16,
    "policy.hidden": [8],
    "checkpoint.every": "1 rollouts",
    "eval.mode": "inline",
    "eval.episodes": 2,
    "eval.confirm_episodes": 2,
    "eval.max_episode_steps": 20,
}
Hits = Counter[tuple[str, int]]


def train(rollouts: int, package: Path) -> Hits:
    """Returns (file, line) -> how often it was executed during a whole training."""
    hits: Hits = Counter()
    below = f"{package}{os.sep}"

    def in_function(code: CodeType) -> bool:
        return code.co_filename.startswith(below) and bool(code.co_flags & CO_OPTIMIZED)

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            hits[frame.f_code.co_filename, frame.f_lineno] += 1
        return line

    def call(frame: FrameType, _event: str, _: Any) -> Any:
        return line if in_function(frame.f_code) else None

    gymnast: Any = importlib.import_module("gymnast")
    with tempfile.TemporaryDirectory() as runs, contextlib.redirect_stdout(io.StringIO()):
        settings = SETTINGS | {"stop.rollouts": rollouts}
        threading.settrace(call)  # threads that are started from now on
        sys.settrace(call)
        try:
            gymnast.train("CartPole-v1:ppo", overrides=settings, seed=0, runs_dir=runs, quiet=True)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # pyright: ignore[reportArgumentType]
    return hits


def summary(lines: set[tuple[str, int]], tree: Path) -> dict[str, Any]:
    files = sorted({file for file, _ in lines})
    return {
        "files": len(files),
        "lines": sum(len(Path(file).read_text(encoding="utf-8").splitlines()) for file in files),
        "executed": len(lines),
        "names": [str(Path(file).relative_to(tree)) for file in files],
    }


def load(tree: Path) -> None:
    """Makes `import gymnast` find this tree, whatever is installed."""
    # An editable install adds an import hook that takes precedence over sys.path.
    sys.meta_path[:] = [f for f in sys.meta_path if "Redirecting" not in type(f).__name__]
    sys.path.insert(0, str(tree))
    gymnast: Any = importlib.import_module("gymnast")
    assert Path(gymnast.__file__).is_relative_to(tree), gymnast.__file__
    installed = [Path(entry) / "gymnast" for entry in sys.path if "site-packages" in entry]
    gymnast.__path__.extend(str(path) for path in installed if path.is_dir())  # native kernels


def main() -> None:
    tree = Path(sys.argv[1]).resolve()
    os.environ["GYMNAST_FILM"] = "off"
    load(tree)
    package = tree / "gymnast"
    first = train(1, package)  # also executes what is done once per process, such as lazy imports
    short, long = train(1, package), train(3, package)
    counts = {
        "training": summary(set(first), tree),
        "rollout": summary({at for at, count in long.items() if count > short[at]}, tree),
    }
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
