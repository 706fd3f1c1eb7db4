"""Makes docs/studies/self-play.json, its pictures in docs/images and the results in docs/self-play.md.

    python docs/studies/self_play.py RUNS_DIR        # train missing runs, play matches, store, draw

The trainings are: tag by self-play; a hider against a scripted seeker; tag again with that trained hider
against an untrained seeker; and a PettingZoo game. A run that exists in RUNS_DIR by its name is reused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gymnast import api, figures
from gymnast.envs.matches.open import open_matches
from gymnast.league.heatmap import heatmap_png
from gymnast.league.matrix import CrossPlayMatrix
from gymnast.league.results import Entrant, Results
from gymnast.league.run_ratings import anchored_ratings, read_results
from gymnast.records import to_json
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.selfplay.crossplay import Tournament, open_tournament, play_cast
from gymnast.selfplay.snapshots import Snapshots
from gymnast.text import formatting
from gymnast.training.python_api import train

HERE = Path(__file__)
FILE = HERE.with_name("self-play.json")
PAGE = HERE.parents[1] / "self-play.md"
IMAGES = HERE.parents[1] / "images"
HELD_OUT, SHARES, CROSSED = 200, (0.0, 1 / 27, 1 / 9, 1 / 3, 1.0), 400
"""Matches per score; the past selves to compare, as fractions of the run; matches per pair of them."""
RUNS: dict[str, tuple[str, dict[str, Any], str | None]] = {
    "self-play": ("tag:selfplay", {}, None),
    "trained-hider": ("tag:hider-vs-scripted", {}, None),
    "dominated": ("tag:rebalanced", {}, "trained-hider"),
    "talk": ("pettingzoo/simple_speaker_listener_v4", {}, None),
}
"""Name -> preset, settings, the run it starts from."""
ROLES = ("seeker", "hider")
COLORS = {"seeker": "#c0392b", "hider": "#2471a3", "speaker": "#7d3c98", "listener": "#1e8449"}


def find_or_train(name: str, runs_dir: Path) -> Run:
    """Returns the run of that name in RUNS; trains it if it does not exist."""
    found = store.find_run(name, runs_dir)
    if found is None:
        preset, settings, source = RUNS[name]
        train(preset, overrides=settings, name=name, source=source, runs_dir=runs_dir)
        found = store.find_run(name, runs_dir)
    assert found is not None
    return found


# ---- self-play -----------------------------------------------------------------------------------


def scores(tournament: Tournament) -> dict[str, Any]:
    """Returns the results of each role's best version against the scripted opponents, on held-out seeds."""
    by_pair: dict[str, Any] = {}
    for role, other in (ROLES, ROLES[::-1]):
        for name in tournament.cfg.league.opponents:
            found = play_cast(tournament, {other: f"scripted:{name}"}, HELD_OUT)
            by_pair[f"{role} against {name}"] = found["roles"][role] | {
                "episodes": found["episodes"],
                "duration": found["numbers"]["match/duration"],
                "outcomes": {
                    key.removeprefix("match/").removesuffix("_share"): share
                    for key, share in found["numbers"].items()
                    if key.endswith("_share")
                },
            }
    return by_pair


def past_selves(run: Run) -> list[int]:
    """Returns the env steps of the snapshots that are closest to SHARES of the run."""
    steps = Snapshots(run.path).steps()
    wanted = [share * steps[-1] for share in SHARES]
    return sorted({min(steps, key=lambda step: abs(step - one)) for one in wanted})


def cross_play(tournament: Tournament, steps: Sequence[int]) -> Results:
    """Plays every past self of one role against every past self of the other."""
    plan, results = tournament.evaluator.plan("confirm", CROSSED), Results(*ROLES)
    for seeker in steps:
        for hider in steps:
            cast = {"seeker": f"step:{seeker}", "hider": f"step:{hider}"}
            for played in tournament.play(cast, plan):
                results.add(str(seeker), str(hider), played.end.winner)
    return results


def against_older(results: Results, steps: Sequence[int]) -> list[dict[str, Any]]:
    """Returns the win rate of every past self against every older one of the other role."""
    rates: list[dict[str, Any]] = []
    for place, newer in enumerate(steps):
        for older in steps[:place]:
            as_seeker = results.pair_tally(str(newer), str(older)).win_rate()
            as_hider = results.pair_tally(str(older), str(newer)).win_rate()
            rates += [
                {"role": "seeker", "newer": newer, "older": older, "win_rate": as_seeker.mean,
                 "low": as_seeker.low},
                {"role": "hider", "newer": newer, "older": older, "win_rate": 1 - as_hider.mean,
                 "low": 1 - as_hider.high},
            ]  # fmt: skip
    return rates


