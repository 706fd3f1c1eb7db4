// Action heads: from the actor's outputs to distributions, and gradients back to the outputs.
//
// There is one struct per kind of head, all with the same functions. For one row, with the distribution
// parameters `dist` [n_parameters]:
//   parameters   computes `dist` from outputs and mask, as `dist_parameters` in policy/actions.py
//   sample       returns the action that the noise selects
//   prepare      precomputes common terms of the functions below, `ready` [n_parameters + n_outputs]
//   logprob      returns the log-probability of the stored action
//   entropy      returns the entropy
//   kl           returns KL(old || dist), old being the distribution that the action was sampled from
//   slope        returns the gradient of weighted logprob, entropy and kl with respect to the outputs
// The formulas and their derivation: docs/native-engine.md.
#pragma once

#include "network.hpp"
#include "simd.hpp"

namespace {

using namespace gymnast;

constexpr float FORBIDDEN = -1e9f;  // logit of an option that the mask rules out
constexpr float HALF_LOG_2PI = 0.91893853320467274f;

// The inputs and the stored action of one row.
struct Row {
  const float* log_std;       // gaussian heads
  const std::uint8_t* mask;   // or null
  const std::int64_t* chosen; // discrete actions, or
  const float* amounts;       // continuous ones
  const float* old;           // parameters of the distribution that the action was sampled from
};

// Weights of the derivatives of the terms.
struct Weights {
  float logprob, entropy, kl;
};

// Both take the exponential of a negative number only, so that it cannot overflow.
inline float softplus(float x) { return larger(x, 0.0f) + std::log1p(std::exp(-std::fabs(x))); }
inline float sigmoid(float x) {
  const float e = std::exp(-std::fabs(x));
  return (x >= 0 ? 1.0f : e) / (1.0f + e);
}

struct Categorical {
  static int n_parameters(const Head& h) { return h.n_outputs; }

  static void parameters(const Head& h, const float* out, const Row& row, float* dist) {
    for (int j = 0; j < h.n_outputs; ++j)
      dist[j] = row.mask && !row.mask[j] ? FORBIDDEN : out[j];
  }

  static void sample(const Head& h, const float* dist, const float* noise, std::int64_t* chosen,
                     float*) {
    for (int g = 0; g < h.n_groups; dist += h.group[g++]) {
      const int n = h.group[g];
      const float top = highest(dist, n);
      float total = 0;
      for (int j = 0; j < n; ++j) total += std::exp(dist[j] - top);
      // The same rule as in policy/discrete.py: the option at which the cumulative weight exceeds the noise.
      const float passed = noise[g] * total;
      float sum = 0;
      int pick = 0;
      for (int j = 0; j < n - 1; ++j) {
        sum += std::exp(dist[j] - top);
        pick += sum <= passed;
      }
      chosen[g] = pick;
    }
  }

  // `ready` holds the log-probabilities, then the probabilities.
  static void prepare(const Head& h, const float* dist, const Row&, float* ready) {
    for (int g = 0, first = 0; g < h.n_groups; first += h.group[g++])
      normalize(dist + first, h.group[g], ready + first, ready + h.n_outputs + first);
  }

  static float logprob(const Head& h, const float*, const float* ready, const Row& row) {
    float sum = 0;
    for (int g = 0, first = 0; g < h.n_groups; first += h.group[g++])
      sum += ready[first + row.chosen[g]];
    return sum;
  }

  static float entropy(const Head& h, const float*, const float* ready, const Row&) {
    return of_options(ready, ready + h.n_outputs, h.n_outputs);
  }

  static float kl(const Head& h, const float*, const float* ready, const Row& row) {
    float sum = 0;
    for (int g = 0, first = 0; g < h.n_groups; first += h.group[g++]) {
      const float before = log_total(row.old + first, h.group[g]);
      for (int j = first; j < first + h.group[g]; ++j) {
        const float was = row.old[j] - before;
        sum += std::exp(was) * (was - ready[j]);
      }
    }
    return sum;
  }

  static void slope(const Head& h, const float*, const float* ready, const Row& row, Weights w,
                    float* out, float*) {
    const float* p = ready + h.n_outputs;
    for (int g = 0, first = 0; g < h.n_groups; first += h.group[g++]) {
      const int n = h.group[g];
      for (int j = first; j < first + n; ++j) out[j] = -w.logprob * p[j];
      out[first + row.chosen[g]] += w.logprob;
      if (w.entropy != 0) {
        const float spread = of_options(ready + first, p + first, n);  // the entropy of this group
        for (int j = first; j < first + n; ++j) out[j] -= w.entropy * p[j] * (ready[j] + spread);
      }
      if (w.kl != 0) {
        const float before = log_total(row.old + first, n);
        for (int j = first; j < first + n; ++j)
          out[j] += w.kl * (p[j] - std::exp(row.old[j] - before));
      }
    }
    // The logit of a masked option is a constant, so its output gets no gradient.
    if (row.mask)
      for (int j = 0; j < h.n_outputs; ++j) out[j] = row.mask[j] ? out[j] : 0;
  }

