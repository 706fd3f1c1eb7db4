from __future__ import annotations

from textwrap import dedent

import pytest

from gymnast.config.fmt import fmt
from gymnast.config.source import Source
from gymnast.errors import ConfigError

MESSY = dedent(
    """\
    # A header that stays on top.

    variants:
      # the first of two
      small:
        algo:
          # how far to look ahead
          gamma: 0.9   # per step
          n_steps: 8
        extends: ppo

      ppo: {}
    # when to stop
    stop:
      solved: on

      env_steps: 10k
    mystery: 3
    facts:
      source: |
        text with a
        # that is no comment
      threshold: 5
    """
)

TIDY = dedent(
    """\
    # A header that stays on top.

    facts:
      threshold: 5
      source: |
        text with a
        # that is no comment

    # when to stop
    stop:
      env_steps: 10k
      solved: on

    variants:
      # the first of two
      small:
        extends: ppo
        algo:
          # how far to look ahead
          gamma: 0.9   # per step
          n_steps: 8

      ppo: {}

    mystery: 3
    """
)


def test_keys_take_the_order_of_the_schema_and_comments_go_with_them():
    assert fmt(MESSY) == TIDY


def test_formatting_changes_no_value_and_is_stable():
    assert Source.read(fmt(MESSY)).data == Source.read(MESSY).data
    assert fmt(fmt(MESSY)) == fmt(MESSY)
    assert sorted(fmt(MESSY).split()) == sorted(MESSY.split())


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "a: [\n"])
def test_a_broken_file_is_refused_and_not_formatted(text):
    with pytest.raises(ConfigError):
        fmt(text, "x.yaml")


def test_what_cannot_be_moved_without_a_change_is_refused():
    with pytest.raises(ConfigError, match="anchor"):
        fmt("stop: &same {env_steps: 1k}\nenv: *same\n")


@pytest.mark.parametrize("text", ["", "# only a comment\n", "{stop: {env_steps: 1}}\n", "\n"])
def test_what_has_no_order_is_left_alone(text):
    assert fmt(text) == text
