"""Puts a bundle together: cleans its parts, adds frames, and cuts it to its size."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gymnast.errors import UsageError
from gymnast.privacy.sanitize import Sanitizer
from gymnast.review.frames import picture_type
from gymnast.review.part import MAX_BUDGET, MIN_BUDGET, CutPart, Part, Unit, fit
from gymnast.review.record import BundlePart
from gymnast.settings import Frames

FRAMES_RANK = 9
"""Frames come last: they are large, and the text is complete without them."""


@dataclass(frozen=True)
class Bundle:
    """A document about a run."""

    text: str
    """Markdown."""
    parts: tuple[BundlePart, ...]
    """Its parts in order."""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Relative path -> picture, of frames that are not inside of the text."""
    frames: tuple[int, ...] = ()
    """Steps of the frames."""


def check_budget(budget: int) -> None:
    """Raises UsageError for a size that no bundle can have."""
    if not MIN_BUDGET <= budget <= MAX_BUDGET:
        problem = f"a budget of {budget:,} characters is not possible"
        raise UsageError(problem, fix=f"choose one from {MIN_BUDGET:,} to {MAX_BUDGET:,}")


def make_bundle(
    parts: Sequence[Part],
    *,
    budget: int,
    sanitizer: Sanitizer,
    frames: Frames = "none",
    pictures: Mapping[int, bytes] | None = None,
    frames_note: str = "",
) -> Bundle:
    """Returns the bundle of these parts with at most `budget` characters. `pictures`: step -> picture;
    `frames`: how they are passed; `frames_note`: a sentence about frames that are missing."""
    pictures = dict(sorted((pictures or {}).items()))
    files: dict[str, bytes] = {}
    if frames == "files":
        files = {_file_name(step, picture): picture for step, picture in pictures.items()}
    if pictures or frames_note:
        parts = [*parts, _frames_part(pictures, frames, frames_note)]
    cut = fit([_clean(part, sanitizer) for part in parts], budget)
    text = "\n\n".join(part.text for part in cut) + "\n"
    shown = [step for step in pictures if frames == "files" or _picture_name(step) in text]
    return Bundle(text, tuple(map(_describe, cut)), files, tuple(shown))


def _frames_part(pictures: Mapping[int, bytes], frames: Frames, note: str) -> Part:
    """Returns the part with the frames."""
    units = [Unit("## Frames")]
    if note:
        units.append(Unit(note))
    for step, picture in pictures.items():
        if frames == "files":
            units.append(Unit(f"{_picture_name(step)}({_file_name(step, picture)})", "whole"))
        else:
            data = base64.b64encode(picture).decode()
            uri = f"data:image/{picture_type(picture)};base64,{data}"
            units.append(Unit(f"{_picture_name(step)}({uri})", "picture"))
    return Part("frames", tuple(units), FRAMES_RANK)


def _file_name(step: int, picture: bytes) -> str:
    """Returns the path of a frame, relative to the bundle."""
    return f"frames/step-{step:06d}.{picture_type(picture)}"


def _picture_name(step: int) -> str:
    return f"![step {step}]"


def _clean(part: Part, sanitizer: Sanitizer) -> Part:
    units = (
        unit if unit.kind == "picture" else replace(unit, text=sanitizer.text(unit.text))
        for unit in part.units
    )
    return replace(part, units=tuple(units))


def _describe(part: CutPart) -> BundlePart:
    return BundlePart(part.name, len(part.text), part.cut)
