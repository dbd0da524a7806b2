#include "cli/publish_to.h"

#include <fmt/format.h>

#include <algorithm>

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

std::optional<SigningKey> read_key(const std::string& file, const std::string& passphrase_file,
                                   const Invocation& invocation) {
  if (file.empty()) return std::nullopt;
  std::string passphrase;
  if (!passphrase_file.empty()) {
    invocation.need_file(passphrase_file);
    passphrase = invocation.files.read(passphrase_file, 4096).value_or("");
    passphrase.resize(std::min(passphrase.size(), passphrase.find('\n')));
  }
  return SigningKey::read(file, passphrase);
}

}  // namespace

PublishTarget::PublishTarget(const std::string& to, const std::string& key,
                             const std::string& passphrase_file, Invocation& invocation)
    : key_(read_key(key, passphrase_file, invocation)),
      http_(open_http({invocation.environment, invocation.site().pull_limits.stall})),
      client_(access_to(RegistryAddress::parse(to), *http_, invocation)),
      store_(invocation.state().store()),
      pushed_(invocation.state()),
      publisher_(client_, store_, pushed_, key_ ? &*key_ : nullptr,
                 [&invocation](const std::string& text) { invocation.note(text); }) {}

void PublishTarget::finish(const Index& index, bool take) {
  publisher_.move_tags(index.entries(), take);
  const PushReport& report = publisher_.report();
  const PushCount& count = publisher_.count();
  say("{}: {} pushed ({}, {:.1f} MB), {} unchanged, {} moved\n", client_.address().text(),
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
