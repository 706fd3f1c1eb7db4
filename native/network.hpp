// The description of a network for the kernels: plain data, filled in by the bindings.
//
//   features --pieces, or convolutions--> encoded --dense layers--> hidden --> actor  --> head
//                                                                        \--> critic --> value
//
// Recurrent layers may stand before, between or after the dense layers of a stack.
//
// All parameters are in one flat float32 vector; a layer has the offsets of its own. Weights are
// [n_in, n_out], row-major. The gradient and Adam's moments have the same layout.
#pragma once

#include <cstdint>

namespace gymnast {

using Offset = std::int64_t;
constexpr Offset NONE = -1;  // offset of a parameter that does not exist
// Sizes of fixed arrays, so that the structs are plain data; plan.py rejects larger networks.
constexpr int MAX_LAYERS = 32;
constexpr int MAX_PIECES = 256;
constexpr int MAX_CONVS = 8;
constexpr int MAX_CHANNELS = 256;  // of the input images
constexpr int MAX_RECURRENT = 8;

// One input of a stack in a row of features: floats, or a category index that is embedded.
struct Piece {
  Offset at;       // bytes from the start of the row
  int width;       // columns of the encoded vector
  int column;      // the first of them
  Offset table;    // offset of the embedding table [n, width]; NONE for floats
};

enum class Activation { none, tanh, relu, silu, gelu, elu };

// y = activation(x * w + b) over an image; w is [n_out, channels, kernel, kernel].
struct Conv {
  int channels, height, width;  // of the input
  int n_out, kernel, stride;
  Offset weight, bias;
  Activation activation = Activation::none;

  int height_out() const { return (height - kernel) / stride + 1; }
  int width_out() const { return (width - kernel) / stride + 1; }
};

// y = activation(norm(x W + b)); there is a layer norm if norm_scale is not NONE.
struct Dense {
  int n_in, n_out;
  Offset weight, bias;
  Offset norm_scale = NONE, norm_bias = NONE;
  Activation activation = Activation::none;
};

enum class CellKind { lstm, gru };

// A recurrent layer (cells.hpp): weight [n_in, gates * n_out], recurrent [n_out, gates * n_out] and bias
// [gates * n_out], one gate after the other.
struct Recurrent {
  CellKind kind;
  int n_in, n_out;
  Offset weight, recurrent, bias;
  Offset recurrent_bias = NONE;  // [n_out], of cells that have one
  int state = 0;                 // the first column of its state in a row of the policy state
};

// The layers of one part of the network, in the order in which they are computed: pieces or convolutions, then
// dense layers. Recurrent layers come before dense layer `recurrent_at`, or after the last one.
struct Stack {
  int n_pieces = 0, n_dense = 0;
  int encoded = 0;  // width of the encoded features; 0 if the stack reads another stack's output
  Piece pieces[MAX_PIECES];
  int n_conv = 0;  // if not 0, a row of features is an image of bytes and there are no pieces
  Conv conv[MAX_CONVS];
  bool planes_first = true;  // input images are channels-first; otherwise channels-last
  float top = 1;             // the byte that is scaled to 1
  Dense dense[MAX_LAYERS];
  int n_recurrent = 0, recurrent_at = 0;
  Recurrent recurrent[MAX_RECURRENT];

  // Width of another stack's output that this stack reads.
  int n_in() const { return n_recurrent && !recurrent_at ? recurrent[0].n_in : dense[0].n_in; }
};

enum class HeadKind { categorical, bernoulli, gaussian, squashed, composite };

struct Part;

// The action head: turns the actor's outputs into a distribution. A categorical head has one group of
// options per element. A composite head has independent parts, the heads of Tuple and Dict actions.
struct Head {
  HeadKind kind = HeadKind::categorical;
  int n_outputs = 0;
  int n_groups = 0;
  const int* group = nullptr;      // number of options of each group
  Offset log_std = NONE;           // of a Gaussian head
  int n_nodes = 0;                 // of the quadrature for the entropy of a squashed Gaussian
  const float* node = nullptr;
  const float* node_weight = nullptr;
  int n_parts = 0;                 // of a composite head
  const Part* part = nullptr;
  int elements = 0, options = 0, parameters = 0;  // sums over these parts

  // Numbers of one action, and entries of its mask.
  int n_chosen() const {
    return kind == HeadKind::composite     ? elements
           : kind == HeadKind::categorical ? n_groups
                                           : n_outputs;
  }
  int n_masked() const {
    return kind == HeadKind::composite   ? options
           : kind == HeadKind::bernoulli ? 2 * n_outputs
                                         : n_outputs;
  }
  bool is_continuous() const { return kind == HeadKind::gaussian || kind == HeadKind::squashed; }
};

// One part of a composite head, and where its numbers start in those of all parts.
struct Part {
  Head head;
  int output, parameter, element, option;
};

struct Network {
  Stack shared, actor, critic;
  Head head;

