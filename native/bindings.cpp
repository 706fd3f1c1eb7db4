// The module gymnast._native: a network described from Python, and the computations on it.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <optional>
#include <stdexcept>
#include <string>

#include <nanobind/stl/optional.h>

#include "network.hpp"
#include "returns.hpp"
#include "statistics.hpp"
#include "threads.hpp"

namespace nb = nanobind;
using namespace gymnast;

namespace gymnast {
extern const Kernels kernels_portable;
#if defined(GYMNAST_X86)
extern const Kernels kernels_avx2, kernels_avx512;
#endif
}  // namespace gymnast

namespace {

template <class T> using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
using Floats = Array<float>;
using Flags = Array<bool>;
using Features = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;  // of any type, row-major
template <class T> using Maybe = std::optional<Array<T>>;

const std::uint8_t* bytes(const Flags& flags) {
  return reinterpret_cast<const std::uint8_t*>(flags.data());
}
const std::uint8_t* bytes(const Maybe<bool>& flags) { return flags ? bytes(*flags) : nullptr; }
const std::uint8_t* bytes(const Features& rows) {
  return static_cast<const std::uint8_t*>(rows.data());
}
std::int64_t row_bytes(const Features& rows) {
  return rows.shape(0) ? std::int64_t(rows.nbytes() / rows.shape(0)) : 0;
}

// ---- which kernels ---------------------------------------------------------------------------

// Returns the kernels that this processor can run, the fastest last.
std::vector<const Kernels*> usable() {
  std::vector<const Kernels*> found{&kernels_portable};
#if defined(GYMNAST_X86)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found.push_back(&kernels_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    found.push_back(&kernels_avx512);
#endif
  return found;
}

const Kernels* kernels = usable().back();

// Never destroyed: threads must not be joined while the interpreter shuts down.
Threads& threads() {
  static Threads* all = new Threads;
  return *all;
}

void parallel(Task task, void* context, int n) { threads().run(task, context, n); }

void use(const std::string& name) {
  for (const Kernels* one : usable())
    if (name == one->name) {
      kernels = one;
      return;
    }
  throw std::invalid_argument("this processor has no " + name);
}

// ---- a network -------------------------------------------------------------------------------

// A network for the kernels, built layer by layer from engine/native/plan.py.
class Native {
 public:
  explicit Native(std::int64_t size) { net_.size = size; }
  Native(const Native&) = delete;

  // Adds an input of a stack: floats, or an index into an embedding table.
  void piece(const std::string& part, std::int64_t at, int width, std::int64_t table) {
    Stack& stack = stack_of(part);
    if (stack.n_pieces == MAX_PIECES) throw std::length_error("too many entries");
    stack.pieces[stack.n_pieces++] = {at, width, stack.encoded, table};
    stack.encoded += width;
    const std::int64_t end = at + (table == NONE ? 4 * std::int64_t(width) : 8);
    row_bytes_ = end > row_bytes_ ? end : row_bytes_;
  }

  // Declares that a row of features is an image of bytes; convolutions follow.
  void image(const std::string& part, int channels, int height, int width, bool planes_first,
             float top) {
    Stack& stack = stack_of(part);
    if (channels > MAX_CHANNELS) throw std::length_error("too many channels");
    stack.planes_first = planes_first, stack.top = top;
    shown_[0] = channels, shown_[1] = height, shown_[2] = width;
    row_bytes_ = std::int64_t(channels) * height * width;
  }

  // Adds a convolution, whose input is the output of the previous one.
  void conv(const std::string& part, int n_out, int kernel, int stride, std::int64_t weight,
            std::int64_t bias, const std::string& activation) {
    Stack& stack = stack_of(part);
    if (stack.n_conv == MAX_CONVS) throw std::length_error("too many convolutions");
    const Conv c{shown_[0], shown_[1], shown_[2], n_out, kernel,
                 stride,    weight,    bias,      kind_of(activation)};
    if (kernel < 1 || stride < 1 || kernel > c.height || kernel > c.width)
      throw std::invalid_argument("a kernel does not fit its image");
    stack.conv[stack.n_conv++] = c;
    shown_[0] = n_out, shown_[1] = c.height_out(), shown_[2] = c.width_out();
    stack.encoded = shown_[0] * shown_[1] * shown_[2];
  }

