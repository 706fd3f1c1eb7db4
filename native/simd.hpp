// SIMD vectors of the widest kind that this translation unit is compiled for. Included by kernels.cpp
// only, which is compiled once per instruction set. Everything is in an unnamed namespace, and no
// standard template is used, so that the linker cannot replace a function by one of another set.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

#if defined(__AVX512F__)
constexpr int LANES = 16;
constexpr int TILE_ROWS = 8;  // x 2 vectors = 16 sums of the 32 registers
#elif defined(__AVX2__)
constexpr int LANES = 8;
constexpr int TILE_ROWS = 6;  // x 2 vectors = 12 sums of the 16 registers
#else
constexpr int LANES = 4;
constexpr int TILE_ROWS = 4;
#endif

constexpr int LINE = 16;  // floats that rows of scratch arrays are padded to, in every instruction set

// aligned(4): arrays of Python have no other alignment, and unaligned loads are as fast on aligned addresses.
typedef float vec __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef std::int32_t ivec __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

inline vec load(const float* p) { return *reinterpret_cast<const vec*>(p); }
inline void store(float* p, vec x) { *reinterpret_cast<vec*>(p) = x; }
inline vec all(float x) { return x - vec{}; }  // x - 0 in every lane
inline vec select(ivec which, vec yes, vec no) { return which ? yes : no; }

// The sign bits of x, and its absolute value.
inline ivec sign_of(vec x) {
  return reinterpret_cast<ivec>(x) & ivec(reinterpret_cast<ivec>(all(-0.0f)));
}
inline vec size_of(vec x) { return reinterpret_cast<vec>(reinterpret_cast<ivec>(x) ^ sign_of(x)); }

inline int padded(int n) { return (n + LINE - 1) / LINE * LINE; }
template <class T> inline T smaller(T a, T b) { return b < a ? b : a; }
template <class T> inline T larger(T a, T b) { return a < b ? b : a; }

struct Exponential {
  vec power, small;  // e^t = power + power * small
};

// Returns 2^n and e^r - 1 for t in [-87, 0], with t = n ln 2 + r, |r| <= ln(2) / 2. The series is cut
// where its terms fall below half an ulp.
inline Exponential exponential(vec t) {
  const vec shifter = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  vec n = (t * all(1.44269504f) + shifter) - shifter;
  vec r = t - n * all(0.693359375f);
  // ln 2 in two parts (Cody and Waite): n times the first is exact, so r keeps its low bits
  r = r - n * all(-2.12194440e-4f);
  vec series = all(1.0f / 5040);
  series = series * r + all(1.0f / 720);
  series = series * r + all(1.0f / 120);
  series = series * r + all(1.0f / 24);
  series = series * r + all(1.0f / 6);
  series = series * r + all(0.5f);
  vec small = series * r * r + r;
  ivec exponent = __builtin_convertvector(n, ivec) + 127;  // 2^n as the bits of a float
  return {reinterpret_cast<vec>(exponent << 23), small};
}

// e^t - 1 for t in [-20, 0], as 2^n (e^r - 1) + (2^n - 1): nothing is lost near 0, where n = 0.
inline vec expm1_negative(vec t) {
  const Exponential e = exponential(t);
  return e.power * e.small + (e.power - all(1.0f));
}

// e^t for t <= 0; 0 below -87, where float32 runs out of normal numbers; NaN stays NaN.
inline vec exp_negative(vec t) {
  const ivec vanishes = t < all(-87.0f);
  const Exponential e = exponential(select(vanishes, vec{}, t));
  return select(vanishes, vec{}, e.power * e.small + e.power);
}

// tanh |x| = -m / (2 + m) with m = e^(-2|x|) - 1; NaN stays NaN.
inline vec tanh_of(vec x) {
  const ivec sign = sign_of(x);
  vec size = reinterpret_cast<vec>(reinterpret_cast<ivec>(x) ^ sign);
  const vec most = all(9.1f);  // from here on it is 1 in float32
  size = select(size > most, most, size);
  vec m = expm1_negative(size * all(-2.0f));
  vec y = -m / (all(2.0f) + m);
  return reinterpret_cast<vec>(reinterpret_cast<ivec>(y) | sign);
}

}  // namespace