  bool sees_images() const { return shared.n_conv > 0; }
  Offset size = 0;  // of the flat vector
  int state = 0;    // numbers of the policy state of one row; 0 without recurrent layers
};

// The sequences of a training batch for a network with memory, time-major: row t * count + s is step t of sequence
// s. Arrays have one entry per row unless said otherwise.
struct Sequences {
  std::int64_t count = 0;
  int steps = 0;                        // of the longest; others are padded at the end
  const std::uint8_t* start = nullptr;  // whether the state is reset to zeros before the step
  const float* weight = nullptr;        // 1 if the step is part of the loss; 0 for burn-in, padding and invalid steps
  const float* state = nullptr;         // [count, Network::state], before the first step
};

// The rows of a training batch.
struct Batch {
  std::int64_t rows = 0;
  const std::uint8_t* features = nullptr;
  std::int64_t feature_bytes = 0;
  const std::int32_t* planes = nullptr;  // images with shared planes: plane indices of each row
  const std::int64_t* chosen = nullptr;  // discrete actions, or
  const float* amounts = nullptr;        // continuous ones
  const float* logprob = nullptr;
  const float* dist = nullptr;           // [rows, parameters of the head]
  const float* advantage = nullptr;
  const float* value = nullptr;
  const float* target = nullptr;
  const std::uint8_t* mask = nullptr;
  Sequences sequences;  // none if count is 0; otherwise a minibatch consists of sequences instead of rows
};

// The loss, as `Objective` in engine/objective.py.
struct Objective {
  bool clipped = false;        // PPO's clipped surrogate; otherwise the plain policy gradient
  float clip = 0;
  bool critic = true;
  bool huber = false;
  bool value_clipped = false;
  float value_clip = 0;
  float value_coef = 0, entropy_coef = 0, kl_coef = 0;
  bool standardize = false;    // standardize the advantages of each minibatch
};

// The state and the hyperparameters of AdamW; `first` and `second` are its moments.
struct Adam {
  float* first;
  float* second;
  std::int64_t steps;
  float lr, eps, weight_decay;
  float max_norm;  // of the gradient; 0 for no clipping
};

// The losses of one gradient step, in the order of LOSSES in engine/objective.py.
struct StepReport {
  double total, policy, value, kl, value_clipped, entropy, norm;
};

// Distance of the policy from the one that collected the batch.
struct Shift {
  double kl, approx_kl, entropy, ratio_mean, ratio_max, clip_fraction;
};

// Counts and sums over the activation layers of a stack. `rectifiers` (every kind except tanh) and `dead`
// count units, the others count outputs (units times rows).
struct Units {
  double outputs, total, squares, tanh, saturated, rectifiers, dead;
};

// The numbers of `Health` in policy/health.py, in the same order.
struct Health {
  Units shared, actor, critic;
  double output_mean, output_std, logit_range, prob_max, prob_min;
};

// Runs task(context, i) for i in 0..n-1 on the engine's threads, and returns when all are done.
using Task = void (*)(void* context, int i);
using Parallel = void (*)(Task task, void* context, int n);

// The policy state of each row, [rows, Network::state], before and after one step. They may be the same memory.
// Null without memory; null `after` if it is not needed.
struct State {
  const float* before = nullptr;
  float* after = nullptr;
};

// The entry points, compiled once per instruction set.
struct Kernels {
  const char* name;
  void (*forward)(const Network&, const float* parameters, const std::uint8_t* features,
                  std::int64_t feature_bytes, std::int64_t rows, State, float* actor, float* critic,
                  Parallel);
  void (*act)(const Network&, const float* parameters, const std::uint8_t* features,
              std::int64_t feature_bytes, std::int64_t rows, const float* noise,
              const std::uint8_t* mask, State, std::int64_t* chosen, float* amounts, float* dist,
              float* logprob, float* value);
  // `order` selects `rows` rows of the batch, or sequences if the batch has any.
  void (*step)(const Network&, float* parameters, float* gradient, const Batch&,
               const std::int64_t* order, std::int64_t rows, const Objective&, Adam&, StepReport&,
               Parallel);
  void (*shift)(const Network&, const float* parameters, const Batch&, float clip, Shift&,
                Parallel);
  void (*health)(const Network&, const float* parameters, const std::uint8_t* features,
                 std::int64_t feature_bytes, std::int64_t rows, const std::uint8_t* mask, State,
                 float saturated, Health&);
  void (*few_rows)(const float* x, const float* weight, const float* bias, float* y, int rows,
                   int n_in, int n_out);
  void (*gather_images)(const std::uint8_t* planes, std::int64_t size, const std::int32_t* index,
                       const std::int64_t* rows, std::int64_t n, int channels, std::uint8_t* out);
};

}  // namespace gymnast