  void dense(const std::string& part, int n_in, int n_out, std::int64_t weight, std::int64_t bias,
             std::int64_t norm_scale, std::int64_t norm_bias, const std::string& activation) {
    Stack& stack = stack_of(part);
    if (stack.n_dense == MAX_LAYERS) throw std::length_error("too many layers");
    stack.dense[stack.n_dense++] = {n_in,       n_out,     weight,             bias,
                                    norm_scale, norm_bias, kind_of(activation)};
  }

  // Adds a recurrent layer; its state follows the states of the recurrent layers before.
  void recurrent(const std::string& part, const std::string& kind, int n_in, int n_out,
                 std::int64_t weight, std::int64_t recurrent, std::int64_t bias,
                 std::int64_t recurrent_bias) {
    Stack& stack = stack_of(part);
    if (stack.n_recurrent == MAX_RECURRENT) throw std::length_error("too many recurrent layers");
    if (stack.n_recurrent && stack.recurrent_at != stack.n_dense)
      throw std::invalid_argument("recurrent layers of a stack are not adjacent");
    if (kind != "lstm" && kind != "gru") throw std::invalid_argument("unknown cell " + kind);
    const CellKind cell = kind == "lstm" ? CellKind::lstm : CellKind::gru;
    stack.recurrent_at = stack.n_dense;
    stack.recurrent[stack.n_recurrent++] = {cell,      n_in, n_out,          weight,
                                            recurrent, bias, recurrent_bias, net_.state};
    net_.state += cell == CellKind::lstm ? 2 * n_out : n_out;
  }

  // Sets the action head. `net_` has pointers into the vectors, which this object keeps alive.
  void head(const std::string& kind, int n_outputs, std::vector<int> groups, std::int64_t log_std,
            std::vector<float> nodes, std::vector<float> node_weights) {
    net_.head = head_of(kind, n_outputs, std::move(groups), log_std, std::move(nodes),
                        std::move(node_weights));
  }

  // Adds a part of a composite head; its arrays follow those of the parts before.
  void part(const std::string& kind, int n_outputs, std::vector<int> groups, std::int64_t log_std,
            std::vector<float> nodes, std::vector<float> node_weights) {
    Head& h = net_.head;
    const Head own = head_of(kind, n_outputs, std::move(groups), log_std, std::move(nodes),
                             std::move(node_weights));
    const int output = parts_.empty() ? 0 : parts_.back().output + parts_.back().head.n_outputs;
    if (h.kind != HeadKind::composite || own.kind == HeadKind::composite ||
        output + n_outputs > h.n_outputs)
      throw std::invalid_argument("this is no part of the head");
    parts_.push_back({own, output, h.parameters, h.elements, h.options});
    h.part = parts_.data(), h.n_parts = int(parts_.size());
    h.elements += own.n_chosen();
    h.options += own.is_continuous() ? 0 : own.n_masked();
    h.parameters += own.is_continuous() ? 2 * n_outputs : n_outputs;
  }

  // Features are read as raw bytes: another dtype would be misread without an error.
  void check(const Features& features) const {
    if (features.shape(0)) check(row_bytes(features));
  }
  void check(std::int64_t found) const {
    if (found != row_bytes_)
      throw std::invalid_argument("features have " + std::to_string(found) +
                                  " bytes a row, the network reads " + std::to_string(row_bytes_));
  }

  // Returns the policy states of the rows, whose sizes the kernels do not check. A forgotten state would go unnoticed.
  State state(const Features& features, const Maybe<float>& before, const Maybe<float>& after) const {
    if (net_.state && !before)
      throw std::invalid_argument("a network with memory needs the state before the step");
    for (const Maybe<float>* one : {&before, &after})
      if (*one && (*one)->size() != features.shape(0) * std::size_t(net_.state))
        throw std::invalid_argument("a policy state has " + std::to_string(net_.state) +
                                    " numbers a row");
    return {pointer(before), pointer(after)};
  }

  void forward(Floats parameters, Features features, bool critic, Floats out) const {
    run(parameters, features, state(features, {}, {}), critic ? nullptr : out.data(), critic ? out.data() : nullptr);
  }

