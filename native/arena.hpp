// Scratch memory of one thread: allocated piece by piece, released all at once, reused by the next call.
#pragma once

#include <cstdlib>

#include "simd.hpp"

namespace {

// A list of chunks that are never moved or freed: pointers stay valid until `clear` or `release`, and another
// call of the same size allocates nothing.
class Arena {
 public:
  void clear() { chunk_ = 0, used_ = 0; }

  // A position to return to: `release(mark)` frees everything that was allocated after `mark()`.
  struct Mark {
    int chunk;
    std::size_t used;
  };
  Mark mark() const { return {chunk_, used_}; }
  void release(Mark to) { chunk_ = to.chunk, used_ = to.used; }

  // Returns uninitialized floats, aligned to 64 bytes.
  float* floats(std::int64_t n) {
    const std::size_t bytes = (static_cast<std::size_t>(n) * sizeof(float) + 63) / 64 * 64;
    // Skip chunks without enough room left; the rest of a skipped chunk is unused until `release`.
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
  static constexpr int MOST = 64;                // chunks
  static constexpr std::size_t LEAST = 1 << 20;  // bytes of the first chunk; later ones double

  void grow(std::size_t bytes) {
    const std::size_t size = larger(bytes, LEAST << smaller(count_, 10));
    void* memory = count_ < MOST ? std::aligned_alloc(64, (size + 63) / 64 * 64) : nullptr;
    // no exception: an arena is also used by helper threads, where nothing could catch it
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
