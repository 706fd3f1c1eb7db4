"""Every evaluation ends: at a deadline, after enough time, or without the episodes that kill its process.
Missing episodes are counted and named, and a biased score counts neither as solved nor as best."""

from __future__ import annotations

import os
import tempfile
import time
from typing import Any

import pytest

from gymnast.config.resolve import resolve
from gymnast.errors import EnvError
from gymnast.evaluation import jobs, progress, rescore
from gymnast.evaluation.episodes import EpisodePlan, EvaluationProgress
from gymnast.evaluation.jobs import EvaluationJob, ProcessEvaluation
from gymnast.evaluation.journal import Journal
from gymnast.runs import checkpoint, store
from gymnast.seeds import episode_seed
from tests.scripted import Script
from tests.small_runs import rows, train_small
from tests.training.test_playing_a_plan import evaluator_of, policy_for

KILLED = episode_seed(1000, "eval", 2)
HELD_OUT = episode_seed(1000, "confirm", 2)


class Endless(Script):
    """Episodes of odd seeds never end."""

    def step(self, action: Any) -> Any:
        obs, reward, *ends, info = super().step(action)
        return obs, reward, *([False, False] if self.seed % 2 else ends), info


def endless(settings: dict[str, Any]) -> Any:
    target = f"py:{__name__}:Endless"
    return resolve(target, {"stop.env_steps": 1000, "facts.deterministic": "yes"} | settings).config


def test_at_the_timeout_finished_episodes_are_scored_and_the_others_are_listed():
    evaluator = jobs.Evaluator(endless({"eval.max_episode_steps": "off", "eval.n_envs": 4}))
    plan = EpisodePlan(tuple(range(10)), timeout=0.5)
    found, traces = evaluator.evaluate(policy_for(evaluator), 0, plan)
    expected = [seed for seed in range(10) if seed % 2 == 0]
    assert found.seeds == tuple(expected)[: len(found.seeds)]
    assert len(traces) == len(found.seeds) > 0
    missing = found.shortfall
    assert missing.unfinished == 10 - len(found.seeds)
    assert not missing.is_unbiased
    assert "had not finished after 0.5 s: the episode of seed 1 (copy 1) after" in missing.why


def test_a_run_whose_evaluations_do_not_finish_ends_and_claims_nothing(monkeypatch):
    settings = {"eval.timeout": 0.1, "eval.max_episode_steps": "off", "facts.threshold": -99}
    settings |= {"facts.deterministic": "yes", "stop.rollouts": 2, "env.n_envs": 2}
    monkeypatch.setattr("tests.scripted.Endless", Endless, raising=False)
    run = train_small("Endless", settings | {"algo.n_steps": 8, "eval.every": "1 rollouts"})
    assert (run.info["status"], run.info["solved"]) == ("finished", False)
    found = [event for event in run.events() if event["kind"].endswith("incomplete")]
    assert {event["kind"] for event in found} == {
        "evaluation incomplete",
        "confirmation incomplete",
    }
    assert all("after 0.1 s" in event["why"] for event in found)


def test_after_the_time_limit_no_episode_is_started_and_the_first_seeds_are_scored():
    evaluator = evaluator_of("Script", {"eval.n_envs": 2})
    plan = EpisodePlan(tuple(range(30)), max_seconds=1.0, min_episodes=5)
    late = EvaluationProgress(started_at=time.monotonic() - 2)
    found, _ = evaluator.evaluate(policy_for(evaluator), 0, plan, late)
    assert found.seeds == (0, 1, 2, 3, 4)
    assert (found.shortfall.skipped, found.shortfall.is_unbiased) == (25, True)
    score = found.score()
    assert (score["episodes"], score["planned"]) == (5, 30)
    assert "no further episode was started after 1.0 s" in score["missing"]
    whole, _ = evaluator.evaluate(
        policy_for(evaluator), 0, EpisodePlan(tuple(range(30)), max_seconds=99.0)
    )
    assert len(whole.seeds) == 30
    assert "planned" not in whole.score()


def test_the_confirmation_is_bounded_and_the_summary_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jobs, "MIN_EPISODES", 3)
    few = {"eval.n_envs": 2, "eval.confirm_seconds": 1e-9, "eval.confirm_episodes": 12}
    run = train_small("Script", few | {"stop.rollouts": 1, "env.n_envs": 2, "algo.n_steps": 8})
    assert run.info["score"]["episodes"] == 12  # training took longer than that
    monkeypatch.setattr("gymnast.clock.Clock.seconds", property(lambda _: 0.0, lambda *_: None))
    run = train_small("Script", few | {"stop.rollouts": 1, "env.n_envs": 2, "algo.n_steps": 8})
    assert run.info["score"]["episodes"] == 3
    assert run.info["score"]["planned"] == 12
    assert "of 12 episodes, because no further" in (run.path / "log.txt").read_text()