  // One step of a network with memory, of actor and critic together.
  void step(Floats parameters, Features features, Floats before, Floats after, Floats actor,
            Floats critic) const {
    run(parameters, features, state(features, before, after), actor.data(), critic.data());
  }

  void act(Floats parameters, Features features, Floats noise, Maybe<bool> mask,
           Maybe<std::int64_t> chosen, Maybe<float> amounts, Floats dist, Floats logprob,
           Maybe<float> value, Maybe<float> before, Maybe<float> after) const {
    check(features);
    kernels->act(net_, parameters.data(), bytes(features), row_bytes(features),
                 std::int64_t(features.shape(0)), noise.data(), bytes(mask),
                 state(features, before, after), pointer(chosen), pointer(amounts), dist.data(),
                 logprob.data(), pointer(value));
  }

  void health(Floats parameters, Features features, Maybe<bool> mask, float saturated,
              Array<double> out, Maybe<float> before) const {
    check(features);
    if (out.size() * sizeof(double) != sizeof(Health))
      throw std::invalid_argument("health is of " + std::to_string(sizeof(Health) / 8) + " numbers");
    kernels->health(net_, parameters.data(), bytes(features), row_bytes(features),
                    std::int64_t(features.shape(0)), bytes(mask), state(features, before, {}), saturated,
                    *reinterpret_cast<Health*>(out.data()));
  }

  Network net_;

 private:
  void run(const Floats& parameters, const Features& features, State states, float* actor,
           float* critic) const {
    check(features);
    const float* p = parameters.data();
    const std::uint8_t* x = bytes(features);
    const std::int64_t rows = std::int64_t(features.shape(0)), size = row_bytes(features);
    // Pointers are read before the GIL is released: afterwards no Python object may be touched.
    nb::gil_scoped_release release;
    kernels->forward(net_, p, x, size, rows, states, actor, critic, parallel);
  }

  template <class T> static T* pointer(const Maybe<T>& array) {
    return array ? array->data() : nullptr;
  }

  Stack& stack_of(const std::string& part) {
    return part == "shared" ? net_.shared : part == "actor" ? net_.actor : net_.critic;
  }

  // Returns a head whose arrays this object keeps alive.
  Head head_of(const std::string& kind, int n_outputs, std::vector<int> groups, std::int64_t log_std,
               std::vector<float> nodes, std::vector<float> node_weights) {
    Head h;
    h.kind = kind == "bernoulli"   ? HeadKind::bernoulli
             : kind == "gaussian"  ? HeadKind::gaussian
             : kind == "squashed"  ? HeadKind::squashed
             : kind == "composite" ? HeadKind::composite
                                   : HeadKind::categorical;
    h.n_outputs = n_outputs, h.log_std = log_std;
    const std::vector<int>& counts = groups_.emplace_back(std::move(groups));
    const std::vector<float>& at = floats_.emplace_back(std::move(nodes));
    const std::vector<float>& weight = floats_.emplace_back(std::move(node_weights));
    h.n_groups = int(counts.size()), h.group = counts.data();
    h.n_nodes = int(at.size()), h.node = at.data(), h.node_weight = weight.data();
    return h;
  }

  static Activation kind_of(const std::string& name) {
    if (name == "none") return Activation::none;
    if (name == "tanh") return Activation::tanh;
    if (name == "relu") return Activation::relu;
    if (name == "silu") return Activation::silu;
    if (name == "gelu") return Activation::gelu;
    if (name == "elu") return Activation::elu;
    throw std::invalid_argument("unknown activation " + name);
  }

