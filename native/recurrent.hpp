// Forward and backward passes of a recurrent layer over sequences.
//
// The input products of all rows are one product; then each step adds the recurrent product of its rows. Acting is
// a single step, so it gives the same bits as a sequence: every element is summed in the same order.
#pragma once

#include "cells.hpp"
#include "packing.hpp"
#include "rows.hpp"

namespace {

using gymnast::NONE;
using gymnast::Recurrent;

// Each gate is padded to `ld` columns.
struct PackedRecurrent {
  const float* weight;                // [n_in, gates, ld]
  const float* recurrent;             // [n_out, gates, ld]
  const float* bias;                  // [gates, ld]
  const float* recurrent_bias;        // [ld], or null
  const float* weight_transposed;     // [gates, ld, padded(n_in)], for backward
  const float* recurrent_transposed;  // [gates, ld, ld]
  int ld;
};

inline int gates_of(const Recurrent& layer) {
  int gates = 0;
  with_cell(layer.kind, [&](auto cell) { gates = decltype(cell)::GATES; });
  return gates;
}

inline PackedRecurrent pack(Arena& arena, const Recurrent& layer, const float* parameters,
                            Parallel back) {
  const int gates = gates_of(layer), n = layer.n_out;
  PackedRecurrent p;
  p.ld = padded(n);
  p.weight = padded_rows(arena, parameters + layer.weight, layer.n_in * gates, n);
  p.recurrent = padded_rows(arena, parameters + layer.recurrent, n * gates, n);
  p.bias = padded_rows(arena, parameters + layer.bias, gates, n);
  const bool biased = layer.recurrent_bias != NONE;
  p.recurrent_bias = biased ? padded_rows(arena, parameters + layer.recurrent_bias, 1, n) : nullptr;
  const int wide = gates * p.ld;
  p.weight_transposed = back ? transposed(arena, p.weight, layer.n_in, wide, back) : nullptr;
  p.recurrent_transposed = back ? transposed(arena, p.recurrent, n, wide, back) : nullptr;
  return p;
}

// What a forward pass stores for the backward pass.
struct Memory {
  float* gates = nullptr;           // activations, [rows, gates, ld]
  float* kept = nullptr;            // as the cell says, [rows, ld]
  float* before[MAX_STATES] = {};   // state before each step, after resets, and after the last: [rows + sequences, ld]
  float* output = nullptr;          // [rows, ld]
};

inline Memory room_for(Arena& arena, const Recurrent& layer, std::int64_t rows) {
  const int ld = padded(layer.n_out);
  Memory m;
  with_cell(layer.kind, [&](auto cell) {
    using Cell = decltype(cell);
    m.gates = arena.floats(rows * Cell::GATES * ld);
    // at most as many sequences as rows
    for (int k = 0; k < Cell::STATES; ++k) m.before[k] = arena.floats(2 * rows * ld);
  });
  m.kept = arena.floats(rows * ld), m.output = arena.floats(rows * ld);
  return m;
}

// Copies state k of the layer from the policy states of the sequences, or back.
inline void read_state(const Recurrent& layer, const Steps& steps, int k, int ld, float* to) {
  std::memset(to, 0, std::int64_t(steps.sequences) * ld * 4);
  const float* from = steps.state + layer.state + k * layer.n_out;
  for (int s = 0; s < steps.sequences; ++s)
    std::memcpy(to + s * ld, from + std::int64_t(s) * steps.width, layer.n_out * 4);
}
inline void write_state(const Recurrent& layer, const Steps& steps, int k, int ld, const float* from) {
  if (!steps.after) return;
  float* to = steps.after + layer.state + k * layer.n_out;
  for (int s = 0; s < steps.sequences; ++s)
    std::memcpy(to + std::int64_t(s) * steps.width, from + s * ld, layer.n_out * 4);
}

// Sets the rows of x [sequences, ld] that are flagged to zeros.
inline void clear_flagged(float* x, const std::uint8_t* flags, int sequences, int ld) {
  for (int s = 0; s < sequences; ++s)
    if (flags[s]) std::memset(x + s * ld, 0, ld * 4);
}

// The arrays of row i, which is a step of a sequence.
template <class Cell> inline CellRow row_of(const Memory& m, std::int64_t i, int ld) {
  CellRow row{m.gates + i * Cell::GATES * ld, m.kept + i * ld, {}};
  for (int k = 0; k < Cell::STATES; ++k) row.before[k] = m.before[k] + i * ld;
  return row;
}

template <class Cell>
inline void run_cell(const Recurrent& layer, const PackedRecurrent& p, const Rows& rows,
                     const float* x, const Memory& m) {
  const Steps& steps = *rows.steps;
  const int n = steps.sequences, ld = p.ld, wide = Cell::GATES * ld, added = wide - Cell::APART * ld;
  multiply({x, padded(layer.n_in), 1}, p.weight, wide, m.gates, wide, rows.count, wide, layer.n_in,
           Start::bias, p.bias);
  for (int k = 0; k < Cell::STATES; ++k) read_state(layer, steps, k, ld, m.before[k]);
  for (int t = 0; t < steps.count; ++t) {
    const std::int64_t first = std::int64_t(t) * n;
    if (steps.start)
      for (int k = 0; k < Cell::STATES; ++k)
        clear_flagged(m.before[k] + first * ld, steps.start + first, n, ld);
    const Strided h{m.before[0] + first * ld, ld, 1};
    multiply(h, p.recurrent, wide, m.gates + first * wide, wide, n, added, layer.n_out, Start::add);
    if (Cell::APART)
      multiply(h, p.recurrent + added, wide, m.kept + first * ld, ld, n, ld, layer.n_out, Start::bias,
               p.recurrent_bias);
    for (std::int64_t i = first; i < first + n; ++i) {
      float* after[MAX_STATES] = {};
      for (int k = 0; k < Cell::STATES; ++k) after[k] = m.before[k] + (i + n) * ld;
      Cell::step(row_of<Cell>(m, i, ld), ld, after);
    }
    // a copy, because the next step may reset the state
    std::memcpy(m.output + first * ld, m.before[0] + (first + n) * ld, std::int64_t(n) * ld * 4);
  }
  for (int k = 0; k < Cell::STATES; ++k)
    write_state(layer, steps, k, ld, m.before[k] + std::int64_t(steps.count) * n * ld);
}

// Runs a recurrent layer on x [rows, padded(n_in)] and returns its output, [rows, ld].
inline const float* run_steps(const Recurrent& layer, const PackedRecurrent& p, const Rows& rows,
                              const float* x, const Memory& m) {
  with_cell(layer.kind, [&](auto cell) { run_cell<decltype(cell)>(layer, p, rows, x, m); });
  return m.output;
}

// ---- backward ------------------------------------------------------------------------------------

// dW += X^T dZ for `gates` gates of dZ [rows, ld_z]; `to` [n_in, columns] has unpadded gates of n columns.
inline void add_gate_gradients(Arena& arena, float* to, int columns, const float* x, int n_in,
                               const float* dz, int ld_z, int gates, int n, int rows) {
  const int ld_x = padded(n_in), ld = padded(n), wide = gates * ld;
  if (ld == n) {
    multiply({x, 1, ld_x}, dz, ld_z, to, columns, n_in, wide, rows, Start::add);
    return;
  }
  const Arena::Mark mark = arena.mark();
  float* sum = arena.floats(std::int64_t(n_in) * wide);
  multiply({x, 1, ld_x}, dz, ld_z, sum, wide, n_in, wide, rows, Start::bias);
  for (int i = 0; i < n_in; ++i)
    for (int g = 0; g < gates; ++g)
      for (int j = 0; j < n; ++j) to[i * columns + g * n + j] += sum[i * wide + g * ld + j];
  arena.release(mark);
}

// Replaces the activations in `m` by the gradients of the pre-activations, from the last step to the first.
// `dy` [rows, ld] is the gradient of the output.
template <class Cell>
inline void through_time(Arena& arena, const PackedRecurrent& p, const Steps& steps, const Memory& m,
                         const float* dy) {
  const int n = steps.sequences, ld = p.ld, wide = Cell::GATES * ld, added = wide - Cell::APART * ld;
  float* carry[MAX_STATES] = {};
  for (int k = 0; k < Cell::STATES; ++k) carry[k] = arena.zeros(std::int64_t(n) * ld);
  for (int t = steps.count - 1; t >= 0; --t) {
    const std::int64_t first = std::int64_t(t) * n;
    for (int s = 0; s < n; ++s) {
      float* own[MAX_STATES] = {};
      for (int k = 0; k < Cell::STATES; ++k) own[k] = carry[k] + s * ld;
      Cell::back(row_of<Cell>(m, first + s, ld), ld, dy + (first + s) * ld, own);
    }
    if (t == 0) break;  // truncated: no gradient passes to the steps before the sequence
    multiply({m.gates + first * wide, wide, 1}, p.recurrent_transposed, ld, carry[0], ld, n, ld, added,
             Start::add);
    if (Cell::APART)
      multiply({m.kept + first * ld, ld, 1}, p.recurrent_transposed + std::int64_t(added) * ld, ld,
               carry[0], ld, n, ld, wide - added, Start::add);
    if (steps.cut)
      for (int k = 0; k < Cell::STATES; ++k) clear_flagged(carry[k], steps.cut + first, n, ld);
  }
}

// Backward pass of a recurrent layer. `dy` is the gradient of its output. Returns the gradient of x, or null if
// `inputs_matter` is false.
inline float* through_steps(Arena& arena, const Recurrent& layer, const PackedRecurrent& p,
                            const Rows& rows, const float* x, const Memory& m, const float* dy,
                            float* gradient, bool inputs_matter) {
  const int ld = p.ld, n = layer.n_out, count = rows.count, ld_x = padded(layer.n_in);
  float* dx = inputs_matter ? arena.floats(std::int64_t(count) * ld_x) : nullptr;
  with_cell(layer.kind, [&](auto cell) {
    using Cell = decltype(cell);
    constexpr int GATES = Cell::GATES, ADDED = GATES - Cell::APART;
    const int wide = GATES * ld;
    through_time<Cell>(arena, p, *rows.steps, m, dy);
    for (int g = 0; g < GATES; ++g)
      add_bias_gradient(gradient + layer.bias + g * n, m.gates + g * ld, wide, count, n);
    add_gate_gradients(arena, gradient + layer.weight, GATES * n, x, layer.n_in, m.gates, wide, GATES, n,
                       count);
    float* recurrent = gradient + layer.recurrent;
    add_gate_gradients(arena, recurrent, GATES * n, m.before[0], n, m.gates, wide, ADDED, n, count);
    if (Cell::APART) {
      add_bias_gradient(gradient + layer.recurrent_bias, m.kept, ld, count, n);
      add_gate_gradients(arena, recurrent + ADDED * n, GATES * n, m.before[0], n, m.kept, ld, 1, n, count);
    }
    if (dx)
      multiply({m.gates, wide, 1}, p.weight_transposed, ld_x, dx, ld_x, count, ld_x, wide, Start::bias);
  });
  return dx;
}

}  // namespace
