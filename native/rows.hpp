// Access to rows of features as bytes, optionally in a given order, and as steps of sequences.
#pragma once

#include "simd.hpp"

namespace {

// Rows as steps of sequences, time-major: row t * sequences + s is step t of sequence s.
struct Steps {
  int count, sequences;
  const float* state;  // [sequences, width] before the first step
  float* after;        // receives the state after the last step; null if it is not needed
  int width;           // of the policy state
  const std::uint8_t* start = nullptr;  // per row: whether the state is reset to zeros before the step
  const std::uint8_t* cut = nullptr;    // per row: whether gradients stop at the state before the step
  const std::uint8_t* learned = nullptr;  // per row: whether it is part of the loss; null if all are
};

// The rows first .. first + count - 1 of the features, or of `order`, which selects rows of the features.
struct Rows {
  const std::uint8_t* features;
  std::int64_t bytes;         // per row
  const std::int64_t* order;  // null for the order in memory
  std::int64_t first;
  int count;
  const std::int32_t* planes = nullptr;  // images with shared planes: plane indices of each row
  const Steps* steps = nullptr;          // null for networks without memory

  bool learned(int i) const { return !steps || !steps->learned || steps->learned[i]; }
  std::int64_t row(int i) const { return order ? order[first + i] : first + i; }
  const std::uint8_t* at(int i) const { return features + row(i) * bytes; }

  // Returns plane c of a channels-first image, or of an image with shared planes.
  const std::uint8_t* plane(int i, int c, int channels) const {
    const std::int64_t size = bytes / channels;
    return planes ? features + planes[row(i) * channels + c] * size : at(i) + c * size;
  }
};

}  // namespace
