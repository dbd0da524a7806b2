#include "cli/state_lock.h"

#include <fmt/format.h>

#include "image/state/access.h"

namespace kiln {

void add_wait_option(CLI::App& command, GlobalOptions& options) {
  command.add_flag("--wait", options.wait, "wait while another kiln works in the state folder");
}

StateLock lock_state(const Invocation& invocation, const std::string& purpose) {
  const StatePaths state = invocation.state();
  follow_permissions(state);
  StateLock::OnWait on_wait;
  if (invocation.options.wait)
    on_wait = [&](const std::string& holder) {
      invocation.note(fmt::format("waiting for {}: {}", state.root().string(), holder));
    };
  return StateLock(state.lock(), invocation.clock, purpose, on_wait);
}

}  // namespace kiln
