"""Trap 64: a score of one episode ranked above a score of a hundred, and intervals reached beyond the highest
possible return. A score says how it was made, and every reader copes with every score."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast import api
from gymnast.api import OPERATIONS
from gymnast.api.operation import READS
from gymnast.errors import GymnastError, RunError
from gymnast.evaluation.evaluate import Evaluation
from gymnast.insight.outcome import run_outcome
from gymnast.jobs.groups import group_result
from gymnast.mcp.options import McpOptions
from gymnast.metrics.score import MIN_EPISODES, RunScore, Score, comparable
from gymnast.rl.statistics import mean_interval
from gymnast.runs import layout, store
from gymnast.runs.run import Run, read_info
from gymnast.serving.references import RUN_ARGUMENTS, TARGET_ARGUMENTS
from gymnast.text.formatting import count_noun
from gymnast.training.lifecycle.stop import is_solved
from tests.cli_output import cli_output
from tests.mcp.sessions import call as call_tool
from tests.mcp.sessions import in_memory
from tests.small_runs import train_small

Info = dict[str, Any]
CONFIRMED: Score = {
    "mean": 497.9,
    "low": 496.4,
    "high": 499.5,
    "iqm": 500.0,
    "episodes": 100,
    "env_steps": 4_096,
    "kind": "confirmed",
}
EVALUATED: Score = {**CONFIRMED, "mean": 499.0, "low": 498.0, "episodes": 20, "kind": "evaluated"}
ONE: Score = {**CONFIRMED, "mean": 500.0, "low": -math.inf, "high": math.inf, "episodes": 1}
CURVE = {"env_steps": [1_024, 4_096], "mean_return": [300.0, 499.0]}
CASES: dict[str, tuple[Info, Score, str]] = {
    "running": ({"status": "running"}, EVALUATED, "unconfirmed"),
    "resumed": ({"status": "running", "confirmed": True}, EVALUATED, "unconfirmed"),
    "stopped": ({"status": "stopped", "confirmed": False}, EVALUATED, "unconfirmed"),
    "finished": ({"status": "finished", "confirmed": True}, CONFIRMED, ""),
    "one episode": ({"status": "finished", "confirmed": True}, ONE, "too few episodes"),
    "unconfirmed": (
        {"status": "finished", "confirmed": False},
        {**EVALUATED, "episodes": 3},
        "unconfirmed, too few episodes",
    ),
}
"""State of a run -> fields of run.json, its score, and the caveat that every face shows."""


def make(directory: Path, case: str, **more: object) -> Run:
    fields, score, _ = CASES[case]
    run = Run.create(
        directory,
        config_text=api_config(),
        preset="CartPole-v1:ppo",
        env="CartPole-v1",
        algo="ppo",
        seed=0,
        provenance={},
        name=case.replace(" ", "-"),
    )
    run.update(**{"threshold": 475.0, "curve": CURVE, "score": score, **fields, **more})
    return run


def api_config() -> str:
    from gymnast.config.resolve import resolve, save

    return save(resolve("CartPole-v1:ppo").config)


@pytest.mark.parametrize("stores_kind", [True, False], ids=["", "of an older version"])
@pytest.mark.parametrize("case", CASES)
def test_every_face_shows_the_same_score_with_its_caveat_and_no_best_below_it(
    runs_dir: Path, case: str, stores_kind: bool
):
    _, score, caveat = CASES[case]
    if not stores_kind:
        score = cast(Score, {key: value for key, value in score.items() if key != "kind"})
    run = make(runs_dir, case, score=score)
    (listed,) = api.runs(runs_dir=runs_dir).runs
    shown = api.show(run.id, runs_dir=runs_dir)
    (compared, _) = api.compare([run.id, make(runs_dir, "finished").id], runs_dir=runs_dir).runs
    for found in (listed.score, shown.score, compared.score):
        assert found is not None
        assert (found.mean, found.episodes, found.env_steps) == (
            score["mean"],
            score["episodes"],
            4_096,
        )
        assert found.caveat == caveat
        assert (found.kind == "confirmed") == ("unconfirmed" not in caveat)
    for best in (listed.best_score, shown.best_score, compared.best):
        assert best is not None
        assert best >= score["mean"]
    tool = call_tool(McpOptions(runs_dir), "runs", {"run": run.id})
    brief = cast("Info", tool.structured_content)["run"]
    assert brief["score"]["mean"] == pytest.approx(score["mean"], rel=1e-3)
    assert brief["score"].get("caveat", "") == caveat
    assert brief["best"] >= brief["score"]["mean"]
    for words in (("runs", run.id), ("show", run.id)):
        text = cli_output(*words, "--runs", str(runs_dir))
        assert f"{score['mean']:.1f}" in text
        assert (f"({caveat})" in text) if caveat else ("unconfirmed" not in text)


def test_a_score_of_one_episode_ranks_below_a_score_of_a_hundred(runs_dir: Path):
    best = make(runs_dir, "finished")
    for case in CASES:
        make(runs_dir, case, clocks={"env_steps": 10_000})
    assert store.resolve("@best", runs_dir)[0].id == best.id
    ranked = sorted(store.list_runs(runs_dir), key=lambda run: run.rank, reverse=True)
    caveats = [run.score.caveat for run in ranked if run.score]
    assert caveats == sorted(caveats, key=lambda text: ("few" in text, "unconfirmed" in text))


def test_of_equal_scores_the_one_without_doubts_ranks_first(runs_dir: Path):
    make(runs_dir, "finished", clocks={"env_steps": 100}, doubts=["not better"])
    best = make(runs_dir, "finished", clocks={"env_steps": 4_096})
    assert store.resolve("@best", runs_dir)[0].id == best.id


@pytest.mark.parametrize("episodes", [1, 2])
def test_a_score_over_too_few_episodes_is_never_healthy_nor_compared_with_infinity(
    runs_dir: Path, episodes: int
):
    low, high = (500.0, 500.0) if episodes > 1 else (-math.inf, math.inf)
    few: Score = {**ONE, "episodes": episodes, "low": low, "high": high}
    # Older versions counted two equal returns as solved.
    run = make(runs_dir, "one episode", score=few, solved=episodes > 1, reason="budget")
    outcome = run_outcome(run.info, [])
    assert outcome.kind == "unconfirmed"
    assert outcome.text.endswith(f"; but only over {count_noun(episodes, 'episode')}")
    assert "inf" not in outcome.text


def test_a_stored_branch_of_an_older_version_is_not_solved_by_the_version_of_its_parent(
    runs_dir: Path,
):
    fields = {"parent": "p", "parent_kind": "branch", "solved": True}
    branch = make(runs_dir, "finished", parent_step=CONFIRMED["env_steps"], **fields)
    assert "doubts" not in branch.info
    (listed,) = store.list_runs(runs_dir)
    assert (listed.solved, listed.verdict) == (False, "doubtful")
    assert listed.doubts == ["no version of this branch is better than its parent"]
    assert run_outcome(branch.info, []).kind == "doubtful"
    earlier = make(runs_dir, "finished", parent_step=CONFIRMED["env_steps"] - 1, **fields)
    assert store.read_summary(earlier.path).verdict == "solved"


def test_only_comparable_scores_enter_the_mean_of_a_group(runs_dir: Path):
    for case in ("finished", "one episode", "unconfirmed"):
        make(runs_dir, case, group="g")
    result = group_result(store.list_runs(runs_dir))
    assert (result.runs, result.scored, result.mean, result.caveat) == (3, 1, 497.9, "")
    alone = group_result(store.list_runs(runs_dir, "one-episode"))
    assert (alone.scored, alone.mean, alone.caveat) == (1, 500.0, "too few episodes")


def test_a_comparison_with_a_score_of_one_episode_says_so(runs_dir: Path):
    refs = [make(runs_dir, case).id for case in ("finished", "one episode")]
    (pair,) = api.compare(refs, runs_dir=runs_dir).improvements
    assert pair.caution == f"scores of {refs[1]}: too few episodes"


def test_scores_of_several_environments_are_not_ranked_together(runs_dir: Path):
    make(runs_dir, "finished")
    make(runs_dir, "finished", env="Taxi-v4")
    with pytest.raises(RunError, match="CartPole-v1 and Taxi-v4 cannot be compared"):
        store.resolve("@best", runs_dir)
    assert store.resolve("@best:Taxi-v4", runs_dir)[0].info["env"] == "Taxi-v4"


finite = st.floats(-1e6, 1e6)
scores = st.builds(
    lambda mean, half, episodes, kind, exact: RunScore(
        mean,
        -math.inf if episodes == 1 and not exact else mean - half,
        mean + half,
        episodes,
        kind=kind,
        exact=exact,
    ),
    st.one_of(finite, st.sampled_from([math.nan, math.inf, -math.inf])),
    st.floats(0, 100),
    st.integers(1, 200),
    st.sampled_from(["confirmed", "evaluated"]),
    st.booleans(),
)


@given(st.lists(scores, min_size=2, max_size=12))
def test_the_sort_key_of_scores_is_a_total_order_with_the_comparable_ones_first(
    found: list[RunScore],
):
    for score in found:
        assert all(map(math.isfinite, score.rank))
        is_small = score.episodes < MIN_EPISODES and not score.exact
        assert ("few" in score.caveat) == is_small
        assert ("unconfirmed" in score.caveat) == (score.kind == "evaluated")
    ranked = sorted(found, key=lambda score: score.rank, reverse=True)
    assert [s.rank for s in ranked] == sorted((s.rank for s in found), reverse=True)
    with_caveat = [bool(score.caveat) for score in ranked]
    assert with_caveat == sorted(with_caveat)
    together = comparable(found)
    assert len({score.rank[0] for score in together}) == 1
    assert ranked[0] in together or math.isnan(ranked[0].mean)


@given(st.lists(st.floats(1, 500), min_size=2, max_size=60), st.floats(1.5, 500))
def test_an_interval_contains_the_mean_and_stays_within_the_possible_range(
    returns: list[float], threshold: float
):
    import numpy as np

    values = np.array(returns)
    plain, within = mean_interval(values), mean_interval(values, within=(1.0, 500.0))
    assert within.low <= within.mean <= within.high
    rounding = 1e-9 * 500
    assert within.low >= 1.0 - rounding
    assert within.high <= 500.0 + rounding
    assert within.mean == plain.mean
    # The lower bound decides whether a run is solved, and the range must not make that easier.
    assert not is_solved({"low": within.low}, threshold) or is_solved({"low": plain.low}, threshold)


def test_a_declared_range_that_a_return_leaves_is_not_used():
    import numpy as np

    values = np.array([400.0, 900.0, 500.0])
    assert mean_interval(values, within=(1.0, 500.0)) == mean_interval(values)


def test_no_score_of_cartpole_reaches_beyond_500():
    returns = (500.0,) * 97 + (420.0, 380.0, 462.0)
    played = Evaluation(0, returns, (1,) * 100, tuple(range(100)), False)
    assert played.score()["high"] > 500.0  # Student's t alone
    from gymnast.config.resolve import resolve

    declared = resolve("CartPole-v1").config.possible_returns()
    known = Evaluation(
        0, returns, (1,) * 100, tuple(range(100)), False, possible_returns=declared
    ).score()
    assert (known["high"], known["low"]) == (500.0, played.score()["low"])
    longer = resolve("CartPole-v1", {"eval.max_episode_steps": 1000}).config
    assert longer.possible_returns() is None  # the range was declared for the limit of 500


def test_a_threshold_at_the_lowest_possible_return_is_refused():
    from gymnast.config.resolve import resolve

    with pytest.raises(GymnastError, match="every policy reaches it"):
        resolve("CartPole-v1", {"facts.threshold": 1})


# --- every reader copes with every document


@pytest.fixture(scope="module")
def one_episode(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A real run like every trial of a sweep: its score has one episode, and so no interval."""
    directory = tmp_path_factory.mktemp("one") / "runs"
    settings = {"stop.env_steps": 512, "eval.confirm_episodes": 1}
    return train_small("CartPole-v1", settings, runs_dir=directory, seed=0)


