// Mean, deviation and range of an array in two passes, in double whatever it holds.
#pragma once

#include <cmath>
#include <cstdint>

namespace gymnast {

struct Spread {
  double mean, std, least, most;
};

// `valid` tells for each group of `width` numbers whether it counts; null: all do.
template <class T>
Spread spread(const T* x, std::int64_t groups, std::int64_t width, const std::uint8_t* valid) {
  double sum = 0, least = HUGE_VAL, most = -HUGE_VAL, squares = 0;
  std::int64_t count = 0;
  for (std::int64_t g = 0; g < groups; ++g)
    if (!valid || valid[g])
      for (std::int64_t i = g * width; i < (g + 1) * width; ++i) {
        const double v = double(x[i]);
        sum += v, ++count;
        least = v < least ? v : least;
        most = v > most ? v : most;
      }
  const double mean = sum / double(count);
  for (std::int64_t g = 0; g < groups; ++g)
    if (!valid || valid[g])
      for (std::int64_t i = g * width; i < (g + 1) * width; ++i) {
        const double d = double(x[i]) - mean;
        squares += d * d;
      }
  if (mean != mean) return {mean, mean, mean, mean};  // a number that is none spoils all
  return {mean, std::sqrt(squares / double(count)), least, most};
}

}  // namespace gymnast
