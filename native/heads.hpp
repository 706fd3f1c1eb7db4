// From the actor's outputs to distributions, and back: one struct per kind of head.
//
// Each has the same five functions. For one row, `dist` being its parameters:
//   parameters   from outputs (and mask): what policy/actions.py calls `parameters`
//   sample       an action from noise
//   logprob      of an action
//   entropy, kl  of the distribution; from an older one
//   slope        adds the derivatives of logprob, entropy and kl, each times its weight, to those
//                of the outputs
// The formulas and their derivation: docs/native-engine.md.
#pragma once

#include "network.hpp"
#include "simd.hpp"

namespace {

using namespace gymnast;

constexpr float FORBIDDEN = -1e9f;  // the logit of an option that a mask rules out
constexpr float HALF_LOG_2PI = 0.91893853320467274f;

// What one row was given and did.
struct Row {
  const float* log_std;       // gaussian heads
  const std::uint8_t* mask;   // or null
  const std::int64_t* chosen;
  const float* amounts;
  const float* old;           // parameters of the distribution that acted
};

// How much each term's derivative counts.
struct Weights {
  float logprob, entropy, kl;
};

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

  static float logprob(const Head& h, const float* dist, const Row& row) {
    float sum = 0;
    for (int g = 0; g < h.n_groups; dist += h.group[g++])
      sum += dist[row.chosen[g]] - log_total(dist, h.group[g]);
    return sum;
  }

  static float entropy(const Head& h, const float* dist, const Row&) {
    float sum = 0;
    for (int g = 0; g < h.n_groups; dist += h.group[g++]) sum += of_group(dist, h.group[g]);
    return sum;
  }

  static float kl(const Head& h, const float* dist, const Row& row) {
    const float* old = row.old;
    float sum = 0;
    for (int g = 0; g < h.n_groups; dist += h.group[g], old += h.group[g], ++g) {
      const int n = h.group[g];
      const float now = log_total(dist, n), before = log_total(old, n);
      for (int j = 0; j < n; ++j) {
        const float was = old[j] - before;
        sum += std::exp(was) * (was - (dist[j] - now));
      }
    }
    return sum;
  }

  static void slope(const Head& h, const float* dist, const Row& row, Weights w, float* out,
                    float*) {
    const float* old = row.old;
    const std::uint8_t* mask = row.mask;
    for (int g = 0; g < h.n_groups; ++g) {
      const int n = h.group[g];
      const float total = log_total(dist, n);
      const float spread = w.entropy != 0 ? of_group(dist, n) : 0;
      const float before = w.kl != 0 ? log_total(old, n) : 0;
      for (int j = 0; j < n; ++j) {
        const float logp = dist[j] - total, p = std::exp(logp);
        float d = w.logprob * ((row.chosen[g] == j ? 1.0f : 0.0f) - p);
        if (w.entropy != 0) d -= w.entropy * p * (logp + spread);
        if (w.kl != 0) d += w.kl * (p - std::exp(old[j] - before));
        out[j] = mask && !mask[j] ? 0 : d;
      }
      dist += n, out += n;
      old = old ? old + n : nullptr, mask = mask ? mask + n : nullptr;
    }
  }

 private:
  static float highest(const float* x, int n) {
    float top = x[0];
    for (int j = 1; j < n; ++j) top = x[j] > top || x[j] != x[j] ? x[j] : top;
    return top;
  }
  static float log_total(const float* x, int n) {
    const float top = highest(x, n);
    float total = 0;
    for (int j = 0; j < n; ++j) total += std::exp(x[j] - top);
    return top + std::log(total);
  }
  static float of_group(const float* x, int n) {
    const float total = log_total(x, n);
    float sum = 0;
    for (int j = 0; j < n; ++j) sum -= std::exp(x[j] - total) * (x[j] - total);
    return sum;
  }
};

struct Bernoulli {
  static int n_parameters(const Head& h) { return h.n_outputs; }

  // A mask says for each element whether it may be off, and whether it may be on.
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

