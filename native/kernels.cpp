// The entry points of one instruction set. Compiled several times, each with its own flags and its
// own KERNELS (the name of the table) and ISA (the name of the set).

#include "heads.hpp"
#include "layers.hpp"

namespace {

constexpr int SHARD = 512;  // rows whose gradient is summed apart: the unit of work of a thread

// The sums of shards are added in order, so results do not depend on the number of threads.

inline Arena& arena_of_this_thread() {
  static thread_local Arena arena;
  return arena;
}

// Calls run(kind) with the struct of the head's kind.
template <class Run> inline void with_head(HeadKind kind, Run run) {
  switch (kind) {
    case HeadKind::categorical: return run(Categorical{});
    case HeadKind::bernoulli: return run(Bernoulli{});
    case HeadKind::gaussian: return run(Gaussian{});
    case HeadKind::squashed: return run(Squashed{});
  }
}

inline std::int64_t shards_of(std::int64_t rows) { return (rows + SHARD - 1) / SHARD; }
inline std::int64_t blocks_of(std::int64_t rows) { return (rows + BLOCK - 1) / BLOCK; }

// ---- a network ready to run ----------------------------------------------------------------------

struct Packed {
  PackedStack shared, actor, critic;
};

inline Packed pack(Arena& arena, const Network& net, const float* parameters, bool back) {
  return {pack(arena, net.shared, parameters, back), pack(arena, net.actor, parameters, back),
          pack(arena, net.critic, parameters, back)};
}

struct Trails {
  Trail shared, actor, critic;
};

inline Trails room_for(Arena& arena, const Network& net) {
  return {room_for(arena, net.shared), room_for(arena, net.actor), room_for(arena, net.critic)};
}

inline bool has_shared(const Network& net) { return net.shared.encoded > 0; }

inline const float* run_shared(const Network& net, const Packed& packed, const float* parameters,
                               const Rows& rows, Trails& trails) {
  if (!has_shared(net)) return nullptr;
  return forward(net.shared, packed.shared, parameters, rows, nullptr, trails.shared);
}

inline int width_of(const Stack& stack) { return padded(stack.dense[stack.n_dense - 1].n_out); }

// ---- outputs only --------------------------------------------------------------------------------

struct ForwardTask {
  const Network* net;
  const Packed* packed;
  const float* parameters;
  const std::uint8_t* features;
  std::int64_t bytes, rows;
  bool critic;
  float* out;
};

void forward_shard(void* context, int s) {
  const ForwardTask& task = *static_cast<ForwardTask*>(context);
  const Network& net = *task.net;
  Arena& arena = arena_of_this_thread();
  const Arena::Mark mark = arena.mark();
  Trails trails = room_for(arena, net);
  const Stack& stack = task.critic ? net.critic : net.actor;
  const int ld = width_of(stack), n_out = stack.dense[stack.n_dense - 1].n_out;
  const std::int64_t end = smaller(task.rows, std::int64_t(s + 1) * SHARD);
  for (std::int64_t at = std::int64_t(s) * SHARD; at < end; at += BLOCK) {
    const Rows rows{task.features, task.bytes, nullptr, at, int(smaller(end - at, std::int64_t(BLOCK)))};
    const float* hidden = run_shared(net, *task.packed, task.parameters, rows, trails);
    const PackedStack& packed = task.critic ? task.packed->critic : task.packed->actor;
    const float* y = forward(stack, packed, task.parameters, rows, hidden,
                             task.critic ? trails.critic : trails.actor);
    for (int i = 0; i < rows.count; ++i)
      std::memcpy(task.out + (at + i) * n_out, y + i * ld, n_out * 4);
  }
  arena.release(mark);
}

void forward_all(const Network& net, const float* parameters, const std::uint8_t* features,
                 std::int64_t bytes, std::int64_t rows, bool critic, float* out,
                 Parallel parallel) {
  Arena& arena = arena_of_this_thread();
  arena.clear();
  const Packed packed = pack(arena, net, parameters, false);
  ForwardTask task{&net, &packed, parameters, features, bytes, rows, critic, out};
  parallel(forward_shard, &task, int(shards_of(rows)));
}

// ---- acting --------------------------------------------------------------------------------------

void act(const Network& net, const float* parameters, const std::uint8_t* features,
         std::int64_t bytes, std::int64_t count, const float* noise, const std::uint8_t* mask,
         std::int64_t* chosen, float* amounts, float* dist, float* logprob) {
  Arena& arena = arena_of_this_thread();
  arena.clear();
  const Packed packed = pack(arena, net, parameters, false);
  Trails trails = room_for(arena, net);
  const Head& head = net.head;
  const int ld = width_of(net.actor);
  const int n_masked = head.kind == HeadKind::bernoulli ? 2 * head.n_outputs : head.n_outputs;
  const int n_chosen = head.kind == HeadKind::categorical ? head.n_groups : head.n_outputs;
  with_head(head.kind, [&](auto kind) {
    using H = decltype(kind);
    const int n = H::n_parameters(head);
    float* ready = arena.floats(3 * head.n_outputs);
    for (std::int64_t at = 0; at < count; at += BLOCK) {
      const Rows rows{features, bytes, nullptr, at, int(smaller(count - at, std::int64_t(BLOCK)))};
      const float* hidden = run_shared(net, packed, parameters, rows, trails);
      const float* y = forward(net.actor, packed.actor, parameters, rows, hidden, trails.actor);
      for (int i = 0; i < rows.count; ++i) {
        const std::int64_t r = at + i;
        Row row{parameters + head.log_std, mask ? mask + r * n_masked : nullptr,
                chosen ? chosen + r * n_chosen : nullptr,
                amounts ? amounts + r * head.n_outputs : nullptr, nullptr};
        float* d = dist + r * n;
        H::parameters(head, y + i * ld, row, d);
        H::sample(head, d, noise + r * n_chosen, const_cast<std::int64_t*>(row.chosen),
                  const_cast<float*>(row.amounts));
        H::prepare(head, d, row, ready);
        logprob[r] = H::logprob(head, d, ready, row);
      }
    }
  });
}

// ---- one step of learning ------------------------------------------------------------------------

struct Sums {
  double policy = 0, value = 0, entropy = 0, kl = 0, value_clipped = 0;
};

struct StepTask {
  const Network* net;
  const Packed* packed;
  const float* parameters;
  const Batch* batch;
  const Objective* objective;
  const std::int64_t* order;
  std::int64_t rows;
  float shift, scale;  // of advantages
  float* gradient;     // [shards of a wave, size]
  Sums* sums;
  int first;           // shard of this wave
};

inline Row row_of(const Batch& b, const Head& h, const float* parameters, int n_parameters,
                  std::int64_t r) {
  const int n_masked = h.kind == HeadKind::bernoulli ? 2 * h.n_outputs : h.n_outputs;
  const int n_chosen = h.kind == HeadKind::categorical ? h.n_groups : h.n_outputs;
  return {parameters + h.log_std, b.mask ? b.mask + r * n_masked : nullptr,
          b.chosen ? b.chosen + r * n_chosen : nullptr,
          b.amounts ? b.amounts + r * h.n_outputs : nullptr, b.dist + r * n_parameters};
}

// The policy's part of the loss over a block, and its derivative by the outputs.
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
    Weights w{-share * advantage, -share * o.entropy_coef, share * o.kl_coef};
    if (o.clipped) {
      const float ratio = std::exp(logprob - b.logprob[r]);
      const float held = ratio < 1 - o.clip ? 1 - o.clip : ratio > 1 + o.clip ? 1 + o.clip : ratio;
      const bool free = !(held * advantage < ratio * advantage);  // NaN too goes on
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

// Squared errors, or Huber's with the same curvature near zero; `slope` is the derivative.
inline float error_of(float distance, bool huber, float& slope) {
  const float size = std::fabs(distance);
  if (!huber || size < 1) {
    slope = 2 * distance;
    return distance * distance;
  }
  slope = distance > 0 ? 2.0f : -2.0f;
  return 2 * size - 1;
}

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
      const float held_error = error_of(held - target, o.huber, unused);
      if (held_error > error) {
        error = held_error;
        if (outside) slope = 0;
      }
      if (moved != moved) error = slope = moved;  // NaN goes on
      sums.value_clipped += outside;
    }
    sums.value += error;
    d_out[i * ld] = weight * slope;
  }
}

