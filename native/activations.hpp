// Activation functions and their derivatives, on arrays whose size is a multiple of LANES. All of them
// map 0 to 0, so zero padding stays zero.
#pragma once

#include "network.hpp"
#include "simd.hpp"

namespace {

using gymnast::Activation;

struct Activated {
  vec y, slope;  // f(x), f'(x)
};

struct Logistic {
  vec s, rest;  // s(x), 1 - s(x)
};

// The logistic function s(x) = 1 / (1 + e^-x).
inline Logistic logistic_of(vec x) {
  // e^(-|x|) cannot overflow; s(-|x|) as e s(|x|) has no cancellation, unlike 1 - s(|x|)
  const vec e = exp_negative(-size_of(x));
  const vec high = all(1.0f) / (all(1.0f) + e), low = e * high;  // s(|x|), s(-|x|)
  const ivec negative = x < vec{};
  return {select(negative, low, high), select(negative, high, low)};
}

// SiLU: x s(x) with the logistic function s (arXiv:1702.03118); f' = s (1 + x (1 - s)).
inline Activated silu_of(vec x) {
  const auto [s, rest] = logistic_of(x);
  return {x * s, s * (all(1.0f) + x * rest)};
}

// Returns P(-|x|) of the standard normal CDF P, given e^(-x^2 / 2): their ratio is a polynomial in
// 1 / (1 + 0.35 |x|), with a relative error of 3.2e-8 for |x| <= 14.
inline vec normal_tail(vec size, vec bell) {
  const vec t = all(1.0f) / (all(1.0f) + all(0.35f) * size);
  vec ratio = all(-0.0291459262f);
  ratio = ratio * t + all(0.143971677f);
  ratio = ratio * t + all(-0.255714212f);
  ratio = ratio * t + all(0.159174111f);
  ratio = ratio * t + all(-0.0231098016f);
  ratio = ratio * t + all(0.10550799f);
  ratio = ratio * t + all(0.119832871f);
  ratio = ratio * t + all(0.139861869f);
  ratio = ratio * t + all(0.139621404f);
  return ratio * t * bell;
}

// GELU: x P(x) with the normal CDF P, exact and not its tanh approximation (arXiv:1606.08415);
// f' = P(x) + x P'(x).
inline Activated gelu_of(vec x) {
  const vec size = size_of(x);
  const vec bell = exp_negative(x * x * all(-0.5f));
  const vec tail = normal_tail(size, bell);
  const vec p = select(x < vec{}, tail, all(1.0f) - tail);
  return {x * p, p + x * bell * all(0.398942280f)};  // 1 / sqrt(2 pi)
}

// ELU: x above 0, e^x - 1 below (arXiv:1511.07289 with alpha = 1).
inline vec elu_of(vec x) {
  const ivec negative = x < vec{};
  const vec most = all(-20.0f);  // from here on it is -1 in float32
  const vec t = select(negative, select(x < most, most, x), vec{});
  return select(negative, expm1_negative(t), x);  // NaN stays NaN
}

// True if f'(x) cannot be computed from f(x). Then the forward pass stores it.
inline bool keeps_slope(Activation kind) {
  return kind == Activation::silu || kind == Activation::gelu;
}

template <class F> inline void activate_each(float* y, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; i += LANES) store(y + i, f(load(y + i)));
}

template <class F> inline void activate_each(float* y, float* slope, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; i += LANES) {
    const Activated found = f(load(y + i));
    store(y + i, found.y);
    store(slope + i, found.slope);
  }
}

// y = f(y), in place. Also fills `slope` with f'(y) if `keeps_slope`.
inline void activate(float* y, float* slope, std::int64_t n, Activation kind) {
  switch (kind) {
    case Activation::none: return;
    case Activation::tanh: return activate_each(y, n, [](vec x) { return tanh_of(x); });
    case Activation::relu:  // NaN stays NaN
      return activate_each(y, n, [](vec x) { return select(x < vec{}, vec{}, x); });
    case Activation::elu: return activate_each(y, n, [](vec x) { return elu_of(x); });
    case Activation::silu: return activate_each(y, slope, n, [](vec x) { return silu_of(x); });
    case Activation::gelu: return activate_each(y, slope, n, [](vec x) { return gelu_of(x); });
  }
}

template <class F> inline void scale_each(float* dy, const float* from, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; i += LANES) store(dy + i, f(load(dy + i), load(from + i)));
}

// dy *= f'(x), computed from y = f(x) where possible: 1 - y^2 for tanh, 1 or 0 for relu, 1 or y + 1
// for elu.
inline void through_activation(float* dy, const float* y, const float* slope, std::int64_t n,
                               Activation kind) {
  switch (kind) {
    case Activation::none: return;
    case Activation::tanh:
      return scale_each(dy, y, n, [](vec d, vec out) { return d * (all(1.0f) - out * out); });
    case Activation::relu:
      return scale_each(dy, y, n, [](vec d, vec out) { return select(out > vec{}, d, vec{}); });
    case Activation::elu:
      return scale_each(dy, y, n, [](vec d, vec out) {
        return d * select(out < vec{}, out + all(1.0f), all(1.0f));
      });
    case Activation::silu:
    case Activation::gelu: return scale_each(dy, slope, n, [](vec d, vec f) { return d * f; });
  }
}

struct Range {
  float low, high;
};

// Range of the outputs on the flat side of an activation, which passes less than 3 % of the gradient.
// Not for tanh, which has two flat sides. The same as `DEAD_RANGES` in
// policy/health.py.
inline Range flat_side(Activation kind) {
  if (kind == Activation::relu) return {0, 0};
  if (kind == Activation::elu) return {-1, -0.99f};
  return {-0.01f, 0};
}

}  // namespace
