"""`gymnast report` of a self-play run: every number of its tables is that of the rows or of cross-play."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gymnast import api
from gymnast.errors import UsageError
from gymnast.insight.report import pictures
from gymnast.insight.report.roles import VERSIONS
from gymnast.insight.role_charts import role_charts, version_win_rates
from gymnast.insight.self_play import describe_self_play
from gymnast.league.matrix import CrossPlayMatrix
from gymnast.league.results import Results, Tally
from gymnast.metrics.store import MetricStore
from gymnast.rl.statistics import wilson_interval
from gymnast.runs.run import Run
from gymnast.selfplay.task import cross_play
from tests.small_runs import rows, train_small

N_ENVS, N_STEPS, ROLLOUTS = 4, 16, 10
SETTINGS = {
    "env.n_envs": N_ENVS,
    "env.kwargs": {"time_limit": 12},
    "algo.n_steps": N_STEPS,
    "stop.env_steps": ROLLOUTS * N_STEPS * N_ENVS,
    "eval.every": "1 rollouts",
    "league.snapshot": "3 rollouts",
    "league.opponents": ["weak", "strong"],
}
Lines = list[list[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYMNAST_RUNS", str(tmp_path_factory.mktemp("runs")))
        return train_small("tag", SETTINGS)


@pytest.fixture
def without_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces drawing, which takes a tenth of a second per picture."""
    monkeypatch.setattr(pictures, "chart_png", lambda chart: chart.name.encode())


def report(run: Run, out: Path) -> str:
    api.report(str(run.path), ["md"], out, "env_steps", runs_dir=run.path.parent)
    return (out / "report.md").read_text()


def tables(text: str) -> dict[str, Lines]:
    """Returns heading -> the first table below it: its head, then its lines."""
    found: dict[str, Lines] = {}
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
        heading, _, content = section.partition("\n")
        lines = [line for line in content.splitlines() if line.startswith("| ")]
        if lines:
            cells = [line.strip("| ").split(" | ") for line in lines]
            found[heading] = [line for line in cells if set(line) != {"---"}]
    return found


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def rate(row: dict[str, float], scope: str, name: str = "match/win") -> str:
    low, high = (f"{100 * row[f'{scope}:{name}_{end}']:.0f}" for end in ("low", "high"))
    return f"{percent(row[f'{scope}:{name}_rate'])} [{low}, {high}]"


@pytest.mark.usefixtures("without_drawing")
@pytest.mark.parametrize("role", ["seeker", "hider"])
def test_the_table_of_a_role_has_the_numbers_of_its_evaluations(
    run: Run, tmp_path: Path, role: str
):
    head, *lines = tables(report(run, tmp_path))[f"Evaluations of the {role}"]
    assert head == [
        *("env steps", "return", "win rate", "vs. weak", "vs. strong"),
        *("rating", "steps", "tag", "timeout", "unknown"),
    ]
    scored = [row for row in rows(run) if "eval:clock/env_steps" in row]
    by_version = {f"{row['eval:clock/env_steps']:,.0f}": row for row in scored}
    assert len(by_version) > VERSIONS == len(lines)
    versions = sorted(by_version, key=lambda text: int(text.replace(",", "")))
    assert [lines[0][0], lines[-1][0]] == [versions[0], versions[-1]]
    for version, *cells in lines:
        row, scope = by_version[version], f"eval/{role}"
        rating, low, high = (
            f"{row[f'{scope}:league/rating{end}']:.0f}" for end in ("", "_low", "_high")
        )
        assert float(cells[0]) == pytest.approx(row[f"{scope}:episode/return"], abs=0.006)
        assert cells[1:5] == [
            rate(row, scope),
            rate(row, f"{scope}/weak"),
            rate(row, f"{scope}/strong"),
            f"{rating} [{low}, {high}]",
        ]
        assert float(cells[5]) == pytest.approx(row[f"{scope}:match/duration"], abs=0.06)
        outcomes = ("tag", "timeout", "unknown")
        assert cells[6:] == [percent(row[f"{scope}:match/{name}_share"]) for name in outcomes]


