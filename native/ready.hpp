// Preparation of forward and backward passes: packed weights, scratch memory, and shards of rows.
#pragma once

#include "composite.hpp"
#include "layers.hpp"

namespace {

// Number of rows per forward pass: so few that their activations stay in the nearest caches or, for
// images, so many that the large weights of the dense layer are rarely fetched.
inline int block_of(const Network& net) { return net.sees_images() ? 128 : 64; }

// Number of rows per shard. A shard is the unit of work of a thread and has a gradient of its own. Shards
// are summed in order, so results do not depend on the number of threads. Images have smaller shards
// because each is much work.
inline std::int64_t shard_of(const Network& net) { return net.sees_images() ? 128 : 512; }

// The scratch memory of the calling thread. An entry point clears it; what shards allocate on the same thread
// comes after and is released at their end.
inline Arena& arena_of_this_thread() {
  static thread_local Arena arena;
  return arena;
}

// Calls run(kind) with the struct of the head's kind.
template <class Run> inline void with_head(HeadKind kind, Run run) {
  if (kind == HeadKind::composite) return run(Composite{});
  with_part(kind, run);
}

inline std::int64_t shards_of(const Network& net, std::int64_t rows) {
  return (rows + shard_of(net) - 1) / shard_of(net);
}

struct Packed {
  PackedStack shared, actor, critic;
};

// The stacks that are computed after the shared one.
enum class Parts { both, actor, critic };

inline Packed pack(Arena& arena, const Network& net, const float* parameters, Parts parts,
                   Parallel back = nullptr) {
  Packed packed;
  packed.shared = pack(arena, net.shared, parameters, back);
  if (parts != Parts::critic) packed.actor = pack(arena, net.actor, parameters, back);
  if (parts != Parts::actor) packed.critic = pack(arena, net.critic, parameters, back);
  return packed;
}

struct Trails {
  Trail shared, actor, critic;
};

// Allocates memory for passes of at most `rows` rows.
inline Trails room_for(Arena& arena, const Network& net, Parts parts, std::int64_t rows) {
  Trails trails;
  trails.shared = room_for(arena, net.shared, rows);
  if (parts != Parts::critic) trails.actor = room_for(arena, net.actor, rows);
  if (parts != Parts::actor) trails.critic = room_for(arena, net.critic, rows);
  return trails;
}

// Allocates memory for a block, or for fewer rows if there are not as many.
inline Trails room_for_block(Arena& arena, const Network& net, Parts parts, std::int64_t rows) {
  return room_for(arena, net, parts, smaller(rows, std::int64_t(block_of(net))));
}

// Returns the number of rows in the next block of the rows from `at` to `end`.
inline int next_block(const Network& net, std::int64_t at, std::int64_t end) {
  return int(smaller(end - at, std::int64_t(block_of(net))));
}

// Returns the next `count` rows, from `at` on, as sequences of one step each, with their policy states.
inline Steps single_steps(const Network& net, State state, std::int64_t at, int count) {
  return {1, count, state.before ? state.before + at * net.state : nullptr,
          state.after ? state.after + at * net.state : nullptr, net.state};
}

// A network without shared layers has two stacks that read the features themselves.
inline bool has_shared(const Network& net) { return net.shared.encoded > 0; }

// Returns the output of the shared stack; null if there is none.
inline const float* run_shared(const Network& net, const Packed& packed, const float* parameters,
                               const Rows& rows, Trails& trails) {
  if (!has_shared(net)) return nullptr;
  return forward(net.shared, packed.shared, parameters, rows, nullptr, trails.shared);
}

// The padded width of a stack's output.
inline int width_of(const Stack& stack) { return padded(stack.dense[stack.n_dense - 1].n_out); }

inline const float* log_std_of(const Head& head, const float* parameters) {
  return head.log_std == NONE ? nullptr : parameters + head.log_std;
}

// Returns row r of a batch.
inline Row row_of(const Batch& b, const Head& h, const float* parameters, int n_parameters,
                  std::int64_t r) {
  return {log_std_of(h, parameters), b.mask ? b.mask + r * h.n_masked() : nullptr,
          b.chosen ? b.chosen + r * h.n_chosen() : nullptr,
          b.amounts ? b.amounts + r * h.n_chosen() : nullptr, b.dist + r * n_parameters};
}

}  // namespace
