// Measures how far the policy has moved from the one that collected the batch.
#pragma once

#include "sequences.hpp"

namespace {

// What every shard reads, and where it writes its sums.
struct ShiftTask {
  const Network* net;
  const Packed* packed;
  const float* parameters;
  const Batch* batch;
  float clip;
  Shift* found;
};

// Adds some rows to `sum`; `ratio_max` is a maximum instead of a sum.
template <class H>
inline void shift_rows(const ShiftTask& task, const Rows& rows, Trails& trails, float* dist,
                       float* ready, Shift& sum) {
  const Network& net = *task.net;
  const Batch& b = *task.batch;
  const int ld = width_of(net.actor);
  const float* hidden = run_shared(net, *task.packed, task.parameters, rows, trails);
  const float* y = forward(net.actor, task.packed->actor, task.parameters, rows, hidden, trails.actor);
  for (int i = 0; i < rows.count; ++i) {
    if (!rows.learned(i)) continue;
    const std::int64_t r = rows.row(i);
    const Row row = row_of(b, net.head, task.parameters, H::n_parameters(net.head), r);
    H::parameters(net.head, y + i * ld, row, dist);
    H::prepare(net.head, dist, row, ready);
    const double log_ratio = H::logprob(net.head, dist, ready, row) - b.logprob[r];
    const double ratio = std::exp(log_ratio);
    sum.kl += H::kl(net.head, dist, ready, row);
    // the k3 estimator, ratio - 1 - log ratio (http://joschu.net/blog/kl-approx.html)
    sum.approx_kl += std::expm1(log_ratio) - log_ratio;
    sum.entropy += H::entropy(net.head, dist, ready, row);
    sum.ratio_mean += ratio;
    // true for NaN too, so that NaN propagates
    if (!(ratio <= sum.ratio_max)) sum.ratio_max = ratio;
    sum.clip_fraction += std::fabs(ratio - 1) > task.clip;
  }
}

// Computes the sums of shard s: of rows, block by block, or of whole sequences.
void shift_shard(void* context, int s) {
  const ShiftTask& task = *static_cast<ShiftTask*>(context);
  const Network& net = *task.net;
  const Batch& b = *task.batch;
  Arena& arena = arena_of_this_thread();
  const Arena::Mark mark = arena.mark();
  float* dist = arena.floats(2 * net.head.n_outputs);
  float* ready = arena.floats(3 * net.head.n_outputs);
  Shift sum{0, 0, 0, 0, -HUGE_VAL, 0};
  with_head(net.head.kind, [&](auto kind) {
    using H = decltype(kind);
    if (b.sequences.count) {
      const std::int64_t each = sequences_of(net, b), first = s * each;
      Gathered found = gather(arena, net, b, nullptr, first, int(smaller(b.sequences.count - first, each)));
      found.rows.steps = &found.steps;
      Trails trails = room_for(arena, net, Parts::actor, found.rows.count);
      return shift_rows<H>(task, found.rows, trails, dist, ready, sum);
    }
    Trails trails = room_for_block(arena, net, Parts::actor, b.rows);
    const std::int64_t end = smaller(b.rows, (s + 1) * shard_of(net));
    for (std::int64_t at = s * shard_of(net); at < end; at += block_of(net)) {
      const Rows rows{b.features, b.feature_bytes, nullptr, at,
                      next_block(net, at, end), b.planes};
      shift_rows<H>(task, rows, trails, dist, ready, sum);
    }
  });
  task.found[s] = sum;
  arena.release(mark);
}

// Computes the means over all rows of the batch.
void shift(const Network& net, const float* parameters, const Batch& batch, float clip, Shift& total,
           Parallel parallel) {
  Arena& arena = arena_of_this_thread();
  arena.clear();
  const Packed packed = pack(arena, net, parameters, Parts::actor);
  const Sequences& all = batch.sequences;
  const std::int64_t each = all.count ? sequences_of(net, batch) : shard_of(net);
  const std::int64_t shards = ((all.count ? all.count : batch.rows) + each - 1) / each;
  Shift* found = reinterpret_cast<Shift*>(arena.floats(shards * std::int64_t(sizeof(Shift) / 4)));
  ShiftTask task{&net, &packed, parameters, &batch, clip, found};
  parallel(shift_shard, &task, int(shards));
  total = {0, 0, 0, 0, -HUGE_VAL, 0};
  for (std::int64_t s = 0; s < shards; ++s) {
    total.kl += found[s].kl, total.approx_kl += found[s].approx_kl;
    total.entropy += found[s].entropy;
    total.ratio_mean += found[s].ratio_mean, total.clip_fraction += found[s].clip_fraction;
    if (!(found[s].ratio_max <= total.ratio_max)) total.ratio_max = found[s].ratio_max;
  }
  const double n = double(all.count ? learned_steps(all, nullptr, all.count) : batch.rows);
  total.kl /= n, total.approx_kl /= n, total.entropy /= n, total.ratio_mean /= n, total.clip_fraction /= n;
}

}  // namespace
