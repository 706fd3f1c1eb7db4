// Access to rows of features as bytes, optionally in a given order.
#pragma once

#include "simd.hpp"

namespace {

// The rows first .. first + count - 1 of the features, or of `order`, which selects rows of the features.
struct Rows {
  const std::uint8_t* features;
  std::int64_t bytes;         // per row
  const std::int64_t* order;  // null for the order in memory
  std::int64_t first;
  int count;
  const std::int32_t* planes = nullptr;  // images with shared planes: plane indices of each row

  std::int64_t row(int i) const { return order ? order[first + i] : first + i; }
  const std::uint8_t* at(int i) const { return features + row(i) * bytes; }

  // Returns plane c of a channels-first image, or of an image with shared planes.
  const std::uint8_t* plane(int i, int c, int channels) const {
    const std::int64_t size = bytes / channels;
    return planes ? features + planes[row(i) * channels + c] * size : at(i) + c * size;
  }
};

}  // namespace
