"""The ranking of texts by the words of a query."""

from __future__ import annotations

import pytest

from gymnast.text.search import Document, rank, stem

DOCUMENTS = [
    Document("algo.lr", {2.0: "Learning rate.", 1.0: "Step size of the optimizer."}),
    Document("league/win_rate", {2.0: "Share of matches that the learning policy wins."}),
    Document("CartPole-v1", {2.0: "Balance a pole on a cart by pushing it left or right."}),
    Document(
        "live-control#pausing", {3.0: "Pausing", 1.0: "A run that is training can be paused."}
    ),
    Document("policy/entropy", {2.0: "Entropy of the policy."}),
]


def best(query: str) -> str:
    return DOCUMENTS[rank(query, DOCUMENTS).ranked[0]].name


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("learning rate", "algo.lr"),
        ("what is the learning rate", "algo.lr"),
        ("win rate", "league/win_rate"),
        ("cartpole", "CartPole-v1"),
        ("cart pole", "CartPole-v1"),
        ("CARTPOLE-V1", "CartPole-v1"),
        ("pause a run", "live-control#pausing"),
        ("paused", "live-control#pausing"),
        ("entorpy", "policy/entropy"),
        ("cartpol", "CartPole-v1"),
        ("optimzer", "algo.lr"),
        ("pausing of n runs", "live-control#pausing"),
        ("which size does every single step of my optimizer have", "algo.lr"),
    ],
)
def test_the_best_match_comes_first(query: str, expected: str):
    assert best(query) == expected


def test_corrections_of_misspelled_words_are_reported_and_others_are_not():
    assert rank("entorpy of policy", DOCUMENTS).corrected == {"entorpy": ["entropy"]}
    assert rank("entropy", DOCUMENTS).corrected == {}


def test_a_correct_word_that_no_document_has_is_not_replaced_by_another_one():
    assert rank("policy function", DOCUMENTS).corrected == {}
    assert best("policy function") == "policy/entropy"


def test_a_name_that_is_the_phrase_comes_before_a_text_with_it():
    documents = [
        Document("league/win_low", {2.0: "Lower end of the win rate."}),
        Document("league/win_rate", {2.0: "Share of matches that a role wins."}),
    ]
    assert rank("win rate", documents).ranked == [1, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [("stopping", "stop"), ("clipped", "clip"), ("actions", "action"), ("policies", "policy")],
)
def test_forms_of_a_word_have_the_same_stem(one: str, other: str):
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["loss", "class", "value", "gae"])
def test_words_that_only_look_like_forms_stay_apart(word: str):
    assert stem(word).startswith(word[:4])


def test_of_a_short_query_every_word_counts():
    assert [DOCUMENTS[i].name for i in rank("learning policy", DOCUMENTS).ranked] == [
        "league/win_rate"
    ]


def test_nothing_matches_nonsense_and_everything_matches_an_empty_query():
    assert rank("xyzzyq 1234567", DOCUMENTS).ranked == []
    assert rank("", DOCUMENTS).ranked == list(range(len(DOCUMENTS)))
    assert rank("the of", DOCUMENTS).ranked == list(range(len(DOCUMENTS)))
    assert rank("policy", []).ranked == []
