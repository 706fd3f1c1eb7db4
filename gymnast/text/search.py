"""Ranks texts by how well they match the words of a query. Misspelled words match similar ones."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache

from gymnast.text.suggestions import similar

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_WHOLE = re.compile(r"[A-Za-z]+\d*|\d+")
_ENDINGS = ("ing", "ies", "ed", "es", "s", "e", "y")
_LEFT_OUT = frozenset(
    re.findall(
        r"\w+",
        "a all an and any are as at by can do does for from how i if in is it many much my not of on or "
        "per so that the this to what when where which why with",
    )
)
"""Words of a query that are not searched for."""
EXACT, PREFIX, PART, SIMILAR = 1.0, 0.6, 0.4, 0.8
"""How well a word matches a word of the query: equal, longer, containing it, or similarly spelled."""
CLOSE = 0.82
"""Smallest similarity of a misspelled word, from 0 to 1."""
NAME, PHRASE = 4.0, 4.0
"""Weight of the words of a name; factor for a field that has the words of the query as one phrase."""
SHORT_QUERY = 3
"""If a query has at most this many words, a document must have as many of them as the best one."""


@dataclass(frozen=True)
class Document:
    """A text to be found."""

    name: str
    fields: Mapping[float, str]
    """Weight -> text; the name counts in addition, with the weight NAME."""


@dataclass(frozen=True)
class Matches:
    """The documents that match a query."""

    ranked: list[int]
    """Their indices, the best first."""
    corrected: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Word of the query that occurs nowhere -> the words that were searched for instead."""


def rank(query: str, documents: Sequence[Document]) -> Matches:
    """Returns the documents that match a query: first one that has the query as its name, then those with
    most of its words, of these the ones with rare words and with words in their names. With an empty query,
    all documents match."""
    searched = (word for word in _words(query) if word not in _LEFT_OUT and _is_word(word))
    words = {stem(word): word for word in searched}
    if not words:
        return Matches(list(range(len(documents))))
    weights = [_weights(one.name, tuple(one.fields.items())) for one in documents]
    vocabulary = {word for weighted in weights for word in weighted}
    phrase = " ".join(word for word in query.lower().split() if word not in _LEFT_OUT)
    scores, counts = [_phrase_score(phrase, one) for one in documents], [0] * len(documents)
    corrected: dict[str, list[str]] = {}
    for stemmed, word in words.items():
        found = _matching(stemmed, vocabulary)
        if not found and not word.isdigit() and (instead := _corrections(word, documents)):
            corrected[word] = instead
            found = {stem(other): SIMILAR for other in instead}
        for i, best in _best_per_document(found, weights):
            counts[i] += 1
            scores[i] += best
    enough = _enough(len(words), max(counts, default=0))
    hits = [i for i, count in enumerate(counts) if count >= enough]

    def order(i: int) -> tuple[bool, int, float, int]:
        return documents[i].name.lower() != phrase, -counts[i], -scores[i], i

    return Matches(sorted(hits, key=order), corrected)


def _enough(words: int, most: int) -> int:
    """Returns how many words of a query a document must have, if the best one has `most` of them. Of a short
    query every word matters; a long one may be a sentence."""
    if words <= SHORT_QUERY:
        return max(most, 1)
    return max(min(most, max(most - 1, math.ceil(words / 2))), 1)


def _phrase_score(phrase: str, document: Document) -> float:
    """Returns what a document gets for containing the words of a query as one phrase: more in a title, and
    more if it has little other text."""
    return max(
        (
            weight * PHRASE * (1 + len(phrase) / len(text))
            for weight, text in (
                (NAME, " ".join(_WORD.findall(document.name))),
                *document.fields.items(),
            )
            if phrase in text.lower()
        ),
        default=0.0,
    )


def _corrections(word: str, documents: Sequence[Document]) -> list[str]:
    """Returns the words of the documents that are most similar to a word that none of them has."""
    known = {
        other
        for document in documents
        for text in (document.name, *document.fields.values())
        for other in _words(text)
    }
    close = get_close_matches(word, known, n=3, cutoff=CLOSE)
    return similar(word, close, 1) if close else []


@lru_cache(maxsize=10_000)
def _words(text: str) -> tuple[str, ...]:
    """Returns the words of a text in lower case; names such as `CartPole` and `n_steps` are also their
    parts."""
    found: list[str] = []
    for whole in _WHOLE.findall(text):
        parts = _WORD.findall(whole)
        found += [part.lower() for part in parts]
        if len(parts) > 1:
            found.append(whole.lower())
    return tuple(found)


def _is_word(text: str) -> bool:
    """Returns whether a part of a query is searched for: a number, or more than a letter."""
    return len(text) > 1 or text.isdigit()


def stem(word: str) -> str:
    """Returns a word without its ending, so that `actions` finds `action`."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
            return _undoubled(word[: -len(ending)])
    return word


def _undoubled(word: str) -> str:
    """Returns `stop` for `stopp`, the rest of `stopping`."""
    doubled = len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiouls"
    return word[:-1] if doubled else word


@lru_cache(maxsize=10_000)
def _weights(name: str, fields: tuple[tuple[float, str], ...]) -> Mapping[str, float]:
    """Returns word -> the largest weight of a field of a document that contains it."""
    found: dict[str, float] = {}
    for weight, text in ((NAME, name), *fields):
        for word in map(stem, _words(text)):
            found[word] = max(weight, found.get(word, 0.0))
    return found


def _matching(word: str, vocabulary: set[str]) -> dict[str, float]:
    """Returns the words of all documents that match a word of the query -> how well."""
    found = {word: EXACT} if word in vocabulary else {}
    if len(word) >= 3:
        found |= {other: PREFIX for other in vocabulary if other != word and other.startswith(word)}
    if not found and len(word) >= 4:
        found = {other: PART for other in vocabulary if word in other}
    return found


def _best_per_document(
    found: Mapping[str, float], weights: Sequence[Mapping[str, float]]
) -> Iterator[tuple[int, float]]:
    """Yields the index of each document that has one of these words, and its score for them."""
    containing = [i for i, weighted in enumerate(weights) if not found.keys().isdisjoint(weighted)]
    # A rare word says more than a frequent one.
    rarity = 1.0 + math.log(len(weights) / len(containing)) if containing else 0.0
    for i in containing:
        best = max(quality * weights[i][w] for w, quality in found.items() if w in weights[i])
        yield i, rarity * best
