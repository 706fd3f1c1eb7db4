"""The answer of a tool, and how it fits into a number of tokens.

An answer has counts before contents. If it is too long, the list that can be continued is cut first, and its
cursor names the place; then texts and lists, the longest first. `left_out` says what was cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from gymnast.mcp.shape import Fields, compact, dumps, n_bytes
from gymnast.records import JsonValue

BYTES_PER_TOKEN = 4
"""Rough size of a token of English and JSON."""
DEFAULT_TOKENS = 1000
"""Maximum size of an answer, unless the call asks for more."""
MAX_TOKENS = 8000
"""Maximum size of any answer."""
ENVELOPE_BYTES = 360
"""Room for what the protocol adds to an answer."""
SHORTEST_TEXT = 80
"""Texts are not cut below this number of characters."""


@dataclass(frozen=True)
class Picture:
    """An image that belongs to an answer."""

    data: bytes
    mime_type: str = "image/png"


@dataclass(frozen=True)
class Listing:
    """A list in an answer that a cursor continues."""

    field: str
    """The name of its field; a dot leads into an object: `table.rows`."""
    total: int | None = None
    """Number of items of the whole list, if it is known."""
    before: int = 0
    """Number of items before those of this answer."""
    cursor_after: Callable[[int], str] | None = None
    """Returns the cursor that continues after the first n items of this answer."""
    has_more: bool = False
    """Whether there are items after those of this answer."""


@dataclass(frozen=True)
class Answer:
    """The result of a call, before it is fitted into a number of tokens."""

    summary: str
    """One line with the essentials."""
    content: Mapping[str, object]
    """Field -> record or value, counts before contents."""
    listing: Listing | None = None
    """The list that can be continued."""
    next: str = ""
    """The next useful call."""
    left_out: tuple[str, ...] = ()
    """Clauses that name things which exist and are not in the answer."""
    pictures: tuple[Picture, ...] = ()
    text: str = ""
    """A text of several lines, such as a chart, which is sent as it is."""


@dataclass(frozen=True)
class FittedAnswer:
    """An answer that fits into its budget."""

    summary: str
    content: Fields
    pictures: tuple[Picture, ...] = ()
    text: str = ""


def fit(answer: Answer, *, tokens: int = DEFAULT_TOKENS, full: bool = False) -> FittedAnswer:
    """Returns the answer in at most so many tokens. `full`: numbers at full precision."""
    summary = _shortened(" ".join(answer.summary.split()), 240)
    room = tokens * BYTES_PER_TOKEN - ENVELOPE_BYTES - len(summary.encode())
    text = _fitted_text(answer.text, room)
    content = cast(Fields, compact(answer.content, full=full))
    left_out = list(answer.left_out)
    tail = _tail(answer, content, left_out, None)
    if n_bytes(content | tail) > room and answer.listing is not None:
        shown = _cut_listing(answer, content, left_out, room)
        tail = _tail(answer, content, left_out, shown)
    if n_bytes(content | tail) > room:
        _cut_longest(content, left_out, max(room - n_bytes(tail) - 160, 200))
        tail = _tail(answer, content, left_out, _length(content, answer.listing))
    return FittedAnswer(summary, content | tail, answer.pictures, text)


def _tail(
    answer: Answer, content: Fields, left_out: list[str], shown: int | None
) -> dict[str, JsonValue]:
    """Returns the last fields of an answer: what it lacks and how to continue. `shown`: number of items that
    the listing was cut to; None if it was not."""
    notes = list(left_out)
    cursor = ""
    listing = answer.listing
    if listing is not None:
        here = _length(content, listing)
        if listing.cursor_after is not None and (shown is not None or listing.has_more):
            cursor = listing.cursor_after(max(here, 1))  # past an item that is too long by itself
        rest = None if listing.total is None else listing.total - listing.before - here
        if (shown is not None or listing.has_more) and rest != 0:
            name = listing.field.rpartition(".")[2]
            notes.insert(0, f"{name} after these" if rest is None else f"{rest} more {name}")
    return {
        key: value
        for key, value in (
            ("cursor", cursor),
            ("left_out", "; ".join(dict.fromkeys(notes))),
            ("next", answer.next),
        )
        if value
    }


def _cut_listing(answer: Answer, content: Fields, left_out: list[str], room: int) -> int:
    """Removes items from the end of the listing until the answer fits, and returns how many are left; at
    least one, if there is one."""
    listing = answer.listing
    assert listing is not None
    items = _items(content, listing)
    sizes = [n_bytes(item) + 1 for item in items]
    longest_tail = n_bytes(_tail(answer, content, left_out, len(items))) + 60
    spare = room - longest_tail - (n_bytes(content) - sum(sizes))
    kept = 0
    while kept < len(items) and sizes[kept] <= spare:
        spare -= sizes[kept]
        kept += 1
    del items[max(kept, 1) :]
    return len(items)


def _items(content: Fields, listing: Listing) -> list[JsonValue]:
    value: JsonValue = content
    for part in listing.field.split("."):
        value = value.get(part, []) if isinstance(value, dict) else []
    return value if isinstance(value, list) else []


def _length(content: Fields, listing: Listing | None) -> int:
    return 0 if listing is None else len(_items(content, listing))


def _cut_longest(content: Fields, left_out: list[str], room: int) -> None:
    """Shortens the longest texts and lists of an answer until it has at most `room` bytes."""
    cut: dict[str, None] = {}
    while n_bytes(content) > room:
        path, holder, key = max(_cuttable(content, ""), key=lambda item: _weight(item[1], item[2]))
        value = holder[key]  # pyright: ignore[reportArgumentType, reportCallIssue]
        if isinstance(value, str) and len(value) > SHORTEST_TEXT:
            holder[key] = _shortened(value, max(SHORTEST_TEXT, len(value) // 2))  # pyright: ignore[reportArgumentType, reportCallIssue]
        elif isinstance(value, list) and len(value) > 1:
            del value[len(value) // 2 :]
        elif isinstance(value, dict) and len(value) > 1:
            for name in list(value)[len(value) // 2 :]:
                del value[name]
        else:
            del holder[key]  # pyright: ignore[reportArgumentType, reportCallIssue]
        cut[path] = None
    left_out.extend(f"the rest of {path}" for path in list(cut)[:3])


def _cuttable(
    value: JsonValue, path: str
) -> list[tuple[str, dict[str, JsonValue] | list[JsonValue], str | int]]:
    """Returns (path, container, key) of every text, list and object inside a value."""
    found: list[tuple[str, dict[str, JsonValue] | list[JsonValue], str | int]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            found.append((inner := f"{path}.{key}" if path else key, value, key))
            found += _cuttable(item, inner)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            if isinstance(item, dict | list):
                found += _cuttable(item, path)
            elif isinstance(item, str) and len(item) > SHORTEST_TEXT:
                found.append((path, value, i))
    return found


def _weight(holder: dict[str, JsonValue] | list[JsonValue], key: str | int) -> float:
    """Returns how much is saved by cutting a value: its bytes, but those of an object only if nothing inside
    is longer than a short text."""
    value = holder[key]  # pyright: ignore[reportArgumentType, reportCallIssue]
    size = n_bytes(value)
    if isinstance(value, dict):
        inner = max((n_bytes(item) for item in value.values()), default=0)
        return size if inner <= SHORTEST_TEXT else 0.5
    if isinstance(value, list):
        inner = max((n_bytes(item) for item in value), default=0)
        return size if inner < size / 2 or len(value) > 2 else size / 4
    return size if isinstance(value, str) else 0.1


def _fitted_text(text: str, room: int) -> str:
    """Returns as many parts of a text, which blank lines separate, as fit; the last line says how many are
    left out."""
    parts = text.split("\n\n")
    kept = len(parts)
    while kept and len("\n\n".join(parts[:kept]).encode()) > room - (
        30 if kept < len(parts) else 0
    ):
        kept -= 1
    left_out = [f"left out: {len(parts) - kept} more parts"] if kept < len(parts) else []
    return "\n\n".join(parts[:kept] + left_out)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def text_answer(answer: FittedAnswer) -> str:
    """Returns the whole answer as one text."""
    return answer.text or dumps({"summary": answer.summary} | answer.content)
