#include "cli/publish_to.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/print.h"

namespace kiln {
namespace {

RegistryAccess access_to(const RegistryAddress& address, Http& http, Invocation& invocation) {
  const PullLimits limits = invocation.site().pull_limits;
  return {address,
          http,
          [&invocation, host = address.host](const std::string& repository) {
            return find_credentials(host, repository, invocation.child_environment(), invocation.files,
                                    invocation.runner);
          },
          invocation.clock,
          limits.retries,
          wait_unless_interrupted,
          [&invocation](const std::string& text) { invocation.note(text); }};
}

}  // namespace

PublishTarget::PublishTarget(const std::string& to, Invocation& invocation)
    : address_(RegistryAddress::parse(to)),
      http_(open_http({invocation.environment, invocation.site().pull_limits.stall})),
      client_(access_to(address_, *http_, invocation)),
      store_(invocation.state().store()),
      pushed_(invocation.state()),
      publisher_(client_, address_, store_, pushed_,
                 [&invocation](const std::string& text) { invocation.note(text); }) {}

void PublishTarget::finish(const Index& index, bool take) {
  publisher_.move_tags(index.entries(), take);
  const PushReport& report = publisher_.report();
  const PushCount& count = publisher_.count();
  say("{}: {} pushed ({}, {:.1f} MB), {} unchanged, {} moved\n", address_.text(),
      counted(report.pushed, "image"), counted(count.blobs, "blob"), static_cast<double>(count.bytes) / 1e6,
      report.unchanged, counted(report.moved, "tag"));
  if (report.foreign.empty()) return;
  for (const std::string& tag : report.foreign) say("left {}\n", tag);
  throw Error(ExitCode::locked,
              fmt::format("{} moved by somebody else, and left as {}",
                          report.foreign.size() == 1 ? "a tag was" : "tags were",
                          report.foreign.size() == 1 ? "it is" : "they are"),
              "--take-tags moves them to the images of the index");
}

}  // namespace kiln
