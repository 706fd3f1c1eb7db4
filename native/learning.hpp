// One gradient step: gradients of the loss over a minibatch, AdamW.
#pragma once

#include "losses.hpp"
#include "sequences.hpp"

namespace {

// What a shard writes, and scratch memory for one row of the head.
struct ShardRoom {
  Trails trails;
  float *dist, *ready;
  float* gradient;
  Sums* sums;
};

// Adds the gradient and the sums of some rows: forward, loss, backward.
inline void step_rows(Arena& arena, const StepTask& task, const Rows& rows, ShardRoom& room) {
  const Network& net = *task.net;
  Trails& trails = room.trails;
  float* gradient = room.gradient;
  const int ld_actor = width_of(net.actor), ld_critic = net.critic.n_dense ? width_of(net.critic) : 0;
  float* d_log_std = net.head.log_std == NONE ? nullptr : gradient + net.head.log_std;
  const float* hidden = run_shared(net, *task.packed, task.parameters, rows, trails);

  const float* out = forward(net.actor, task.packed->actor, task.parameters, rows, hidden, trails.actor);
  float* d_out = arena.zeros(std::int64_t(rows.count) * ld_actor);
  with_head(net.head.kind, [&](auto kind) {
    policy_loss<decltype(kind)>(task, rows, out, ld_actor, d_out, d_log_std, room.dist, room.ready,
                                *room.sums);
  });
  float* d_hidden = backward(arena, net.actor, task.packed->actor, rows, hidden, trails.actor,
                             d_out, gradient);
  if (task.objective->critic) {
    const float* value = forward(net.critic, task.packed->critic, task.parameters, rows, hidden,
                                 trails.critic);
    float* d_value = arena.zeros(std::int64_t(rows.count) * ld_critic);
    value_loss(task, rows, value, ld_critic, d_value, *room.sums);
    const float* more = backward(arena, net.critic, task.packed->critic, rows, hidden,
                                 trails.critic, d_value, gradient);
    if (hidden) {  // actor and critic both read the shared output: its gradient is the sum
      const std::int64_t n = std::int64_t(rows.count) * padded(net.actor.n_in());
      for (std::int64_t i = 0; i < n; i += LANES)
        store(d_hidden + i, load(d_hidden + i) + load(more + i));
    }
  }
  if (hidden)
    backward(arena, net.shared, task.packed->shared, rows, nullptr, trails.shared, d_hidden,
             gradient);
}

// Prepares shard s of the current wave for passes of at most `rows` rows.
inline ShardRoom room_for_shard(Arena& arena, const StepTask& task, int s, std::int64_t rows) {
  const Network& net = *task.net;
  ShardRoom room{room_for(arena, net, Parts::both, rows), arena.floats(2 * net.head.n_outputs),
                 arena.floats(3 * net.head.n_outputs), task.gradient + std::int64_t(s) * net.size,
                 task.sums + s};
  std::memset(room.gradient, 0, net.size * 4);
  *room.sums = Sums{};
  return room;
}

// Computes the gradient and the sums of shard s of the current wave, block by block.
void step_shard(void* context, int s) {
  const StepTask& task = *static_cast<StepTask*>(context);
  const Network& net = *task.net;
  Arena& arena = arena_of_this_thread();
  const Arena::Mark start = arena.mark();
  ShardRoom room = room_for_shard(arena, task, s, smaller(task.rows, std::int64_t(block_of(net))));
  const std::int64_t first = (task.first + s) * shard_of(net);
  const std::int64_t end = smaller(task.rows, first + shard_of(net));
  for (std::int64_t at = first; at < end; at += block_of(net)) {
    const Arena::Mark mark = arena.mark();
    const Rows rows{task.batch->features, task.batch->feature_bytes, task.order, at,
                    next_block(net, at, end), task.batch->planes};
    step_rows(arena, task, rows, room);
    arena.release(mark);
  }
  arena.release(start);
}

// The same for a shard of whole sequences, all steps in one pass.
void step_sequences(void* context, int s) {
  const StepTask& task = *static_cast<StepTask*>(context);
  const std::int64_t each = sequences_of(*task.net, *task.batch), first = (task.first + s) * each;
  Arena& arena = arena_of_this_thread();
  const Arena::Mark start = arena.mark();
  Gathered found = gather(arena, *task.net, *task.batch, task.order, first,
                          int(smaller(task.rows - first, each)));
  found.rows.steps = &found.steps;
  ShardRoom room = room_for_shard(arena, task, s, found.rows.count);
  step_rows(arena, task, found.rows, room);
  arena.release(start);
}

// Calls each(row) for all rows of the batch that are part of the loss of the minibatch.
template <class Each> inline void each_learned(const StepTask& task, Each each) {
  const Sequences& all = task.batch->sequences;
  if (!all.count)
    for (std::int64_t i = 0; i < task.rows; ++i) each(task.order[i]);
  for (int t = 0; t < all.steps; ++t)
    for (std::int64_t s = 0; s < task.rows; ++s)
      if (const std::int64_t i = t * all.count + task.order[s]; all.weight[i] != 0) each(i);
}

// Sets shift and scale such that the advantages of the minibatch get mean 0 and standard deviation 1. If they
// do not vary, they all become 0, as in `standardize` of rl/statistics.py.
inline void standardize(StepTask& task) {
  const float* advantage = task.batch->advantage;
  double mean = 0, square = 0;
  each_learned(task, [&](std::int64_t r) { mean += advantage[r]; });
  mean /= double(task.learned);
  each_learned(task, [&](std::int64_t r) {
    const double d = advantage[r] - mean;
    square += d * d;
  });
  const double spread = std::sqrt(square / double(task.learned));
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

// Takes one gradient step on the `rows` rows, or sequences, of the batch that `order` selects.
void step(const Network& net, float* parameters, float* gradient, const Batch& batch,
          const std::int64_t* order, std::int64_t rows, const Objective& objective, Adam& adam,
          StepReport& report, Parallel parallel) {
  // Shards are computed in waves, so that only this many gradients need memory. It does not depend on the number
  // of threads, and neither do the bits.
  constexpr int WAVE = 8;
  Arena& arena = arena_of_this_thread();
  arena.clear();
  const Packed packed = pack(arena, net, parameters, Parts::both, parallel);
  const bool sequences = batch.sequences.count > 0;
  const std::int64_t each = sequences ? sequences_of(net, batch) : shard_of(net);
  const std::int64_t shards = (rows + each - 1) / each;
  // at least 1: a minibatch of invalid steps alone has no loss
  const std::int64_t learned =
      sequences ? larger(learned_steps(batch.sequences, order, rows), std::int64_t(1)) : rows;
  const int wave = int(smaller(shards, std::int64_t(WAVE)));
  Sums found[WAVE], total;
  // a single shard writes to the gradient directly
  float* parts = shards == 1 ? gradient : arena.floats(wave * net.size);
  StepTask task{&net, &packed, parameters, &batch, &objective, order, rows, learned, 0, 1,
                parts, found, 0};
  if (objective.standardize) standardize(task);
  RangeTask whole{net.size, parameters, gradient, parts, 0, true, nullptr, 1, &adam};
  whole.squares = reinterpret_cast<double*>(arena.floats(2 * whole.count()));
  for (std::int64_t first = 0; first < shards; first += WAVE) {
    task.first = int(first);
    const int n = int(smaller(shards - first, std::int64_t(WAVE)));
    parallel(sequences ? step_sequences : step_shard, &task, n);
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
  const double n = double(learned);
  report.policy = total.policy / n, report.value = total.value / n, report.kl = total.kl / n;
  report.value_clipped = total.value_clipped / n;
  report.entropy = -double(objective.entropy_coef) * total.entropy / n;
  report.total = report.policy + (objective.critic ? objective.value_coef * report.value : 0) +
                 report.entropy + objective.kl_coef * report.kl;
}

}  // namespace