@pytest.mark.usefixtures("without_drawing")
def test_the_last_matches_of_training_are_those_of_the_last_rows(run: Run, tmp_path: Path):
    text = report(run, tmp_path)
    head, *lines = tables(text)["Last matches of training"]
    last: dict[str, float] = {}
    for row in rows(run):
        last |= row
    assert head[:3] == ["role", "return", "win rate against learning opponents"]
    for role, mean_return, live, past in lines:
        assert float(mean_return) == pytest.approx(last[f"{role}:episode/return"], abs=0.006)
        assert live == rate(last, role, "league/win")
        assert past == percent(last[f"{role}:league/past_win_rate"])
    shares = [
        f"{name} {percent(last[f'match/{name}_share'])}" for name in ("tag", "timeout", "unknown")
    ]
    assert f"Steps per match: {last['match/duration']:.1f}. Outcomes: {', '.join(shares)}." in text


@pytest.mark.usefixtures("without_drawing")
def test_there_is_a_chart_over_time_of_everything_about_the_roles(run: Run, tmp_path: Path):
    text = report(run, tmp_path)
    expected = {
        *("role-returns", "win-rate-seeker", "win-rate-hider", "role-ratings", "role-lengths"),
        *("outcomes-training", "outcomes-seeker", "outcomes-hider"),
    }
    assert expected <= {Path(name).stem for name in re.findall(r"\]\((\S+\.png)\)", text)}
    drawn = {chart.name: chart for chart in role_charts(describe_self_play(run, "env_steps"))}
    assert drawn.keys() == expected
    measured = [row for row in rows(run) if "seeker:episode/return" in row]
    line = next(s for s in drawn["role-returns"].series if s.label == "training seeker")
    assert line.x == [row["clock/env_steps"] for row in measured]
    assert line.y == [row["seeker:episode/return"] for row in measured]
    lengths = next(s for s in drawn["role-lengths"].series if s.label == "evaluation hider")
    scored = {
        row["eval:clock/env_steps"]: row["eval/hider:match/duration"]
        for row in rows(run)
        if "eval:clock/env_steps" in row
    }
    assert dict(zip(lengths.x, lengths.y, strict=True)) == scored


@pytest.mark.usefixtures("without_drawing")
def test_without_cross_play_the_report_names_the_command_and_with_it_has_the_matrix(
    run: Run, tmp_path: Path
):
    before = report(run, tmp_path / "before")
    assert f"`gymnast league {run.id} --matrix`" in before
    played = cross_play(
        str(run.path),
        episodes=3,
        max_snapshots=3,
        runs_dir=str(run.path.parent),
        progress=lambda *_: None,
    )
    after = report(run, tmp_path / "after")
    assert "--matrix" not in after
    head, *lines = tables(after)["Cross-play"]
    assert head[0] == f"{played.row_role} \\ {played.column_role}"
    assert len(lines) == len(played.rows)
    for cells, (_, *texts) in zip(played.cells, lines, strict=True):
        assert [cell.rate_text() for cell in cells] == texts
    assert "each from 3 matches with a known outcome" in after
    for name in ("cross-play", "cross-play-versions"):
        assert (tmp_path / "after" / f"{name}.png").is_file()


def test_the_win_rate_of_a_version_counts_its_matches_against_versions_of_the_other_role():
    pairs = {
        ("step:100", "step:100"): Tally(10, 30),
        ("step:100", "step:200"): Tally(5, 15, unknown=7),
        ("step:200", "step:100"): Tally(30, 10),
        ("step:200", "step:200"): Tally(10, 6, draws=4),
        ("step:200", "scripted:weak"): Tally(40, 0),
        ("scripted:weak", "step:200"): Tally(0, 40),
    }
    matrix = CrossPlayMatrix.from_results(Results("seeker", "hider", pairs)).report()
    assert version_win_rates(matrix, "seeker") == {
        100: wilson_interval(15, 60),
        200: wilson_interval(42, 60),
    }
    assert version_win_rates(matrix, "hider") == {
        100: wilson_interval(40, 80),
        200: wilson_interval(23, 40),
    }


def test_a_self_play_run_without_rows_has_a_report(tmp_path: Path):
    run = Run.create(
        tmp_path, config_text="seed: 0\n", preset="tag:selfplay", seed=0, provenance={}, env="tag"
    )
    MetricStore(run.path / "metrics.db", "w").close()
    assert "## Roles" in report(run, tmp_path / "out")


@pytest.mark.usefixtures("without_drawing")
def test_without_matplotlib_the_matrix_is_a_table(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pictures, "has_matplotlib", lambda: False)
    text = report(run, tmp_path)
    assert ".png" not in text
    assert "### Cross-play" in text


def test_a_report_over_an_unknown_clock_is_refused(run: Run, tmp_path: Path):
    with pytest.raises(UsageError, match="fortnights"):
        api.report(str(run.path), ["md"], tmp_path, "fortnights", runs_dir=run.path.parent)