 private:
  // The maximum, or NaN if there is one: NaN must reach the loss.
  static float highest(const float* x, int n) {
    float top = x[0];
    for (int j = 1; j < n; ++j) top = x[j] > top || x[j] != x[j] ? x[j] : top;
    return top;
  }
  // Log-softmax and softmax of n logits.
  static void normalize(const float* x, int n, float* logp, float* p) {
    const float top = highest(x, n);
    float total = 0;
    for (int j = 0; j < n; ++j) total += p[j] = std::exp(x[j] - top);
    const float log_total = top + std::log(total), share = 1 / total;
    for (int j = 0; j < n; ++j) logp[j] = x[j] - log_total, p[j] *= share;
  }
  // ln(sum(e^x)), without overflow.
  static float log_total(const float* x, int n) {
    const float top = highest(x, n);
    float total = 0;
    for (int j = 0; j < n; ++j) total += std::exp(x[j] - top);
    return top + std::log(total);
  }
  // The entropy, -sum(p ln p).
  static float of_options(const float* logp, const float* p, int n) {
    float sum = 0;
    for (int j = 0; j < n; ++j) sum -= p[j] * logp[j];
    return sum;
  }
};

struct Bernoulli {
  static int n_parameters(const Head& h) { return h.n_outputs; }

  // A mask has two entries per element: may be off, may be on.
  static void parameters(const Head& h, const float* out, const Row& row, float* dist) {
    for (int j = 0; j < h.n_outputs; ++j) {
      dist[j] = out[j];
      if (row.mask && !row.mask[2 * j]) dist[j] = -FORBIDDEN;
      if (row.mask && !row.mask[2 * j + 1]) dist[j] = FORBIDDEN;
    }
  }

  static void sample(const Head& h, const float* dist, const float* noise, std::int64_t* chosen,
                     float*) {
    for (int j = 0; j < h.n_outputs; ++j) chosen[j] = noise[j] < sigmoid(dist[j]);
  }

  // `ready` holds the probabilities of on, then of off.
  static void prepare(const Head& h, const float* dist, const Row&, float* ready) {
    for (int j = 0; j < h.n_outputs; ++j)
      ready[j] = sigmoid(dist[j]), ready[h.n_outputs + j] = sigmoid(-dist[j]);
  }

  static float logprob(const Head& h, const float* dist, const float*, const Row& row) {
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j) sum -= softplus(row.chosen[j] == 1 ? -dist[j] : dist[j]);
    return sum;
  }

  static float entropy(const Head& h, const float* dist, const float* ready, const Row&) {
    const float *on = ready, *off = ready + h.n_outputs;
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j)
      sum += on[j] * softplus(-dist[j]) + off[j] * softplus(dist[j]);
    return sum;
  }

  static float kl(const Head& h, const float* dist, const float*, const Row& row) {
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j) {
      const float z = dist[j], was = row.old[j];
      sum += sigmoid(was) * (softplus(-z) - softplus(-was));
      sum += sigmoid(-was) * (softplus(z) - softplus(was));
    }
    return sum;
  }

  static void slope(const Head& h, const float* dist, const float* ready, const Row& row, Weights w,
                    float* out, float*) {
    for (int j = 0; j < h.n_outputs; ++j) {
      const float z = dist[j], on = ready[j], off = ready[h.n_outputs + j];
      float d = w.logprob * (row.chosen[j] == 1 ? off : -on);
      if (w.entropy != 0) d -= w.entropy * z * on * off;
      if (w.kl != 0) d += w.kl * (on - sigmoid(row.old[j]));
      // an element with only one allowed state has a constant logit
      const bool free = !row.mask || (row.mask[2 * j] && row.mask[2 * j + 1]);
      out[j] = free ? d : 0;
    }
  }
};

// Independent normals; parameters are the means, then the log standard deviations.
struct Gaussian {
  static int n_parameters(const Head& h) { return 2 * h.n_outputs; }

