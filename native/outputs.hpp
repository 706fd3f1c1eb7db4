// Forward passes of a network, and action sampling.
#pragma once

#include "ready.hpp"

namespace {

// What every shard of a forward pass reads, and where it writes the outputs of the actor and of the critic; null if
// they are not needed.
struct ForwardTask {
  const Network* net;
  const Packed* packed;
  const float* parameters;
  const std::uint8_t* features;
  std::int64_t bytes, rows;
  State state;
  float *actor, *critic;

  Parts parts() const { return !critic ? Parts::actor : !actor ? Parts::critic : Parts::both; }
};

// Computes the outputs of shard s, block by block.
void forward_shard(void* context, int s) {
  const ForwardTask& task = *static_cast<ForwardTask*>(context);
  const Network& net = *task.net;
  Arena& arena = arena_of_this_thread();
  const Arena::Mark mark = arena.mark();
  Trails trails = room_for_block(arena, net, task.parts(), task.rows);
  const std::int64_t end = smaller(task.rows, (s + 1) * shard_of(net));
  for (std::int64_t at = s * shard_of(net); at < end; at += block_of(net)) {
    const int count = next_block(net, at, end);
    const Steps steps = single_steps(net, task.state, at, count);
    const Rows rows{task.features, task.bytes, nullptr, at, count, nullptr, &steps};
    const float* hidden = run_shared(net, *task.packed, task.parameters, rows, trails);
    const auto write = [&](const Stack& stack, const PackedStack& packed, Trail& trail, float* out) {
      const int ld = width_of(stack), n_out = stack.dense[stack.n_dense - 1].n_out;
      const float* y = forward(stack, packed, task.parameters, rows, hidden, trail);
      for (int i = 0; i < rows.count; ++i)
        std::memcpy(out + (at + i) * n_out, y + i * ld, n_out * 4);
    };
    if (task.actor) write(net.actor, task.packed->actor, trails.actor, task.actor);
    if (task.critic) write(net.critic, task.packed->critic, trails.critic, task.critic);
  }
  arena.release(mark);
}

// Writes the outputs of the actor [rows, n_out] and of the critic [rows]. With memory this is one step: the state
// after it is written for the layers that were run.
void forward_all(const Network& net, const float* parameters, const std::uint8_t* features,
                 std::int64_t bytes, std::int64_t rows, State state, float* actor, float* critic,
                 Parallel parallel) {
  Arena& arena = arena_of_this_thread();
  arena.clear();
  ForwardTask task{&net, nullptr, parameters, features, bytes, rows, state, actor, critic};
  const Packed packed = pack(arena, net, parameters, task.parts());
  task.packed = &packed;
  parallel(forward_shard, &task, int(shards_of(net, rows)));
}

// Samples an action for each row: writes the action (`chosen` or `amounts`), the distribution and the
// log-probability. `value` receives the critic's outputs; null if they are not needed, but then its memory does not
// advance. Runs on the calling thread alone.
void act(const Network& net, const float* parameters, const std::uint8_t* features,
         std::int64_t bytes, std::int64_t count, const float* noise, const std::uint8_t* mask,
         State state, std::int64_t* chosen, float* amounts, float* dist, float* logprob, float* value) {
  Arena& arena = arena_of_this_thread();
  arena.clear();
  const Parts parts = value ? Parts::both : Parts::actor;
  const Packed packed = pack(arena, net, parameters, parts);
  Trails trails = room_for_block(arena, net, parts, count);
  const Head& head = net.head;
  const int ld = width_of(net.actor);
  const float* log_std = log_std_of(head, parameters);
  const int n_masked = head.n_masked(), n_chosen = head.n_chosen();
  with_head(head.kind, [&](auto kind) {
    using H = decltype(kind);
    const int n = H::n_parameters(head);
    float* ready = arena.floats(3 * head.n_outputs);
    for (std::int64_t at = 0; at < count; at += block_of(net)) {
      const int here = next_block(net, at, count);
      const Steps steps = single_steps(net, state, at, here);
      const Rows rows{features, bytes, nullptr, at, here, nullptr, &steps};
      const float* hidden = run_shared(net, packed, parameters, rows, trails);
      const float* y = forward(net.actor, packed.actor, parameters, rows, hidden, trails.actor);
      for (int i = 0; i < rows.count; ++i) {
        const std::int64_t r = at + i;
        Row row{log_std, mask ? mask + r * n_masked : nullptr,
                chosen ? chosen + r * n_chosen : nullptr,
                amounts ? amounts + r * n_chosen : nullptr, nullptr};
        float* d = dist + r * n;
        H::parameters(head, y + i * ld, row, d);
        // `Row` is read-only for the loss, but here its action is the output
        H::sample(head, d, noise + r * n_chosen, const_cast<std::int64_t*>(row.chosen),
                  const_cast<float*>(row.amounts));
        H::prepare(head, d, row, ready);
        logprob[r] = H::logprob(head, d, ready, row);
      }
      if (!value) continue;
      const float* v = forward(net.critic, packed.critic, parameters, rows, hidden, trails.critic);
      for (int i = 0; i < rows.count; ++i) value[at + i] = v[i * width_of(net.critic)];
    }
  });
}

}  // namespace