  std::int64_t row_bytes_ = 0;
  int shown_[3] = {};  // channels, height and width of the last convolution's output
  std::deque<std::vector<int>> groups_;  // a deque never moves its entries
  std::deque<std::vector<float>> floats_;
  std::vector<Part> parts_;
};

// A training batch; keeps the arrays alive. Images with shared planes have `features` [planes, ...] and
// `planes` [rows, channels], the plane indices of each row.
struct NativeBatch {
  NativeBatch(Features features, Maybe<std::int32_t> planes, Maybe<std::int64_t> chosen,
              Maybe<float> amounts, Floats logprob, Floats dist, Floats advantage, Floats value,
              Floats target, Maybe<bool> mask)
      : features_(features), planes_(planes), chosen_(chosen), amounts_(amounts), logprob_(logprob),
        dist_(dist), advantage_(advantage), value_(value), target_(target), mask_(mask) {
    batch.rows = std::int64_t((planes ? planes->shape(0) : features.shape(0)));
    batch.features = bytes(features);
    batch.feature_bytes = row_bytes(features);
    if (planes) {
      batch.planes = planes->data();
      batch.feature_bytes *= std::int64_t(planes->shape(1));
      for (std::size_t i = 0; i < planes->size(); ++i)
        if (batch.planes[i] < 0 || batch.planes[i] >= std::int64_t(features.shape(0)))
          throw std::out_of_range("there is no such plane");
    }
    batch.chosen = chosen ? chosen->data() : nullptr;
    batch.amounts = amounts ? amounts->data() : nullptr;
    batch.logprob = logprob.data(), batch.dist = dist.data();
    batch.advantage = advantage.data(), batch.value = value.data(), batch.target = target.data();
    batch.mask = bytes(mask);
  }

  // Makes sequences of the rows, which are [steps, sequences]; `state` is [sequences, ...].
  void sequences(Flags start, Floats weight, Floats state) {
    const auto count = std::int64_t(state.ndim() == 2 ? state.shape(0) : 0);
    if (!count || batch.rows % count || std::int64_t(start.size()) != batch.rows ||
        std::int64_t(weight.size()) != batch.rows)
      throw std::invalid_argument("the arrays of the sequences do not fit each other");
    for (std::int64_t i = 0; i < batch.rows; ++i)
      if (weight.data()[i] != 0 && weight.data()[i] != 1)
        throw std::invalid_argument("the weight of a step is 0 or 1");
    start_ = start, weight_ = weight, state_ = state;
    batch.sequences = {count, int(batch.rows / count), bytes(start), weight.data(), state.data()};
    state_width = int(state.shape(1));
  }

  // A network with memory is trained on sequences, with states of its own size; one without memory on rows.
  void check(const Network& net) const {
    if (state_width != net.state)
      throw std::invalid_argument("the batch has states of " + std::to_string(state_width) +
                                  " numbers, the network of " + std::to_string(net.state));
  }

  Batch batch;
  int state_width = 0;

