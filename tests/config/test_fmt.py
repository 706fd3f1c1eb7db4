from __future__ import annotations

from textwrap import dedent

import pytest

from gymnast.config.fmt import format_config
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


def test_keys_are_sorted_by_the_schema_and_comments_move_with_them():
    assert format_config(MESSY) == TIDY


def test_formatting_changes_no_value_and_is_stable():
    assert Source.parse(format_config(MESSY)).data == Source.parse(MESSY).data
    assert format_config(format_config(MESSY)) == format_config(MESSY)
    assert sorted(format_config(MESSY).split()) == sorted(MESSY.split())


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "a: [\n"])
def test_a_broken_file_is_rejected_and_not_formatted(text):
    with pytest.raises(ConfigError):
        format_config(text, "x.yaml")


def test_a_file_whose_values_would_change_is_rejected():
    with pytest.raises(ConfigError, match="anchor"):
        format_config("stop: &same {env_steps: 1k}\nenv: *same\n")


@pytest.mark.parametrize("text", ["", "# only a comment\n", "{stop: {env_steps: 1}}\n", "\n"])
def test_text_without_block_mappings_is_left_unchanged(text):
    assert format_config(text) == text


def test_comments_at_the_end_of_a_section_or_of_the_file_stay_there():
    text = dedent(
        """\
        stop:
          solved: off
          env_steps: 10k # enough
          # of the whole section
        # of the section too, though further left

        facts:
          threshold: 3
          # at the end of the facts

        # at the end of the file
        """
    )
    tidy = dedent(
        """\
        facts:
          threshold: 3
          # at the end of the facts

        stop:
          env_steps: 10k # enough
          solved: off
          # of the whole section

        # of the section too, though further left

        # at the end of the file
        """
    )
    assert format_config(text) == tidy
    assert format_config(tidy) == tidy


def test_a_comment_below_a_key_never_ends_up_above_another_key():
    text = "stop:\n  env_steps: 1k\n  eval_return: 3\n  # of the goal\n\n  solved: off\n"
    tidy = "stop:\n  env_steps: 1k\n\n  solved: off\n  eval_return: 3\n  # of the goal\n"
    assert format_config(text) == tidy
    reverse = "stop:\n  env_steps: 1k\n  # of the budget\n\n  eval_return: 3\n  solved: off\n"
    sorted_ = "stop:\n  env_steps: 1k\n  # of the budget\n\n  solved: off\n\n  eval_return: 3\n"
    assert format_config(reverse) == sorted_
    assert format_config(sorted_) == sorted_
