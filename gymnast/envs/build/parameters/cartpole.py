"""Parameters of CartPole. Values derived from the masses and the pole length are updated with them."""

from __future__ import annotations

from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from gymnast.envs.build.parameters import Parameters, Values


def _derive(env: object, _: Values) -> None:
    """Updates what CartPole's constructor computes once from the masses and the length."""
    assert isinstance(env, CartPoleEnv)
    env.total_mass = env.masspole + env.masscart
    env.polemass_length = env.masspole * env.length


PARAMETERS = Parameters(
    names=("gravity", "masscart", "masspole", "length", "force_mag", "tau"),
    other_attributes=False,  # the rest is derived from these, or defines when an episode ends
    prepare=_derive,
)
