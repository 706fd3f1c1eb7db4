// One gradient step: losses, gradients, AdamW.
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
  std::int64_t rows;
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
  const float share = 1.0f / float(task.rows);
  for (int i = 0; i < rows.count; ++i) {
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
  const float weight = o.value_coef / float(task.rows);
  for (int i = 0; i < rows.count; ++i) {
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

// Computes the gradient and the sums of shard s of the current wave, block by block: forward, loss, backward.
void step_shard(void* context, int s) {
  const StepTask& task = *static_cast<StepTask*>(context);
  const Network& net = *task.net;
  Arena& arena = arena_of_this_thread();
  const Arena::Mark start = arena.mark();
  Trails trails = room_for(arena, net, Parts::both, task.rows);
  const int ld_actor = width_of(net.actor), ld_critic = net.critic.n_dense ? width_of(net.critic) : 0;
  float* dist = arena.floats(2 * net.head.n_outputs);
  float* ready = arena.floats(3 * net.head.n_outputs);
  float* gradient = task.gradient + std::int64_t(s) * net.size;
  std::memset(gradient, 0, net.size * 4);
  float* d_log_std = net.head.log_std == NONE ? nullptr : gradient + net.head.log_std;
  Sums& sums = task.sums[s];
  sums = Sums{};
  const std::int64_t first = (task.first + s) * shard_of(net);
  const std::int64_t end = smaller(task.rows, first + shard_of(net));
  for (std::int64_t at = first; at < end; at += block_of(net)) {
    const Arena::Mark mark = arena.mark();
    const Rows rows{task.batch->features, task.batch->feature_bytes, task.order, at,
                    next_block(net, at, end), task.batch->planes};
    const float* hidden = run_shared(net, *task.packed, task.parameters, rows, trails);

    const float* out = forward(net.actor, task.packed->actor, task.parameters, rows, hidden, trails.actor);
    float* d_out = arena.zeros(std::int64_t(rows.count) * ld_actor);
    with_head(net.head.kind, [&](auto kind) {
      policy_loss<decltype(kind)>(task, rows, out, ld_actor, d_out, d_log_std, dist, ready, sums);
    });
    float* d_hidden = backward(arena, net.actor, task.packed->actor, rows, hidden, trails.actor,
                               d_out, gradient);
    if (task.objective->critic) {
      const float* value = forward(net.critic, task.packed->critic, task.parameters, rows, hidden,
                                   trails.critic);
      float* d_value = arena.zeros(std::int64_t(rows.count) * ld_critic);
      value_loss(task, rows, value, ld_critic, d_value, sums);
      const float* more = backward(arena, net.critic, task.packed->critic, rows, hidden,
                                   trails.critic, d_value, gradient);
      if (hidden) {  // actor and critic both read the shared output: its gradient is the sum
        const std::int64_t n = std::int64_t(rows.count) * padded(net.actor.dense[0].n_in);
        for (std::int64_t i = 0; i < n; i += LANES)
          store(d_hidden + i, load(d_hidden + i) + load(more + i));
      }
    }
    if (hidden)
      backward(arena, net.shared, task.packed->shared, rows, nullptr, trails.shared, d_hidden,
               gradient);
    arena.release(mark);
  }
  arena.release(start);
}

// Sets shift and scale such that the advantages of the minibatch get mean 0 and standard deviation 1. If they
// do not vary, they all become 0, as in `standardize` of rl/statistics.py.
inline void standardize(StepTask& task) {
  const float* advantage = task.batch->advantage;
  double mean = 0, square = 0;
  for (std::int64_t i = 0; i < task.rows; ++i) mean += advantage[task.order[i]];
  mean /= double(task.rows);
  for (std::int64_t i = 0; i < task.rows; ++i) {
    const double d = advantage[task.order[i]] - mean;
    square += d * d;
  }
  const double spread = std::sqrt(square / double(task.rows));
  task.shift = float(mean);
  task.scale = !(spread <= 1e-8) ? float(1 / spread) : 0.0f;  // NaN stays NaN
}

// Returns the sum of squares, in independent lanes for instruction-level parallelism.
inline double squares_of(const float* x, std::int64_t n) {
  double lane[LINE] = {};
  std::int64_t i = 0;
  for (; i + LINE <= n; i += LINE)
    for (int j = 0; j < LINE; ++j) lane[j] += double(x[i + j]) * x[i + j];
  double sum = 0;
  for (; i < n; ++i) sum += double(x[i]) * x[i];
  for (double part : lane) sum += part;
  return sum;
}

// Work on all parameters, divided into ranges: the units of work of the threads.
constexpr std::int64_t RANGE = 1 << 18;

struct RangeTask {
  std::int64_t size;
  float *parameters, *gradient;
  const float* parts;  // gradients of a wave of shards, to be summed
  int n_parts;
  bool first;       // whether this is the first wave
  double* squares;  // squared norm of the gradient, one sum per range
  float shrink;     // factor of gradient clipping; 1 for none
  const Adam* adam;

  std::int64_t begin(int r) const { return r * RANGE; }
  std::int64_t end(int r) const { return smaller(size, (r + 1) * RANGE); }
  int count() const { return int((size + RANGE - 1) / RANGE); }
};

// Adds the gradients of the shards of a wave in order, and computes the squared norm of the sum, for range r.
void add_up(void* context, int r) {
  const RangeTask& task = *static_cast<RangeTask*>(context);
  if (task.n_parts)
    for (std::int64_t i = task.begin(r); i < task.end(r); i += LANES) {
      vec sum = task.first ? vec{} : load(task.gradient + i);
      for (int s = 0; s < task.n_parts; ++s) sum += load(task.parts + s * task.size + i);
      store(task.gradient + i, sum);
    }
  task.squares[r] = squares_of(task.gradient + task.begin(r), task.end(r) - task.begin(r));
}

// Clips the gradient and takes a step of AdamW (arXiv:1711.05101), for range r of the flat vector. In the padding
// between parameters everything is zero and stays zero.
void descend(void* context, int r) {
  constexpr double BETA1 = 0.9, BETA2 = 0.999;
  const RangeTask& task = *static_cast<RangeTask*>(context);
  const Adam& adam = *task.adam;
  float *parameters = task.parameters, *gradient = task.gradient;
  const vec keep = all(float(1 - double(adam.lr) * adam.weight_decay));
  const vec rate = all(float(-adam.lr / (1 - std::pow(BETA1, double(adam.steps)))));
  const vec unbias = all(float(1 / std::sqrt(1 - std::pow(BETA2, double(adam.steps)))));
  const vec eps = all(adam.eps), one = all(float(1 - BETA1)), two = all(float(1 - BETA2));
  for (std::int64_t i = task.begin(r); i < task.end(r); i += LANES) {
    // a NaN factor is applied too, so that broken gradients reach the parameters and are noticed
    if (!(task.shrink >= 1)) store(gradient + i, load(gradient + i) * all(task.shrink));
    const vec g = load(gradient + i);
    const vec first = load(adam.first + i) + (g - load(adam.first + i)) * one;
    const vec second = load(adam.second + i) * all(float(BETA2)) + g * g * two;
    vec root;
    for (int j = 0; j < LANES; ++j) root[j] = std::sqrt(second[j]);
    store(adam.first + i, first);
    store(adam.second + i, second);
    store(parameters + i, load(parameters + i) * keep + rate * first / (root * unbias + eps));
  }
}

// Takes one gradient step on the `rows` rows of the batch that `order` selects.
void step(const Network& net, float* parameters, float* gradient, const Batch& batch,
          const std::int64_t* order, std::int64_t rows, const Objective& objective, Adam& adam,
          StepReport& report, Parallel parallel) {
  // Shards are computed in waves, so that only this many gradients need memory. It does not depend on the number
  // of threads, and neither do the bits.
  constexpr int WAVE = 8;
  Arena& arena = arena_of_this_thread();
  arena.clear();
  const Packed packed = pack(arena, net, parameters, Parts::both, parallel);
  const std::int64_t shards = shards_of(net, rows);
  const int wave = int(smaller(shards, std::int64_t(WAVE)));
  Sums found[WAVE], total;
  // a single shard writes to the gradient directly
  float* parts = shards == 1 ? gradient : arena.floats(wave * net.size);
  StepTask task{&net, &packed, parameters, &batch, &objective, order, rows, 0, 1, parts, found, 0};
  if (objective.standardize) standardize(task);
  RangeTask whole{net.size, parameters, gradient, parts, 0, true, nullptr, 1, &adam};
  whole.squares = reinterpret_cast<double*>(arena.floats(2 * whole.count()));
  for (std::int64_t first = 0; first < shards; first += WAVE) {
    task.first = int(first);
    const int n = int(smaller(shards - first, std::int64_t(WAVE)));
    parallel(step_shard, &task, n);
    for (int s = 0; s < n; ++s) {
      total.policy += found[s].policy, total.value += found[s].value, total.kl += found[s].kl;
      total.entropy += found[s].entropy, total.value_clipped += found[s].value_clipped;
    }
    whole.n_parts = shards > 1 ? n : 0, whole.first = first == 0;
    parallel(add_up, &whole, whole.count());
  }
  double squares = 0;
  for (int r = 0; r < whole.count(); ++r) squares += whole.squares[r];
  report.norm = std::sqrt(squares);
  // the same formula as torch.nn.utils.clip_grad_norm_; a factor of 1 or more is ignored
  if (adam.max_norm > 0) whole.shrink = float(adam.max_norm / (report.norm + 1e-6));
  adam.steps += 1;
  parallel(descend, &whole, whole.count());
  const double n = double(rows);
  report.policy = total.policy / n, report.value = total.value / n, report.kl = total.kl / n;
  report.value_clipped = total.value_clipped / n;
  report.entropy = -double(objective.entropy_coef) * total.entropy / n;
  report.total = report.policy + (objective.critic ? objective.value_coef * report.value : 0) +
                 report.entropy + objective.kl_coef * report.kl;
}

}  // namespace