  static void parameters(const Head& h, const float* out, const Row& row, float* dist) {
    for (int j = 0; j < h.n_outputs; ++j) dist[j] = out[j], dist[h.n_outputs + j] = row.log_std[j];
  }

  static void sample(const Head& h, const float* dist, const float* noise, std::int64_t*,
                     float* amounts) {
    for (int j = 0; j < h.n_outputs; ++j)
      amounts[j] = dist[j] + std::exp(dist[h.n_outputs + j]) * noise[j];
  }

  // `ready` holds 1 / standard deviation.
  static void prepare(const Head& h, const float* dist, const Row&, float* ready) {
    for (int j = 0; j < h.n_outputs; ++j) ready[j] = std::exp(-dist[h.n_outputs + j]);
  }

  static float logprob(const Head& h, const float* dist, const float* ready, const Row& row) {
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j) {
      const float z = (row.amounts[j] - dist[j]) * ready[j];
      sum += -0.5f * z * z - dist[h.n_outputs + j] - HALF_LOG_2PI;
    }
    return sum;
  }

  static float entropy(const Head& h, const float* dist, const float*, const Row&) {
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j) sum += dist[h.n_outputs + j] + 0.5f + HALF_LOG_2PI;
    return sum;
  }

  static float kl(const Head& h, const float* dist, const float* ready, const Row& row) {
    const int n = h.n_outputs;
    float sum = 0;
    for (int j = 0; j < n; ++j) {
      const float log_std = dist[n + j], was = row.old[n + j];
      const float shift = (row.old[j] - dist[j]) * ready[j];
      sum += log_std - was + 0.5f * (std::exp(2 * (was - log_std)) + shift * shift - 1);
    }
    return sum;
  }

  static void slope(const Head& h, const float* dist, const float* ready, const Row& row, Weights w,
                    float* out, float* d_log_std) {
    const int n = h.n_outputs;
    for (int j = 0; j < n; ++j) {
      const float log_std = dist[n + j], inverse = ready[j];
      const float z = (row.amounts[j] - dist[j]) * inverse;
      float d = w.logprob * z * inverse, d_log = w.logprob * (z * z - 1) + w.entropy;
      if (w.kl != 0) {
        const float shift = (row.old[j] - dist[j]) * inverse;
        d -= w.kl * shift * inverse;
        d_log += w.kl * (1 - std::exp(2 * (row.old[n + j] - log_std)) - shift * shift);
      }
      out[j] = d;
      d_log_std[j] += d_log;  // summed over rows: log_std does not depend on the observation
    }
  }
};

// Normals squashed by tanh; actions are stored before tanh.
struct Squashed : Gaussian {
  static float logprob(const Head& h, const float* dist, const float* ready, const Row& row) {
    float sum = Gaussian::logprob(h, dist, ready, row);
    for (int j = 0; j < h.n_outputs; ++j) sum -= log_slope(row.amounts[j]);
    return sum;
  }

  // The entropy of the normals plus the expectation of ln(1 - tanh^2), by quadrature.
  static float entropy(const Head& h, const float* dist, const float* ready, const Row& row) {
    float sum = Gaussian::entropy(h, dist, ready, row);
    for (int j = 0; j < h.n_outputs; ++j)
      for (int q = 0; q < h.n_nodes; ++q)
        sum += h.node_weight[q] * log_slope(dist[j] + std::exp(dist[h.n_outputs + j]) * h.node[q]);
    return sum;
  }

  static void slope(const Head& h, const float* dist, const float* ready, const Row& row, Weights w,
                    float* out, float* d_log_std) {
    // ln(1 - tanh^2) of the stored action is a constant, so logprob and KL have the gradients of the normals.
    Gaussian::slope(h, dist, ready, row, w, out, d_log_std);
    if (w.entropy == 0) return;
    for (int j = 0; j < h.n_outputs; ++j) {
      const float std = std::exp(dist[h.n_outputs + j]);
      float d = 0, d_log = 0;
      for (int q = 0; q < h.n_nodes; ++q) {
        const float step = std * h.node[q];
        // the derivative of ln(1 - tanh(x)^2) is -2 tanh(x)
        const float bend = -2 * h.node_weight[q] * std::tanh(dist[j] + step);
        d += bend, d_log += bend * step;
      }
      out[j] += w.entropy * d;
      d_log_std[j] += w.entropy * d_log;
    }
  }

 private:
  // ln(1 - tanh(x)^2), without cancellation for large |x|
  static float log_slope(float x) {
    const float size = std::fabs(x);
    return 2 * (0.69314718056f - size - std::log1p(std::exp(-2 * size)));
  }
};

}  // namespace
