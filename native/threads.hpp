// A thread pool of fixed size that computes the parts of a task.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "network.hpp"

namespace gymnast {

class Threads {
 public:
  // Sets the number of threads, stopping the old ones. The calling thread counts as one.
  void resize(int count) {
    stop();
    for (int i = 1; i < count; ++i) helpers_.emplace_back([this] { serve(); });
  }

  int count() const { return int(helpers_.size()) + 1; }

  // Runs task(context, i) for i in 0..n-1 and returns when all are done. Which thread computes which part is
  // not determined, so tasks must give the same result on any thread.
  void run(Task task, void* context, int n) {
    if (helpers_.empty() || n < 2) {
      for (int i = 0; i < n; ++i) task(context, i);
      return;
    }
    // With `overlap`, the learner and the collecting thread may both get here.
    std::lock_guard<std::mutex> one_at_a_time(caller_);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      task_ = task, context_ = context, parts_ = n, next_ = 0, left_ = n;
    }
    begun_.notify_all();
    take_parts();  // the calling thread works as well
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return left_ == 0; });
    task_ = nullptr;
  }

  ~Threads() { stop(); }

 private:
  // Computes parts until none is left to take. Others may still be running in other threads.
  void take_parts() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (task_ != nullptr && next_ < parts_) {
      const int part = next_++;
      lock.unlock();
      task_(context_, part);
      lock.lock();
      if (--left_ == 0) done_.notify_one();
    }
  }

  // The loop of a helper: waits for a task with parts left, or for the end.
  void serve() {
    while (true) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        begun_.wait(lock, [this] { return ending_ || (task_ != nullptr && next_ < parts_); });
        if (ending_) return;
      }
      take_parts();
    }
  }

  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    begun_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
    helpers_.clear();
    ending_ = false;
  }

  std::vector<std::thread> helpers_;
  std::mutex mutex_, caller_;  // of the fields below; of `run`
  std::condition_variable begun_, done_;
  Task task_ = nullptr;
  void* context_ = nullptr;
  int parts_ = 0, next_ = 0, left_ = 0;
  bool ending_ = false;
};

}  // namespace gymnast