def killer(only: int, **more: Any) -> dict[str, Any]:
    kwargs = {"how": "killed", "at": 2, "only": only}
    return {"env.kwargs": kwargs, "facts.deterministic": "yes", "eval.n_envs": 2} | more


def submitted(settings: dict[str, Any]) -> tuple[ProcessEvaluation, list[str]]:
    """Returns a submitted evaluation in a process of its own, and the list of its log lines."""
    evaluator = evaluator_of("Broken", settings)
    policy, lines = policy_for(evaluator), list[str]()
    process = ProcessEvaluation(evaluator.cfg, lines.append)
    arrays = {f"agent/{name}": array for name, array in policy.arrays().items()}
    process.submit(EvaluationJob(7, {"agent": policy.spec()}, arrays, "eval", None))
    return process, lines


def test_an_episode_that_kills_its_process_is_left_out_and_the_others_are_scored():
    process, lines = submitted(killer(KILLED, **{"eval.episodes": 4}))
    found = process.result(lambda: False)
    process.close()
    assert found is not None
    healthy = evaluator_of("Broken", killer(-1, **{"eval.episodes": 4}))
    expected, _ = healthy.evaluate(policy_for(healthy), 7, healthy.plan("eval"))
    pairs = zip(expected.seeds, expected.returns, strict=True)
    others = [(seed, value) for seed, value in pairs if seed != KILLED]
    assert list(zip(found.seeds, found.returns, strict=True)) == others
    assert (found.shortfall.left_out, found.shortfall.planned) == (1, 4)
    assert "the evaluation process died with exit code -9 (SIGKILL)" in found.shortfall.why
    assert len(lines) == 2  # once among others, once alone


def test_an_environment_that_always_kills_its_process_is_an_error_after_max_faults_attempts():
    process, lines = submitted(killer("all", **{"env.max_faults": 2}))  # type: ignore[arg-type]
    with pytest.raises(
        EnvError, match=r"the evaluation process died with exit code -9 \(SIGKILL\)"
    ):
        process.result(lambda: False)
    process.close()
    assert len([line for line in lines if line.startswith("evaluation: the process died")]) == 2


def test_eval_scores_the_episodes_that_do_not_kill_its_process():
    alone = {"stop.rollouts": 1, "env.n_envs": 2, "algo.n_steps": 8, "eval.every": "off"}
    run = train_small("Broken", killer(-1, **alone))
    config = run.path / "config.yaml"
    text = config.read_text().replace("only: -1", f"only: {HELD_OUT}")
    config.write_text(text.replace("mode: inline", "mode: process"))
    found = rescore.rescore(run.id, episodes=4, runs_dir=store.runs_dir(None))
    assert (found.episodes, found.planned, found.left_out) == (3, 4, 1)
    assert HELD_OUT not in found.seeds


def test_progress_reports_count_the_finished_episodes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0.0)
    reports: list[tuple[int, int]] = []
    cfg = evaluator_of("Script", {"eval.episodes": 6, "eval.n_envs": 2}).cfg
    inline = jobs.InlineEvaluation(cfg, lambda done, total, _: reports.append((done, total)))
    policy = policy_for(evaluator_of("Script"))
    arrays = {f"agent/{name}": array for name, array in policy.arrays().items()}
    inline.submit(EvaluationJob(0, {"agent": policy.spec()}, arrays, "eval", None))
    inline.close()
    assert {total for _, total in reports} == {6}
    assert sorted(reports) == reports
    assert reports[-1][0] >= 4
    assert progress.progress_text(3, 6, 5.0) == "3 of 6 episodes after 5.0 s"


def test_a_journal_records_finished_running_and_blamed_episodes():
    with tempfile.TemporaryFile() as file:
        first = Journal(file)
        first.start(0)
        first.start(1)
        first.finish(0, "result")
        file.write(b"\x80\x05half")  # its writer was killed here
        file.flush()
        second = Journal(file)
        assert (second.finished, second.suspects) == ({0: "result"}, [1])
        second.exclude_suspect("nobody was alone")
        assert second.left_out == {}
        second.start(1, alone=True)
        third = Journal(file)
        third.exclude_suspect("it died")
        assert (third.left_out, third.suspects) == ({1: "it died"}, [])
        assert Journal(file).left_out == {1: "it died"}
        assert os.fstat(file.fileno()).st_size > 0


def test_a_checkpoint_keeps_its_row_when_the_last_evaluation_fails():
    settings = {"stop.rollouts": 2, "env.n_envs": 2, "algo.n_steps": 8, "eval.every": "9 rollouts"}
    settings |= {"facts.deterministic": "yes", "env.kwargs": {"how": "raises", "only": KILLED}}
    with pytest.raises(EnvError, match="ZeroDivisionError"):
        train_small("Broken", settings | {"env.on_fault": "stop"})
    run, _ = store.resolve("@last", store.runs_dir(None))
    saved = checkpoint.latest(run.path).document("metrics")
    assert saved == rows(run)[-1]
