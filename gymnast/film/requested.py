"""Selects an episode or match that was rolled out on request or played by a person."""

from __future__ import annotations

from gymnast.errors import RunError, UsageError
from gymnast.runs.episode_kinds import RequestedKind
from gymnast.runs.episodes import EpisodeInfo, list_episodes
from gymnast.runs.reference import select_step
from gymnast.runs.run import Run


def find_requested(
    run: Run, kind: RequestedKind, episode: str, checkpoint: str | None
) -> EpisodeInfo:
    """Returns an episode of this kind: `last` is the newest one, `best` the one with the highest return or,
    among matches, the newest, and a number is that of the episode. `checkpoint`: only those of that policy.
    Raises RunError if there is none, UsageError for an unknown number."""
    stored = sorted(list_episodes(run, kind), key=lambda info: info.number)
    if stored and checkpoint is not None:
        versions = [info.version for info in stored]
        known = {"best": run.info["checkpoints"]["best"], "latest": max(versions)}
        wanted = known.get(checkpoint, checkpoint)
        of_version = select_step(
            versions, checkpoint if wanted is None else wanted, at=f"{kind} episodes of {run.id}"
        )
        stored = [info for info in stored if info.version == of_version]
    if not stored:
        fix = f"gymnast rollout {run.id} plays one" if kind == "fresh" else "play one in the studio"
        raise RunError(f"no {kind} episodes are stored", at=str(run.path), fix=fix)
    if episode == "last":
        return stored[-1]
    if episode == "best":
        return max(stored, key=lambda info: (info.raw_return or 0.0, info.number))
    numbered = {str(info.number): info for info in stored}
    if episode not in numbered:
        expected = f"best, last or one of {', '.join(numbered)}"
        raise UsageError(f"there is no {kind} episode {episode} (expected {expected})")
    return numbered[episode]
