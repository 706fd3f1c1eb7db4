"""Suggestions for mistyped names: `did you mean ...?`"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_SUGGESTION = re.compile(r"\bdid you mean (.+?)(?: or .+)?\?")


def did_you_mean(word: str, known: Iterable[str], n: int = 3) -> str:
    """Returns `; did you mean A or B?` with up to `n` names of `known` that are similar to `word` or contain
    it, or an empty text if there is none. Ignores letter case."""
    matches = similar(word, known, n)
    return f"; did you mean {' or '.join(matches)}?" if matches else ""


def similar(word: str, known: Iterable[str], n: int = 3) -> list[str]:
    """Returns up to `n` names of `known` that are similar to `word`, the most similar first, or else contain
    it. Ignores letter case."""
    names = {name.lower(): name for name in known}
    word = word.lower()
    matches = get_close_matches(word, names, n=n, cutoff=0.6)
    # A part of a name is not similar to it by edit distance: `lander` and `LunarLander-v3`.
    matches = matches or [name for name in names if word and word in name][:n]
    return [names[name] for name in matches]


def suggested(message: str) -> str:
    """Returns the first name that `did_you_mean` has put into a message; empty if it has none."""
    found = _SUGGESTION.search(message)
    return found[1] if found else ""
