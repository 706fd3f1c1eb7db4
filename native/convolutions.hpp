// Forward and backward passes of the convolutions of a stack, one image at a time.
//
// An image is [height, width, ld]: channels-last, the channels padded with zeros to whole LINEs (except
// in the input image). The pixels under a kernel are then `kernel` contiguous runs of kernel * ld numbers,
// one per image row. So all three products are those of gemm.hpp, without copying pixels (no im2col):
//   forward          a row of Y is one product: its rows are pixels, `stride` pixels of X apart, and
//                    it is summed over the runs
//   input gradient   a row of dX gets one product from each column of the kernel, summed over the rows
//                    of Y that it contributed to
//   weight gradient  one product per row of the kernel, summed over the pixels of each row of dY
#pragma once

#include "arena.hpp"
#include "gemm.hpp"
#include "network.hpp"
#include "planes.hpp"
#include "rows.hpp"

namespace {

using namespace gymnast;

// `ld` (leading dimension) is the distance between pixels in floats: the padded number of channels.
inline int ld_out(const Conv& c) { return padded(c.n_out); }
inline int ld_in(const Stack& stack, int l) {
  return l ? padded(stack.conv[l].channels) : stack.conv[l].channels;
}
inline std::int64_t pixels_out(const Conv& c) { return std::int64_t(c.height_out()) * c.width_out(); }
inline std::int64_t size_in(const Stack& stack, int l) {
  return std::int64_t(stack.conv[l].height) * stack.conv[l].width * ld_in(stack, l);
}
inline std::int64_t size_out(const Conv& c) { return pixels_out(c) * ld_out(c); }
inline std::int64_t n_weights(const Stack& stack, int l) {
  const Conv& c = stack.conv[l];
  return std::int64_t(c.kernel) * c.kernel * ld_in(stack, l) * ld_out(c);
}
// Bytes are scaled to 0..1 in the weights of the first layer, because weights are fewer than pixels.
inline float scale_of(const Stack& stack, int l) { return l ? 1.0f : 1.0f / stack.top; }

// ---- weights, laid out for the products ----------------------------------------------------------

struct PackedConv {
  const float* weight;      // [kernel, kernel, ld in, ld out]
  const float* transposed;  // [kernel, kernel, ld out, ld in], for backward; null in the first layer
  const float* bias;        // [ld out]
};

// Calls at(offset in the flat vector, position in the kernel, input channel, output channel) for every
// weight, one LINE of output channels at a time, so that PackedConv::weight is written in whole cache lines.
template <class At> inline void each_weight(const Conv& c, At at) {
  const int area = c.kernel * c.kernel;
  for (int first = 0; first < c.n_out; first += LINE)
    for (int in = 0; in < c.channels; ++in)
      for (int place = 0; place < area; ++place)
        for (int out = first; out < smaller(first + LINE, c.n_out); ++out)
          at(c.weight + (std::int64_t(out) * c.channels + in) * area + place, place, in, out);
}

// Copies the weights [n_out, channels, kernel, kernel] of the flat vector into the layouts of PackedConv.
inline void pack_convs(Arena& arena, const Stack& stack, const float* parameters, bool back,
                       PackedConv* packed) {
  for (int l = 0; l < stack.n_conv; ++l) {
    const Conv& c = stack.conv[l];
    const int in_ld = ld_in(stack, l), out_ld = ld_out(c);
    const float scale = scale_of(stack, l);
    float* weight = arena.zeros(n_weights(stack, l));
    float* bias = arena.zeros(out_ld);
    std::memcpy(bias, parameters + c.bias, c.n_out * 4);
    each_weight(c, [&](Offset from, int place, int in, int out) {
      weight[(std::int64_t(place) * in_ld + in) * out_ld + out] = parameters[from] * scale;
    });
    packed[l] = {weight, nullptr, bias};
    if (!back || l == 0) continue;  // no gradient is needed for pixels
    float* turned = arena.zeros(n_weights(stack, l));
    each_weight(c, [&](Offset from, int place, int in, int out) {
      turned[(std::int64_t(place) * out_ld + out) * in_ld + in] = parameters[from];
    });
    packed[l].transposed = turned;
  }
}

// ---- forward -------------------------------------------------------------------------------------

// Writes the bytes of row i as floats to `image`, [height, width, channels]. `interleaved` is scratch memory for
// the same image as bytes, needed if its channels are stored as separate planes.
inline void look(const Stack& stack, const Rows& rows, int i, std::uint8_t* interleaved, float* image) {
  const int channels = stack.conv[0].channels;
  const std::int64_t size = size_in(stack, 0);
  const std::uint8_t* bytes = interleaved;
  if (!stack.planes_first && !rows.planes) {
    bytes = rows.at(i);
  } else if (channels == 1) {
    bytes = rows.plane(i, 0, 1);
  } else {
    const std::uint8_t* plane[MAX_CHANNELS];
    for (int c = 0; c < channels; ++c) plane[c] = rows.plane(i, c, channels);
    interleave(plane, channels, size / channels, interleaved);
  }
  for (std::int64_t k = 0; k < size; ++k) image[k] = float(bytes[k]);
}

// Computes one image y [height out, width out, ld out] = bias + x * w, without the activation.
inline void convolve(const Conv& c, const PackedConv& p, const float* x, int in_ld, float* y) {
  const int out_ld = ld_out(c), width = c.width_out();
  const std::int64_t line = std::int64_t(c.width) * in_ld;
  const int run = c.kernel * in_ld;
  for (int oy = 0; oy < c.height_out(); ++oy)
    multiply({x + oy * c.stride * line, c.stride * in_ld, 1}, p.weight, out_ld,
             y + std::int64_t(oy) * width * out_ld, out_ld, width, out_ld, run, Start::bias, p.bias,
             {c.kernel, line, std::int64_t(run) * out_ld});
}

// Converts an image from channels-last to channels-first, and back.
inline void to_planes(const Conv& c, const float* image, float* flat) {
  const int ld = ld_out(c);
  const std::int64_t pixels = pixels_out(c);
  for (int k = 0; k < c.n_out; ++k)
    for (std::int64_t i = 0; i < pixels; ++i) flat[k * pixels + i] = image[i * ld + k];
}
inline void from_planes(const Conv& c, const float* flat, float* image) {
  const int ld = ld_out(c);
  const std::int64_t pixels = pixels_out(c);
  std::memset(image, 0, size_out(c) * 4);
  for (int k = 0; k < c.n_out; ++k)
    for (std::int64_t i = 0; i < pixels; ++i) image[i * ld + k] = flat[k * pixels + i];
}

// ---- backward ------------------------------------------------------------------------------------

// Computes dX [height, width, ld in]. Row iy of X contributed to row oy of Y through row
// iy - oy * stride of the kernel.
inline void to_inputs(const Conv& c, const PackedConv& p, const float* dy, int in_ld, float* dx) {
  const int out_ld = ld_out(c), width = c.width_out(), height = c.height_out();
  const std::int64_t place = std::int64_t(out_ld) * in_ld, line = std::int64_t(width) * out_ld;
  std::memset(dx, 0, std::int64_t(c.height) * c.width * in_ld * 4);
  for (int iy = 0; iy < c.height; ++iy) {
    // Rows first..last of Y are those whose kernel covers row iy.
    const int last = smaller(iy / c.stride, height - 1);
    const int first = iy < c.kernel ? 0 : (iy - c.kernel) / c.stride + 1;
    if (first > last) continue;
    // From `last` backward, dY moves up by one row and the kernel down by `stride` rows.
    const int ky = iy - last * c.stride;
    for (int kx = 0; kx < c.kernel; ++kx)
      multiply({dy + last * line, out_ld, 1}, p.transposed + (ky * c.kernel + kx) * place, in_ld,
               dx + (std::int64_t(iy) * c.width + kx) * in_ld, std::int64_t(c.stride) * in_ld, width,
               in_ld, out_ld, Start::add, nullptr,
               {last - first + 1, -line, std::int64_t(c.stride) * c.kernel * place});
  }
}

// Adds to dW, which has the layout of the packed weights.
inline void to_weights(const Conv& c, const float* x, int in_ld, const float* dy, float* dw) {
  const int out_ld = ld_out(c), width = c.width_out(), run = c.kernel * in_ld;
  const std::int64_t line = std::int64_t(c.width) * in_ld;
  for (int ky = 0; ky < c.kernel; ++ky)
    multiply({x + ky * line, 1, std::int64_t(c.stride) * in_ld}, dy, out_ld,
             dw + std::int64_t(ky) * run * out_ld, out_ld, run, out_ld, width, Start::add, nullptr,
             {c.height_out(), c.stride * line, std::int64_t(width) * out_ld});
}

// Adds dW in the packed layout to the gradient in the layout of the flat vector.
inline void to_flat(const Stack& stack, int l, const float* dw, float* gradient) {
  const Conv& c = stack.conv[l];
  const int in_ld = ld_in(stack, l), out_ld = ld_out(c);
  const float scale = scale_of(stack, l);
  each_weight(c, [&](Offset to, int place, int in, int out) {
    gradient[to] += dw[(std::int64_t(place) * in_ld + in) * out_ld + out] * scale;
  });
}

}  // namespace
