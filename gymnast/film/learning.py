"""The film of learning progress: the same episode seed at several evaluations of a run, in 1080p."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from gymnast.config.config import Config
from gymnast.film.actions import ActionLabels
from gymnast.film.band_canvas import BACKGROUND, BRIGHT, HIGHLIGHT, MUTED
from gymnast.film.choose import trace_files
from gymnast.film.drawing import TextRenderer, new_surface, pixels, scaled
from gymnast.film.encode import FilmWriter
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.film.make import FilmOptions, describe_film, hold_last_frame
from gymnast.film.overlay import Band
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import episode_frames, image_observations, retry_with_note
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace, read_meta, read_traces
from gymnast.text.formatting import count_noun, number

Array = np.ndarray
WIDTH, HEIGHT, TITLE = 1920, 1080, 100
MAX_CLIPS = 6
"""Number of evaluations shown, evenly spaced from the first to the last."""
CLIP_SECONDS = 15.0
"""Maximum duration of one episode; a longer one is played speedup, which its title shows."""


@dataclass(frozen=True, eq=False)
class Clip:
    version: int
    trace: Trace
    mean: float
    """Mean return of the whole evaluation."""
    episodes: int


def film_learning(run: Run, cfg: Config[Any], options: FilmOptions) -> dict[str, Any]:
    """Makes the film and returns its description."""
    parts = choose_clips(run)
    draws = image_observations(parts[0].trace) is None
    with closing(EnvRenderer(cfg, render=draws)) as stage:
        writer, note = retry_with_note(lambda note: _film(cfg, stage, parts, options, note))
    about = {
        "kind": "learning",
        "versions": [part.version for part in parts],
        "seeds": [part.trace.seed for part in parts],
        "returns": [part.trace.raw_return for part in parts],
    }
    return describe_film(options, about, writer, note)


def choose_clips(run: Run) -> list[Clip]:
    """Returns an episode per evaluation, all with the seed that has the median return in the last one."""
    files = trace_files(run, "eval")
    versions = list(files)
    places = np.linspace(0, len(versions) - 1, min(MAX_CLIPS, len(versions))).round().astype(int)
    evaluations = {versions[i]: read_traces(files[versions[i]]) for i in dict.fromkeys(places)}
    common = set.intersection(*({t.seed for t in traces} for traces in evaluations.values()))
    *_, last = evaluations.values()
    seed = _median([t for t in last if t.seed in common] or last).seed
    parts: list[Clip] = []
    for version, traces in evaluations.items():
        same = [trace for trace in traces if trace.seed == seed]
        meta = read_meta(files[version])
        mean = meta.get("mean", fmean(trace.raw_return for trace in traces))
        count = meta.get("episodes", len(traces))  # if only some of them are still stored
        parts.append(Clip(version, (same or [_median(traces)])[0], mean, count))
    return parts


def _median(traces: list[Trace]) -> Trace:
    return sorted(traces, key=lambda trace: trace.raw_return)[len(traces) // 2]


def _film(
    cfg: Config[Any], stage: EnvRenderer, parts: list[Clip], order: FilmOptions, note: str
) -> FilmWriter:
    actions = ActionLabels(stage.env.action_space, cfg.facts.actions)
    total, done = sum(len(part.trace) for part in parts), 0
    with FilmWriter(order.out, order.fps or stage.fps, threads=order.threads) as writer:
        for i, part in enumerate(parts):
            length, frame = len(part.trace), None
            speedup = max(1, math.ceil(length / (CLIP_SECONDS * writer.fps)))
            title_frame = _title_frame(cfg.env.id, part, f"{i + 1} / {len(parts)}", speedup)
            band = Band(WIDTH, actions, length=length, note=note)
            for shot in episode_frames(stage, part.trace, strict=not note):
                if shot.step % speedup == 0 or shot.ending:
                    frame = _composed(title_frame, shot, band)
                    writer.add(frame)
                if order.on_progress is not None:
                    order.on_progress(done + shot.step, total)
            done += length
            hold_last_frame(writer, frame)
    return writer


def _title_frame(env: str, part: Clip, position: str, speedup: int) -> Array:
    """Returns a frame that has only its title."""
    letters, canvas = TextRenderer(), new_surface(WIDTH, HEIGHT, BACKGROUND)
    returned = number(part.trace.raw_return)
    text = f"after {part.version:,} env steps: return {returned}"
    letters.write(canvas, text, (36, 18), 62, BRIGHT)
    below = f"{env}, mean of {count_noun(part.episodes, 'episode')} {number(part.mean)}"
    letters.write(canvas, below, (36, 66), 34, MUTED)
    corner = f"{position}, {speedup}x speed" if speedup > 1 else position
    letters.write(canvas, corner, (WIDTH - 36 - letters.width(corner, 44), 30), 44, HIGHLIGHT)
    return pixels(canvas)


def _composed(title_frame: Array, shot: EpisodeFrame, band: Band) -> Array:
    room = HEIGHT - TITLE - band.height
    height, width = shot.picture.shape[:2]
    factor = min(WIDTH / width, room / height)
    wide, high = round(width * factor), round(height * factor)
    frame = title_frame.copy()
    top, left = TITLE + (room - high) // 2, (WIDTH - wide) // 2
    frame[top : top + high, left : left + wide] = scaled(shot.picture, wide, high)
    frame[HEIGHT - band.height :] = band.draw(shot)
    return frame