  static float logprob(const Head& h, const float* dist, const Row& row) {
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j) sum -= softplus(row.chosen[j] == 1 ? -dist[j] : dist[j]);
    return sum;
  }

  static float entropy(const Head& h, const float* dist, const Row&) {
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j)
      sum += sigmoid(dist[j]) * softplus(-dist[j]) + sigmoid(-dist[j]) * softplus(dist[j]);
    return sum;
  }

  static float kl(const Head& h, const float* dist, const Row& row) {
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j) {
      const float z = dist[j], was = row.old[j];
      sum += sigmoid(was) * (softplus(-z) - softplus(-was));
      sum += sigmoid(-was) * (softplus(z) - softplus(was));
    }
    return sum;
  }

  static void slope(const Head& h, const float* dist, const Row& row, Weights w, float* out,
                    float*) {
    for (int j = 0; j < h.n_outputs; ++j) {
      const float z = dist[j], on = sigmoid(z), off = sigmoid(-z);
      float d = w.logprob * (row.chosen[j] == 1 ? off : -on);
      if (w.entropy != 0) d -= w.entropy * z * on * off;
      if (w.kl != 0) d += w.kl * (on - sigmoid(row.old[j]));
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

  static float logprob(const Head& h, const float* dist, const Row& row) {
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j) {
      const float log_std = dist[h.n_outputs + j];
      const float z = (row.amounts[j] - dist[j]) * std::exp(-log_std);
      sum += -0.5f * z * z - log_std - HALF_LOG_2PI;
    }
    return sum;
  }

  static float entropy(const Head& h, const float* dist, const Row&) {
    float sum = 0;
    for (int j = 0; j < h.n_outputs; ++j) sum += dist[h.n_outputs + j] + 0.5f + HALF_LOG_2PI;
    return sum;
  }

  static float kl(const Head& h, const float* dist, const Row& row) {
    const int n = h.n_outputs;
    float sum = 0;
    for (int j = 0; j < n; ++j) {
      const float log_std = dist[n + j], was = row.old[n + j];
      const float shift = (row.old[j] - dist[j]) * std::exp(-log_std);
      sum += log_std - was + 0.5f * (std::exp(2 * (was - log_std)) + shift * shift - 1);
    }
    return sum;
  }

  static void slope(const Head& h, const float* dist, const Row& row, Weights w, float* out,
                    float* d_log_std) {
    const int n = h.n_outputs;
    for (int j = 0; j < n; ++j) {
      const float log_std = dist[n + j], inverse = std::exp(-log_std);
      const float z = (row.amounts[j] - dist[j]) * inverse;
      float d = w.logprob * z * inverse, d_log = w.logprob * (z * z - 1) + w.entropy;
      if (w.kl != 0) {
        const float shift = (row.old[j] - dist[j]) * inverse;
        d -= w.kl * shift * inverse;
        d_log += w.kl * (1 - std::exp(2 * (row.old[n + j] - log_std)) - shift * shift);
      }
      out[j] = d;
      d_log_std[j] += d_log;
    }
  }
};

// Normals squashed by tanh; actions are kept as they were before it.
struct Squashed : Gaussian {
  static float logprob(const Head& h, const float* dist, const Row& row) {
    float sum = Gaussian::logprob(h, dist, row);
    for (int j = 0; j < h.n_outputs; ++j) sum -= log_slope(row.amounts[j]);
    return sum;
  }

  // The normals' own, plus the mean of ln(1 - tanh^2) under them, by quadrature.
  static float entropy(const Head& h, const float* dist, const Row& row) {
    float sum = Gaussian::entropy(h, dist, row);
    for (int j = 0; j < h.n_outputs; ++j)
      for (int q = 0; q < h.n_nodes; ++q)
        sum += h.node_weight[q] * log_slope(dist[j] + std::exp(dist[h.n_outputs + j]) * h.node[q]);
    return sum;
  }

  static void slope(const Head& h, const float* dist, const Row& row, Weights w, float* out,
                    float* d_log_std) {
    Gaussian::slope(h, dist, row, w, out, d_log_std);
    if (w.entropy == 0) return;
    for (int j = 0; j < h.n_outputs; ++j) {
      const float std = std::exp(dist[h.n_outputs + j]);
      float d = 0, d_log = 0;
      for (int q = 0; q < h.n_nodes; ++q) {
        const float step = std * h.node[q];
        const float bend = -2 * h.node_weight[q] * std::tanh(dist[j] + step);
        d += bend, d_log += bend * step;
      }
      out[j] += w.entropy * d;
      d_log_std[j] += w.entropy * d_log;
    }
  }

 private:
  // ln(1 - tanh(x)^2), exact for x of any size
  static float log_slope(float x) {
    const float size = std::fabs(x);
    return 2 * (0.69314718056f - size - std::log1p(std::exp(-2 * size)));
  }
};

}  // namespace
