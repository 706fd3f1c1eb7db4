"""Opens the recorded episodes of a run as the inspector's page does."""

from __future__ import annotations

from contextlib import closing

from gymnast.film.headless import headless_rendering
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.frames import frames
from gymnast.inspector.inspection import inspect
from gymnast.inspector.matches import OpenMatch, open_episode
from gymnast.runs.episodes import EpisodeInfo, list_episodes
from gymnast.runs.run import Run

FRAME_WIDTH = 400


def inspection_problem(run: Run, *, deterministic: bool) -> str:
    """Opens the first recorded episode of each kind, from every seat of a match, and returns the first
    problem, or an empty text. `deterministic`: the same seed and actions give the same episode."""
    first: dict[str, EpisodeInfo] = {}
    for info in list_episodes(run):
        first.setdefault(info.kind, info)
    if not first:
        return "no episode was recorded"
    with headless_rendering():
        for kind, info in first.items():
            address = EpisodeAddress(str(run.path), info.kind, info.version, info.number)
            with closing(open_episode(address)) as opened:
                for agent in opened.all_seats() if isinstance(opened, OpenMatch) else [opened]:
                    if problem := _problem(agent, info, deterministic=deterministic):
                        where = f"{agent.address.role} {agent.address.seat}, " * bool(info.cast)
                        return f"{where}{kind} episode {info.number}: {problem}"
    return ""


def _problem(episode: OpenEpisode, info: EpisodeInfo, *, deterministic: bool) -> str:
    record = inspect(episode)
    steps = len(episode.trace)
    if deterministic and not record.replay.exact:
        return record.replay.note
    lengths = {name: len(values) for name, values in record.table.items()}
    if wrong := [name for name, length in lengths.items() if length != steps]:
        return f"the column {wrong[0]} has {lengths[wrong[0]]} entries for {steps} steps"
    if not info.cast and steps != info.length:
        return f"the table has {steps} steps, but the episode {info.length}"
    if record.has_frames:
        shown, content = frames(episode, 0, 0, 1, FRAME_WIDTH)
        if deterministic and (shown.count != 1 or not content):
            return f"the first frame is missing: {shown.note}"
    return ""
