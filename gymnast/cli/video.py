"""`gymnast video`: films of stored episodes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.cli.progress import progress
from gymnast.errors import UsageError

if TYPE_CHECKING:
    from gymnast.film.make import Order
    from gymnast.runs.run import Run


@click.command()
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--episode",
    default="best",
    show_default=True,
    metavar="best|last|N",
    help="The best of the best version, the first of the last evaluation, or the N-th from 0.",
)
@click.option(
    "--kind",
    type=click.Choice(["eval", "confirm", "train"]),
    default="eval",
    show_default=True,
    help="Which stored episodes.",
)
@click.option("--learning", is_flag=True, help="Several evaluations in sequence, in 1080p.")
@click.option("--grid", metavar="FILE.png", help="One picture of eight moments instead of a film.")
@click.option("--out", metavar="FILE.mp4", help="Default: in the run, under videos/.")
@click.option("--fps", type=click.FloatRange(min=0, min_open=True), help="Frames per second.")
@runs_option
@json_option
def video(run: str, runs_dir: str | None, as_json: bool, **options: Any) -> None:
    """Film an episode of a run as it happened, from its trace. The policy is not asked again.

    The best and the last evaluation of every run are filmed by themselves when training ends
    (traces.film); `gymnast show RUN` lists the films.

    \b
    gymnast video @last
    gymnast video @last:120k --episode 3 --out fourth.mp4
    gymnast video @last --learning
    gymnast video @last --grid episode.png
    """
    from gymnast.config.resolve import load
    from gymnast.film.stage import without_screen
    from gymnast.runs import store

    if options["learning"] and (options["grid"] or options["episode"] != "best"):
        raise UsageError("--learning goes with neither --grid nor --episode")
    found, at = store.resolve(run, store.runs_dir(runs_dir))
    cfg = load(found.config(), at=str(found.path / "config.yaml"))
    many = options["learning"]
    with without_screen():
        made = _learning(found, cfg, options) if many else _episode(found, cfg, at, options)
    if as_json:
        echo_json(made)
        return
    click.echo(made["path"])
    if not made.get("exact", True):
        click.echo(f"warning: {made['note']}", err=True)
    if made.get("codec", "libx264") not in ("libx264", "libopenh264"):
        click.echo(f"warning: no H.264 here, the film is {made['codec']}", err=True)


def _episode(run: Run, cfg: Any, at: str | None, options: dict[str, Any]) -> dict[str, Any]:
    from gymnast.film.choose import choose
    from gymnast.film.grid import grid
    from gymnast.film.make import film_episode
    from gymnast.runs import films

    chosen = choose(run, options["episode"], kind=options["kind"], at=at)
    if options["grid"]:
        note = grid(cfg, chosen, Path(options["grid"]))
        about = {"version": chosen.version, "episode": chosen.index, "exact": not note}
        return {"path": options["grid"], **about, "note": note}
    name = films.name(chosen.kind, chosen.version, chosen.which)
    with _order(run, name, options) as order:
        return film_episode(cfg, chosen, order)


def _learning(run: Run, cfg: Any, options: dict[str, Any]) -> dict[str, Any]:
    from gymnast.film.learning import film_learning

    with _order(run, "learning", options) as order:
        return film_learning(run, cfg, order)


@contextmanager
def _order(run: Run, name: str, options: dict[str, Any]) -> Iterator[Order]:
    """Where the film goes, and a bar for whoever waits for it."""
    from gymnast.film.make import Order
    from gymnast.runs import films

    with progress("filming") as told:
        own = run.path / films.FOLDER / f"{name}.mp4"
        out = Path(options["out"]) if options["out"] else own
        yield Order(out, options["fps"], progress=told, described=out is own)
