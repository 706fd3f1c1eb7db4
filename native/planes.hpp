// Interleaves planes of pixels to a channels-last image.
#pragma once

#include "simd.hpp"

namespace {

constexpr std::int64_t PIXELS = 64;  // pixels, with all channels, that are copied at a time

// With a constant number of channels the compiler vectorizes the loop.
template <int CHANNELS>
inline void interleave(const std::uint8_t* const* in, std::int64_t size, std::uint8_t* __restrict out) {
  const std::uint8_t* from[CHANNELS];
  for (int c = 0; c < CHANNELS; ++c) from[c] = in[c];
  for (std::int64_t i = 0; i < size; ++i)
    for (int c = 0; c < CHANNELS; ++c) out[i * CHANNELS + c] = from[c][i];
}

// Converts planes in[channels][size] to [size, channels].
inline void interleave(const std::uint8_t* const* in, int channels, std::int64_t size,
                  std::uint8_t* __restrict out) {
  if (channels == 4) return interleave<4>(in, size, out);
  if (channels == 3) return interleave<3>(in, size, out);
  if (channels == 2) return interleave<2>(in, size, out);
  for (std::int64_t first = 0; first < size; first += PIXELS)
    for (int c = 0; c < channels; ++c)
      for (std::int64_t i = first; i < smaller(first + PIXELS, size); ++i)
        out[i * channels + c] = in[c][i];
}

}  // namespace
