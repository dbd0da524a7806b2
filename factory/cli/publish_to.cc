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

std::optional<SigningKey> read_key(const PublishPlace& place, const Invocation& invocation) {
  if (place.key.empty()) return std::nullopt;
  std::string passphrase;
  if (!place.passphrase_file.empty()) {
    invocation.need_file(place.passphrase_file);
    passphrase = invocation.files.read(place.passphrase_file, 4096).value_or("");
    passphrase.resize(std::min(passphrase.size(), passphrase.find('\n')));
  }
  return SigningKey::read(place.key, passphrase);
}

}  // namespace

PublishPlace site_place(const Invocation& invocation) {
  const Site site = invocation.site();
  if (site.publish.registry.empty()) return site.publish;
  try {
    RegistryAddress::parse(site.publish.registry);
  } catch (const Error& error) {
    throw Error(ExitCode::input, {site.file, 0, 0, "/publish/registry"}, error.message(), error.hint());
  }
  return site.publish;
}

PublishPlace publish_place(const PublishPlace& asked, const Invocation& invocation) {
  PublishPlace place = site_place(invocation);
  if (!asked.registry.empty()) place.registry = asked.registry;
  if (asked.key.empty()) return place;
  place.key = asked.key;
  place.passphrase_file = asked.passphrase_file;
  return place;
}

PublishTarget::PublishTarget(const PublishPlace& place, Invocation& invocation)
    : key_(read_key(place, invocation)),
      http_(open_http({invocation.environment, invocation.site().pull_limits.stall})),
      client_(access_to(RegistryAddress::parse(place.registry), *http_, invocation)),
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
