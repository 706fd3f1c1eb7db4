// Copies of weights in the layout that the products need: padded rows, transposed matrices.
#pragma once

#include "arena.hpp"
#include "gemm.hpp"
#include "network.hpp"

namespace {

using gymnast::Parallel;

// Returns a matrix with its rows padded to whole LINEs: a copy, or `from` itself if nothing is missing.
inline const float* padded_rows(Arena& arena, const float* from, int rows, int columns) {
  const int ld = padded(columns);
  if (ld == columns) return from;
  float* to = arena.zeros(std::int64_t(rows) * ld);
  for (int i = 0; i < rows; ++i) std::memcpy(to + i * ld, from + i * columns, columns * 4);
  return to;
}

// A matrix [rows, columns] to be transposed into [columns, ld], the rest of each row filled with zeros.
struct TurnTask {
  const float* from;
  float* to;
  int rows, columns, ld;
};

constexpr int TURNED = 64;  // columns that a thread transposes at a time

void turn(void* context, int part) {
  const TurnTask& t = *static_cast<TurnTask*>(context);
  constexpr int SIDE = 8;  // squares of this side are read and written while they are in the cache
  const int end = smaller(t.columns, (part + 1) * TURNED);
  for (int j0 = part * TURNED; j0 < end; j0 += SIDE)
    for (int i0 = 0; i0 < t.rows; i0 += SIDE)
      for (int j = j0; j < smaller(j0 + SIDE, end); ++j)
        for (int i = i0; i < smaller(i0 + SIDE, t.rows); ++i)
          t.to[j * t.ld + i] = t.from[i * t.columns + j];
  if (t.ld > t.rows)
    for (int j = part * TURNED; j < end; ++j)
      std::memset(t.to + j * t.ld + t.rows, 0, (t.ld - t.rows) * 4);
}

// Returns the transposed matrix, [columns, padded(rows)]. A large one is transposed by several threads.
inline const float* transposed(Arena& arena, const float* from, int rows, int columns,
                               Parallel parallel) {
  const int ld = padded(rows);
  TurnTask task{from, arena.floats(std::int64_t(columns) * ld), rows, columns, ld};
  const int parts = (columns + TURNED - 1) / TURNED;
  if (std::int64_t(rows) * columns >= MANY_WEIGHTS) parallel(turn, &task, parts);
  else for (int part = 0; part < parts; ++part) turn(&task, part);
  return task.to;
}

}  // namespace
