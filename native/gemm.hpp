// C = bias + A B, or C += A B, in tiles that stay in registers.
//
// A has two strides, so the same loop computes all three products of a layer:
//   forward           Y  = X W      A = X   (row stride ld, column stride 1)
//   input gradient    dX = dY W^T   A = dY, B = W transposed beforehand
//   weight gradient   dW += X^T dY  A = X^T (row stride 1, column stride ld)
// The inner dimension may consist of several runs, such as the rows of an image: convolutions are
// computed this way too (convolutions.hpp). B and C are row-major and padded to whole LINEs of columns.
// Each element is summed over k in order, whatever the tile size, so that the result of a row does not
// depend on the other rows of the batch.
#pragma once

#include "simd.hpp"

namespace {

// A matrix whose element (i, j) is at[i * row + j * column].
struct Strided {
  const float* at;
  std::int64_t row, column;
};

// The inner dimension is repeated `count` times, with these distances in A and in B.
struct Runs {
  int count = 1;
  std::int64_t a = 0, b = 0;
};

// What the sums start from: the bias (or 0 if there is none), or the contents of C.
enum class Start { bias, add };

// One tile of C, ROWS x (VECS * LANES), whose sums stay in registers over the whole inner dimension `depth`.
// The bounds are template parameters, because the compiler keeps `sum` in registers only if it is unrolled.
template <int ROWS, int VECS>
inline void tile(Strided a, const float* b, std::int64_t ldb, float* c, std::int64_t ldc, int depth,
                 Runs runs, Start start, const float* bias) {
  vec sum[ROWS][VECS];
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < VECS; ++j)
      sum[i][j] = start == Start::add ? load(c + i * ldc + j * LANES)
                  : bias              ? load(bias + j * LANES)
                                      : vec{};
  for (int run = 0; run < runs.count; ++run, a.at += runs.a, b += runs.b)
    for (int k = 0; k < depth; ++k) {
      vec right[VECS];
#pragma GCC unroll 4
      for (int j = 0; j < VECS; ++j) right[j] = load(b + k * ldb + j * LANES);
#pragma GCC unroll 16
      for (int i = 0; i < ROWS; ++i) {
        const vec left = all(a.at[i * a.row + k * a.column]);
#pragma GCC unroll 4
        for (int j = 0; j < VECS; ++j) sum[i][j] += left * right[j];
      }
    }
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < VECS; ++j) store(c + i * ldc + j * LANES, sum[i][j]);
}

// Calls the instance of `tile` for `rows` rows, 1 <= rows <= ROWS.
template <int ROWS, int VECS, class... Rest> inline void tile_of(int rows, Rest... rest) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return tile_of<ROWS - 1, VECS>(rows, rest...);
  tile<ROWS, VECS>(rest...);
}

// Divides the rows into as few tiles as possible, of nearly equal size.
template <int VECS>
inline void column_panel(Strided a, const float* b, std::int64_t ldb, float* c, std::int64_t ldc,
                         int rows, int depth, Runs runs, Start start, const float* bias) {
  const int tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
  for (int t = 0, i = 0; t < tiles; ++t) {
    const int n = rows / tiles + (t < rows % tiles);
    tile_of<TILE_ROWS, VECS>(n, Strided{a.at + i * a.row, a.row, a.column}, b, ldb, c + i * ldc, ldc,
                             depth, runs, start, bias);
    i += n;
  }
}

// C [rows, columns] = bias + A B, or C += A B, with A [rows, depth] and B [depth, columns]. `columns` is a
// multiple of LINE; bias is [columns] or null.
inline void multiply(Strided a, const float* b, std::int64_t ldb, float* c, std::int64_t ldc,
                     int rows, int columns, int depth, Start start, const float* bias = nullptr,
                     Runs runs = {}) {
  int j = 0;
  for (; j + 2 * LANES <= columns; j += 2 * LANES)
    column_panel<2>(a, b + j, ldb, c + j, ldc, rows, depth, runs, start, bias ? bias + j : nullptr);
  for (; j < columns; j += LANES)
    column_panel<1>(a, b + j, ldb, c + j, ldc, rows, depth, runs, start, bias ? bias + j : nullptr);
}

constexpr int PANEL = 2 * LINE;  // columns that are computed together
constexpr int FEW_ROWS = 16;
constexpr std::int64_t MANY_WEIGHTS = 1 << 18;  // more do not fit into the nearest caches

// C = bias + A B for few rows and so many weights B that reading them is the bottleneck: each weight is
// read once, and a block of weights is prefetched while the previous one is in use.
inline void multiply_few(Strided a, const float* b, std::int64_t ldb, float* c, std::int64_t ldc,
                         int rows, int columns, int depth, const float* bias) {
  constexpr int BLOCK = 16;  // rows of weights: few enough for the nearest cache
  for (int k = 0; k < depth; k += BLOCK) {
    const float* from = b + k * ldb;
    const int now = smaller(BLOCK, depth - k), next = smaller(BLOCK, depth - k - now);
    for (int j = 0; j < columns; j += PANEL) {
      for (int i = 0; i < next; ++i)
        for (int at = j; at < smaller(j + PANEL, columns); at += LINE)
          __builtin_prefetch(from + (BLOCK + i) * ldb + at);
      multiply({a.at + k * a.column, a.row, a.column}, from + j, ldb, c + j, ldc, rows,
               smaller(PANEL, columns - j), now, k ? Start::add : Start::bias, bias + j);
    }
  }
}

// db += sum of dY over the rows.
inline void add_bias_gradient(float* gradient, const float* dy, int ld, int rows, int n_out) {
  for (int j = 0; j < n_out; j += LANES) {
    vec sum{};
    for (int i = 0; i < rows; ++i) sum += load(dy + i * ld + j);
    for (int k = 0; k < smaller(LANES, n_out - j); ++k) gradient[j + k] += sum[k];
  }
}

}  // namespace
