"""Writes frames to an .mp4 file atomically: to a draft, which is renamed when it is complete."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av
import numpy as np
import psutil
from av.container import OutputContainer
from av.video.stream import VideoStream

from gymnast.errors import EnvError, UsageError
from gymnast.runs import durable

Array = np.ndarray
CODECS = ("libx264", "libopenh264", "mpeg4")
"""H.264 encoders if this build of PyAV has them; mpeg4 is always available."""
MAX_FPS = 240.0


class FilmWriter:
    """Writes a film: `with FilmWriter(path, fps) as film: film.add(frame)`. An exception leaves no file."""

    def __init__(self, path: Path, fps: float, *, threads: int = 0) -> None:
        """`threads` is the number of encoder threads; 0 lets the encoder choose."""
        if path.suffix != ".mp4":
            raise UsageError(
                f"{path} cannot be written: the file name must end in .mp4", fix=f"{path.stem}.mp4"
            )
        if not 0 < fps <= MAX_FPS:
            raise UsageError(f"{fps:g} frames per second (expected up to {MAX_FPS:g})")
        self.path, self.fps, self.threads = path, fps, threads
        self.frames = 0
        self.size = (0, 0)
        """Width and height."""
        self.codec = ""
        self._draft = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        self._file: OutputContainer | None = None
        self._stream: VideoStream | None = None

    def __enter__(self) -> FilmWriter:
        with durable.explain_os_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        _delete_dead_drafts(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        """Completes the film, unless there was an exception or no frame; then only the draft is
        deleted."""
        try:
            if kind is None and self.frames:
                with durable.explain_os_errors(self.path):
                    self._finish()
        finally:
            if self._file is not None:
                with suppress(OSError):  # after a full disk, closing raises the same error again
                    self._file.close()
            self._draft.unlink(missing_ok=True)

    def add(self, frame: Array) -> None:
        """Adds a frame [H, W, 3]; all frames of a film must have the same size."""
        frame = _even(frame)
        size = (frame.shape[1], frame.shape[0])
        with durable.explain_os_errors(self.path):
            if not self.frames:
                self._open(size)
            if size != self.size:
                raise EnvError(f"the rendered frames change their size from {self.size} to {size}")
            picture = av.VideoFrame.from_ndarray(frame, format="rgb24")
            # yuv420p is the only pixel format of H.264 that every browser plays.
            picture = picture.reformat(format="yuv420p", dst_colorspace="ITU709")
            picture.pts = self.frames
            self._encode(picture)
        self.frames += 1

    def _encode(self, picture: av.VideoFrame | None) -> None:
        """Encodes a frame; None writes the frames that the encoder holds back."""
        assert self._file is not None
        assert self._stream is not None
        self._file.mux(self._stream.encode(picture))

    def _open(self, size: tuple[int, int]) -> None:
        """Opens the draft and the encoder for frames of this size (width, height), which must be
        even."""
        options = {"movflags": "+faststart"}  # index at the start of the file: plays while it loads
        self._file = file = av.open(str(self._draft), "w", format="mp4", options=options)
        self.codec = next(name for name in CODECS if name in av.codecs_available)
        rate = Fraction(self.fps).limit_denominator(1000)
        stream = file.add_stream(self.codec, rate=rate)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = self.size = size
        stream.pix_fmt = "yuv420p"
        context = stream.codec_context
        context.thread_count = self.threads
        context.gop_size = max(1, round(2 * self.fps))  # a keyframe every two seconds, for seeking
        context.color_primaries = context.color_trc = context.colorspace = 1  # BT.709
        if self.codec == "libx264":
            stream.options = {"crf": "20", "preset": "veryfast"}
        else:
            stream.bit_rate = int(size[0] * size[1] * self.fps / 5)
        self._stream = stream

    def _finish(self) -> None:
        """Writes the remaining frames, and renames the draft to the final path."""
        self._encode(None)
        assert self._file is not None
        self._file.close()
        self._file = None
        # Sync before the rename: after a power loss, the film is complete or absent, never truncated.
        with self._draft.open("rb") as draft:
            os.fsync(draft.fileno())
        self._draft.rename(self.path)
        durable.sync_directory(self.path.parent)


def _even(frame: Array) -> Array:
    """Repeats the last row or column to make both sides even, as chroma subsampling (yuv420p) requires."""
    height, width = frame.shape[:2]
    if height % 2 == 0 and width % 2 == 0:
        return frame
    return np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")


def _delete_dead_drafts(path: Path) -> None:
    """Deletes drafts of this film that were left by killed processes."""
    for draft in path.parent.glob(f".{path.name}.*-*"):
        pid = draft.name.removeprefix(f".{path.name}.").partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            draft.unlink(missing_ok=True)