 private:
  Flags start_;
  Floats weight_, state_;
  Features features_;
  Maybe<std::int32_t> planes_;
  Maybe<std::int64_t> chosen_;
  Maybe<float> amounts_;
  Floats logprob_, dist_, advantage_, value_, target_;
  Maybe<bool> mask_;
};

Objective objective_of(std::optional<float> clip, bool critic, bool huber,
                       std::optional<float> value_clip, float value_coef, float entropy_coef,
                       float kl_coef, bool standardize) {
  Objective o;
  o.clipped = clip.has_value(), o.clip = clip.value_or(0);
  o.critic = critic, o.huber = huber;
  o.value_clipped = value_clip.has_value(), o.value_clip = value_clip.value_or(0);
  o.value_coef = value_coef, o.entropy_coef = entropy_coef, o.kl_coef = kl_coef;
  o.standardize = standardize;
  return o;
}

// Runs all epochs of an update. Each row of `orders` [epochs, rows or sequences] is divided into as few minibatches of
// at most `size` as possible, of nearly equal size. No further epoch is run once the KL divergence on the
// rows `monitored` exceeds `target_kl`. Fills one row of `table` per gradient step. Returns the number of
// epochs, Adam's step count, and whether the update stopped early.
std::tuple<int, std::int64_t, bool> update(const Native& native, Floats parameters, Floats gradient,
                                            Floats first, Floats second, std::int64_t steps,
                                            const NativeBatch& rows, const NativeBatch& monitored,
                                            Array<std::int64_t> orders, std::int64_t size,
                                            const Objective& objective, float lr, float eps,
                                            float weight_decay, float max_norm,
                                            std::optional<double> target_kl, Array<double> table) {
  if (rows.batch.rows) native.check(rows.batch.feature_bytes);
  rows.check(native.net_), monitored.check(native.net_);
  Adam adam{first.data(), second.data(), steps, lr, eps, weight_decay, max_norm};
  const auto passes = std::int64_t(orders.shape(0)), n = std::int64_t(orders.shape(1));
  const std::int64_t parts = (n + size - 1) / size;
  const std::int64_t* order = orders.data();
  float *p = parameters.data(), *g = gradient.data();
  auto* line = reinterpret_cast<StepReport*>(table.data());  // one row of doubles per gradient step
  nb::gil_scoped_release release;
  std::int64_t pass = 0;
  bool stopped = false;
  while (pass < passes && !stopped) {
    for (std::int64_t part = 0, at = 0; part < parts; ++part) {
      const std::int64_t count = n / parts + (part < n % parts);  // the sizes of np.array_split
      kernels->step(native.net_, p, g, rows.batch, order + at, count, objective, adam, *line++,
                    parallel);
      at += count;
    }
    order += n, ++pass;
    if (target_kl) {  // `target_kl` of the algorithm
      Shift moved;
      kernels->shift(native.net_, p, monitored.batch, 0, moved, parallel);
      stopped = moved.kl > *target_kl;
    }
  }
  return {int(pass), adam.steps, stopped};
}

std::tuple<double, double, double, double, double, double> shift(const Native& native,
                                                                 Floats parameters,
                                                                 const NativeBatch& rows,
                                                                 float clip) {
  Shift found;
  const float* p = parameters.data();
  rows.check(native.net_);
  {
    nb::gil_scoped_release release;
    kernels->shift(native.net_, p, rows.batch, clip, found, parallel);
  }
  return {found.kl,         found.approx_kl, found.entropy,
          found.ratio_mean, found.ratio_max, found.clip_fraction};
}

// Fills `advantage` and `target` (native/returns.hpp).
void advantages(Array<double> reward, Floats value, Floats next_value, Flags terminated, Flags done,
                double gamma, double lambda, Array<double> advantage, Array<double> target) {
  gae(reward.data(), value.data(), next_value.data(), bytes(terminated), bytes(done),
      std::int64_t(reward.shape(0)), std::int64_t(reward.shape(1)), gamma, lambda, advantage.data(),
      target.data());
}

// Returns mean, standard deviation, minimum and maximum of the valid entries of x.
std::tuple<double, double, double, double> summary_stats_of(Features x, Maybe<bool> valid) {
  const auto size = std::int64_t(x.size());
  const std::int64_t groups = valid ? std::int64_t(valid->size()) : size;
  const std::int64_t width = groups ? size / groups : 0;
  SummaryStats found;
  if (x.dtype() == nb::dtype<double>())
    found = summary_stats(static_cast<const double*>(x.data()), groups, width, bytes(valid));
  else if (x.dtype() == nb::dtype<float>())
    found = summary_stats(static_cast<const float*>(x.data()), groups, width, bytes(valid));
  else if (x.dtype() == nb::dtype<std::int64_t>())
    found = summary_stats(static_cast<const std::int64_t*>(x.data()), groups, width, bytes(valid));
  else
    throw nb::type_error("float32, float64 or int64 expected");
  return {found.mean, found.std, found.least, found.most};
}

std::vector<double> means_of(Floats x) {
  std::vector<double> mean(x.shape(1));
  column_means(x.data(), std::int64_t(x.shape(0)), std::int64_t(x.shape(1)), nullptr, mean.data());
  return mean;
}

// Statistics of the steps of a rollout [T, N], in this order: mean, standard deviation, minimum and maximum
// of rewards, of actions and of log-probabilities; numbers of episodes that ended, of truncated episodes,
// and of steps with a reward; how often each of `options` actions was chosen; and, for observations
// [T, N, K], the same four statistics of all components, then (`each`) the K means.
std::vector<double> rollout_stats_of(Array<double> reward, Features action, Floats logprob,
                                  Flags terminated, Flags done, Maybe<float> obs, Maybe<bool> valid,
                                  std::int64_t options, bool each) {
  const auto steps = std::int64_t(reward.size());
  const std::uint8_t* keep = bytes(valid);
  if (logprob.size() != reward.size() || terminated.size() != reward.size() ||
      done.size() != reward.size() || (valid && valid->size() != reward.size()) || !steps ||
      action.size() % reward.size() || (obs && obs->size() % reward.size()))
    throw std::invalid_argument("columns of a rollout do not fit each other");
  const std::int64_t width = obs ? std::int64_t(obs->size()) / steps : 0;
  std::vector<double> found;
  found.reserve(19 + std::size_t(options + width));
  const auto add = [&](const SummaryStats& s) { found.insert(found.end(), {s.mean, s.std, s.least, s.most}); };
  const std::int64_t amounts = std::int64_t(action.size()) / steps;
  add(summary_stats(reward.data(), steps, 1, keep));
  if (action.dtype() == nb::dtype<std::int64_t>())
    add(summary_stats(static_cast<const std::int64_t*>(action.data()), steps, amounts, keep));
  else if (action.dtype() == nb::dtype<float>())
    add(summary_stats(static_cast<const float*>(action.data()), steps, amounts, keep));
  else
    throw nb::type_error("actions are int64 or float32");
  add(summary_stats(logprob.data(), steps, 1, keep));
  const Counts counted = counts(reward.data(), bytes(terminated), bytes(done), steps, keep);
  found.insert(found.end(), {double(counted.over), double(counted.cut), double(counted.paid)});
  if (options) {
    if (amounts != 1 || action.dtype() != nb::dtype<std::int64_t>())
      throw nb::type_error("one option per step is chosen");
    const auto* chosen = static_cast<const std::int64_t*>(action.data());
    found.resize(found.size() + std::size_t(options));
    double* const times = found.data() + found.size() - options;
    for (std::int64_t i = 0; i < steps; ++i)
      if (!keep || keep[i]) {
        if (chosen[i] < 0 || chosen[i] >= options) throw std::out_of_range("there is no such option");
        times[chosen[i]] += 1;
      }
  }
  if (!obs) return found;
  add(summary_stats(obs->data(), steps, width, keep));
  if (!each) return found;
  found.resize(found.size() + std::size_t(width));
  column_means(obs->data(), steps, width, keep, found.data() + found.size() - width);
  return found;
}

// Writes every `stride`-th component of observations [steps, K] in double, and its change to the next
// observation `after`, with jumps clipped (rl/effect.py).
void changes_of(Floats obs, Floats after, std::int64_t stride, Array<double> before,
                Array<double> change) {
  const auto rows = std::int64_t(before.shape(0)), width = std::int64_t(before.shape(1));
  const std::int64_t from = rows ? std::int64_t(obs.size()) / rows : 0;
  if (obs.size() != after.size() || before.size() != change.size() || stride < 1 || !rows ||
      (from + stride - 1) / stride != width)
    throw std::invalid_argument("observations and changes do not fit each other");
  const float *x = obs.data(), *y = after.data();
  double *b = before.data(), *c = change.data();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < width; ++j, ++b, ++c)
      *b = x[i * from + j * stride], *c = double(y[i * from + j * stride]) - *b;
  limit_jumps(change.data(), rows, width);
}