void step_shard(void* context, int s) {
  const StepTask& task = *static_cast<StepTask*>(context);
  const Network& net = *task.net;
  Arena& arena = arena_of_this_thread();
  const Arena::Mark start = arena.mark();
  Trails trails = room_for(arena, net);
  const int ld_actor = width_of(net.actor), ld_critic = net.critic.n_dense ? width_of(net.critic) : 0;
  float* dist = arena.floats(2 * net.head.n_outputs);
  float* ready = arena.floats(3 * net.head.n_outputs);
  float* gradient = task.gradient + std::int64_t(s) * net.size;
  std::memset(gradient, 0, net.size * 4);
  float* d_log_std = net.head.log_std == NONE ? nullptr : gradient + net.head.log_std;
  Sums& sums = task.sums[s];
  sums = Sums{};
  const std::int64_t first = std::int64_t(task.first + s) * SHARD;
  const std::int64_t end = smaller(task.rows, first + SHARD);
  for (std::int64_t at = first; at < end; at += BLOCK) {
    const Arena::Mark mark = arena.mark();
    const Rows rows{task.batch->features, task.batch->feature_bytes, task.order, at,
                    int(smaller(end - at, std::int64_t(BLOCK)))};
    const float* hidden = run_shared(net, *task.packed, task.parameters, rows, trails);

    const float* out = forward(net.actor, task.packed->actor, task.parameters, rows, hidden, trails.actor);
    float* d_out = arena.zeros(std::int64_t(rows.count) * ld_actor);
    with_head(net.head.kind, [&](auto kind) {
      policy_loss<decltype(kind)>(task, rows, out, ld_actor, d_out, d_log_std, dist, ready, sums);
    });
    float* d_hidden = backward(arena, net.actor, task.packed->actor, rows, hidden, trails.actor,
                               d_out, gradient);
    if (task.objective->critic) {
      const float* value = forward(net.critic, task.packed->critic, task.parameters, rows, hidden, trails.critic);
      float* d_value = arena.zeros(std::int64_t(rows.count) * ld_critic);
      value_loss(task, rows, value, ld_critic, d_value, sums);
      const float* more = backward(arena, net.critic, task.packed->critic, rows, hidden,
                                   trails.critic, d_value, gradient);
      if (hidden) {
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
  task.scale = !(spread <= 1e-8) ? float(1 / spread) : 0.0f;
}

inline double norm_of(const float* x, std::int64_t n) {
  double lane[LINE] = {};
  std::int64_t i = 0;
  for (; i + LINE <= n; i += LINE)
    for (int j = 0; j < LINE; ++j) lane[j] += double(x[i + j]) * x[i + j];
  double sum = 0;
  for (; i < n; ++i) sum += double(x[i]) * x[i];
  for (double part : lane) sum += part;
  return std::sqrt(sum);
}

// AdamW (arXiv:1711.05101) on the flat vector.
inline void descend(float* parameters, const float* gradient, Adam& adam, std::int64_t size) {
  constexpr double BETA1 = 0.9, BETA2 = 0.999;
  adam.steps += 1;
  const vec keep = all(float(1 - double(adam.lr) * adam.weight_decay));
  const vec rate = all(float(-adam.lr / (1 - std::pow(BETA1, double(adam.steps)))));
  const vec unbias = all(float(1 / std::sqrt(1 - std::pow(BETA2, double(adam.steps)))));
  const vec eps = all(adam.eps), one = all(float(1 - BETA1)), two = all(float(1 - BETA2));
  for (std::int64_t i = 0; i < size; i += LANES) {
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

void step(const Network& net, float* parameters, float* gradient, const Batch& batch,
          const std::int64_t* order, std::int64_t rows, const Objective& objective, Adam& adam,
          StepReport& report, Parallel parallel) {
  constexpr int WAVE = 8;  // shards at once
  Arena& arena = arena_of_this_thread();
  arena.clear();
  const Packed packed = pack(arena, net, parameters, true);
  const std::int64_t shards = shards_of(rows);
  const int wave = int(smaller(shards, std::int64_t(WAVE)));
  Sums found[WAVE], total;
  float* parts = shards == 1 ? gradient : arena.floats(wave * net.size);
  StepTask task{&net, &packed, parameters, &batch, &objective, order, rows, 0, 1, parts, found, 0};
  if (objective.standardize) standardize(task);
  if (shards > 1) std::memset(gradient, 0, net.size * 4);
  for (std::int64_t first = 0; first < shards; first += WAVE) {
    task.first = int(first);
    const int n = int(smaller(shards - first, std::int64_t(WAVE)));
    parallel(step_shard, &task, n);
    for (int s = 0; s < n; ++s) {
      total.policy += found[s].policy, total.value += found[s].value, total.kl += found[s].kl;
      total.entropy += found[s].entropy, total.value_clipped += found[s].value_clipped;
      if (shards > 1)
        for (std::int64_t i = 0; i < net.size; i += LANES)
          store(gradient + i, load(gradient + i) + load(parts + s * net.size + i));
    }
  }
  report.norm = norm_of(gradient, net.size);
  if (adam.max_norm > 0) {
    const double shrink = adam.max_norm / (report.norm + 1e-6);
    if (!(shrink >= 1))
      for (std::int64_t i = 0; i < net.size; i += LANES)
        store(gradient + i, load(gradient + i) * all(float(shrink)));
  }
  descend(parameters, gradient, adam, net.size);
  const double n = double(rows);
  report.policy = total.policy / n, report.value = total.value / n, report.kl = total.kl / n;
  report.value_clipped = total.value_clipped / n;
  report.total = report.policy + (objective.critic ? objective.value_coef * report.value : 0) -
                 objective.entropy_coef * total.entropy / n + objective.kl_coef * report.kl;
}

// ---- how far the policy has moved ----------------------------------------------------------------

struct ShiftTask {
  const Network* net;
  const Packed* packed;
  const float* parameters;
  const Batch* batch;
  float clip;
  Shift* found;
};

void shift_shard(void* context, int s) {
  const ShiftTask& task = *static_cast<ShiftTask*>(context);
  const Network& net = *task.net;
  const Batch& b = *task.batch;
  Arena& arena = arena_of_this_thread();
  const Arena::Mark mark = arena.mark();
  Trails trails = room_for(arena, net);
  float* dist = arena.floats(2 * net.head.n_outputs);
  float* ready = arena.floats(3 * net.head.n_outputs);
  Shift sum{0, 0, 0, -HUGE_VAL, 0};
  const std::int64_t end = smaller(b.rows, std::int64_t(s + 1) * SHARD);
  const int ld = width_of(net.actor);
  with_head(net.head.kind, [&](auto kind) {
    using H = decltype(kind);
    for (std::int64_t at = std::int64_t(s) * SHARD; at < end; at += BLOCK) {
      const Rows rows{b.features, b.feature_bytes, nullptr, at, int(smaller(end - at, std::int64_t(BLOCK)))};
      const float* hidden = run_shared(net, *task.packed, task.parameters, rows, trails);
      const float* y = forward(net.actor, task.packed->actor, task.parameters, rows, hidden, trails.actor);
      for (int i = 0; i < rows.count; ++i) {
        const Row row = row_of(b, net.head, task.parameters, H::n_parameters(net.head), at + i);
        H::parameters(net.head, y + i * ld, row, dist);
        H::prepare(net.head, dist, row, ready);
        const double ratio = std::exp(H::logprob(net.head, dist, ready, row) - b.logprob[at + i]);
        sum.kl += H::kl(net.head, dist, ready, row);
        sum.entropy += H::entropy(net.head, dist, ready, row);
        sum.ratio_mean += ratio;
        if (!(ratio <= sum.ratio_max)) sum.ratio_max = ratio;
        sum.clip_fraction += std::fabs(ratio - 1) > task.clip;
      }
    }
  });
  task.found[s] = sum;
  arena.release(mark);
}

void shift(const Network& net, const float* parameters, const Batch& batch, float clip, Shift& total,
           Parallel parallel) {
  Arena& arena = arena_of_this_thread();
  arena.clear();
  const Packed packed = pack(arena, net, parameters, false);
  const std::int64_t shards = shards_of(batch.rows);
  Shift* found = reinterpret_cast<Shift*>(arena.floats(shards * std::int64_t(sizeof(Shift) / 4)));
  ShiftTask task{&net, &packed, parameters, &batch, clip, found};
  parallel(shift_shard, &task, int(shards));
  total = {0, 0, 0, -HUGE_VAL, 0};
  for (std::int64_t s = 0; s < shards; ++s) {
    total.kl += found[s].kl, total.entropy += found[s].entropy;
    total.ratio_mean += found[s].ratio_mean, total.clip_fraction += found[s].clip_fraction;
    if (!(found[s].ratio_max <= total.ratio_max)) total.ratio_max = found[s].ratio_max;
  }
  const double n = double(batch.rows);
  total.kl /= n, total.entropy /= n, total.ratio_mean /= n, total.clip_fraction /= n;
}

}  // namespace

namespace gymnast {
extern const Kernels KERNELS;
const Kernels KERNELS{ISA, forward_all, act, step, shift};
}  // namespace gymnast
