"""The callback through which long operations report their progress."""

from __future__ import annotations

from typing import Protocol


class ProgressCallback(Protocol):
    def __call__(self, done: int, total: int, text: str = "", /) -> None:
        """Reports that `done` of `total` parts are done; `total` is 0 if it is not known. `text` describes
        the latest part."""
        ...


def no_progress(done: int, total: int, text: str = "") -> None:
    """Ignores the progress."""
