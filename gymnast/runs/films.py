"""The films of a run: .mp4 files in `videos/`, each with a .json file that describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from gymnast.metrics.store import MetricStore
from gymnast.runs import document, durable, files, layout

LOG = "film.log"
"""Output of the background process that makes films; in the same folder."""

# The functional form: "return" is a keyword.
FilmInfo = TypedDict(
    "FilmInfo",
    {
        "path": str,
        "kind": str,
        "version": int,
        "episode": int,
        "which": str,
        "seed": int,
        "length": int,
        "return": float,
        "returns": dict[str, float],
        "cast": dict[str, str],
        "outcome": str,
        "exact": bool,
        "note": str,
        "created": float,
        "position": float,
    },
    total=False,
)
"""The description of a film as it is stored, with `path` and, for trackers, `position`."""


@dataclass(frozen=True)
class StoredFilm:
    """A video of a stored episode or match. Without a description next to it, only `path` is known."""

    path: str
    is_best: bool
    """Whether it shows the best checkpoint."""
    kind: str = ""
    """The kind of the stored episode, as in `EpisodeInfo`."""
    version: int | None = None
    """Env steps of the policy."""
    episode: int | None = None
    """Index of the episode or match in its file."""
    seed: int | None = None
    length: int | None = None
    raw_return: float | None = None
    """None for a match."""
    returns: dict[str, float] = field(default_factory=dict[str, float])
    """Role -> mean return, of a match."""
    cast: dict[str, str] = field(default_factory=dict[str, str])
    """Role -> the policy or player that had it, in a match."""
    outcome: str = ""
    exact: bool = True
    """Whether the replay was exactly as stored."""
    note: str = ""
    """How it differs, if it does."""
    created: float | None = None


def film_name(kind: str, version: int, episode: str) -> str:
    """Returns e.g. `eval-000000030208-best`. `kind`: that of the trace; `version`: env steps of the policy;
    `episode`: the episode or match shown."""
    return f"{kind}-{version:012d}-{episode}"


def film_path(run: Path, kind: str, version: int, episode: str) -> Path:
    return layout.VIDEOS.path(run) / f"{film_name(kind, version, episode)}.mp4"


def write_description(film: Path, description: Mapping[str, object]) -> None:
    """Writes the description of a film into the .json file next to it."""
    durable.replace(film.with_suffix(".json"), document.dumps(dict(description), indent=1).encode())


def read_description(film: Path) -> FilmInfo:
    """Returns the description of a film with its `path`; only the path if it has no description."""
    try:
        about = document.parse(FilmInfo, files.read(film.with_suffix(".json")))
        about["path"] = str(film)
        return about
    except (OSError, ValueError):
        return {"path": str(film)}


def placed_films(run: Path, clock: str) -> list[FilmInfo]:
    """Returns every film of the run in the directory `run` with the `position` of the policy it shows on the
    clock. A film of several policy versions is placed at the last one."""
    import numpy as np

    with MetricStore(layout.METRICS.path(run)) as record:
        rows = record.read([*{"clock/env_steps", f"clock/{clock}"}])
    env_steps, positions = rows["clock/env_steps"], rows[f"clock/{clock}"]
    films = [read_description(film) for film in _files(run)]
    for film in films:
        rows_before = int(np.searchsorted(env_steps, film.get("version", np.inf), side="right"))
        film["position"] = float(positions[rows_before - 1]) if rows_before else 0.0
    return films


def list_films(run: Path, best: int | None) -> list[StoredFilm]:
    """Returns all films of the run in the directory `run`. `best`: env steps of the best checkpoint, None if
    there is none. Its films come first and have `is_best`: that of its best episode or, for matches, all."""
    films = [_film(read_description(file), file, best) for file in _files(run)]
    return sorted(films, key=lambda film: not film.is_best)


def _files(run: Path) -> list[Path]:
    return sorted(layout.VIDEOS.path(run).glob("[!.]*.mp4"))


def _film(about: FilmInfo, file: Path, best: int | None) -> StoredFilm:
    of_best = best is not None and file.name.startswith(film_name("eval", best, ""))
    return StoredFilm(
        path=str(file),
        is_best=of_best and ("cast" in about or file.stem.endswith("-best")),
        kind=about.get("kind", ""),
        version=about.get("version"),
        episode=about.get("episode"),
        seed=about.get("seed"),
        length=about.get("length"),
        raw_return=about.get("return"),
        returns=about.get("returns", {}),
        cast=about.get("cast", {}),
        outcome=about.get("outcome", ""),
        exact=about.get("exact", True),
        note=about.get("note", ""),
        created=about.get("created"),
    )