// Diversity of x [T, N, K], on a sample with one stride per axis.
double diversity_of(Features x, std::int64_t step, std::int64_t copy, std::int64_t number) {
  if (x.ndim() != 3 || step < 1 || copy < 1 || number < 1)
    throw std::invalid_argument("three axes expected, and strides of at least 1");
  const auto N = std::int64_t(x.shape(1)), K = std::int64_t(x.shape(2));
  const auto sampled = [&](int axis, std::int64_t stride, std::int64_t size) {
    return Sampled{(std::int64_t(x.shape(axis)) + stride - 1) / stride, stride * size};
  };
  const Sampled steps = sampled(0, step, N * K), copies = sampled(1, copy, K),
                numbers = sampled(2, number, 1);
  if (x.dtype() == nb::dtype<double>())
    return diversity(static_cast<const double*>(x.data()), steps, copies, numbers);
  if (x.dtype() == nb::dtype<float>())
    return diversity(static_cast<const float*>(x.data()), steps, copies, numbers);
  throw nb::type_error("float32 or float64 expected");
}

// A dense layer for few rows (native/images.hpp). Shapes are checked here, because the kernel does not.
void few_rows(Floats x, Floats weight, Floats bias, Floats out) {
  const auto rows = x.shape(0), n_in = weight.shape(0), n_out = weight.shape(1);
  if (n_out % 16 || x.shape(1) != n_in || bias.size() != n_out || out.size() != rows * n_out)
    throw std::invalid_argument("shapes do not fit, or there are no whole lines of outputs");
  const float *from = x.data(), *w = weight.data(), *b = bias.data();
  float* y = out.data();
  nb::gil_scoped_release release;
  kernels->few_rows(from, w, b, y, int(rows), int(n_in), int(n_out));
}