def reading_calls(run: str) -> Iterator[tuple[str, Info]]:
    """Yields every operation that reads a run, with arguments that name this one."""
    fillers = {"integer": 0, "number": 0.0, "array": [], "object": {}, "boolean": False}
    named: Info = {"prompt": {"name": "review"}, "steps_csv": {"kind": "confirm", "version": 512}}
    for name, operation in OPERATIONS.items():
        schema = operation.arguments_schema()
        properties = cast("dict[str, Info]", schema["properties"])
        runs = [p for p in properties if p in (*RUN_ARGUMENTS, *TARGET_ARGUMENTS)]
        runs = [p for p in runs if p not in ("roles", "at", "algo")]
        if operation.effect != READS or not runs or name == "host_check":
            continue
        given = {p: [run] if p in ("refs", "targets") else run for p in runs}
        given = {"source": run} | given if name == "dry_run" else given
        for argument in cast("list[str]", schema.get("required", [])):
            given.setdefault(argument, fillers.get(properties[argument].get("type", ""), "confirm"))
        yield name, given | named.get(name, {}) | ({"b": run} if "b" in properties else {})


def call_readers(run: Run) -> set[str]:
    """Calls every reading operation, which may raise only errors of gymnast. Returns the names of all that
    answered."""
    answered: set[str] = set()
    for name, arguments in reading_calls(run.id):
        try:
            OPERATIONS[name].function(**arguments, runs_dir=run.path.parent)
        except GymnastError:
            continue
        except TypeError as error:
            if "runs_dir" not in str(error):
                raise
            OPERATIONS[name].function(**arguments)
        answered.add(name)
    return answered


