"""The fast computation of many episode seeds equals the plain one."""

from __future__ import annotations

from gymnast.seeds import episode_seed, episode_seeds, is_in_subset


def test_the_fast_seed_function_gives_the_same_seeds():
    for root in (0, 1, 2**40):
        seed_of = episode_seeds(root, "episode", "agent")
        for env in (0, 7, 1023):
            for number in (0, 1, 10, 12345):
                assert seed_of(env, number) == episode_seed(root, "episode", "agent", env, number)


def test_a_share_of_episodes_is_exact_and_grows_with_the_share():
    seeds = [episode_seed(3, "episode", "agent", env, n) for env in range(40) for n in range(250)]
    few, more = ({s for s in seeds if is_in_subset(share, s)} for share in (0.01, 0.2))
    assert 60 < len(few) < 140
    assert 1900 < len(more) < 2100
    assert few < more
    assert not any(is_in_subset(0.0, seed) for seed in seeds)
    assert all(is_in_subset(1.0, seed) for seed in seeds)
    assert {s % 7 for s in few} == set(range(7))
