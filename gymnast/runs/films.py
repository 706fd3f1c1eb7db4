"""The films of a run: .mp4 files in `videos/`, each with a .json file that describes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gymnast.metrics.store import MetricStore
from gymnast.runs import document, durable, layout

LOG = "film.log"
"""Output of the background process that makes films; in the same folder."""


def film_name(kind: str, version: int, episode: str) -> str:
    """Returns e.g. `eval-000000030208-best`. `kind`: that of the trace; `version`: env steps of the policy;
    `episode`: the episode or match shown."""
    return f"{kind}-{version:012d}-{episode}"


def film_path(run: Path, kind: str, version: int, episode: str) -> Path:
    return layout.VIDEOS.path(run) / f"{film_name(kind, version, episode)}.mp4"


def write_description(film: Path, description: Mapping[str, Any]) -> None:
    """Writes the description of a film into the .json file next to it."""
    durable.replace(film.with_suffix(".json"), document.dumps(dict(description), indent=1).encode())


def read_description(film: Path) -> dict[str, Any]:
    """Returns the description of a film with its `path`; only the path if it has no description."""
    try:
        about = document.loads(film.with_suffix(".json").read_bytes())
    except (OSError, ValueError):
        about = {}
    return {**about, "path": str(film)}


def films_with_steps(run: Path) -> list[dict[str, Any]]:
    """Returns every film of the run in the directory `run` with the `vec_steps` of the policy it shows. A
    film of several policy versions is placed at the last one."""
    import numpy as np

    with MetricStore(layout.METRICS.path(run)) as record:
        rows = record.read(["clock/env_steps", "clock/vec_steps"])
    env_steps, vec_steps = rows["clock/env_steps"], rows["clock/vec_steps"]
    films = list_films(run, None)
    for film in films:
        rows_before = int(np.searchsorted(env_steps, film.get("version", np.inf), side="right"))
        film["vec_steps"] = float(vec_steps[rows_before - 1]) if rows_before else 0.0
    return films


def list_films(run: Path, best: int | None) -> list[dict[str, Any]]:
    """Returns the descriptions of all films of the run in the directory `run`. `best`: env steps of the best
    checkpoint, None if there is none. Its films come first and have `is_best`: that of its best episode or,
    for matches, all."""
    films = [read_description(film) for film in sorted(layout.VIDEOS.path(run).glob("[!.]*.mp4"))]
    for film in films:
        of_best = best is not None and Path(film["path"]).name.startswith(
            film_name("eval", best, "")
        )
        film["is_best"] = of_best and ("cast" in film or film["path"].endswith("-best.mp4"))
    return sorted(films, key=lambda film: not film["is_best"])