// Gathers images from shared planes (native/images.hpp). Indices are checked here, because the kernel does not.
void gather_images(Array<const std::uint8_t> planes, Array<const std::int32_t> index,
                  Array<const std::int64_t> rows, Array<std::uint8_t> out) {
  const auto n = std::int64_t(rows.size()), count = std::int64_t(planes.shape(0)),
             channels = std::int64_t(index.shape(1)), known = std::int64_t(index.shape(0));
  const std::int64_t size = count ? std::int64_t(planes.size()) / count : 0;
  if (std::int64_t(out.size()) != n * size * channels)
    throw std::invalid_argument("there is no room for these rows");
  const std::int32_t* which = index.data();
  const std::int64_t* row = rows.data();
  for (std::int64_t r = 0; r < n; ++r) {
    if (row[r] < 0 || row[r] >= known) throw std::out_of_range("there is no such row");
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int32_t plane = which[row[r] * channels + c];
      if (plane < 0 || plane >= count) throw std::out_of_range("there is no such plane");
    }
  }
  const std::uint8_t* in = planes.data();
  std::uint8_t* to = out.data();
  nb::gil_scoped_release release;
  kernels->gather_images(in, size, which, row, n, int(channels), to);
}

}  // namespace

#include <nanobind/stl/tuple.h>

