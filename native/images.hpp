// Kernels for operations that are slow in torch: a dense layer for a few rows, and gathering images.
#pragma once

#include "gemm.hpp"
#include "network.hpp"
#include "planes.hpp"

namespace {

// Y = bias + X W. `n_out` is a multiple of LINE.
void few_rows(const float* x, const float* weight, const float* bias, float* y, int rows, int n_in,
              int n_out) {
  multiply_few({x, n_in, 1}, weight, n_out, y, n_out, rows, n_out, n_in, bias);
}

// Writes images [n, size, channels] of bytes: channel c of image r is the plane index[rows[r], c].
void gather_images(const std::uint8_t* planes, std::int64_t size, const std::int32_t* index,
                  const std::int64_t* rows, std::int64_t n, int channels, std::uint8_t* out) {
  const std::uint8_t* in[gymnast::MAX_CHANNELS];
  for (std::int64_t r = 0; r < n; ++r, out += size * channels) {
    const std::int32_t* which = index + rows[r] * channels;
    if (channels <= gymnast::MAX_CHANNELS) {
      for (int c = 0; c < channels; ++c) in[c] = planes + which[c] * size;
      interleave(in, channels, size, out);
      continue;
    }
    // more channels than `in` has room for
    for (std::int64_t i = 0; i < size; ++i)
      for (int c = 0; c < channels; ++c) out[i * channels + c] = planes[which[c] * size + i];
  }
}

}  // namespace
