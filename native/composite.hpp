// The head of Tuple and Dict actions: independent parts, each with a head of heads.hpp.
#pragma once

#include "heads.hpp"

namespace {

// Calls run(kind) with the struct of a kind that is not composite.
template <class Run> inline void with_part(HeadKind kind, Run run) {
  switch (kind) {
    case HeadKind::categorical: return run(Categorical{});
    case HeadKind::bernoulli: return run(Bernoulli{});
    case HeadKind::gaussian: return run(Gaussian{});
    case HeadKind::squashed: return run(Squashed{});
    case HeadKind::composite: return;  // parts are never composite themselves
  }
}

// Independent parts. All arrays are those of the parts, concatenated; logprob, entropy and kl are sums. The
// options of an action are in `chosen` and, as floats, in `amounts`, which has the continuous numbers as well.
struct Composite {
  static int n_parameters(const Head& h) { return h.parameters; }

  static void parameters(const Head& h, const float* out, const Row& row, float* dist) {
    each(h, [&](auto kind, const Part& p) {
      decltype(kind)::parameters(p.head, out + p.output, row_of_part(h, p, row), dist + p.parameter);
    });
  }

  static void sample(const Head& h, const float* dist, const float* noise, std::int64_t* chosen,
                     float* amounts) {
    each(h, [&](auto kind, const Part& p) {
      const int n = p.head.n_chosen();
      decltype(kind)::sample(p.head, dist + p.parameter, noise + p.element, chosen + p.element,
                             amounts + p.element);
      if (!p.head.is_continuous())
        for (int j = p.element; j < p.element + n; ++j) amounts[j] = float(chosen[j]);
    });
  }

  static void prepare(const Head& h, const float* dist, const Row& row, float* ready) {
    each(h, [&](auto kind, const Part& p) {
      decltype(kind)::prepare(p.head, dist + p.parameter, row_of_part(h, p, row), ready + ready_at(p));
    });
  }

  static float logprob(const Head& h, const float* dist, const float* ready, const Row& row) {
    float sum = 0;
    each(h, [&](auto kind, const Part& p) {
      sum += decltype(kind)::logprob(p.head, dist + p.parameter, ready + ready_at(p),
                                     row_of_part(h, p, row));
    });
    return sum;
  }

  static float entropy(const Head& h, const float* dist, const float* ready, const Row& row) {
    float sum = 0;
    each(h, [&](auto kind, const Part& p) {
      sum += decltype(kind)::entropy(p.head, dist + p.parameter, ready + ready_at(p),
                                     row_of_part(h, p, row));
    });
    return sum;
  }

  static float kl(const Head& h, const float* dist, const float* ready, const Row& row) {
    float sum = 0;
    each(h, [&](auto kind, const Part& p) {
      sum += decltype(kind)::kl(p.head, dist + p.parameter, ready + ready_at(p),
                                row_of_part(h, p, row));
    });
    return sum;
  }

  static void slope(const Head& h, const float* dist, const float* ready, const Row& row, Weights w,
                    float* out, float* d_log_std) {
    each(h, [&](auto kind, const Part& p) {
      float* own = p.head.log_std == NONE ? nullptr : d_log_std + (p.head.log_std - h.log_std);
      decltype(kind)::slope(p.head, dist + p.parameter, ready + ready_at(p), row_of_part(h, p, row), w,
                            out + p.output, own);
    });
  }

 private:
  template <class Run> static void each(const Head& h, Run run) {
    for (int i = 0; i < h.n_parts; ++i)
      with_part(h.part[i].head.kind, [&](auto kind) { run(kind, h.part[i]); });
  }

  // `ready` has n_parameters + n_outputs entries for each part.
  static int ready_at(const Part& p) { return p.parameter + p.output; }

  static Row row_of_part(const Head& h, const Part& p, const Row& row) {
    return {p.head.log_std == NONE ? nullptr : row.log_std + (p.head.log_std - h.log_std),
            row.mask ? row.mask + p.option : nullptr, row.chosen ? row.chosen + p.element : nullptr,
            row.amounts ? row.amounts + p.element : nullptr, row.old ? row.old + p.parameter : nullptr};
  }
};

}  // namespace
