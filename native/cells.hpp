// Cells of recurrent layers, one row of one step at a time.
//
// There is one struct per kind of cell, all with the same constants and functions:
//   GATES    number of gates: the weights have this many blocks of columns
//   STATES   number of state vectors; the first is the output h
//   APART    how many of the last gates get their recurrent product h U apart, in `kept`, with a bias of its own;
//            that of the other gates is already added to `gates`
//   step     computes the state after a step. Replaces the pre-activations in `gates` by the activations, and stores
//            in `kept` what `back` needs
//   back     replaces `gates` by the gradient of the pre-activations and, for gates that are apart, `kept` by that of
//            their recurrent product. `carry` is the gradient of the state after the step from later steps; it becomes
//            that of the state before the step, without what passes through the recurrent products
// Zero padding stays zero. The formulas and their derivation: docs/native-engine.md.
#pragma once

#include "activations.hpp"

namespace {

constexpr int MAX_STATES = 2;

// Arrays of one row and one step: `gates` is [GATES, ld], the others are [ld].
struct CellRow {
  float *gates, *kept;
  const float* before[MAX_STATES];  // state before the step
};

// Long short-term memory with a forget gate (arXiv:1503.04069 without peepholes); gates i, f, g, o.
struct Lstm {
  static constexpr int GATES = 4, STATES = 2, APART = 0;

  static void step(const CellRow& row, int ld, float* const* after) {
    float *in = row.gates, *forget = in + ld, *candidate = forget + ld, *out = candidate + ld;
    for (int j = 0; j < ld; j += LANES) {
      const vec i = logistic_of(load(in + j)).s, f = logistic_of(load(forget + j)).s;
      const vec g = tanh_of(load(candidate + j)), o = logistic_of(load(out + j)).s;
      const vec c = f * load(row.before[1] + j) + i * g;
      const vec shown = tanh_of(c);
      store(in + j, i), store(forget + j, f), store(candidate + j, g), store(out + j, o);
      store(row.kept + j, shown);
      store(after[0] + j, o * shown), store(after[1] + j, c);
    }
  }

  static void back(const CellRow& row, int ld, const float* dh, float* const* carry) {
    float *in = row.gates, *forget = in + ld, *candidate = forget + ld, *out = candidate + ld;
    const vec one = all(1.0f);
    for (int j = 0; j < ld; j += LANES) {
      const vec i = load(in + j), f = load(forget + j), g = load(candidate + j), o = load(out + j);
      const vec shown = load(row.kept + j), d = load(dh + j) + load(carry[0] + j);
      const vec dc = load(carry[1] + j) + d * o * (one - shown * shown);
      store(in + j, dc * g * i * (one - i));
      store(forget + j, dc * load(row.before[1] + j) * f * (one - f));
      store(candidate + j, dc * i * (one - g * g));
      store(out + j, d * shown * o * (one - o));
      store(carry[0] + j, vec{}), store(carry[1] + j, dc * f);
    }
  }
};

// Gated recurrent unit (arXiv:1406.1078) in the form of torch and cuDNN, whose reset gate is applied after the
// product; gates r, z, n.
struct Gru {
  static constexpr int GATES = 3, STATES = 1, APART = 1;

  static void step(const CellRow& row, int ld, float* const* after) {
    float *reset = row.gates, *update = reset + ld, *candidate = update + ld;
    for (int j = 0; j < ld; j += LANES) {
      const vec r = logistic_of(load(reset + j)).s;
      const auto [z, rest] = logistic_of(load(update + j));
      const vec n = tanh_of(load(candidate + j) + r * load(row.kept + j));
      store(reset + j, r), store(update + j, z), store(candidate + j, n);
      store(after[0] + j, rest * n + z * load(row.before[0] + j));
    }
  }

  static void back(const CellRow& row, int ld, const float* dh, float* const* carry) {
    float *reset = row.gates, *update = reset + ld, *candidate = update + ld;
    const vec one = all(1.0f);
    for (int j = 0; j < ld; j += LANES) {
      const vec r = load(reset + j), z = load(update + j), n = load(candidate + j);
      const vec d = load(dh + j) + load(carry[0] + j);
      const vec dn = d * (one - z) * (one - n * n);
      store(reset + j, dn * load(row.kept + j) * r * (one - r));
      store(update + j, d * (load(row.before[0] + j) - n) * z * (one - z));
      store(candidate + j, dn), store(row.kept + j, dn * r);
      store(carry[0] + j, d * z);
    }
  }
};

// Calls run(kind) with the struct of a kind of cell.
template <class Run> inline void with_cell(gymnast::CellKind kind, Run run) {
  switch (kind) {
    case gymnast::CellKind::lstm: return run(Lstm{});
    case gymnast::CellKind::gru: return run(Gru{});
  }
}

}  // namespace
