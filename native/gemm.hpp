// C = bias + A B, or C += A B, in tiles that stay in registers.
//
// A is given by two strides, so the same loop serves all three products of a layer:
//   forward           Y  = X W      A = X   (row stride ld, column stride 1)
//   back to inputs    dX = dY W^T   A = dY, B = W transposed beforehand
//   weight gradient   dW += X^T dY  A = X^T (row stride 1, column stride ld)
// B and C are row-major and padded to whole LINEs of columns. Each element is summed over k in
// order, whatever the tile, so a row's result does not depend on the rows beside it.
#pragma once

#include "simd.hpp"

namespace {

struct Strided {
  const float* at;
  std::int64_t row, column;
};

enum class Start { bias, add };

template <int ROWS, int VECS>
inline void tile(Strided a, const float* b, std::int64_t ldb, float* c, std::int64_t ldc, int depth,
                 Start start, const float* bias) {
  vec sum[ROWS][VECS];
#pragma GCC unroll 8
  for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < VECS; ++j)
      sum[i][j] = start == Start::add ? load(c + i * ldc + j * LANES)
                  : bias              ? load(bias + j * LANES)
                                      : vec{};
  for (int k = 0; k < depth; ++k) {
    vec right[VECS];
#pragma GCC unroll 4
    for (int j = 0; j < VECS; ++j) right[j] = load(b + k * ldb + j * LANES);
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; ++i) {
      const vec left = all(a.at[i * a.row + k * a.column]);
#pragma GCC unroll 4
      for (int j = 0; j < VECS; ++j) sum[i][j] += left * right[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < VECS; ++j) store(c + i * ldc + j * LANES, sum[i][j]);
}

template <int VECS>
inline void column_panel(Strided a, const float* b, std::int64_t ldb, float* c, std::int64_t ldc,
                         int rows, int depth, Start start, const float* bias) {
  int i = 0;
  auto at = [&](int row) { return Strided{a.at + row * a.row, a.row, a.column}; };
  for (; i + TILE_ROWS <= rows; i += TILE_ROWS)
    tile<TILE_ROWS, VECS>(at(i), b, ldb, c + i * ldc, ldc, depth, start, bias);
  for (; i + 4 <= rows; i += 4)
    tile<4, VECS>(at(i), b, ldb, c + i * ldc, ldc, depth, start, bias);
  for (; i < rows; ++i) tile<1, VECS>(at(i), b, ldb, c + i * ldc, ldc, depth, start, bias);
}

// `columns` is a multiple of LINE; bias [columns] or none.
inline void multiply(Strided a, const float* b, std::int64_t ldb, float* c, std::int64_t ldc,
                     int rows, int columns, int depth, Start start, const float* bias = nullptr) {
  int j = 0;
  for (; j + 2 * LANES <= columns; j += 2 * LANES)
    column_panel<2>(a, b + j, ldb, c + j, ldc, rows, depth, start, bias ? bias + j : nullptr);
  for (; j < columns; j += LANES)
    column_panel<1>(a, b + j, ldb, c + j, ldc, rows, depth, start, bias ? bias + j : nullptr);
}

}  // namespace
