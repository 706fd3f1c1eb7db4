"""Answers fit into their budget, say what they lack, and can be continued without gaps."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.mcp.answer import BYTES_PER_TOKEN, Answer, Listing, fit
from gymnast.mcp.shape import compact, n_bytes, rounded, table

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=200),
    lambda inner: (
        st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=12), inner, max_size=8)
    ),
    max_leaves=30,
)


@given(st.floats(allow_nan=False, allow_infinity=False, width=64))
def test_numbers_have_four_significant_digits_and_whole_numbers_all_of_them(number: float):
    shown = rounded(number)
    if number == int(number) and abs(number) < 2**53:
        assert shown == number
    else:
        assert math.isclose(shown, number, rel_tol=5.1e-4, abs_tol=5e-324)
        digits = Decimal(repr(shown)).normalize().as_tuple().digits
        assert len(digits) <= 4 or abs(number) > 1.797e308


def test_empty_values_are_left_out_but_zero_and_false_are_not():
    record = {"a": None, "b": "", "c": [], "d": {}, "e": 0, "f": False, "g": {"h": None}}
    assert compact(record) == {"e": 0, "f": False}


def test_a_table_names_its_columns_once():
    listed = table([{"a": 1, "b": 2}, {"b": 3}])
    assert listed == {"columns": ["a", "b"], "rows": [[1, 2], [None, 3]]}


@settings(max_examples=40)
@given(
    st.dictionaries(st.text(max_size=12), JSON, max_size=8),
    st.integers(100, 3000),
    st.booleans(),
)
def test_any_answer_fits(content: dict[str, Any], tokens: int, full: bool):
    fitted = fit(Answer("summary", content, next="runs()"), tokens=tokens, full=full)
    size = n_bytes(fitted.content) + len(fitted.summary.encode())
    # 100 tokens are less than what the last fields of an answer may need
    assert size <= max(tokens * BYTES_PER_TOKEN, 900)
    whole = compact(content, full=full)
    assert isinstance(whole, dict)
    if (
        whole != {k: v for k, v in fitted.content.items() if k in whole}
        and "left_out" not in content
    ):
        assert fitted.content.get("left_out")


@given(
    st.lists(st.text(max_size=300), min_size=1, max_size=60),
    st.integers(450, 2000),
)
def test_a_listing_that_is_cut_continues_at_its_cursor_without_a_gap(items: list[str], tokens: int):
    shown: list[str] = []
    items = [f"{i} {item}" for i, item in enumerate(items)]
    for _ in range(len(items)):
        start = len(shown)
        listing = Listing(
            "items",
            total=len(items),
            before=start,
            cursor_after=lambda n, start=start: str(start + n),
        )
        answer = Answer("s", {"total": len(items), "items": items[start:]}, listing=listing)
        fitted = fit(answer, tokens=tokens)
        page = fitted.content["items"]
        assert isinstance(page, list)
        if len(page) == 1 and page[0] != items[start]:  # one item that is too long by itself
            page = [items[start]]
        shown += page  # pyright: ignore[reportArgumentType]
        if "cursor" not in fitted.content:
            break
        assert fitted.content["cursor"] == str(len(shown))
        left = len(items) - len(shown)
        assert f"{left} more items" in str(fitted.content["left_out"])
    assert shown == items


def test_the_order_is_counts_contents_then_how_to_continue():
    answer = Answer("s", {"total": 2, "runs": ["a", "b"]}, next="runs()", left_out=("more",))
    assert list(fit(answer).content) == ["total", "runs", "left_out", "next"]


@pytest.mark.parametrize("full", [False, True])
def test_content_is_valid_json(full: bool):
    answer = Answer("s", {"x": math.nan, "y": math.inf, "z": 1 / 3})
    content = fit(answer, full=full).content
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["z"] == (1 / 3 if full else 0.3333)
