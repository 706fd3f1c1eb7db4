"""Did you mean ...? One way of guessing what a mistyped name was meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(word: str, known: Iterable[str], n: int = 3) -> str:
    """`; did you mean A or B?` for an unknown name, or nothing. Letter case does not matter."""
    names = {name.lower(): name for name in known}
    word = word.lower()
    near = get_close_matches(word, names, n=n, cutoff=0.6)
    near = near or [name for name in names if word and word in name][:n]
    return f"; did you mean {' or '.join(names[name] for name in near)}?" if near else ""
