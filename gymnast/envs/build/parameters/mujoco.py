"""Parameters of MuJoCo environments: gravity, and factors on the original values of the model."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
from gymnasium.envs.mujoco.mujoco_env import MujocoEnv

from gymnast.envs.build.parameters import Parameters, Values

_FACTORS = {
    "mass_factor": ("body_mass", "body_inertia"),
    "friction_factor": ("geom_friction",),
    "damping_factor": ("dof_damping",),
    "gear_factor": ("actuator_gear",),
}
"""Parameter -> arrays of the model that it multiplies."""
_NAMES = ("gravity", *_FACTORS)


def _prepare(env: object, values: Values) -> None:
    """Writes gravity and the scaled arrays into the MuJoCo model."""
    assert isinstance(env, MujocoEnv)
    model = env.model
    if "gravity" in values:
        model.opt.gravity[2] = values["gravity"]
    # factors apply to the original values, not to those of the previous episode
    original = vars(env).setdefault("_original_arrays", {})
    for name, arrays in _FACTORS.items():
        if name in values:
            for array in arrays:
                current = getattr(model, array)
                current[:] = original.setdefault(array, current.copy()) * values[name]
    derive: Callable[[object, object], None] = mujoco.mj_setConst  # type: ignore[attr-defined]
    derive(model, env.data)  # updates derived constants of the model; the reset clears the data


PARAMETERS = Parameters(
    names=_NAMES, other_attributes=False, prepare=_prepare, non_attributes=_NAMES
)
