"""Films of a run: where they are and what each shows. A film is an .mp4 with a .json beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gymnast.runs import document, durable

FOLDER = "videos"
LOG = "film.log"
"""What the filmer of the background said, in the same folder."""


def name(kind: str, version: int, episode: str) -> str:
    """`eval-000000030208-best`: the kind of trace, the policy's env steps, which episode."""
    return f"{kind}-{version:012d}-{episode}"


def describe(film: Path, about: Mapping[str, Any]) -> None:
    """Write down what a film shows, beside it."""
    durable.replace(film.with_suffix(".json"), document.dumps(dict(about), indent=1).encode())


def read(film: Path) -> dict[str, Any]:
    """What is known about a film; nothing but its path where the description is not there."""
    try:
        about = document.loads(film.with_suffix(".json").read_bytes())
    except (OSError, ValueError):
        about = {}
    return {**about, "path": str(film)}


def of_run(run: Path, best: int | None) -> list[dict[str, Any]]:
    """Every film of a run, that of its best version first; `is_best` says which that is."""
    films = [read(film) for film in sorted((run / FOLDER).glob("[!.]*.mp4"))]
    for film in films:
        film["is_best"] = best is not None and film["path"].endswith(
            f"{name('eval', best, 'best')}.mp4"
        )
    return sorted(films, key=lambda film: not film["is_best"])
