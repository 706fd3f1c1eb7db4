// Mean, standard deviation and range of an array in two passes, in double whatever its type.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gymnast {

// `SummaryStats` in rl/statistics.py.
struct SummaryStats {
  double mean, std, least, most;
};

// Sums in several independent lanes, for instruction-level parallelism; the order is always the same.
struct Lanes {
  static constexpr int N = 8;
  double sum[N] = {}, least[N], most[N];
  std::int64_t count = 0;

  Lanes() {
    std::fill(least, least + N, HUGE_VAL);
    std::fill(most, most + N, -HUGE_VAL);
  }

  template <class T>
  void take(const T* x, std::int64_t n) {
    count += n;
    for (; n >= N; n -= N, x += N)
      for (int j = 0; j < N; ++j) one(double(x[j]), j);
    for (int j = 0; j < n; ++j) one(double(x[j]), j);
  }

  void one(double v, int j) {
    sum[j] += v;
    least[j] = v < least[j] ? v : least[j];
    most[j] = v > most[j] ? v : most[j];
  }
};

// Sums of squared deviations from `mean`, in the same lanes.
struct Squares {
  double mean;
  double sum[Lanes::N] = {};

  template <class T>
  void take(const T* x, std::int64_t n) {
    for (; n >= Lanes::N; n -= Lanes::N, x += Lanes::N)
      for (int j = 0; j < Lanes::N; ++j) one(double(x[j]), j);
    for (int j = 0; j < n; ++j) one(double(x[j]), j);
  }

  void one(double v, int j) { sum[j] += (v - mean) * (v - mean); }
};

// Returns the sum of the lanes.
inline double total(const double* lanes) {
  double sum = 0;
  for (int j = 0; j < Lanes::N; ++j) sum += lanes[j];
  return sum;
}

// `valid` marks the groups of `width` numbers that count; null means all.
template <class T>
SummaryStats summary_stats(const T* x, std::int64_t groups, std::int64_t width, const std::uint8_t* valid) {
  // All groups valid is the usual case, and one long run is faster.
  if (valid && std::find(valid, valid + groups, 0) == valid + groups) valid = nullptr;
  const auto all = [&](auto& lanes) {
    if (!valid) return lanes.take(x, groups * width);
    for (std::int64_t g = 0; g < groups; ++g)
      if (valid[g]) lanes.take(x + g * width, width);
  };
  Lanes lanes;
  all(lanes);
  const double mean = total(lanes.sum) / double(lanes.count);
  if (mean != mean) return {mean, mean, mean, mean};  // NaN propagates to all four
  Squares squares{mean};
  all(squares);
  return {mean, std::sqrt(total(squares.sum) / double(lanes.count)),
          *std::min_element(lanes.least, lanes.least + Lanes::N),
          *std::max_element(lanes.most, lanes.most + Lanes::N)};
}

// Means of the columns of x [rows, width] over the valid rows; null means all.
inline void column_means(const float* x, std::int64_t rows, std::int64_t width,
                         const std::uint8_t* valid, double* mean) {
  constexpr int N = 4;  // columns at a time, in registers
  const std::int64_t count = valid ? rows - std::count(valid, valid + rows, 0) : rows;
  for (std::int64_t at = 0; at < width; at += N) {
    double sum[N] = {};
    if (at + N <= width) {
      for (std::int64_t i = 0; i < rows; ++i)
        if (!valid || valid[i])
          for (int j = 0; j < N; ++j) sum[j] += x[i * width + at + j];
    } else {
      for (std::int64_t i = 0; i < rows; ++i)
        if (!valid || valid[i])
          for (int j = 0; at + j < width; ++j) sum[j] += x[i * width + at + j];
    }
    for (int j = 0; j < N && at + j < width; ++j) mean[at + j] = sum[j] / double(count);
  }
}

// Returns the median of n numbers, NaN if one of them is NaN. Reorders them.
inline double median(double* x, std::int64_t n) {
  if (std::any_of(x, x + n, [](double v) { return v != v; })) return std::nan("");
  double* const upper = x + n / 2;
  std::nth_element(x, upper, x + n);
  return n % 2 ? *upper : (*std::max_element(x, upper) + *upper) / 2;
}

// Centers each column of x [rows, width] at its median and clips it to three times the median absolute
// deviation.
inline void limit_jumps(double* x, std::int64_t rows, std::int64_t width) {
  std::vector<double> column(rows);
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) column[i] = x[i * width + j];
    const double center = median(column.data(), rows);
    for (std::int64_t i = 0; i < rows; ++i)
      x[i * width + j] -= center, column[i] = std::fabs(x[i * width + j]);
    const double most = 3.0 * median(column.data(), rows);
    if (!(most > 0)) continue;
    for (std::int64_t i = 0; i < rows; ++i) {
      double& v = x[i * width + j];
      v = v < -most ? -most : v > most ? most : v;
    }
  }
}

// Numbers of steps that ended an episode, that truncated one, and that had a nonzero reward.
struct Counts {
  std::int64_t over = 0, cut = 0, paid = 0;
};

// Counts over the valid steps; null means that all are valid.
inline Counts counts(const double* reward, const std::uint8_t* terminated, const std::uint8_t* done,
                     std::int64_t steps, const std::uint8_t* valid) {
  Counts found;
  for (std::int64_t i = 0; i < steps; ++i) {
    if (valid && !valid[i]) continue;
    found.over += done[i], found.cut += done[i] && !terminated[i], found.paid += reward[i] != 0;
  }
  return found;
}

// Every `stride`-th entry of an axis, `count` in total.
struct Sampled {
  std::int64_t count, stride;
};

// Diversity of observations across copies, on a sample of steps, copies and components; defined in
// rl/diversity.py. NaN if nothing varies.
template <class X>
double diversity(const X* x, Sampled steps, Sampled copies, Sampled numbers) {
  const std::int64_t T = steps.count, N = copies.count;
  double sum = 0;
  int varying = 0;
  for (std::int64_t k = 0; k < numbers.count; ++k) {
    const auto at = [&](std::int64_t t, std::int64_t n) {
      return double(x[t * steps.stride + n * copies.stride + k * numbers.stride]);
    };
    double center = 0, squares = 0, common = 0;
    for (std::int64_t t = 0; t < T; ++t)
      for (std::int64_t n = 0; n < N; ++n) center += at(t, n);
    center /= double(T * N);
    for (std::int64_t t = 0; t < T; ++t) {
      double together = 0;
      for (std::int64_t n = 0; n < N; ++n) {
        const double away = at(t, n) - center;
        squares += away * away, together += away;
      }
      common += together * together / double(N);
    }
    const double every = squares / double(T * N - 1);
    if (!(every > 1e-12 * center * center)) continue;  // constant up to rounding
    sum += std::max(squares - common, 0.0) / double(T * (N - 1)) / every, ++varying;
  }
  return varying ? sum / varying : std::nan("");
}

}  // namespace gymnast
