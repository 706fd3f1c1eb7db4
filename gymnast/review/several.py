"""Reviews of several runs in one document: which runs, and which of them are seeds of one config."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gymnast.errors import GymnastError, RunError, UsageError
from gymnast.insight.settings import configs_in_use
from gymnast.insight.sides import JOINT, ComparisonSide, has_foreign, resolve_sides
from gymnast.review.bundle import check_budget, make_bundle
from gymnast.review.prepare import sanitizer_for
from gymnast.review.record import RunsReview
from gymnast.review.several_parts import several_parts
from gymnast.runs import store
from gymnast.runs.run import Run

MAX_RUNS = 20
"""Number of runs in one document: with more of them, the smallest budget has no room for their headings."""


def review_runs(refs: Sequence[str], last: int | None, budget: int, directory: Path) -> RunsReview:
    """Returns the document about some runs, newest first; see `api.review_runs`."""
    check_budget(budget)
    sides = choose_runs(refs, last, directory)
    runs = newest_first([run for side in sides for run in side.runs])
    sanitizer = sanitizer_for(runs)
    bundle = make_bundle(several_parts(runs, sides, sanitizer), budget=budget, sanitizer=sanitizer)
    ids = tuple(run.id for run in runs)
    return RunsReview(ids, bundle.parts, len(bundle.text), bundle.text)


def choose_runs(refs: Sequence[str], last: int | None, directory: Path) -> list[ComparisonSide]:
    """Returns the runs that are named, or the last ones that were started, as sides of a comparison: runs
    that differ only in their seed are one side, and so is a group that is named. Raises RunError for an
    unknown run, and if there are none; UsageError for too many."""
    if refs and last is not None:
        fix = "name the runs, or ask for the last ones (last)"
        raise UsageError("runs are named, and the last ones are asked for", fix=fix)
    if last is not None and not 1 <= last <= MAX_RUNS:
        raise _wrong_number(last)
    if has_foreign(refs):
        problem = "one document about several runs cannot have runs of other programs"
        fix = "review them one by one (gymnast review PATH), or compare them (gymnast compare)"
        raise UsageError(problem, fix=fix)
    if refs:
        sides = resolve_sides(refs, directory)
        named = [side for side in sides if side.is_group]
        in_group = {run.path for side in named for run in side.runs}
        single = {r.path: r for side in sides for r in side.runs if r.path not in in_group}
        chosen = [*named, *join_seeds(newest_first(list(single.values())))]
    else:
        runs = last_runs(directory, last)
        if not runs:
            raise RunError(f"there are no runs in {directory}", fix="gymnast train CartPole-v1")
        chosen = join_seeds(runs)
    if (count := len({run.path for side in chosen for run in side.runs})) > MAX_RUNS:
        raise _wrong_number(count)
    return chosen


def last_runs(directory: Path, number: int | None) -> list[Run]:
    """Returns the runs that were started last, newest first; without games of people, as `@last`."""
    trained = [
        run for run in store.list_runs(directory) if run.is_readable and not run.is_untrained
    ]
    return [Run(Path(run.path)) for run in trained[:number]]


def newest_first(runs: Sequence[Run]) -> list[Run]:
    """Returns each run once, in the order of `gymnast runs`."""
    once = {run.path: run for run in runs}.values()
    return sorted(once, key=lambda run: (run.info["created"], run.id), reverse=True)


def join_seeds(runs: Sequence[Run]) -> list[ComparisonSide]:
    """Returns the sides of a comparison of runs: those whose configs differ only in the seed are one. A
    second run with the same seed is a repetition and no second sample, so that it starts a side of its own;
    and so does every run if a config cannot be read."""
    try:
        configs = [config.model_copy(update={"seed": 0}) for config in configs_in_use(runs)]
    except GymnastError:
        return [ComparisonSide(run.id, (run,), is_group=False) for run in runs]
    joined: list[tuple[object, list[Run]]] = []
    for run, config in zip(runs, configs, strict=True):
        for other, members in joined:
            if other == config and run.info["seed"] not in [m.info["seed"] for m in members]:
                members.append(run)
                break
        else:
            joined.append((config, [run]))
    return [
        ComparisonSide(JOINT.join(r.id for r in members), tuple(members), len(members) > 1)
        for _, members in joined
    ]


def _wrong_number(count: int) -> UsageError:
    return UsageError(
        f"a review of {count} runs is not possible", fix=f"choose from 1 to {MAX_RUNS} runs"
    )
