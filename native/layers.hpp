// Forward and backward passes of the stacks of a network, one block of rows at a time.
//
// Rows of every scratch array are padded to whole LINEs; the padding of activations and of their
// gradients is zero.
#pragma once

#include "activations.hpp"
#include "convolutions.hpp"
#include "recurrent.hpp"

namespace {

// True if the weights do not fit into the nearest caches, so that reading them is the bottleneck.
inline bool many_weights(const Dense& d) { return std::int64_t(d.n_in) * d.n_out >= MANY_WEIGHTS; }

// ---- weights, laid out for the products ----------------------------------------------------------

struct PackedDense {
  const float* weight;      // [n_in, ld]
  const float* transposed;  // [n_out, padded(n_in)], for backward
  const float* bias;        // [ld]
  const float* norm_scale;  // [ld], or null
  const float* norm_bias;
  int ld;
};

struct PackedStack {
  PackedConv conv[MAX_CONVS];
  PackedDense dense[MAX_LAYERS];
  PackedRecurrent recurrent[MAX_RECURRENT];
};

// `back` runs the packing of the weights for the backward pass on several threads; null if there is none.
inline PackedStack pack(Arena& arena, const Stack& stack, const float* parameters, Parallel back) {
  PackedStack packed;
  pack_convs(arena, stack, parameters, back != nullptr, packed.conv);
  for (int l = 0; l < stack.n_dense; ++l) {
    const Dense& d = stack.dense[l];
    PackedDense& p = packed.dense[l];
    p.ld = padded(d.n_out);
    p.weight = padded_rows(arena, parameters + d.weight, d.n_in, d.n_out);
    p.bias = padded_rows(arena, parameters + d.bias, 1, d.n_out);
    const bool normed = d.norm_scale != NONE;
    p.norm_scale = normed ? padded_rows(arena, parameters + d.norm_scale, 1, d.n_out) : nullptr;
    p.norm_bias = normed ? padded_rows(arena, parameters + d.norm_bias, 1, d.n_out) : nullptr;
    p.transposed = back ? transposed(arena, parameters + d.weight, d.n_in, d.n_out, back) : nullptr;
  }
  for (int l = 0; l < stack.n_recurrent; ++l)
    packed.recurrent[l] = pack(arena, stack.recurrent[l], parameters, back);
  return packed;
}

// ---- activations that a forward pass stores for the backward pass ---------------------------------

// A trail belongs to one block of rows and is overwritten by the next block.
struct Trail {
  std::uint8_t* interleaved = nullptr;  // one input image, as bytes and as floats
  float* image = nullptr;
  float* shown[MAX_CONVS] = {};       // outputs of each convolution, [rows, size_out]
  float* encoded = nullptr;       // [rows, padded(encoded)]
  float* output[MAX_LAYERS] = {};     // outputs of each dense layer, [rows, ld]
  float* normed[MAX_LAYERS];     // before scale and bias of the norm
  float* inverse_std[MAX_LAYERS];
  // f'(x) of activations for which it cannot be computed from f(x), else null
  float* conv_slope[MAX_CONVS] = {};
  float* slope[MAX_LAYERS] = {};
  Memory memory[MAX_RECURRENT];  // of each recurrent layer
};

// Allocates a trail for blocks of at most `rows` rows.
inline Trail room_for(Arena& arena, const Stack& stack, std::int64_t rows) {
  Trail trail;
  if (stack.n_conv) {
    trail.interleaved = reinterpret_cast<std::uint8_t*>(arena.floats(size_in(stack, 0) / 4 + 1));
    trail.image = arena.floats(size_in(stack, 0));
  }
  for (int l = 0; l < stack.n_conv; ++l) {
    const std::int64_t size = rows * size_out(stack.conv[l]);
    trail.shown[l] = arena.floats(size);
    if (keeps_slope(stack.conv[l].activation)) trail.conv_slope[l] = arena.floats(size);
  }
  // zeros once: encoders never write to the padding
  if (stack.encoded) trail.encoded = arena.zeros(rows * padded(stack.encoded));
  for (int l = 0; l < stack.n_dense; ++l) {
    const std::int64_t size = rows * padded(stack.dense[l].n_out);
    trail.output[l] = arena.floats(size);
    if (keeps_slope(stack.dense[l].activation)) trail.slope[l] = arena.floats(size);
    const bool normed = stack.dense[l].norm_scale != NONE;
    trail.normed[l] = normed ? arena.floats(size) : nullptr;
    trail.inverse_std[l] = normed ? arena.floats(rows) : nullptr;
  }
  for (int l = 0; l < stack.n_recurrent; ++l)
    trail.memory[l] = room_for(arena, stack.recurrent[l], rows);
  return trail;
}

// Row i of an array that may be null.
inline float* row_at(float* rows, int i, std::int64_t size) { return rows ? rows + i * size : nullptr; }

// Reads a 64-bit index, which may be unaligned inside a record.
inline std::int64_t index_at(const std::uint8_t* from) {
  std::int64_t index;
  std::memcpy(&index, from, sizeof index);
  return index;
}

// Concatenates the pieces of each row to its encoded vector: floats as they are, categories embedded.
inline void encode(const Stack& stack, const float* parameters, const Rows& rows, float* encoded) {
  const int ld = padded(stack.encoded);
  for (int i = 0; i < rows.count; ++i) {
    const std::uint8_t* from = rows.at(i);
    for (int p = 0; p < stack.n_pieces; ++p) {
      const Piece& piece = stack.pieces[p];
      const void* source = from + piece.at;
      if (piece.table != NONE)
        source = parameters + piece.table + index_at(from + piece.at) * piece.width;
      std::memcpy(encoded + i * ld + piece.column, source, piece.width * 4);
    }
  }
}

// Layer norm of each row of y, in place. Stores what the backward pass needs: the normalized row before scale
// and bias, and 1 / standard deviation.
inline void normalize(const Dense& d, const PackedDense& p, float* y, float* normed, float* inverse,
                      int rows) {
  for (int i = 0; i < rows; ++i) {
    float *row = y + i * p.ld, *kept = normed + i * p.ld;
    float mean = 0, variance = 0;
    for (int j = 0; j < d.n_out; ++j) mean += row[j];
    mean /= d.n_out;
    for (int j = 0; j < d.n_out; ++j) variance += (row[j] - mean) * (row[j] - mean);
    inverse[i] = 1.0f / std::sqrt(variance / d.n_out + 1e-5f);
    for (int j = 0; j < p.ld; ++j) {
      kept[j] = j < d.n_out ? (row[j] - mean) * inverse[i] : 0.0f;
      row[j] = kept[j] * p.norm_scale[j] + p.norm_bias[j];
    }
  }
}

// Runs all convolutions on each image and writes the flattened result to `trail.encoded`.
inline void see(const Stack& stack, const PackedStack& packed, const Rows& rows, Trail& trail) {
  const Conv& last = stack.conv[stack.n_conv - 1];
  for (int i = 0; i < rows.count; ++i) {
    look(stack, rows, i, trail.interleaved, trail.image);
    const float* x = trail.image;
    for (int l = 0; l < stack.n_conv; ++l) {
      const Conv& c = stack.conv[l];
      float* y = trail.shown[l] + i * size_out(c);
      convolve(c, packed.conv[l], x, ld_in(stack, l), y);
      activate(y, row_at(trail.conv_slope[l], i, size_out(c)), size_out(c), c.activation);
      x = y;
    }
    // Flatten in torch and NumPy is channels-first, and all engines share the weights of the next layer.
    to_planes(last, x, trail.encoded + std::int64_t(i) * padded(stack.encoded));
  }
}

// Runs the recurrent layers of a stack on x and returns the output of the last one.
inline const float* remember(const Stack& stack, const PackedStack& packed, const Rows& rows,
                             const float* x, Trail& trail) {
  for (int l = 0; l < stack.n_recurrent; ++l)
    x = run_steps(stack.recurrent[l], packed.recurrent[l], rows, x, trail.memory[l]);
  return x;
}

// Returns the output of a stack, [rows, padded(width)]. `input` is null if the stack reads features.
inline const float* forward(const Stack& stack, const PackedStack& packed, const float* parameters,
                            const Rows& rows, const float* input, Trail& trail) {
  const float* x = input;
  if (stack.encoded) {
    if (stack.n_conv) see(stack, packed, rows, trail);
    else encode(stack, parameters, rows, trail.encoded);
    x = trail.encoded;
  }
  for (int l = 0; l < stack.n_dense; ++l) {
    if (l == stack.recurrent_at) x = remember(stack, packed, rows, x, trail);
    const Dense& d = stack.dense[l];
    const PackedDense& p = packed.dense[l];
    float* y = trail.output[l];
    const Strided a{x, padded(d.n_in), 1};
    if (many_weights(d) && rows.count <= FEW_ROWS)
      multiply_few(a, p.weight, p.ld, y, p.ld, rows.count, p.ld, d.n_in, p.bias);
    else
      multiply(a, p.weight, p.ld, y, p.ld, rows.count, p.ld, d.n_in, Start::bias, p.bias);
    if (p.norm_scale) normalize(d, p, y, trail.normed[l], trail.inverse_std[l], rows.count);
    activate(y, trail.slope[l], std::int64_t(rows.count) * p.ld, d.activation);
    x = y;
  }
  return stack.recurrent_at == stack.n_dense ? remember(stack, packed, rows, x, trail) : x;
}

// ---- backward ------------------------------------------------------------------------------------

// Backward pass of the layer norm, in place on dy.
// With h = (x - mean) / std: dx = (dh - mean(dh) - h mean(dh h)) / std.
inline void through_norm(const Dense& d, const PackedDense& p, float* dy, const float* normed,
                         const float* inverse, int rows, float* gradient) {
  float *scale = gradient + d.norm_scale, *bias = gradient + d.norm_bias;
  for (int i = 0; i < rows; ++i) {
    float* row = dy + i * p.ld;
    const float* h = normed + i * p.ld;
    float mean = 0, along = 0;
    for (int j = 0; j < d.n_out; ++j) {
      scale[j] += row[j] * h[j];
      bias[j] += row[j];
      row[j] *= p.norm_scale[j];
      mean += row[j];
      along += row[j] * h[j];
    }
    mean /= d.n_out, along /= d.n_out;
    for (int j = 0; j < d.n_out; ++j) row[j] = (row[j] - mean - h[j] * along) * inverse[i];
  }
}

// dW += X^T dY. A narrow dY becomes the left factor (dY^T X), so that no vector lanes are idle.
inline void add_weight_gradient(Arena& arena, float* gradient, const float* x, const float* dy,
                                const Dense& d, int rows) {
  const int ld_x = padded(d.n_in), ld_y = padded(d.n_out);
  if (ld_y == d.n_out && many_weights(d)) {
    float* panel = arena.floats(std::int64_t(rows) * PANEL);  // columns of dY that fit in the cache
    for (int j = 0; j < d.n_out; j += PANEL) {
      const int n = smaller(PANEL, d.n_out - j);
      for (int i = 0; i < rows; ++i) std::memcpy(panel + i * PANEL, dy + i * ld_y + j, n * 4);
      multiply({x, 1, ld_x}, panel, PANEL, gradient + j, d.n_out, d.n_in, n, rows, Start::add);
    }
  } else if (ld_y == d.n_out) {
    multiply({x, 1, ld_x}, dy, ld_y, gradient, d.n_out, d.n_in, d.n_out, rows, Start::add);
  } else if (d.n_out < d.n_in) {
    float* turned = arena.floats(std::int64_t(d.n_out) * ld_x);
    multiply({dy, 1, ld_y}, x, ld_x, turned, ld_x, d.n_out, ld_x, rows, Start::bias);
    for (int i = 0; i < d.n_in; ++i)
      for (int j = 0; j < d.n_out; ++j) gradient[i * d.n_out + j] += turned[j * ld_x + i];
  } else {
    float* wide = arena.floats(std::int64_t(d.n_in) * ld_y);
    multiply({x, 1, ld_x}, dy, ld_y, wide, ld_y, d.n_in, ld_y, rows, Start::bias);
    for (int i = 0; i < d.n_in; ++i)
      for (int j = 0; j < d.n_out; ++j) gradient[i * d.n_out + j] += wide[i * ld_y + j];
  }
}

// Adds the gradient of each embedded column to the row of the table that it was read from.
inline void add_embedding_gradients(const Stack& stack, const Rows& rows, const float* d_encoded,
                                    float* gradient) {
  const int ld = padded(stack.encoded);
  for (int i = 0; i < rows.count; ++i)
    for (int p = 0; p < stack.n_pieces; ++p) {
      const Piece& piece = stack.pieces[p];
      if (piece.table == NONE) continue;
      float* to = gradient + piece.table + index_at(rows.at(i) + piece.at) * piece.width;
      const float* from = d_encoded + i * ld + piece.column;
      for (int j = 0; j < piece.width; ++j) to[j] += from[j];
    }
}

// Backward pass of all convolutions, one image at a time. dW is summed over the images in the packed layout and
// converted once at the end.
inline void add_conv_gradients(Arena& arena, const Stack& stack, const PackedStack& packed,
                               const Rows& rows, const Trail& trail, const float* d_encoded,
                               float* gradient) {
  float *dw[MAX_CONVS], *dy[MAX_CONVS];
  for (int l = 0; l < stack.n_conv; ++l) {
    dw[l] = arena.zeros(n_weights(stack, l));
    dy[l] = arena.floats(size_out(stack.conv[l]));
  }
  for (int i = 0; i < rows.count; ++i) {
    const int last = stack.n_conv - 1;
    from_planes(stack.conv[last], d_encoded + std::int64_t(i) * padded(stack.encoded), dy[last]);
    // The input is converted from bytes again, because a trail holds only one image as floats.
    look(stack, rows, i, trail.interleaved, trail.image);
    for (int l = last; l >= 0; --l) {
      const Conv& c = stack.conv[l];
      const float* x = l ? trail.shown[l - 1] + i * size_out(stack.conv[l - 1]) : trail.image;
      through_activation(dy[l], trail.shown[l] + i * size_out(c),
                         row_at(trail.conv_slope[l], i, size_out(c)), size_out(c), c.activation);
      add_bias_gradient(gradient + c.bias, dy[l], ld_out(c), int(pixels_out(c)), c.n_out);
      to_weights(c, x, ld_in(stack, l), dy[l], dw[l]);
      if (l) to_inputs(c, packed.conv[l], dy[l], ld_in(stack, l), dy[l - 1]);
    }
  }
  for (int l = 0; l < stack.n_conv; ++l) to_flat(stack, l, dw[l], gradient);
}

// True if the stack has embeddings, which need the gradient of the encoded row.
inline bool embeds(const Stack& stack) {
  for (int p = 0; p < stack.n_pieces; ++p)
    if (stack.pieces[p].table != NONE) return true;
  return false;
}

// Returns the input of dense layer l, or of the recurrent layers before it.
inline const float* input_of(const Stack& stack, const Trail& trail, int l, const float* input) {
  return l > 0 ? trail.output[l - 1] : stack.encoded ? trail.encoded : input;
}

// Backward pass of the recurrent layers of a stack, the last one first. `dy` is the gradient of the last output.
// Returns the gradient of x, the input of the first, or null if `inputs_matter` is false.
inline float* recall(Arena& arena, const Stack& stack, const PackedStack& packed, const Rows& rows,
                     const float* x, const Trail& trail, float* dy, float* gradient,
                     bool inputs_matter) {
  for (int l = stack.n_recurrent - 1; l >= 0; --l)
    dy = through_steps(arena, stack.recurrent[l], packed.recurrent[l], rows,
                       l ? trail.memory[l - 1].output : x, trail.memory[l], dy, gradient,
                       l || inputs_matter);
  return dy;
}

// Adds the gradients of a stack's parameters, given the gradient of its output in `dy` (overwritten).
// Returns the gradient of `input`, or null if the stack reads features.
inline float* backward(Arena& arena, const Stack& stack, const PackedStack& packed, const Rows& rows,
                       const float* input, const Trail& trail, float* dy, float* gradient) {
  const bool inputs_matter = !stack.encoded || stack.n_conv || embeds(stack);
  const int before = stack.n_recurrent ? stack.recurrent_at : NONE;  // dense layers before the recurrent ones
  for (int l = stack.n_dense; l >= 0; --l) {
    if (l == before)
      dy = recall(arena, stack, packed, rows, input_of(stack, trail, l, input), trail, dy, gradient,
                  l || inputs_matter);
    if (l == 0) break;
    const Dense& d = stack.dense[l - 1];
    const PackedDense& p = packed.dense[l - 1];
    const float* x = l - 1 == before ? trail.memory[stack.n_recurrent - 1].output
                                     : input_of(stack, trail, l - 1, input);
    through_activation(dy, trail.output[l - 1], trail.slope[l - 1],
                       std::int64_t(rows.count) * p.ld, d.activation);
    if (p.norm_scale)
      through_norm(d, p, dy, trail.normed[l - 1], trail.inverse_std[l - 1], rows.count, gradient);
    add_bias_gradient(gradient + d.bias, dy, p.ld, rows.count, d.n_out);
    add_weight_gradient(arena, gradient + d.weight, x, dy, d, rows.count);
    if (l == 1 && before != 0 && !inputs_matter) return nullptr;
    const int ld_x = padded(d.n_in);
    float* dx = arena.floats(std::int64_t(rows.count) * ld_x);
    multiply({dy, p.ld, 1}, p.transposed, ld_x, dx, ld_x, rows.count, ld_x, d.n_out, Start::bias);
    dy = dx;
  }
  if (!stack.encoded) return dy;
  if (!inputs_matter) return nullptr;
  if (stack.n_conv) add_conv_gradients(arena, stack, packed, rows, trail, dy, gradient);
  else add_embedding_gradients(stack, rows, dy, gradient);
  return nullptr;
}

}  // namespace
