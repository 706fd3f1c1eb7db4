"""Everything that depends on the kind of an action is answered by `Action` and `Head`."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from gymnasium.spaces import Box

import gymnast
from gymnast.policy import actions as heads
from gymnast.policy.actions import head_for
from gymnast.policy.head import Family, Head
from gymnast.spaces import spaces
from gymnast.spaces.spaces import Action, convert_action_space
from tests.identity import ACTIONS

ROOT = Path(gymnast.__file__).parent
KINDS = {kind.__name__ for kind in Action.__subclasses__()}
HEADS = {
    name for name in heads.__all__ if isinstance(getattr(heads, name), type) and name != "Head"
}
MAY_NAME_KINDS = {
    "spaces": KINDS,
    "policy": KINDS | HEADS,
    "engine": {"Composite", *HEADS},
    "envs/matches/tag/arena.py": {"MultiDiscreteAction"},  # declares its own space
    "envs/wrappers/action_noise.py": {"CompositeAction"},  # refuses it
}
"""Folder or file -> the kinds and heads that it may import."""


def imported_kinds(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    found = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
    ours = [n for n in found if str(n.module).startswith(("gymnast.spaces", "gymnast.policy"))]
    return {alias.name for node in ours for alias in node.names} & (KINDS | HEADS)


def test_only_spaces_heads_and_engines_know_the_kinds():
    found = {
        str(path.relative_to(ROOT)): kinds
        for path in sorted(ROOT.rglob("*.py"))
        if (kinds := imported_kinds(path))
    }
    for path, kinds in found.items():
        place = next((p for p in MAY_NAME_KINDS if path == p or path.startswith(f"{p}/")), None)
        assert place is not None, f"{path} asks for the kind of an action: {kinds}"
        assert kinds <= MAY_NAME_KINDS[place], path


def test_every_kind_is_tested_and_every_head_has_a_family():
    tested = {type(convert_action_space(make())).__name__ for make in ACTIONS.values()}
    assert tested == KINDS
    families = {getattr(heads, name).family for name in HEADS}
    assert families == set(get_args(Family))
    assert all(issubclass(getattr(heads, name), Head) for name in HEADS)


@pytest.mark.parametrize("name", ACTIONS)
def test_the_forms_of_an_action_fit_each_other(name: str):
    space = ACTIONS[name]()
    space.seed(1)
    kind = convert_action_space(space)
    is_integer_box = isinstance(space, Box) and np.issubdtype(space.dtype, np.integer)
    assert kind.name == ("MultiDiscrete" if is_integer_box else type(space).__name__)
    assert spaces.from_json(spaces.to_json(kind)) == kind
    head, rng = head_for(kind), np.random.default_rng(0)
    rows = kind.random((7,), rng)
    assert (rows.shape[1:], rows.dtype) == (kind.row_spec.shape, kind.row_spec.dtype)
    flat = kind.flatten(rows)
    assert flat.shape == (7, len(kind.elements))
    assert np.array_equal(kind.unflatten(flat), rows)
    for action, row in zip(kind.unpack_each(rows), rows, strict=True):
        assert space.contains(action)
        assert np.array_equal(kind.pack(action), row)
        assert space.contains(kind.unpack(row))
    low, high = (np.array([getattr(e, end) for e in kind.elements]) for end in ("low", "high"))
    assert ((low <= flat) & (flat <= high)).all()
    # what the head gives the environment has the same form
    extra = np.zeros(head.n_outputs, np.float32)
    dist = head.dist_parameters(np.zeros((7, head.n_outputs), np.float32), extra, None)
    given = head.for_env(head.sample(dist, head.noise(rng, (7,))))
    assert (given.shape, given.dtype) == (rows.shape, rows.dtype)
    assert head.option_probabilities(dist).shape == (7, kind.mask_width)
    assert head.mode(dist).shape == (7, *head.action_spec.shape)
    columns = head.table_columns(head.mode(dist), dist)
    assert all(len(column) == 7 for column in columns.values())


@pytest.mark.parametrize("name", ACTIONS)
def test_random_actions_are_uniform_over_what_the_mask_allows(name: str):
    kind = convert_action_space(ACTIONS[name]())
    if not kind.options:
        return
    rng, n = np.random.default_rng(0), 4000
    mask, at = np.ones(kind.mask_width, bool), 0
    for options in kind.options:  # without the first option of each element
        mask[at] = options == 1
        at += options
    flat = kind.flatten(kind.random((n,), rng, np.tile(mask, (n, 1))))
    chosen = flat[:, ~kind.is_continuous].astype(int)
    for column, options in zip(chosen.T, kind.options, strict=True):
        share = np.bincount(column, minlength=options) / n
        assert share[0] == 0
        assert share[1:] == pytest.approx(1 / (options - 1), abs=0.04)