def test_every_operation_reads_a_run_whose_score_has_one_episode(one_episode: Run):
    assert one_episode.info["score"] is not None
    assert one_episode.info["score"]["low"] == -math.inf
    answered = call_readers(one_episode)
    assert answered >= {"show", "prompt", "review_runs", "review_contents", "doctor", "events"}
    options = McpOptions(one_episode.path.parent)
    for tool in ("runs", "diagnose"):
        assert not call_tool(options, tool, {"run": one_episode.id}).is_error
    for prompt in ("debug", "review"):
        messages = in_memory(
            options, lambda client, name=prompt: client.get_prompt(name, {"runs": one_episode.id})
        ).messages
        assert messages
    for words in (("show",), ("prompt", "review"), ("prompt", "debug")):
        text = cli_output(*words, one_episode.id, "--runs", str(one_episode.path.parent))
        assert "$float" not in text
    shown = cli_output("show", one_episode.id, "--json", "--runs", str(one_episode.path.parent))
    assert json.loads(shown)["score"]["low"] == "-inf"


WRONG: tuple[object, ...] = ("text", 3, None, True, [1], {"a": "b"}, {"$float": "-inf"})


def test_a_field_of_another_type_in_run_json_is_one_clear_error(one_episode: Run):
    file = layout.RUN.path(one_episode.path)
    original = file.read_bytes()
    stored = json.loads(original)
    refused: set[str] = set()
    try:
        for key in stored:
            for value in WRONG:
                file.write_text(json.dumps(stored | {key: value}))
                try:
                    read_info(one_episode.path)
                except RunError:
                    refused.add(key)
        file.write_text(json.dumps(stored | {"score": None}))
        call_readers(one_episode)
        nested = {"score": {**stored["score"], "mean": "high"}}
        file.write_text(json.dumps(stored | nested))
        with pytest.raises(RunError, match=r"score\.mean is a string \(expected a number\)"):
            read_info(one_episode.path)
    finally:
        file.write_bytes(original)
    assert refused == {*stored}  # no field accepts everything


