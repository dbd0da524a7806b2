#include "factory/cli/step_events.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "factory/cli/print.h"
#include "factory/cluster/machine_text.h"

namespace kiln {

void announce(const Invocation& invocation, const StepEvent& event) {
  if (invocation.environment.contains(kJob)) return report(event);
  int fifo =
      ::open(invocation.state().events(invocation.step_plan).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fifo < 0) return;
  std::string line = to_json(event).dump() + "\n";
  if (line.size() < 4096 && ::write(fifo, line.data(), line.size()) < 0) errno = 0;
  ::close(fifo);
}

void report(const StepEvent& event) { print_json(to_json(event), -1); }

}  // namespace kiln
