// Scratch memory of one thread: allocated piece by piece, released all at once, reused by the next call.
#pragma once

#include <cstdlib>

#include "simd.hpp"

namespace {

class Arena {
 public:
  void clear() { chunk_ = 0, used_ = 0; }

  struct Mark {
    int chunk;
    std::size_t used;
  };
  Mark mark() const { return {chunk_, used_}; }
  void release(Mark to) { chunk_ = to.chunk, used_ = to.used; }

  // Returns uninitialized floats, aligned to 64 bytes.
  float* floats(std::int64_t n) {
    const std::size_t bytes = (static_cast<std::size_t>(n) * sizeof(float) + 63) / 64 * 64;
    while (chunk_ < count_ && used_ + bytes > size_[chunk_]) ++chunk_, used_ = 0;
    if (chunk_ == count_) grow(bytes);
    float* found = reinterpret_cast<float*>(memory_[chunk_] + used_);
    used_ += bytes;
    return found;
  }

  float* zeros(std::int64_t n) {
    float* found = floats(n);
    std::memset(found, 0, static_cast<std::size_t>(n) * sizeof(float));
    return found;
  }

  ~Arena() {
    for (int i = 0; i < count_; ++i) std::free(memory_[i]);
  }

 private:
  static constexpr int MOST = 64;
  static constexpr std::size_t LEAST = 1 << 20;

  void grow(std::size_t bytes) {
    const std::size_t size = larger(bytes, LEAST << smaller(count_, 10));
    void* memory = count_ < MOST ? std::aligned_alloc(64, (size + 63) / 64 * 64) : nullptr;
    if (memory == nullptr) std::abort();
    memory_[count_] = static_cast<char*>(memory);
    size_[count_++] = size;
    used_ = 0;
  }

  char* memory_[MOST];
  std::size_t size_[MOST];
  int count_ = 0, chunk_ = 0;
  std::size_t used_ = 0;
};

}  // namespace
