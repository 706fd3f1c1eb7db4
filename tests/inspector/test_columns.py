"""The columns of step tables: declared once, and documented as declared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gymnast.inspector.moments import OUTLIER, KeyMoment
from gymnast.inspector.text import MARKS
from gymnast.runs.step_columns import COLUMNS, column_spec, describe_columns

PAGE = (Path(__file__).parents[2] / "docs" / "inspector.md").read_text()


def test_the_page_explains_every_column_of_an_episode():
    declared = [
        (name, spec.unit or "-", spec.doc)
        for name, spec in COLUMNS.items()
        if spec.table != "rollout"
    ]
    assert re.findall(
        r"^\| `([^`]+)` \| (nats|reward|learned reward|-) \| (.+) \|$", PAGE, re.M
    ) == (declared)


def test_the_page_explains_every_kind_of_key_moment():
    rows = dict(re.findall(r"^\| `(\w+)` \| `(.+?)` \| .+ \|$", PAGE, re.M))
    assert rows == {kind: mark.replace("|", "\\|") for kind, mark in MARKS.items()}
    assert all(f"{kind}:" in (KeyMoment.__doc__ or "") or kind in rows for kind in MARKS)
    assert f"at least {OUTLIER:g} robust standard deviations" in PAGE


def test_names_with_a_prefix_have_the_meaning_of_their_group():
    infos = describe_columns(
        ["obs/pole angle", "p/push left", "action/0.1", "mask/a", "expected_outcome", "reward_raw"],
        {"obs/pole angle": "rad"},
        {"expected_outcome": "0 is bad"},
    )
    assert [(info.label, info.unit, info.group) for info in infos] == [
        ("pole angle", "rad", "observation"),
        ("P(push left)", "", "policy"),
        ("0.1", "", "action"),
        ("a allowed", "", "policy"),
        ("expected outcome", "", "value"),
        ("reward", "reward", "reward"),
    ]
    assert infos[4].doc.endswith(": 0 is bad")
    with pytest.raises(KeyError):
        column_spec("mystery")


def test_every_declaration_is_complete():
    for name, spec in COLUMNS.items():
        assert spec.doc, name
        assert spec.label, name
        assert ("*" in spec.label) == name.endswith("/*"), name
        if name.endswith("_raw"):
            assert spec.unit == "reward"
        if name.endswith("_learned"):
            assert spec.unit == "learned reward"
