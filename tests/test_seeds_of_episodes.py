"""Seeds of many episodes, computed the short way."""

from __future__ import annotations

from gymnast.seeds import episode_seed, episode_seeds


def test_the_short_way_gives_the_same_seeds():
    for root in (0, 1, 2**40):
        seed_of = episode_seeds(root, "episode", "agent")
        for env in (0, 7, 1023):
            for number in (0, 1, 10, 12345):
                assert seed_of(env, number) == episode_seed(root, "episode", "agent", env, number)
