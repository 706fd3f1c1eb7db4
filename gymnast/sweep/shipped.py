"""The search spaces that ship with gymnast: one per algorithm, and some of single environments."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from gymnast.config.environments import known_environments
from gymnast.config.resolve import ResolvedConfig, resolve
from gymnast.config.target import split_target
from gymnast.errors import GymnastError, UsageError
from gymnast.tasks import start

SPACES_DIR = Path(__file__).parent / "spaces"
OWN_SPACES = {"ALE/Pong-v5:objects": "pong_objects"}
"""Target -> its own space."""


def space_text(target: str) -> str:
    """Returns the commented space for `ENV[:variant]`: its own, or that of its algorithm. Raises UsageError
    if its algorithm has none."""
    resolved = resolve(target)
    name = OWN_SPACES.get(resolved.preset, resolved.config.algo.name)
    file = SPACES_DIR / f"{name}.yaml"
    if not file.exists():
        known = ", ".join(shipped())
        raise UsageError(
            f"there is no space for the algorithm {name} (known: {known})",
            fix="write one: docs/sweeps.md",
        )
    text = file.read_text(encoding="utf-8")
    if resolved.preset in OWN_SPACES:
        return text
    env, variant = split_target(target)
    full = f"{env}:{variant or split_target(resolved.preset)[1]}"
    lines = [
        f"target: {full}" if line.startswith("target:") else line for line in text.splitlines()
    ]
    if not _has_vectors(resolved):
        lines = [line for line in lines if not line.startswith("  normalize.obs:")]
    return "\n".join(lines) + "\n"


def _has_vectors(resolved: ResolvedConfig) -> bool:
    """Returns whether observations can be normalized: a part of them is a vector of numbers. False also if
    the environment cannot be created, which whoever starts the search will see."""
    env = resolved.config.env
    known = next((one.observation for one in known_environments() if one.id == env.id), "")
    if known.startswith("Box(") or (known and env.one_hot):
        return True
    unchanged = env.view in ("raw", "image") and not env.previous_actions
    if known.startswith(("Discrete(", "image ")) and unchanged:
        return False
    arguments = {"target": resolved.preset}
    task = start("gymnast.training.lifecycle.task:has_vectors", arguments, bool, title="spaces")
    with suppress(GymnastError):
        return task.finish()
    return False


def shipped() -> list[str]:
    """Returns the names of all shipped spaces."""
    return sorted(path.stem for path in SPACES_DIR.glob("*.yaml"))
