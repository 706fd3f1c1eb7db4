// The entry points of one instruction set. Compiled several times, each with its own flags and its
// own KERNELS (the name of the table) and ISA (the name of the set).

#include "health.hpp"
#include "images.hpp"
#include "learning.hpp"
#include "outputs.hpp"
#include "shift.hpp"

namespace gymnast {
extern const Kernels KERNELS;
const Kernels KERNELS{ISA, forward_all, act, step, shift, health, few_rows, gather_images};
}  // namespace gymnast
