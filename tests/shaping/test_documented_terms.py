"""The examples and the table in docs/shaping.md are correct."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from gymnast.config.sections.shaping import TERMS
from tests.small_runs import rows, train_small

PAGE = (Path(__file__).parents[2] / "docs" / "shaping.md").read_text()
SMALL = {"env.n_envs": 2, "algo.n_steps": 32, "stop.rollouts": 3, "eval.every": "off"}


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.S)


def test_the_table_lists_every_term_with_its_settings():
    lines = {m[1]: m[0] for m in re.finditer(r"^\| `(\w+)` \|.*$", PAGE, re.M)}
    assert list(lines) == list(TERMS)
    assert all(part in lines["hit"] for part in TERMS["hit"].required_obs)


def test_the_example_of_custom_terms_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_terms.py").write_text(blocks("python")[0])
    run = train_small("CartPole-v1", SMALL | YAML(typ="safe").load(blocks("yaml")[-1]))
    last = [row for row in rows(run) if "shaping/total" in row][-1]
    assert last["shaping/gently"] < 0
    parts = [last[f"shaping/{name}"] for name in ("upright", "gently", "centered_at_end")]
    assert sum(parts) == pytest.approx(last["shaping/total"])
    assert parts[-1] > 0


def test_the_first_example_works():
    run = train_small("MountainCar-v0", SMALL | YAML(typ="safe").load(blocks("yaml")[0]))
    assert {"shaping/energy", "shaping/slow", "shaping/count"} <= rows(run)[0].keys()


def test_the_example_of_info_terms_works():
    pytest.importorskip("mujoco")
    terms = YAML(typ="safe").load(blocks("yaml")[1])
    run = train_small("HalfCheetah-v5", SMALL | {"algo.batch_size": "50%"} | terms)
    last = [row for row in rows(run) if "shaping/total" in row][-1]
    assert last["shaping/effort"] < 0
