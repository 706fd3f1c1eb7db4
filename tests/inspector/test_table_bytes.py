"""Tables on their way from a worker to the process that asked."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from gymnast.inspector.table_bytes import Cell, put_table, take_table

CELLS = (
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(),
    st.text(),
    st.none() | st.floats(allow_nan=False),
)


@dataclass(frozen=True)
class Record:
    """A record with a table."""

    n: int
    table: dict[str, list[Cell]]


def columns(n: int) -> st.SearchStrategy[list[Cell]]:
    return st.one_of(*(st.lists(cells, min_size=n, max_size=n) for cells in CELLS))


tables = st.integers(0, 4).flatmap(lambda n: st.dictionaries(st.text(), columns(n), max_size=6))


@given(tables)
def test_a_table_arrives_as_it_was_sent(table: dict[str, list[Cell]]):
    sent, content = take_table(Record(3, table))
    assert sent == Record(3, {})
    found = put_table(sent, content).table
    assert repr(found) == repr(table)  # types, NaN and the sign of zero included


def test_other_records_are_sent_as_json():
    assert take_table([1]) == ([1], b"")
    assert put_table("x", b"") == "x"
