"""MuJoCo: gravity, and factors on what the model was made with."""

from __future__ import annotations

from typing import Any

import mujoco

from gymnast.envs.build.parameters import Parameters, Values

_FACTORS = {
    "mass_factor": ("body_mass", "body_inertia"),
    "friction_factor": ("geom_friction",),
    "damping_factor": ("dof_damping",),
    "gear_factor": ("actuator_gear",),
}
"""Parameter -> the model's arrays that it multiplies."""
_NAMES = ("gravity", *_FACTORS)


def _prepare(env: Any, values: Values) -> None:
    model = env.model
    if "gravity" in values:
        model.opt.gravity[2] = values["gravity"]
    made_with = vars(env).setdefault("_made_with", {})
    for name, arrays in _FACTORS.items():
        if name in values:
            for array in arrays:
                held = getattr(model, array)
                held[:] = made_with.setdefault(array, held.copy()) * values[name]
    derive: Any = mujoco.mj_setConst  # type: ignore[attr-defined]
    derive(model, env.data)  # what the model derives from these; the reset clears the data


PARAMETERS = Parameters(names=_NAMES, other_attributes=False, prepare=_prepare, at_start=_NAMES)
