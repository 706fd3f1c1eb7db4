// What the kernels are told about a network: plain data, filled in by the bindings.
//
//   features --pieces, or convolutions--> encoded --dense layers--> hidden --> actor  --> head
//                                                                        \--> critic --> value
//
// Every parameter lies in one flat float32 vector; a layer knows the offsets of its own. Weights are
// [n_in, n_out], row by row. Gradient and moments have the same layout.
#pragma once

#include <cstdint>

namespace gymnast {

using Offset = std::int64_t;
constexpr Offset NONE = -1;
constexpr int MOST_LAYERS = 32;
constexpr int MOST_PIECES = 256;
constexpr int MOST_CONVS = 8;
constexpr int MOST_CHANNELS = 256;  // of the images that come in

// What a stack reads of one row of features: floats as they are, or an index that is embedded.
struct Piece {
  Offset at;       // bytes from the start of the row
  int width;       // columns of the encoded vector
  int column;      // the first of them
  Offset table;    // of an embedding [n, width]; NONE: floats
};

enum class Activation { none, tanh, relu, silu, gelu, elu };

// y = activation(x * w + b) over an image; w is [n_out, channels, kernel, kernel].
struct Conv {
  int channels, height, width;  // of what comes in
  int n_out, kernel, stride;
  Offset weight, bias;
  Activation activation = Activation::none;

  int height_out() const { return (height - kernel) / stride + 1; }
  int width_out() const { return (width - kernel) / stride + 1; }
};

// y = activation(norm(x W + b)); the norm, a layer norm, is there if it has a scale.
struct Dense {
  int n_in, n_out;
  Offset weight, bias;
  Offset norm_scale = NONE, norm_bias = NONE;
  Activation activation = Activation::none;
};

struct Stack {
  int n_pieces = 0, n_dense = 0;
  int encoded = 0;  // width of what the pieces make; 0: the stack reads another stack's output
  Piece pieces[MOST_PIECES];
  int n_conv = 0;  // if there are any, a row of features is an image of bytes and there are no pieces
  Conv conv[MOST_CONVS];
  bool planes_first = true;  // each channel's pixels side by side, or each pixel's channels
  float top = 1;             // the byte that becomes 1
  Dense dense[MOST_LAYERS];
};

enum class HeadKind { categorical, bernoulli, gaussian, squashed };

// How the actor's outputs become a distribution. A categorical head has one group per element.
struct Head {
  HeadKind kind = HeadKind::categorical;
  int n_outputs = 0;
  int n_groups = 0;
  const int* group = nullptr;      // options of each
  Offset log_std = NONE;           // of a gaussian
  int n_nodes = 0;                 // of the squashed entropy's quadrature
  const float* node = nullptr;
  const float* node_weight = nullptr;

  int n_chosen() const { return kind == HeadKind::categorical ? n_groups : n_outputs; }
  int n_masked() const { return kind == HeadKind::bernoulli ? 2 * n_outputs : n_outputs; }
};

struct Network {
  Stack shared, actor, critic;
  Head head;

  bool sees_images() const { return shared.n_conv > 0; }
  Offset size = 0;  // of the flat vector
};

// Rows to learn from. `order` picks and arranges them.
struct Batch {
  std::int64_t rows = 0;
  const std::uint8_t* features = nullptr;
  std::int64_t feature_bytes = 0;
  const std::int32_t* planes = nullptr;  // of images kept once: which planes of `features` make a row
  const std::int64_t* chosen = nullptr;  // discrete actions, or
  const float* amounts = nullptr;        // continuous ones
  const float* logprob = nullptr;
  const float* dist = nullptr;           // [rows, parameters of the head]
  const float* advantage = nullptr;
  const float* value = nullptr;
  const float* target = nullptr;
  const std::uint8_t* mask = nullptr;
};

struct Objective {
  bool clipped = false;        // PPO's surrogate; else the plain policy gradient
  float clip = 0;
  bool critic = true;
  bool huber = false;
  bool value_clipped = false;
  float value_clip = 0;
  float value_coef = 0, entropy_coef = 0, kl_coef = 0;
  bool standardize = false;    // advantages, minibatch by minibatch
};

struct Adam {
  float* first;
  float* second;
  std::int64_t steps;
  float lr, eps, weight_decay;
  float max_norm;  // 0: no limit
};

// One line of the report per step.
struct StepReport {
  double total, policy, value, kl, value_clipped, entropy, norm;
};

// How far the policy has moved from the one that acted.
struct Shift {
  double kl, approx_kl, entropy, ratio_mean, ratio_max, clip_fraction;
};

// The activations of a stack: counts and sums over units and rows; rectifiers (every kind but tanh) and
// dead are units.
struct Units {
  double outputs, total, squares, tanh, saturated, rectifiers, dead;
};

struct Health {
  Units shared, actor, critic;
  double output_mean, output_std, logit_range, prob_max, prob_min;
};

// Runs task(context, i) for i in 0..n-1 on the engine's threads, and returns when all are done.
using Task = void (*)(void* context, int i);
using Parallel = void (*)(Task task, void* context, int n);

// The entry points, compiled once per instruction set.
struct Kernels {
  const char* name;
  void (*forward)(const Network&, const float* parameters, const std::uint8_t* features,
                  std::int64_t feature_bytes, std::int64_t rows, bool critic, float* out,
                  Parallel);
  void (*act)(const Network&, const float* parameters, const std::uint8_t* features,
              std::int64_t feature_bytes, std::int64_t rows, const float* noise,
              const std::uint8_t* mask, std::int64_t* chosen, float* amounts, float* dist,
              float* logprob, float* value);
  void (*step)(const Network&, float* parameters, float* gradient, const Batch&,
               const std::int64_t* order, std::int64_t rows, const Objective&, Adam&, StepReport&,
               Parallel);
  void (*shift)(const Network&, const float* parameters, const Batch&, float clip, Shift&,
                Parallel);
  void (*health)(const Network&, const float* parameters, const std::uint8_t* features,
                 std::int64_t feature_bytes, std::int64_t rows, const std::uint8_t* mask,
                 float saturated, Health&);
  void (*few_rows)(const float* x, const float* weight, const float* bias, float* y, int rows,
                   int n_in, int n_out);
  void (*side_by_side)(const std::uint8_t* planes, std::int64_t size, const std::int32_t* index,
                       const std::int64_t* rows, std::int64_t n, int channels, std::uint8_t* out);
};

}  // namespace gymnast
