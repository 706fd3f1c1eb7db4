"""The film of learning progress: the same episode seed at several evaluations of a run, in 1080p."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from gymnast.config.config import Config
from gymnast.film.actions import ActionLabels
from gymnast.film.band_canvas import BACKGROUND, BRIGHT, HIGHLIGHT, MUTED
from gymnast.film.choose import trace_files
from gymnast.film.drawing import TextRenderer, new_surface, pixels, scaled
from gymnast.film.encode import FilmWriter
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.film.make import FilmOptions, finish_film, hold_last_frame
from gymnast.film.overlay import Band
from gymnast.film.record import Film, FilmClip
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
"""Maximum duration of one episode; a longer one is sped up, which its title shows."""


@dataclass(frozen=True, eq=False)
class Clip:
    version: int
    trace: Trace
    mean: float
    """Mean return of the whole evaluation."""
    episodes: int


def film_learning(run: Run, cfg: Config, options: FilmOptions) -> Film:
    """Makes the film and returns its description."""
    clips = choose_clips(run)
    needs_renderer = image_observations(clips[0].trace) is None
    with closing(EnvRenderer(cfg, render=needs_renderer)) as renderer:
        writer, note = retry_with_note(lambda note: _film(cfg, renderer, clips, options, note))
    shown = tuple(FilmClip(clip.version, clip.trace.seed, clip.trace.raw_return) for clip in clips)
    return finish_film(Film(str(options.out), "learning", clips=shown), options, writer, note)


def choose_clips(run: Run) -> list[Clip]:
    """Returns an episode per evaluation, all with the seed that has the median return in the last one."""
    files = trace_files(run, "eval")
    versions = list(files)
    # 1. Up to MAX_CLIPS evaluations, evenly spaced.
    indices = np.linspace(0, len(versions) - 1, min(MAX_CLIPS, len(versions))).round().astype(int)
    evaluations = {versions[i]: read_traces(files[versions[i]]) for i in dict.fromkeys(indices)}
    # 2. One seed for all of them: a typical episode of the final policy, neither its best nor its worst.
    common = set.intersection(*({t.seed for t in traces} for traces in evaluations.values()))
    *_, last = evaluations.values()
    seed = _median([t for t in last if t.seed in common] or last).seed
    # 3. That episode of each evaluation; its median episode if thinning removed it.
    clips: list[Clip] = []
    for version, traces in evaluations.items():
        same = [trace for trace in traces if trace.seed == seed]
        meta = read_meta(files[version])
        mean = meta.get("mean", fmean(trace.raw_return for trace in traces))
        count = meta.get("episodes", len(traces))  # if only some of them are still stored
        clips.append(Clip(version, (same or [_median(traces)])[0], mean, count))
    return clips


def _median(traces: list[Trace]) -> Trace:
    return sorted(traces, key=lambda trace: trace.raw_return)[len(traces) // 2]


def _film(
    cfg: Config, renderer: EnvRenderer, clips: list[Clip], options: FilmOptions, note: str
) -> FilmWriter:
    """Writes the film, one clip after the other. `note`: the warning shown on every frame; empty
    for an exact replay, which raises ReplayMismatch where it differs from the stored episode."""
    actions = ActionLabels(renderer.action_space, cfg.facts)
    total, done = sum(len(clip.trace) for clip in clips), 0
    with FilmWriter(options.out, options.fps or renderer.fps, threads=options.threads) as writer:
        for i, clip in enumerate(clips):
            length, picture = len(clip.trace), None
            speedup = max(1, math.ceil(length / (CLIP_SECONDS * writer.fps)))
            title_frame = _title_frame(cfg.env.id, clip, f"{i + 1} / {len(clips)}", speedup)
            band = Band(WIDTH, actions, length=length, note=note)
            for frame in episode_frames(renderer, clip.trace, strict=not note):
                if frame.step % speedup == 0 or frame.ending:
                    picture = _composed(title_frame, frame, band)
                    writer.add(picture)
                options.on_progress(done + frame.step, total)
            done += length
            hold_last_frame(writer, picture)
    return writer


def _title_frame(env: str, clip: Clip, position: str, speedup: int) -> Array:
    """Returns a frame [HEIGHT, WIDTH, 3] that has only its title. `position`: the number of the
    clip, such as `2 / 6`; `speedup`: every how many steps a frame is shown."""
    letters, canvas = TextRenderer(), new_surface(WIDTH, HEIGHT, BACKGROUND)
    episode_return = number(clip.trace.raw_return)
    text = f"after {clip.version:,} env steps: return {episode_return}"
    letters.write(canvas, text, (36, 18), 62, BRIGHT)
    below = f"{env}, mean of {count_noun(clip.episodes, 'episode')} {number(clip.mean)}"
    letters.write(canvas, below, (36, 66), 34, MUTED)
    corner = f"{position}, {speedup}x speed" if speedup > 1 else position
    letters.write(canvas, corner, (WIDTH - 36 - letters.width(corner, 44), 30), 44, HIGHLIGHT)
    return pixels(canvas)


def _composed(title_frame: Array, frame: EpisodeFrame, band: Band) -> Array:
    """Returns title, picture and band as one image; the picture is centered and as large as possible."""
    room = HEIGHT - TITLE - band.height
    height, width = frame.picture.shape[:2]
    factor = min(WIDTH / width, room / height)
    wide, high = round(width * factor), round(height * factor)
    composed = title_frame.copy()
    top, left = TITLE + (room - high) // 2, (WIDTH - wide) // 2
    composed[top : top + high, left : left + wide] = scaled(frame.picture, wide, high)
    composed[HEIGHT - band.height :] = band.draw(frame)
    return composed
