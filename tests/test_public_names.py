"""The names that `import gymnast` offers."""

from __future__ import annotations

import gymnast


def test_interactive_completion_lists_every_public_name():
    assert {*gymnast.__all__} <= {*dir(gymnast)}
    assert all(getattr(gymnast, name) is not None for name in gymnast.__all__)
