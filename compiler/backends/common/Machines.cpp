// Part of tilejit, under the Apache License v2.0. See LICENSE for details.
//
// A few spare machines, the latest last.

#include "Machines.h"

#include "llvm/ADT/STLExtras.h"

#include <mutex>
#include <vector>

namespace tilejit::backends {

namespace {

struct Spare {
  std::string key;
  std::unique_ptr<llvm::TargetMachine> machine;
};

struct Spares {
  std::mutex mutex;
  std::vector<Spare> machines;
};

constexpr size_t mostSpares = 4; ///< A process meets one or two targets; a list of all of them must not pile up.

/// Never destroyed: what machines refer to may be gone by then.
Spares &spares() {
  static auto *all = new Spares;
  return *all;
}

} // namespace

std::unique_ptr<llvm::TargetMachine> takeMachine(const GpuVendor &vendor, const TargetSpec &target,
                                                 std::string &error) {
  {
    std::lock_guard lock(spares().mutex);
    std::vector<Spare> &machines = spares().machines;
    auto found = llvm::find_if(machines, [key = target.keyText()](const Spare &spare) { return spare.key == key; });
    if (found != machines.end()) {
      std::unique_ptr<llvm::TargetMachine> machine = std::move(found->machine);
      machines.erase(found);
      return machine;
    }
  }
  return vendor.makeMachine(target, error);
}

void keepMachine(const TargetSpec &target, std::unique_ptr<llvm::TargetMachine> machine) {
  std::lock_guard lock(spares().mutex);
  std::vector<Spare> &machines = spares().machines;
  if (machines.size() == mostSpares)
    machines.erase(machines.begin());
  machines.push_back({target.keyText(), std::move(machine)});
}

} // namespace tilejit::backends
