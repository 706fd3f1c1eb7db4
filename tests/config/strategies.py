"""Random configs for property tests: every field of every section, schedules in every shape."""

from __future__ import annotations

from hypothesis import strategies as st

from gymnast.clock import CLOCKS
from gymnast.config.cadence import Cadence
from gymnast.config.numbers import Share
from gymnast.config.schedule import SHAPES, Position, Schedule
from gymnast.config.sections.track import TRACKERS

numbers = st.floats(-1e12, 1e12, allow_nan=False).map(lambda x: x + 0.0)
positive = st.floats(1e-9, 1e9)
counts = st.integers(1, 10**9)
switches = st.booleans()
shares = st.floats(0, 1).map(lambda x: Share(x + 0.0))
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Co"]), max_size=12)


def maybe(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.just("off") | values


@st.composite
def schedules(draw: st.DrawFn, values: st.SearchStrategy = positive) -> Schedule:
    percent = draw(st.booleans())
    amounts = st.floats(0.001, 100) if percent else st.floats(0.5, 1e9)
    n = draw(st.integers(0, 3))
    later = sorted(draw(st.lists(amounts, min_size=n, max_size=n, unique=True)))
    frames = [(Position(0), draw(values))]
    frames += [(Position(amount, percent), draw(values)) for amount in later]
    return Schedule(
        tuple(frames),
        shape=draw(st.sampled_from(SHAPES)),
        warmup=draw(st.none() | st.builds(Position, st.floats(0.1, 100), st.just(percent))),
        floor=draw(st.none() | positive),
        clock=draw(st.none() | st.sampled_from(CLOCKS)),
    )


cadences = st.builds(Cadence, positive, st.sampled_from(CLOCKS)) | st.builds(
    Cadence, st.floats(0.001, 100), st.just("%")
)

json_values = st.recursive(
    st.none() | switches | st.integers(-(10**12), 10**12) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def on_env_steps(schedule: Schedule) -> Schedule:
    """Returns the same schedule on the env_steps clock, which has a budget in these configs."""
    return Schedule(schedule.frames, schedule.shape, schedule.warmup, schedule.floor, "env_steps")


def on_env_steps_below_1(schedule: Schedule) -> Schedule:
    """Returns the same schedule on env_steps without a floor, because that may be above 1."""
    return Schedule(schedule.frames, schedule.shape, schedule.warmup, None, "env_steps")


coefficients = schedules().map(on_env_steps)

configs = st.fixed_dictionaries(
    {
        "env": st.fixed_dictionaries(
            {"id": texts},
            optional={
                "kwargs": st.dictionaries(texts, json_values, max_size=3),
                "n_envs": st.just("auto") | st.integers(1, 65_536),
                "max_episode_steps": maybe(st.just("auto") | counts),
            },
        ),
        "algo": st.fixed_dictionaries(
            {"name": st.just("ppo"), "advantage_norm": st.sampled_from(["rollout", "off"])},
            optional={
                "batch_size": shares,
                "lr": coefficients,
                "clip": coefficients,
                "value_clip": maybe(coefficients),
                "entropy_coef": coefficients,
                "gamma": st.floats(0, 1) | schedules(st.floats(1e-9, 1)).map(on_env_steps_below_1),
                "epochs": st.integers(1, 100) | st.just("10 -> 4 cosine clock env_steps"),
                "max_grad_norm": maybe(positive | coefficients),
                "target_kl": maybe(positive),
            },
        ),
        "stop": st.fixed_dictionaries(
            {"env_steps": counts},
            optional={"minutes": maybe(positive), "solved": switches, "plateau": maybe(counts)},
        ),
    },
    optional={
        "seed": st.integers(0, 2**31),
        "policy": st.fixed_dictionaries(
            {},
            optional={"hidden": st.lists(st.integers(1, 65_536), max_size=3), "shared": switches},
        ),
        "eval": st.fixed_dictionaries(
            {},
            optional={
                "every": maybe(cadences),
                "start_at": maybe(shares | numbers),
                "deterministic": switches,
                "starts": st.sampled_from(["seeds", "all"]),
            },
        ),
        "traces": st.fixed_dictionaries({}, optional={"train": shares, "eval": switches}),
        "track": st.fixed_dictionaries(
            {},
            optional={
                "to": st.lists(st.sampled_from(TRACKERS), max_size=2),
                "project": maybe(st.from_regex(r"[a-z0-9._-]{1,9}", fullmatch=True)),
                "entity": maybe(texts),
                "mode": st.sampled_from(["auto", "offline", "online"]),
            },
        ),
        "facts": st.fixed_dictionaries(
            {},
            optional={
                "actions": st.lists(texts, max_size=3),
                "reward": maybe(st.just([float("-inf"), 3]) | st.tuples(st.just(-1.5), positive)),
                "threshold": maybe(numbers),
                "deterministic": st.sampled_from(["yes", "no", "unknown"]),
                "source": texts,
                "observations": st.lists(
                    st.fixed_dictionaries(
                        {"name": texts, "low": st.just(float("-inf")), "high": numbers}
                    ),
                    max_size=2,
                ),
            },
        ),
        "shaping": st.dictionaries(
            st.sampled_from(["first", "second_term", "third-1"]),
            st.fixed_dictionaries(
                {"term": st.just("py:package.module:name")},
                optional={
                    "weight": coefficients,
                    "unit": texts,
                    "kwargs": st.dictionaries(texts, json_values, max_size=2),
                },
            ),
            max_size=2,
        ),
        "metrics": st.dictionaries(
            texts, st.fixed_dictionaries({"source": texts, "description": texts}), max_size=2
        ),
    },
)
