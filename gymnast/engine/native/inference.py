"""Forward passes and action sampling with the compiled kernels."""

from __future__ import annotations

import numpy as np

from gymnast.engine.native.plan import native_plan
from gymnast.policy.actions import Composite, Head
from gymnast.policy.health import HEALTH_SIZE, SATURATION_THRESHOLD, Health
from gymnast.policy.inference import NumpyInference
from gymnast.policy.layers import Network
from gymnast.policy.parameters import Parameters

Array = np.ndarray


class NativeInference:
    """Implements `Inference` with the compiled kernels, on the memory of the policy's parameters."""

    def __init__(self, network: Network, parameters: Parameters, head: Head) -> None:
        self.network = native_plan(network, parameters, head)
        self.parameters, self.n_outputs = parameters.flat, head.n_outputs
        # Outputs of single layers are needed for diagnostics only, so they have no kernel.
        numpy_inference = NumpyInference(network, parameters.views)
        self.layer_output, self.activations = (
            numpy_inference.layer_output,
            numpy_inference.activations,
        )
        # With memory, a value depends on the state, which is at hand only while acting.
        self.values_while_acting = network.is_expensive or network.state_size > 0
        self._composite = isinstance(head, Composite)
        self._continuous = head.action_spec.dtype == np.float32

    def actor(self, features: Array) -> Array:
        """Returns the outputs of the actor's last layer, [B, k]."""
        out = np.empty((len(features), self.n_outputs), np.float32)
        self.network.forward(self.parameters, features, False, out)
        return out

    def critic(self, features: Array) -> Array:
        """Returns the outputs of the critic, [B]."""
        out = np.empty(len(features), np.float32)
        self.network.forward(self.parameters, features, True, out)
        return out

    def actor_and_critic(self, features: Array) -> tuple[Array, Array]:
        """Returns the outputs of actor [B, k] and critic [B]. Shared layers run only once."""
        return self.step(features, np.empty((len(features), 0), np.float32))[:2]

    def step(self, features: Array, state: Array) -> tuple[Array, Array, Array]:
        """Returns the outputs of the actor [B, k] and of the critic [B], and the state after the step,
        [B, S]. `state`: the state before it, which is not changed."""
        output = np.empty((len(features), self.n_outputs), np.float32)
        value, following = np.empty(len(features), np.float32), np.empty_like(state)
        self.network.step(self.parameters, features, state, following, output, value)
        return output, value, following

    def health(self, features: Array, mask: Array | None, state: Array | None) -> Health:
        """Returns the health of the network on these features, computed in one call. `state`: [B, S], None
        without memory."""
        out = np.empty(HEALTH_SIZE)  # the numbers of `Health` in native/network.hpp, in float64
        self.network.health(self.parameters, features, mask, SATURATION_THRESHOLD, out, state)
        return Health.from_flat(out.tolist())

    def act_into(
        self,
        features: Array,
        noise: Array,
        mask: Array | None,
        action: Array,
        dist: Array,
        logprob: Array,
        value: Array | None,
    ) -> None:
        """Samples actions and writes them, their distributions and log-probabilities into the arrays.

        `value` [B], if not None, receives the outputs of the critic.
        """
        columns = self._columns(action)
        self.network.act(self.parameters, features, noise, mask, *columns, dist, logprob, value)

    def act_into_with_state(
        self,
        features: Array,
        noise: Array,
        mask: Array | None,
        state: Array,
        action: Array,
        dist: Array,
        logprob: Array,
        value: Array,
    ) -> None:
        """Does what `act_into` does for a network with memory, and replaces the state [B, S] by the state
        after the step."""
        columns = *self._columns(action), dist, logprob, value
        self.network.act(self.parameters, features, noise, mask, *columns, state, state)

    def _columns(self, action: Array) -> tuple[Array | None, Array | None]:
        """Returns the arrays [B, ...] into which the kernel writes options (int64) and continuous numbers
        (float32) of actions. A composite head writes its options into both."""
        if self._composite:
            return np.empty(action.shape, np.int64), action
        return (None, action) if self._continuous else (action, None)
