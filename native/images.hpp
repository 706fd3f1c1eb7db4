// What networks of images do at every step: a dense layer for a few rows, and pixels from planes.
#pragma once

#include "gemm.hpp"

namespace {

constexpr int WEIGHT_ROWS = 16;  // at a time: few enough for the nearest cache
constexpr int PANEL = 2 * LINE;
constexpr std::int64_t PIXELS = 64;  // of all channels at a time

// Y = bias + X W. The weights, which no near cache holds, are read once, each block of them fetched
// while the one before is in use. `n_out` is a multiple of LINE.
void few_rows(const float* x, const float* weight, const float* bias, float* y, int rows, int n_in,
              int n_out) {
  for (int i = 0; i < rows; ++i) std::memcpy(y + std::int64_t(i) * n_out, bias, 4u * n_out);
  for (int k = 0; k < n_in; k += WEIGHT_ROWS) {
    const float* block = weight + std::int64_t(k) * n_out;
    const int depth = smaller(WEIGHT_ROWS, n_in - k), next = smaller(WEIGHT_ROWS, n_in - k - depth);
    for (int j = 0; j < n_out; j += PANEL) {
      for (int i = 0; i < next; ++i)
        for (int at = j; at < smaller(j + PANEL, n_out); at += LINE)
          __builtin_prefetch(block + std::int64_t(WEIGHT_ROWS + i) * n_out + at);
      multiply({x + k, n_in, 1}, block + j, n_out, y + j, n_out, rows, smaller(PANEL, n_out - j),
               depth, Start::add);
    }
  }
}

template <int CHANNELS>
inline void weave(const std::uint8_t* const* in, std::int64_t size, std::uint8_t* __restrict out) {
  const std::uint8_t* from[CHANNELS];
  for (int c = 0; c < CHANNELS; ++c) from[c] = in[c];
  for (std::int64_t i = 0; i < size; ++i)
    for (int c = 0; c < CHANNELS; ++c) out[i * CHANNELS + c] = from[c][i];
}

// Rows [n, size, channels] of bytes: channel c of row r is the plane index[rows[r], c].
void side_by_side(const std::uint8_t* planes, std::int64_t size, const std::int32_t* index,
                  const std::int64_t* rows, std::int64_t n, int channels, std::uint8_t* out) {
  for (std::int64_t r = 0; r < n; ++r, out += size * channels) {
    const std::int32_t* which = index + rows[r] * channels;
    if (channels == 2 || channels == 4) {
      const std::uint8_t* in[4];
      for (int c = 0; c < channels; ++c) in[c] = planes + which[c] * size;
      channels == 4 ? weave<4>(in, size, out) : weave<2>(in, size, out);
      continue;
    }
    for (std::int64_t first = 0; first < size; first += PIXELS)
      for (int c = 0; c < channels; ++c) {
        const std::uint8_t* in = planes + which[c] * size;
        for (std::int64_t i = first; i < smaller(first + PIXELS, size); ++i)
          out[i * channels + c] = in[i];
      }
  }
}

}  // namespace
