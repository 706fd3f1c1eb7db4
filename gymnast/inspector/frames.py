"""Frames of an episode, rendered on demand by replaying it.

The frame of a step shows the state before it, exactly as in the stored episode; there is one more for the
final state. From the first difference of the replay on, nothing is rendered; image observations that were
stored are shown instead.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Iterator
from itertools import count
from weakref import WeakKeyDictionary

import numpy as np

from gymnast.errors import UsageError
from gymnast.film.renderer import enlarged
from gymnast.film.replay import ReplayMismatch, image_observations
from gymnast.images import Images
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.frames_record import MAX_FRAMES, FrameSet
from gymnast.inspector.pictures import encode, fit
from gymnast.runs.trace import Trace

Array = np.ndarray
MAX_CACHE_BYTES = 64_000_000
"""Total size of the encoded frames that a worker keeps."""
MAX_ANSWER_BYTES = 16_000_000
"""Size of an answer after which no further frame is added."""


class FrameCache:
    """The encoded frames that were used last."""

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_bytes, self.n_bytes = max_bytes, 0
        self._frames: OrderedDict[tuple[int, int, int], bytes] = OrderedDict()
        self._numbers: WeakKeyDictionary[OpenEpisode, int] = WeakKeyDictionary()
        """Numbers of the episodes that are open; one that is read again gets another."""
        self._next = count()

    def get(self, episode: OpenEpisode, step: int, width: int) -> bytes | None:
        key = self._key(episode, step, width)
        if key in self._frames:
            self._frames.move_to_end(key)
        return self._frames.get(key)

    def put(self, episode: OpenEpisode, step: int, width: int, frame: bytes) -> None:
        key = self._key(episode, step, width)
        self.n_bytes += len(frame) - len(self._frames.pop(key, b""))
        self._frames[key] = frame
        while self.n_bytes > self._max_bytes:
            self.n_bytes -= len(self._frames.popitem(last=False)[1])

    def _key(self, episode: OpenEpisode, step: int, width: int) -> tuple[int, int, int]:
        if episode not in self._numbers:
            self._numbers[episode] = next(self._next)
        return self._numbers[episode], step, width


_CACHE = FrameCache()


def frames(
    episode: OpenEpisode,
    first: int,
    last: int,
    every: int,
    width: int,
    cache: FrameCache = _CACHE,
) -> tuple[FrameSet, bytes]:
    """Returns the frames of every `every`-th step from `first` to `last`, at most `width` pixels wide."""
    episode = episode.pictured
    length = len(episode.trace)
    if first < 0 or every < 1 or last < first or width < 1:
        raise UsageError(f"there are no steps from {first} to {last} with every {every}")
    steps = range(first, min(last, length) + 1, every)
    if len(steps) > MAX_FRAMES:
        fix = "choose fewer steps, or a larger `every`"
        raise UsageError(f"{len(steps):,} frames are more than {MAX_FRAMES}", fix=fix)
    if note := missing_frames(episode):
        return FrameSet(0, episode.replay.mismatch, note), struct.pack("<I", 0)
    parts: list[bytes] = []
    n_bytes, note = 0, ""
    try:
        for step, frame in _encoded(episode, steps, width, cache):
            parts.append(struct.pack("<II", step, len(frame)) + frame)
            n_bytes += len(frame)
            if n_bytes > MAX_ANSWER_BYTES:
                note = f"there are frames up to step {step}; ask for the others separately"
                break
    except ReplayMismatch as differs:
        note = (
            f"the replay differs from the episode: there are no frames from step {differs.step} on"
        )
    payload = struct.pack("<I", len(parts)) + b"".join(parts)
    return FrameSet(len(parts), episode.replay.mismatch, note), payload


def missing_frames(episode: OpenEpisode) -> str:
    """Returns the reason why an episode has no frames at all; empty if it has some."""
    if has_stored_pictures(episode.trace):
        return ""
    return episode.frames_note or (episode.replay.note if episode.replay.last < 0 else "")


def pictures(episode: OpenEpisode, steps: range) -> Iterator[tuple[int, Array]]:
    """Yields steps with their pictures, uint8 [H, W, 3]. Raises ReplayMismatch at the first state that is not
    that of the episode, unless its observations are pictures; EnvError if rendering fails."""
    stored = image_observations(episode.trace)
    for step in steps:
        if stored is not None:
            yield step, enlarged(stored[step])
            continue
        try:
            yield step, _rendered(episode, step)
        except ReplayMismatch:
            if not has_stored_pictures(episode.trace):
                raise
            yield step, enlarged(_stored_picture(episode.trace, step))


def has_stored_pictures(trace: Trace) -> bool:
    """Returns whether the observations of an episode are stored, and are or contain images."""
    obs = trace.obs
    return isinstance(obs, Images) or (
        obs is not None and bool(_image_field(obs) or _is_image(obs))
    )


def _encoded(
    episode: OpenEpisode, steps: range, width: int, cache: FrameCache
) -> Iterator[tuple[int, bytes]]:
    for step in steps:
        frame = cache.get(episode, step, width)
        if frame is None:
            ((_, picture),) = pictures(episode, range(step, step + 1))
            frame = encode(fit(picture, width))
            cache.put(episode, step, width, frame)
        yield step, frame


def _rendered(episode: OpenEpisode, step: int) -> Array:
    if episode.frames_note or step > episode.replay.last:
        raise ReplayMismatch(episode.replay.last + 1)
    return episode.rendered.picture(step)


def _stored_picture(trace: Trace, step: int) -> Array:
    """Returns the newest image of a stored observation, [H, W, 3]."""
    obs = trace.obs
    assert obs is not None
    if isinstance(obs, Images):
        image, is_last = np.asarray(obs[step]), obs.channels == "last"
    else:
        field = _image_field(obs)
        image = obs[step] if field is None else obs[step][field]
        is_last = image.shape[0] > image.shape[-1]
    planes = image if is_last else np.moveaxis(image, 0, -1)  # [H, W, channels], newest last
    newest = planes[..., -3:] if planes.shape[-1] % 3 == 0 else planes[..., -1:]
    return np.ascontiguousarray(np.broadcast_to(newest, (*planes.shape[:2], 3)))


def _image_field(obs: Array) -> str | None:
    """Returns the name of the first image in a Dict or Tuple observation; None if it has none."""
    return next((name for name in obs.dtype.names or () if _is_image(obs[name])), None)


def _is_image(obs: Array) -> bool:
    return obs.dtype == np.uint8 and obs.ndim == 4
