"""CartPole: what its physics derives from its masses and the pole's length follows them."""

from __future__ import annotations

from typing import Any

from gymnast.envs.build.parameters import Parameters, Values


def _derive(env: Any, _: Values) -> None:
    env.total_mass = env.masspole + env.masscart
    env.polemass_length = env.masspole * env.length


PARAMETERS = Parameters(
    names=("gravity", "masscart", "masspole", "length", "force_mag", "tau"),
    other_attributes=False,  # the rest is derived from these, or part of the rules of the game
    prepare=_derive,
)