def first_and_last(run: Run) -> dict[str, Any]:
    """Returns the ratings of the first and the last evaluated version of each role."""
    ratings, by_role = anchored_ratings(read_results(run)), dict[str, Any]()
    for role in ROLES:
        steps = sorted(
            int(e.name) for e in ratings.entrants if e.role == role and e.name.isdecimal()
        )
        by_role[role] = {
            name: ratings.entrants[Entrant(role, str(step))].to_json() | {"env_steps": step}
            for name, step in (("first", steps[0]), ("last", steps[-1]))
        }
    return by_role


def per_cpu_second(run: Run, runs_dir: Path) -> float:
    """Returns env steps per CPU second of the training process, without its evaluation process."""
    rows = [row for row in api.rows(run.id, runs_dir=runs_dir).rows if "system/cpu" in row]
    seconds = np.diff([0.0, *(row["clock/seconds"] for row in rows)])
    return rows[-1]["clock/env_steps"] / float(seconds @ [row["system/cpu"] for row in rows])


# ---- pictures ------------------------------------------------------------------------------------


def curves(run: Run, runs_dir: Path) -> bytes:
    """Returns a PNG with six charts of the self-play run."""
    rows = api.rows(run.id, runs_dir=runs_dir).rows
    figure = figures.new_figure(9, 6.4)
    panels: list[tuple[str, Callable[[Any], None]]] = [
        ("rating against scripted opponents", lambda axes: _ratings(axes, rows)),
        ("win rate against scripted:medium", lambda axes: _against(axes, rows, "medium")),
        ("win rate against each other", lambda axes: _by_role(axes, rows, "league/win_rate")),
        ("return", lambda axes: _by_role(axes, rows, "episode/return")),
        ("length of a match, steps", lambda axes: _one(axes, rows, "match/duration")),
        ("matches that end by a tag", lambda axes: _one(axes, rows, "match/tag_share")),
    ]
    for place, (title, draw) in enumerate(panels):
        axes = figure.add_subplot(3, 2, place + 1)
        draw(axes)
        _label(axes, title)
    return figures.to_png(figure)


def _points(rows: Sequence[dict[str, float]], key: str, clock: str) -> tuple[list, list]:
    found = [(row[clock] / 1e6, row[key]) for row in rows if key in row and clock in row]
    return [x for x, _ in found], [y for _, y in found]


def _ratings(axes: Any, rows: Sequence[dict[str, float]]) -> None:
    """Draws the rating of each role at every evaluation, with its 95 % interval."""
    for role in ROLES:
        at, clock = f"eval/{role}:league/rating", "eval:clock/env_steps"
        x, low = _points(rows, f"{at}_low", clock)
        axes.fill_between(
            x, low, _points(rows, f"{at}_high", clock)[1], color=COLORS[role], alpha=0.2
        )
        axes.plot(*_points(rows, at, clock), color=COLORS[role], label=role)


def _against(axes: Any, rows: Sequence[dict[str, float]], name: str) -> None:
    for role in ROLES:
        key = f"eval/{role}/{name}:match/win_rate"
        axes.plot(*_points(rows, key, "eval:clock/env_steps"), color=COLORS[role], label=role)
    axes.set_ylim(-0.02, 1.02)


def _by_role(axes: Any, rows: Sequence[dict[str, float]], key: str) -> None:
    for role in ROLES:
        axes.plot(
            *_points(rows, f"{role}:{key}", "clock/env_steps"), color=COLORS[role], label=role
        )


def _one(axes: Any, rows: Sequence[dict[str, float]], key: str) -> None:
    axes.plot(*_points(rows, key, "clock/env_steps"), color="#444444")


def _label(axes: Any, title: str) -> None:
    """Adds title, x label, grid and, if there are labeled lines, a legend."""
    axes.set_title(title, loc="left", fontsize=9, fontweight="bold")
    axes.tick_params(labelsize=7)
    axes.set_xlabel("million env steps", fontsize=7)
    axes.grid(alpha=0.25)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=7, frameon=False)


