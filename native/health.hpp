// Health of a network: dead and saturated units, and the distribution of its outputs.
#pragma once

#include "ready.hpp"

namespace {

constexpr int SEVERAL = 8;  // rows that are summed at a time

// Sums ROWS rows independently of each other, for instruction-level parallelism. The bits do not depend
// on ROWS.
template <int ROWS>
inline void add_rows(const float* y, int ld, int n, double& total, double& squares) {
  float sum[ROWS] = {}, square[ROWS] = {};
  for (int j = 0; j < n; ++j)
    for (int r = 0; r < ROWS; ++r) {
      const float v = y[r * ld + j];
      sum[r] += v, square[r] += v * v;
    }
  for (int r = 0; r < ROWS; ++r) total += sum[r], squares += square[r];
}

// Adds the outputs y [rows, ld] of an activation layer to `units`. alive[j] becomes 1 if unit j was not on
// its flat side for some row. `saturated` is the absolute output above which tanh counts as saturated.
inline void add_layer(Activation kind, const float* y, int ld, int n, int rows, float saturated,
                      Units& units, float* alive) {
  double total = 0, squares = 0, ends = 0;
  const Range flat = flat_side(kind);
  int i = 0;
  for (; i + SEVERAL <= rows; i += SEVERAL) add_rows<SEVERAL>(y + i * ld, ld, n, total, squares);
  for (; i < rows; ++i) add_rows<1>(y + i * ld, ld, n, total, squares);
  for (i = 0; i < rows; ++i, y += ld) {
    int far = 0;
    if (kind == Activation::tanh)
      for (int j = 0; j < n; ++j) far += std::fabs(y[j]) > saturated;
    else
      for (int j = 0; j < n; ++j) alive[j] = y[j] >= flat.low && y[j] <= flat.high ? alive[j] : 1.0f;
    ends += far;
  }
  units.outputs += double(rows) * n, units.total += total, units.squares += squares;
  if (kind == Activation::tanh) units.tanh += double(rows) * n, units.saturated += ends;
}

// Calls one(activation, outputs [..., ld], ld, units, outputs of a unit per row) for every layer of a
// stack that has an activation. A unit of a convolution is a channel.
template <class One> inline void each_activation(const Stack& stack, const Trail& trail, One one) {
  for (int l = 0; l < stack.n_conv; ++l)
    if (const Conv& c = stack.conv[l]; c.activation != Activation::none)
      one(c.activation, trail.shown[l], ld_out(c), c.n_out, int(pixels_out(c)));
  for (int l = 0; l < stack.n_dense; ++l)
    if (const Dense& d = stack.dense[l]; d.activation != Activation::none)
      one(d.activation, trail.output[l], padded(d.n_out), d.n_out, 1);
}

// `alive`: [units of all layers].
inline void add_units(const Stack& stack, const Trail& trail, int rows, float saturated, Units& units,
                      float* alive) {
  each_activation(stack, trail, [&](Activation kind, const float* y, int ld, int n, int each) {
    add_layer(kind, y, ld, n, rows * each, saturated, units, alive);
    alive += n;
  });
}

// Returns the number of units of all activation layers of a stack.
inline int units_of(const Stack& stack) {
  int units = 0;
  each_activation(stack, Trail{}, [&](Activation, const float*, int, int n, int) { units += n; });
  return units;
}

// Counts the units that no row has marked as alive. tanh has no flat side, so its units are not counted.
inline void count_dead(const Stack& stack, const float* alive, Units& units) {
  each_activation(stack, Trail{}, [&](Activation kind, const float*, int, int n, int) {
    if (kind != Activation::tanh) {
      units.rectifiers += n;
      for (int j = 0; j < n; ++j) units.dead += alive[j] == 0;
    }
    alive += n;
  });
}

// Sums over elements of the probability of the most and of the least likely option.
struct Chances {
  double most = 0, least = 0;
  int elements = 0;
};

// Adds those of a head that is not composite; continuous heads have no options.
inline void add_chances(const Head& head, const float* dist, Chances& sum) {
  if (head.is_continuous()) return;
  sum.elements += head.n_chosen();
  if (head.kind == HeadKind::bernoulli) {
    for (int j = 0; j < head.n_outputs; ++j) {
      const double e = std::exp(-std::fabs(dist[j]));
      sum.most += 1 / (1 + e), sum.least += e / (1 + e);
    }
    return;
  }
  for (int g = 0; g < head.n_groups; dist += head.group[g++]) {
    float top = dist[0], bottom = dist[0];
    for (int j = 1; j < head.group[g]; ++j)
      top = larger(top, dist[j]), bottom = smaller(bottom, dist[j]);
    double total = 0;
    for (int j = 0; j < head.group[g]; ++j) total += std::exp(dist[j] - top);
    sum.most += 1 / total, sum.least += std::exp(bottom - top) / total;
  }
}

// Adds the probability of the most and of the least likely option, as means over elements.
inline void add_chances(const Head& head, const float* dist, Health& found) {
  Chances sum;
  if (head.kind != HeadKind::composite) add_chances(head, dist, sum);
  for (int i = 0; i < head.n_parts; ++i)
    add_chances(head.part[i].head, dist + head.part[i].parameter, sum);
  if (sum.elements) found.prob_max += sum.most / sum.elements, found.prob_min += sum.least / sum.elements;
}

// Adds one row of outputs. Until the end of `health`, output_mean and output_std hold the sum and the sum of
// squares.
inline void add_outputs(const Head& head, const float* out, Health& found) {
  float top = out[0], bottom = out[0];
  for (int j = 0; j < head.n_outputs; ++j) {
    found.output_mean += out[j], found.output_std += double(out[j]) * out[j];
    top = larger(top, out[j]), bottom = smaller(bottom, out[j]);
  }
  found.logit_range += top - bottom;
}

// Runs the whole network on `count` rows, one step each, and computes all numbers of Health.
void health(const Network& net, const float* parameters, const std::uint8_t* features,
            std::int64_t bytes, std::int64_t count, const std::uint8_t* mask, State state,
            float saturated, Health& found) {
  Arena& arena = arena_of_this_thread();
  arena.clear();
  const bool critic = net.critic.n_dense > 0;
  const Parts parts = critic ? Parts::both : Parts::actor;
  const Packed packed = pack(arena, net, parameters, parts);
  Trails trails = room_for_block(arena, net, parts, count);
  float* alive_shared = arena.zeros(padded(units_of(net.shared)));
  float* alive_actor = arena.zeros(padded(units_of(net.actor)));
  float* alive_critic = arena.zeros(padded(units_of(net.critic)));
  const Head& head = net.head;
  const bool chooses = !head.is_continuous();
  float* dist = arena.floats(2 * head.n_outputs);
  const int ld = width_of(net.actor), n_masked = head.n_masked();
  found = Health{};
  for (std::int64_t at = 0; at < count; at += block_of(net)) {
    const int here = next_block(net, at, count);
    const Steps steps = single_steps(net, state, at, here);
    const Rows rows{features, bytes, nullptr, at, here, nullptr, &steps};
    const float* hidden = run_shared(net, packed, parameters, rows, trails);
    if (hidden) add_units(net.shared, trails.shared, rows.count, saturated, found.shared, alive_shared);
    const float* y = forward(net.actor, packed.actor, parameters, rows, hidden, trails.actor);
    add_units(net.actor, trails.actor, rows.count, saturated, found.actor, alive_actor);
    if (critic) {
      forward(net.critic, packed.critic, parameters, rows, hidden, trails.critic);
      add_units(net.critic, trails.critic, rows.count, saturated, found.critic, alive_critic);
    }
    for (int i = 0; i < rows.count; ++i) {
      add_outputs(head, y + i * ld, found);
      if (!chooses) continue;
      const Row row{log_std_of(head, parameters), mask ? mask + (at + i) * n_masked : nullptr, nullptr,
                    nullptr, nullptr};
      with_head(head.kind, [&](auto kind) { decltype(kind)::parameters(head, y + i * ld, row, dist); });
      add_chances(head, dist, found);
    }
  }
  count_dead(net.shared, alive_shared, found.shared);
  count_dead(net.actor, alive_actor, found.actor);
  count_dead(net.critic, alive_critic, found.critic);
  const double n = double(count), outputs = n * head.n_outputs;
  found.output_mean /= outputs;
  const double variance = found.output_std / outputs - found.output_mean * found.output_mean;
  found.output_std = std::sqrt(variance < 0 ? 0 : variance);
  found.logit_range /= n, found.prob_max /= n, found.prob_min /= n;
}

}  // namespace
