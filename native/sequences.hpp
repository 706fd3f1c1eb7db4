// The rows of some sequences of a batch, gathered for one pass.
#pragma once

#include "ready.hpp"

namespace {

// Number of sequences per shard: as many as have the rows of a shard without memory, but enough of them for an
// efficient recurrent product. Images cost so much more that one sequence is enough.
inline std::int64_t sequences_of(const Network& net, const Batch& batch) {
  const std::int64_t fitting = shard_of(net) / larger(batch.sequences.steps, 1);
  return larger(fitting, std::int64_t(net.sees_images() ? 1 : 8));
}

// Some sequences, all their steps as rows. `rows.steps` must point to `steps`, so it is set where they are used.
struct Gathered {
  Rows rows;
  Steps steps;
};

// Gathers the `n` sequences that `order` selects (null: n sequences from `first` on), without the steps at the end
// that are padding in all of them.
inline Gathered gather(Arena& arena, const Network& net, const Batch& batch, const std::int64_t* order,
                       std::int64_t first, int n) {
  const Sequences& all = batch.sequences;
  const auto source = [&](int s) { return order ? order[first + s] : first + s; };
  int count = all.steps;
  const auto padding = [&](int t) {
    for (int s = 0; s < n; ++s)
      if (all.weight[t * all.count + source(s)] != 0) return false;
    return true;
  };
  while (count > 1 && padding(count - 1)) --count;
  const std::int64_t rows = std::int64_t(count) * n;
  auto* row = reinterpret_cast<std::int64_t*>(arena.floats(2 * rows));
  auto* start = reinterpret_cast<std::uint8_t*>(arena.floats(rows / 4 + 1));
  auto* cut = reinterpret_cast<std::uint8_t*>(arena.floats(rows / 4 + 1));
  auto* learned = reinterpret_cast<std::uint8_t*>(arena.floats(rows / 4 + 1));
  float* state = arena.floats(std::int64_t(n) * net.state);
  for (int s = 0; s < n; ++s) {
    std::memcpy(state + std::int64_t(s) * net.state, all.state + source(s) * net.state, net.state * 4);
    bool trained = false;  // an earlier step is part of the loss; the steps before it, the burn-in, get no gradient
    for (int t = 0; t < count; ++t) {
      const std::int64_t to = std::int64_t(t) * n + s, from = t * all.count + source(s);
      row[to] = from, start[to] = all.start[from], learned[to] = all.weight[from] != 0;
      cut[to] = start[to] || !trained;
      trained = trained || learned[to];
    }
  }
  return {{batch.features, batch.feature_bytes, row, 0, int(rows), batch.planes, nullptr},
          {count, n, state, nullptr, net.state, start, cut, learned}};
}

// Returns the number of steps of the `n` sequences that `order` selects (null: the first n) that are part of the loss.
inline std::int64_t learned_steps(const Sequences& all, const std::int64_t* order, std::int64_t n) {
  std::int64_t count = 0;
  for (int t = 0; t < all.steps; ++t)
    for (std::int64_t s = 0; s < n; ++s) count += all.weight[t * all.count + (order ? order[s] : s)] != 0;
  return count;
}

}  // namespace