def match_strip(tournament: Tournament, wanted: str, pictures: int = 6) -> bytes:
    """Returns a PNG strip of one match between the learners that ended with the outcome `wanted`."""
    from PIL import Image

    plan = tournament.evaluator.plan("confirm", 20)
    played = tournament.play(dict.fromkeys(ROLES, "learner"), plan)
    chosen = next((p for p in played if p.end.outcome == wanted and p.end.length > 40), played[0])
    matches = open_matches(tournament.cfg, 1)
    matches.reset([0], [chosen.seed])
    shown = [matches.render(0).copy()]
    for t in range(chosen.end.length):
        matches.step({role: chosen.trace.actions[role][t][None] for role in ROLES})
        shown.append(matches.render(0).copy())
    matches.close()
    at = np.linspace(0, len(shown) - 1, pictures).round().astype(int)
    sheet = Image.fromarray(np.concatenate([shown[i] for i in at], axis=1))
    width = 1440
    sheet = sheet.resize((width, sheet.height * width // sheet.width), Image.Resampling.LANCZOS)
    from io import BytesIO

    file = BytesIO()
    sheet.quantize(64).save(file, "png", optimize=True)
    return file.getvalue()


def rebalancing_results(run: Run, runs_dir: Path) -> tuple[bytes, dict[str, Any]]:
    """Returns a PNG of the seeker's win rate with the active remedies shaded, and its summary."""
    rows = api.rows(run.id, runs_dir=runs_dir).rows
    events = [e for e in run.events() if e["kind"] == "rebalanced"]
    x, rates = _points(rows, "seeker:league/win_rate", "clock/env_steps")
    figure = figures.new_figure(7, 2.6)
    axes = figure.add_subplot()
    axes.plot(x, rates, color=COLORS["seeker"], label="seeker's win rate")
    since: dict[str, float] = {}  # active remedy -> millions of env steps at which it was applied
    # The two events appended here close the shading of remedies that were never withdrawn.
    for event in [*events, *({"what": "withdrawn", "remedy": r} for r in ("alone", "handicap"))]:
        at = event.get("env_steps", x[-1] * 1e6) / 1e6
        if event["what"] == "applied":
            since[event["remedy"]] = at
        elif event["remedy"] in since:
            shade = {"alone": "#f5d76e", "handicap": "#e59866"}[event["remedy"]]
            axes.axvspan(since.pop(event["remedy"]), at, color=shade, alpha=0.35, lw=0)
    for remedy, shade in (("alone", "#f5d76e"), ("handicap", "#e59866")):
        axes.fill_between([], [], color=shade, alpha=0.5, label=remedy)
    axes.axhline(0.35, color="#444444", lw=0.6, ls="--")
    axes.set_ylim(0, 1)
    _label(axes, "a trained hider against a fresh seeker")
    kept = ("env_steps", "what", "remedy", "weaker", "win_rates", "note")
    summary = {
        "run": run.id,
        "first_win_rate": rates[0],
        "lowest": min(rates),
        "last_win_rate": rates[-1],
        "share_of_rows_above_35%": float(np.mean(np.array(rates[len(rates) // 2 :]) > 0.35)),
        "events": [{key: e[key] for key in kept if key in e} for e in events],
    }
    return figures.to_png(figure), summary


def speaker_results(run: Run, runs_dir: Path) -> tuple[bytes, dict[str, Any]]:
    """Returns a PNG of the evaluated returns of the PettingZoo game, and its summary."""
    rows = api.rows(run.id, runs_dir=runs_dir).rows
    x, returns = _points(rows, "eval:episode/return", "eval:clock/env_steps")
    figure = figures.new_figure(7, 2.4)
    axes = figure.add_subplot()
    axes.plot(x, returns, color=COLORS["speaker"])
    axes.axhline(-18, color="#444444", lw=0.6, ls="--")
    _label(axes, "simple_speaker_listener_v4: evaluated return (dashed: without talking)")
    score = run.info["score"]
    return figures.to_png(figure), {
        "run": run.id,
        "first": returns[0],
        "last": returns[-1],
        "score": score,
        "env_steps": run.info["clocks"]["env_steps"],
        "seconds": run.info["clocks"]["seconds"],
    }


# ---- the page ------------------------------------------------------------------------------------


def page(results: dict[str, Any]) -> str:
    """Returns the generated part of docs/self-play.md."""
    rows = [
        (pair, f"{one['win_rate']:.1%}", f"{one['low']:.1%} to {one['high']:.1%}",
         f"{one['duration']:.0f}")
        for pair, one in results["scores"].items()
    ]  # fmt: skip
    ratings = [
        (role, name, formatting.count(one["env_steps"]), f"{one['rating']:.0f}",
         f"{one['low']:.0f} to {one['high']:.0f}")
        for role, pair in results["ratings"].items()
        for name, one in pair.items()
    ]  # fmt: skip
    older = results["against_older"]
    worst = min(older, key=lambda one: one["low"])
    dominated, talk, run = results["dominated"], results["talk"], results["run"]
    return "\n".join(
        [
            f"`gymnast train tag:selfplay`, seed {run['seed']}: {run['env_steps']:,} env steps of 64 "
            f"matches in {run['seconds'] / 60:.1f} minutes ({run['machine']}), "
            f"{run['env_steps_per_cpu_second']:,.0f} env steps (steps of single matches) or "
            f"{2 * run['env_steps_per_cpu_second']:,.0f} agent steps per CPU second. "
            "The speed of the environment alone is in the [benchmarks](benchmarks.md).",
            "",
            f"The best version of each role, on {HELD_OUT} held-out matches per opponent:",
            "",
            _markdown(("", "win rate", "95 % interval", "mean steps per match"), rows),
            "",
            "![Curves](images/self-play.png)",
            "",
            "Ratings from all evaluations of the run; `scripted:medium` is fixed at 1000. (The chart above "
            "shows the rating of each version at its evaluation, from the matches up to then.)",
            "",
            _markdown(("role", "version", "env steps", "rating", "95 % interval"), ratings),
            "",
            f"Past selves against each other, {CROSSED} matches per pair. The lowest lower bound of a win "
            f"rate against an older opponent, over {len(results['past_selves'])} past selves of each role, "
            f"is {worst['low']:.1%} ({worst['role']} {worst['newer']:,} against {worst['older']:,}).",
            "",
            "![Cross-play](images/self-play-matrix.png)",
            "",
            "A match that the seeker wins, and one that the hider survives:",
            "",
            "![A tag](images/self-play-tag.png)",
            "",
            "![A timeout](images/self-play-timeout.png)",
            "",
            "### A dominated start",
            "",
            "A hider that was trained against the scripted seeker meets an untrained seeker "
            f"(`gymnast train tag:rebalanced --from trained-hider`). The seeker's win rate falls to "
            f"{dominated['lowest']:.0%} and ends at {dominated['last_win_rate']:.0%}; in the second half "
            f"{dominated['share_of_rows_above_35%']:.1%} of the rows are above 35 % (the dashed line).",
            "",
            "![Rebalancing](images/self-play-balance.png)",
            "",
            "### A PettingZoo game",
            "",
            "`gymnast train pettingzoo/simple_speaker_listener_v4`: "
            f"{talk['score']['mean']:.1f} [{talk['score']['low']:.1f}, {talk['score']['high']:.1f}] over "
            f"{talk['score']['episodes']} held-out episodes after {talk['env_steps']:,} env steps "
            f"({talk['seconds'] / 60:.1f} minutes). The best possible return without communication is -18; "
            "random actions get -39.",
            "",
            "![Talking](images/self-play-talk.png)",
        ]
    )


def _markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    every = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in every)


BEGIN, END = "<!-- made by docs/studies/self_play.py -->", "<!-- end -->"


def main(runs_dir: Path) -> None:
    """Trains the missing runs, plays all matches, and writes the JSON file, the pictures and the page."""
    runs = {name: find_or_train(name, runs_dir) for name in RUNS}
    own = runs["self-play"]
    tournament = open_tournament(own.id, n_matches=64, runs_dir=runs_dir)
    steps = past_selves(own)
    results = cross_play(tournament, steps)
    balance, dominated = rebalancing_results(runs["dominated"], runs_dir)
    talk, talked = speaker_results(runs["talk"], runs_dir)
    document = {
        "command": f"python docs/studies/self_play.py {runs_dir.name}",
        "revision": own.info["revision"],
        "run": {
            "id": own.id,
            "seed": own.info["seed"],
            "env_steps": own.info["clocks"]["env_steps"],
            "seconds": own.info["clocks"]["seconds"],
            "env_steps_per_cpu_second": per_cpu_second(own, runs_dir),
            "machine": "{cores} cores of {model}".format(**own.info["cpu"]),
        },
        "scores": scores(tournament),
        "ratings": first_and_last(own),
        "past_selves": steps,
        "matrix": to_json(CrossPlayMatrix.from_results(results).report()),
        "against_older": against_older(results, steps),
        "dominated": dominated,
        "talk": talked,
    }
    pictures = {
        "": curves(own, runs_dir),
        "-matrix": heatmap_png(CrossPlayMatrix.from_results(results).report()),
        "-tag": match_strip(tournament, "tag"),
        "-timeout": match_strip(tournament, "timeout"),
        "-balance": balance,
        "-talk": talk,
    }
    tournament.close()
    for name, drawn in pictures.items():
        (IMAGES / f"self-play{name}.png").write_bytes(drawn)
    FILE.write_text(json.dumps(document, indent=1) + "\n")
    text = PAGE.read_text()
    head, tail = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(f"{head}{BEGIN}\n\n{page(document)}\n\n{END}{tail}")


if __name__ == "__main__":
    main(store.runs_dir(sys.argv[1]))
