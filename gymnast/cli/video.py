"""`gymnast video`: makes videos of recorded episodes and matches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.cli.progress import progress
from gymnast.errors import UsageError
from gymnast.processes.env_output import separate_env_output
from gymnast.runs import layout

if TYPE_CHECKING:
    from gymnast.film.choose import ChosenEpisode
    from gymnast.film.make import FilmOptions
    from gymnast.film.matches.choose import ChosenMatch
    from gymnast.film.source import FilmSource
    from gymnast.runs.run import Run


@click.command()
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--episode",
    default="best",
    show_default=True,
    metavar="best|last|N",
    help="The best episode of the best checkpoint, the first of the last evaluation, or number N (from 0).",
)
@click.option(
    "--kind",
    type=click.Choice(["eval", "confirm", "train"]),
    default="eval",
    show_default=True,
    help="Which recorded episodes.",
)
@click.option(
    "--learning",
    is_flag=True,
    help="Show learning progress: several evaluations in sequence, in 1080p.",
)
@click.option(
    "--grid", metavar="FILE.png", help="One picture with eight frames instead of a video."
)
@click.option("--out", metavar="FILE.mp4", help="Default: in the run, under videos/.")
@click.option("--fps", type=click.FloatRange(min=0, min_open=True), help="Frames per second.")
@runs_option
@json_option
def video(run: str, runs_dir: str | None, as_json: bool, **options: Any) -> None:
    """Make a video of a recorded episode from its trace. The policy is not run again.

    Videos of the best and the last evaluation of every run are made automatically when training ends
    (traces.film); `gymnast show RUN` lists them.

    For a run with several roles, videos of matches of the best (or last) checkpoint are made: for each
    role and opponent, a match that was won and one that was lost. With --episode N, and always with
    --out or --grid, it is one match: recorded match number N, from 0.

    \b
    gymnast video @last
    gymnast video @last:120k --episode 3 --out fourth.mp4
    gymnast video @last --learning
    gymnast video @last --grid episode.png
    """
    from gymnast.config.families import is_multi_agent
    from gymnast.film.renderer import headless_rendering
    from gymnast.runs import store

    if options["learning"] and (options["grid"] or options["episode"] != "best"):
        raise UsageError("--learning cannot be combined with --grid or --episode")
    stored_run, checkpoint = store.resolve(run, store.runs_dir(runs_dir))
    cfg = stored_run.config()
    if is_multi_agent(cfg.env.id):
        with separate_env_output(), headless_rendering():
            films = _matches(stored_run, cfg, checkpoint, options)
        _echo_films(films, {"films": films}, as_json=as_json)
        return
    with separate_env_output(), headless_rendering():
        if options["learning"]:
            film = _learning(stored_run, cfg, options)
        else:
            film = _episode(stored_run, cfg, checkpoint, options)
    _echo_films([film], film, as_json=as_json)


def _echo_films(films: list[dict[str, Any]], answer: dict[str, Any], *, as_json: bool) -> None:
    """Prints the path of each film and warnings, or `answer` as JSON. `films`: the descriptions
    that `describe_film` or `_grid` returned."""
    if as_json:
        echo_json(answer)
        return
    for film in films:
        click.echo(film["path"])
        if not film.get("exact", True):
            click.echo(f"warning: {film['note']}", err=True)
    if films[0].get("codec", "libx264") not in ("libx264", "libopenh264"):
        click.echo(f"warning: no H.264 encoder found, the video is {films[0]['codec']}", err=True)


def _episode(run: Run, cfg: Any, checkpoint: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Makes a film, or a picture with --grid, of the stored episode that the options select;
    returns its description. `checkpoint`: that in the reference to the run, if any."""
    from gymnast.film.choose import choose_episode
    from gymnast.film.make import episode_source, film_episode

    chosen = choose_episode(run, options["episode"], kind=options["kind"], checkpoint=checkpoint)
    if options["grid"]:
        with episode_source(cfg, chosen) as source:
            return _grid(source, chosen, options["grid"])
    with _options_for(run, chosen, options) as film_options:
        return film_episode(cfg, chosen, film_options)


def _matches(
    run: Run, cfg: Any, checkpoint: str | None, options: dict[str, Any]
) -> list[dict[str, Any]]:
    """Makes films, or one picture with --grid, of the stored matches that the options select;
    returns their descriptions. Raises UsageError for --learning, and if several matches would be
    written to one file."""
    from gymnast.film.matches.choose import choose_matches
    from gymnast.film.matches.films import film_match, match_source
    from gymnast.film.matches.replay import MatchRenderer

    if options["learning"]:
        problem = f"{run.id} has several roles: --learning does not support matches"
        fix = f"gymnast video {run.id}:STEP films the matches of a checkpoint"
        raise UsageError(problem, fix=fix)
    with closing(MatchRenderer(cfg, training=options["kind"] == "train")) as renderer:
        outcomes = renderer.matches.outcomes
        chosen = choose_matches(
            run, outcomes, options["episode"], kind=options["kind"], checkpoint=checkpoint
        )
        if len(chosen) > 1 and (options["out"] or options["grid"]):
            numbers = ", ".join(f"{match.index} {match.selection}" for match in chosen)
            problem = f"{'--grid' if options['grid'] else '--out'} is for one match"
            raise UsageError(problem, fix=f"add --episode N, one of {numbers}")
        if options["grid"]:
            return [_grid(match_source(renderer, chosen[0]), chosen[0], options["grid"])]
        films: list[dict[str, Any]] = []
        for match in chosen:
            with _options_for(run, match, options) as film_options:
                films.append(film_match(renderer, match, film_options))
        return films


def _grid(source: FilmSource[Any], chosen: ChosenEpisode | ChosenMatch, out: str) -> dict[str, Any]:
    """Writes a picture with frames of the episode or match to `out` and returns its description."""
    from gymnast.film.grid import grid

    note = grid(source, Path(out))
    about = {"version": chosen.version, "episode": chosen.index, "exact": not note}
    return {"path": out, **about, "note": note}


def _learning(run: Run, cfg: Any, options: dict[str, Any]) -> dict[str, Any]:
    from gymnast.film.learning import film_learning

    with _film_options(layout.VIDEOS.path(run.path) / "learning.mp4", options) as film_options:
        return film_learning(run, cfg, film_options)


def _options_for(
    run: Run, chosen: ChosenEpisode | ChosenMatch, options: dict[str, Any]
) -> AbstractContextManager[FilmOptions]:
    """Returns the context of `_film_options` for this episode or match, whose film is stored in the
    run unless --out names a file."""
    from gymnast.runs import films

    default_path = films.film_path(run.path, chosen.kind, chosen.version, chosen.selection)
    return _film_options(default_path, options)


@contextmanager
def _film_options(default_path: Path, options: dict[str, Any]) -> Iterator[FilmOptions]:
    """Yields the options of a film, and shows a progress bar while it is made. `default_path`: the file
    if --out is not given."""
    from gymnast.film.make import FilmOptions

    with progress("filming") as bar:
        out = Path(options["out"]) if options["out"] else default_path
        # A description is written only inside of the run, where `gymnast show` reads it.
        describe = out is default_path
        yield FilmOptions(out, options["fps"], on_progress=bar, write_description=describe)
