from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gymnast.config.numbers import (
    Count,
    CountOrShare,
    Maybe,
    Number,
    Share,
    Switch,
    format_count,
    format_number,
    parse_number,
)


def read(kind, value):
    return TypeAdapter(kind).validate_python(value)


@pytest.mark.parametrize(
    ("kind", "written", "meant"),
    [
        (Count, "50k", 50_000),
        (Count, "2M", 2_000_000),
        (Count, "1.5k", 1500),
        (Count, "1e5", 100_000),
        (Count, 1e5, 100_000),
        (Count, 64, 64),
        (Number, "1e-3", 1e-3),
        (Number, 3, 3.0),
        (Number, "3k", 3000.0),
        (Number, "-.5", -0.5),
        (Share, "25%", 0.25),
        (Share, "7%", 0.07),
        (Share, 0.5, 0.5),
        (Share, "0%", 0.0),
        (Switch, "on", True),
        (Switch, "off", False),
        (Switch, "true", True),
        (Switch, False, False),
    ],
)
def test_numbers_are_parsed_as_people_write_them(kind, written, meant):
    value = read(kind, written)
    assert value == meant
    assert isinstance(value, type(meant))


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        (Count, 0),
        (Count, -1),
        (Count, 0.5),
        (Count, "half"),
        (Count, True),
        (Count, "50m"),
        (Count, "1e999999"),
        (Count, "inf"),
        (Number, True),
        (Number, None),
        (Number, "nan"),
        (Number, "inf"),
        (Number, [1]),
        (Share, "101%"),
        (Share, 2),
        (Share, "-1%"),
        (Switch, 1),
        (Switch, "yes"),
        (CountOrShare, 0.25),
    ],
)
def test_an_invalid_number_is_rejected_with_the_expected_form(kind, written):
    with pytest.raises(ValidationError, match="expected"):
        read(kind, written)


def test_off_is_none_and_an_empty_value_is_rejected():
    kind = Maybe[Count]
    assert read(kind, "off") is None
    assert TypeAdapter(kind).dump_python(None) == "off"
    with pytest.raises(ValidationError, match="write `off`"):
        read(kind, None)


def test_a_share_is_not_confused_with_a_count():
    whole, one = read(CountOrShare, "100%"), read(CountOrShare, 1)
    assert isinstance(whole, Share)
    assert not isinstance(one, Share)
    assert TypeAdapter(CountOrShare).dump_python(whole) == "100%"
    assert TypeAdapter(CountOrShare).dump_python(one) == 1


@given(st.floats(0, 1))
def test_a_share_survives_a_round_trip_through_text(share):
    assert Share.parse(str(Share(share))) == share


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_survives_a_round_trip_through_text(number):
    assert parse_number(format_number(number)) == number


@given(st.integers(1, 10**15) | st.floats(0.001, 1e12))
def test_a_count_survives_a_round_trip_through_text(number):
    assert parse_number(format_count(number)) == number
