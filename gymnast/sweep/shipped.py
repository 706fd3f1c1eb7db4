"""The search spaces that ship with gymnast: one per algorithm, and some of single environments."""

from __future__ import annotations

from pathlib import Path

from gymnast.config.resolve import resolve
from gymnast.config.target import split_target
from gymnast.errors import UsageError

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
    return "\n".join(lines) + "\n"


def shipped() -> list[str]:
    """Returns the names of all shipped spaces."""
    return sorted(path.stem for path in SPACES_DIR.glob("*.yaml"))
