#include "cli/publish_to.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

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

void PublishTarget::move_tags(const Index& index, bool take) { publisher_.move_tags(index.entries(), take); }

std::string PublishTarget::text() const {
  const PushCount& count = publisher_.count();
  return fmt::format("{}: {} pushed ({}, {:.1f} MB), {} unchanged, {} moved", client_.address().text(),
                     counted(report().pushed, "image"), counted(count.blobs, "blob"),
                     static_cast<double>(count.bytes) / 1e6, report().unchanged,
                     counted(report().moved, "tag"));
}

}  // namespace kiln