@pytest.mark.parametrize("content", ["[" * 100_000, '{"version": NaN}', "[]", "7", '{"version": 2'])
def test_a_run_json_that_is_no_document_is_one_clear_error(one_episode: Run, content: str):
    file = layout.RUN.path(one_episode.path)
    original = file.read_bytes()
    try:
        file.write_text(content)
        with pytest.raises(RunError):
            read_info(one_episode.path)
        (listed,) = store.list_runs(one_episode.path.parent)
        assert listed.status == "unreadable"
    finally:
        file.write_bytes(original)


def test_an_event_of_another_type_is_one_clear_error_and_a_cut_one_does_not_count(
    one_episode: Run,
):
    file = layout.EVENTS.path(one_episode.path)
    original = file.read_bytes()
    before = one_episode.events()
    try:
        file.write_bytes(original + b'{"kind": "checkpoint", "env_st')
        assert one_episode.events() == before
        for line in (b'{"kind": 3}', b"[]", b'{"kind": "rule", "changes": [1]}'):
            file.write_bytes(original + line + b"\n")
            with pytest.raises(RunError, match="is damaged") as error:
                one_episode.events()
            assert f"{file}:{len(original.splitlines()) + 1}" in str(error.value)
        call_readers(one_episode)
    finally:
        file.write_bytes(original)
