"""Policy states of the running episodes, and their storage where the sequences of a rollout begin."""

from __future__ import annotations

import numpy as np

from gymnast.policy.policy import Policy
from gymnast.rl.sequences import plan_sequences

Array = np.ndarray


class StateRecorder:
    """Advances the policy states of all copies through one rollout, and stores them where its sequences
    begin."""

    def __init__(self, policy: Policy, state: Array, steps: int) -> None:
        """`state`: the policy states of all copies, [N, S], which acting replaces in place; `steps`: length
        of the rollout."""
        self.state = state
        self.sequences = plan_sequences(steps, policy.cfg.bptt, policy.cfg.burn_in)
        """Step of the stored state and first step to learn from, of each sequence, [K, 2]."""
        self.stored = np.zeros((len(self.sequences), *state.shape), np.float32)
        """The policy states before the first step of each sequence, [K, N, S]."""
        self._at: dict[int, list[int]] = {}
        for k, (step, _) in enumerate(self.sequences.tolist()):
            self._at.setdefault(step, []).append(k)

    @classmethod
    def begin_rollout(
        cls, policy: Policy, state: Array | None, n: int, steps: int
    ) -> StateRecorder | None:
        """Returns the recorder of a rollout of `steps` steps in n copies; None for a policy without memory.
        `state`: the policy states of the running episodes; None before the first rollout."""
        if not policy.state_size:
            return None
        return cls(policy, policy.initial_state(n) if state is None else state, steps)

    def begin_step(self, t: int, start: Array) -> Array:
        """Resets the states of copies whose episode starts with step t, [N], stores the states if a sequence
        begins here, and returns them for acting."""
        if start.any():
            self.state[start] = 0.0
        for k in self._at.get(t, ()):
            self.stored[k] = self.state
        return self.state

    def complete(self, length: int) -> tuple[Array, Array]:
        """Returns the stored states [K, N, S] and the sequences [K, 2] of a rollout that has `length` steps:
        fewer than planned if a fault cut it off."""
        kept = self.sequences[:, 1] < length
        return self.stored[kept], self.sequences[kept]
