// The terms of the loss of a block of rows, and their gradients with respect to the outputs of the network.
#pragma once

#include "ready.hpp"

namespace {

// Sums over rows of the terms of the loss, in double: a minibatch may have many rows.
struct Sums {
  double policy = 0, value = 0, entropy = 0, kl = 0, value_clipped = 0;
};

// What every shard of a gradient step reads, and where it writes its gradient and its sums.
struct StepTask {
  const Network* net;
  const Packed* packed;
  const float* parameters;
  const Batch* batch;
  const Objective* objective;
  const std::int64_t* order;
  std::int64_t rows;   // or sequences, if the batch has any
  std::int64_t learned;  // rows of the minibatch that the loss is the mean of
  float shift, scale;  // of advantages: (advantage - shift) * scale
  float* gradient;     // [shards of a wave, size]
  Sums* sums;
  int first;           // shard of this wave
};

// Computes the policy terms of the loss of a block, and their gradient with respect to the outputs.
template <class H>
inline void policy_loss(const StepTask& task, const Rows& rows, const float* out, int ld,
                        float* d_out, float* d_log_std, float* dist, float* ready, Sums& sums) {
  const Objective& o = *task.objective;
  const Batch& b = *task.batch;
  const Head& head = task.net->head;
  const float share = 1.0f / float(task.learned);
  for (int i = 0; i < rows.count; ++i) {
    if (!rows.learned(i)) continue;  // its gradient stays 0
    const std::int64_t r = rows.row(i);
    const Row row = row_of(b, head, task.parameters, H::n_parameters(head), r);
    H::parameters(head, out + i * ld, row, dist);
    H::prepare(head, dist, row, ready);
    const float logprob = H::logprob(head, dist, ready, row);
    const float advantage = (b.advantage[r] - task.shift) * task.scale;
    // Derivatives of the mean loss by logprob, entropy and KL; `slope` continues to the outputs.
    Weights w{-share * advantage, -share * o.entropy_coef, share * o.kl_coef};
    if (o.clipped) {
      // min(ratio A, clamp(ratio) A), eq. 7 of arXiv:1707.06347. Where the clamped term is smaller, it is a
      // constant and the gradient is 0; elsewhere d(ratio) = ratio d(logprob).
      const float ratio = std::exp(logprob - b.logprob[r]);
      const float held = ratio < 1 - o.clip ? 1 - o.clip : ratio > 1 + o.clip ? 1 + o.clip : ratio;
      const bool free = !(held * advantage < ratio * advantage);  // true for NaN too, so that NaN propagates
      sums.policy -= free ? ratio * advantage : held * advantage;
      w.logprob = free ? w.logprob * ratio : 0;
    } else {
      sums.policy -= logprob * advantage;
    }
    if (o.entropy_coef != 0) sums.entropy += H::entropy(head, dist, ready, row);
    if (o.kl_coef != 0) sums.kl += H::kl(head, dist, ready, row);
    H::slope(head, dist, ready, row, w, d_out + i * ld, d_log_std);
  }
}

// Squared error, or Huber loss with the same curvature at zero; `slope` is the derivative.
inline float error_of(float distance, bool huber, float& slope) {
  const float size = std::fabs(distance);
  if (!huber || size < 1) {
    slope = 2 * distance;
    return distance * distance;
  }
  slope = distance > 0 ? 2.0f : -2.0f;
  return 2 * size - 1;
}

// Computes the value loss of a block and its gradient with respect to the critic's outputs.
inline void value_loss(const StepTask& task, const Rows& rows, const float* out, int ld, float* d_out,
                       Sums& sums) {
  const Objective& o = *task.objective;
  const float weight = o.value_coef / float(task.learned);
  for (int i = 0; i < rows.count; ++i) {
    if (!rows.learned(i)) continue;
    const std::int64_t r = rows.row(i);
    const float value = out[i * ld], target = task.batch->target[r], old = task.batch->value[r];
    float slope;
    float error = error_of(value - target, o.huber, slope);
    if (o.value_clipped) {
      const float moved = value - old;
      const bool outside = std::fabs(moved) > o.value_clip;
      const float held = outside ? old + (moved > 0 ? o.value_clip : -o.value_clip) : value;
      float unused;
      // The larger of the two errors counts. The clipped value is a constant, so it has no gradient.
      const float held_error = error_of(held - target, o.huber, unused);
      if (held_error > error) {
        error = held_error;
        if (outside) slope = 0;
      }
      if (moved != moved) error = slope = moved;  // NaN propagates
      sums.value_clipped += outside;
    }
    sums.value += error;
    d_out[i * ld] = weight * slope;
  }
}

}  // namespace