NB_MODULE(_native, m) {
  // Other modules may keep kernels until the process ends, which is no mistake that a user could fix.
  nb::set_leak_warnings(false);
  m.doc() = "Compiled kernels of gymnast's native engine; see docs/native-engine.md.";
  m.def("instruction_sets", [] {
    std::vector<std::string> names;
    for (const Kernels* one : usable()) names.push_back(one->name);
    return names;
  }, "Returns the instruction sets that this processor supports; the last is the default.");
  m.def("instruction_set", [] { return std::string(kernels->name); }, "Returns the one in use.");
  m.def("use_instruction_set", use, nb::arg("instruction_set"));
  m.def("set_threads", [](int n) { threads().resize(n); }, nb::arg("count"));
  m.def("gae", advantages, nb::arg("reward"), nb::arg("value"), nb::arg("next_value"),
        nb::arg("terminated"), nb::arg("done"), nb::arg("gamma"), nb::arg("lam"),
        nb::arg("advantage").noconvert(), nb::arg("target").noconvert());
  m.def("obs_changes", changes_of, nb::arg("obs").noconvert(), nb::arg("after").noconvert(),
        nb::arg("stride"), nb::arg("before").noconvert(), nb::arg("change").noconvert());
  m.def("column_means", means_of, nb::arg("x").noconvert());
  m.def("diversity", diversity_of, nb::arg("x"), nb::arg("step") = 1, nb::arg("copy") = 1,
        nb::arg("number") = 1);
  m.def("rollout_stats", rollout_stats_of, nb::arg("reward"), nb::arg("action"), nb::arg("logprob"),
        nb::arg("terminated"), nb::arg("done"), nb::arg("obs").none(), nb::arg("valid").none(),
        nb::arg("options"), nb::arg("each"));
  m.def("few_rows", few_rows, nb::arg("x"), nb::arg("weight").noconvert(), nb::arg("bias"),
        nb::arg("out").noconvert());
  m.def("gather_images", gather_images, nb::arg("planes").noconvert(), nb::arg("index").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("out").noconvert());
  m.def("summary_stats", summary_stats_of, nb::arg("x"), nb::arg("valid").none());

  nb::class_<Native>(m, "Network")
      .def(nb::init<std::int64_t>(), nb::arg("size"))
      .def("piece", &Native::piece, nb::arg("part"), nb::arg("at"), nb::arg("width"), nb::arg("table"))
      .def("image", &Native::image, nb::arg("part"), nb::arg("channels"), nb::arg("height"),
           nb::arg("width"), nb::arg("planes_first"), nb::arg("top"))
      .def("conv", &Native::conv, nb::arg("part"), nb::arg("n_out"), nb::arg("kernel"),
           nb::arg("stride"), nb::arg("weight"), nb::arg("bias"), nb::arg("activation"))
      .def("dense", &Native::dense, nb::arg("part"), nb::arg("n_in"), nb::arg("n_out"),
           nb::arg("weight"), nb::arg("bias"), nb::arg("norm_scale"), nb::arg("norm_bias"),
           nb::arg("activation"))
      .def("recurrent", &Native::recurrent, nb::arg("part"), nb::arg("kind"), nb::arg("n_in"),
           nb::arg("n_out"), nb::arg("weight"), nb::arg("recurrent"), nb::arg("bias"),
           nb::arg("recurrent_bias"))
      .def("head", &Native::head, nb::arg("kind"), nb::arg("n_outputs"), nb::arg("groups"),
           nb::arg("log_std"), nb::arg("nodes"), nb::arg("node_weights"))
      .def("part", &Native::part, nb::arg("kind"), nb::arg("n_outputs"), nb::arg("groups"),
           nb::arg("log_std"), nb::arg("nodes"), nb::arg("node_weights"))
      .def("forward", &Native::forward, nb::arg("parameters"), nb::arg("features"),
           nb::arg("critic"), nb::arg("out").noconvert())
      .def("step", &Native::step, nb::arg("parameters"), nb::arg("features"), nb::arg("state"),
           nb::arg("next_state").noconvert(), nb::arg("actor").noconvert(),
           nb::arg("critic").noconvert())
      .def("act", &Native::act, nb::arg("parameters"), nb::arg("features"), nb::arg("noise"),
           nb::arg("mask").none(), nb::arg("chosen").none().noconvert(),
           nb::arg("amounts").none().noconvert(), nb::arg("dist").noconvert(),
           nb::arg("logprob").noconvert(), nb::arg("value").none().noconvert(),
           nb::arg("state") = nb::none(), nb::arg("next_state").noconvert() = nb::none())
      .def("health", &Native::health, nb::arg("parameters"), nb::arg("features"),
           nb::arg("mask").none(), nb::arg("saturated"), nb::arg("out").noconvert(),
           nb::arg("state") = nb::none());

  nb::class_<NativeBatch>(m, "Batch")
      .def(nb::init<Features, Maybe<std::int32_t>, Maybe<std::int64_t>, Maybe<float>, Floats, Floats,
                    Floats, Floats, Floats, Maybe<bool>>(),
           nb::arg("features"), nb::arg("planes").none(), nb::arg("chosen").none(),
           nb::arg("amounts").none(),
           nb::arg("logprob"), nb::arg("dist"), nb::arg("advantage"), nb::arg("value"),
           nb::arg("target"), nb::arg("mask").none())
      .def("sequences", &NativeBatch::sequences, nb::arg("start"), nb::arg("weight"), nb::arg("state"));

  nb::class_<Objective>(m, "Objective");
  m.def("objective", objective_of, nb::arg("clip").none(), nb::arg("critic"), nb::arg("huber"),
        nb::arg("value_clip").none(), nb::arg("value_coef"), nb::arg("entropy_coef"),
        nb::arg("kl_coef"), nb::arg("standardize"));
  m.def("update", update, nb::arg("network"), nb::arg("parameters").noconvert(),
        nb::arg("gradient").noconvert(), nb::arg("first").noconvert(),
        nb::arg("second").noconvert(), nb::arg("steps"), nb::arg("batch"), nb::arg("monitored"),
        nb::arg("orders"),
        nb::arg("size"), nb::arg("objective"), nb::arg("lr"), nb::arg("eps"),
        nb::arg("weight_decay"), nb::arg("max_norm"), nb::arg("target_kl").none(),
        nb::arg("table").noconvert());
  m.def("policy_shift", shift, nb::arg("network"), nb::arg("parameters"), nb::arg("batch"), nb::arg("clip"));
}
