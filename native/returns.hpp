// Generalized advantage estimation. It has the same operations in the same order as slow_gae in
// rl/returns.py, and is compiled without fused multiply-add, so that both give the same bits.
#pragma once

#include <cstdint>

namespace gymnast {

// Arrays are [steps, copies]. `value` and `next_value` are float32, like the critic's outputs.
inline void gae(const double* reward, const float* value, const float* next_value,
                const std::uint8_t* terminated, const std::uint8_t* done, std::int64_t steps,
                std::int64_t copies, double gamma, double lambda, double* advantage,
                double* target) {
  for (std::int64_t t = steps - 1; t >= 0; --t)
    for (std::int64_t n = 0; n < copies; ++n) {
      const std::int64_t i = t * copies + n;
      const float after = terminated[i] ? 0.0f : float(gamma) * next_value[i];  // as NumPy does
      const double delta = reward[i] + double(after) - double(value[i]);
      // the next row belongs to another episode if this step ended one
      const double carry = t + 1 < steps && !done[i] ? advantage[i + copies] : 0.0;
      advantage[i] = delta + gamma * lambda * carry;
      target[i] = advantage[i] + double(value[i]);
    }
}

}  // namespace gymnast
