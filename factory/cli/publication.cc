#include "factory/cli/publication.h"

#include <fmt/format.h>

#include <optional>

#include "factory/base/text.h"
#include "factory/cli/print.h"
#include "factory/distribution/credentials.h"

namespace kiln {

namespace {

std::optional<SigningKey> read_key(const PublishDestination& place, const Invocation& invocation) {
  if (place.key.empty()) return std::nullopt;
  if (!place.passphrase_file.empty()) invocation.need_file(place.passphrase_file);
  return SigningKey::read_with(place.key, place.passphrase_file);
}

RegistryNews follow(PublishTarget& target, bool keep, bool take_tags, const Index& index) {
  if (keep) target.keep_tonight(index);
  target.move_tags(index, take_tags);
  const PushReport& report = target.report();
  return {target.text(), report.foreign, report.unclear, report.mended, report.lost};
}

}  // namespace

RegistryAccess registry_access(const RegistryAddress& address, Http& http, Invocation& invocation) {
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

PublishTarget::PublishTarget(const PublishDestination& place, Invocation& invocation, Work work)
    : clock_(invocation.clock),
      work_(work),
      key_(read_key(place, invocation)),
      http_(open_http({invocation.environment, invocation.site().pull_limits.stall})),
      client_(registry_access(RegistryAddress::parse(place.registry), *http_, invocation)),
      store_(work == Work::publish ? BlobStore(invocation.state().store())
                                   : BlobStore::reading(invocation.state().store())),
      pushed_(work == Work::publish ? PushedNames(invocation.state())
                                    : PushedNames::reading(invocation.state())),
      publisher_(client_, store_, pushed_, key_ ? &*key_ : nullptr,
                 [&invocation](const std::string& text) { invocation.note(text); }),
      aliases_(place.aliases) {}

void PublishTarget::keep(const std::vector<IndexEntry>& entries, const LookParts& parts, bool read) {
  publisher_.keep(aliases_, entries, {parts, read, work_ == Work::publish});
  if (work_ != Work::publish) return;
  for (const std::size_t part : parts)
    pushed_.put_look(client_.address().text(), part, clock_.unix_seconds());
}

void PublishTarget::keep_tonight(const Index& index) {
  const std::vector<IndexEntry> entries = index.entries();
  const LookTimes looked = pushed_.looked(client_.address().text());
  keep(entries, parts_tonight(entries.size(), looked, clock_.unix_seconds()), false);
}

void PublishTarget::keep_all(const Index& index, bool read) { keep(index.entries(), every_part(), read); }

void PublishTarget::move_tags(const Index& index, bool take) {
  const std::vector<IndexEntry> entries = index.entries();
  publisher_.move_tags(entries, take);
  publisher_.move_aliases(aliases_, entries, take);
}

void PublishTarget::look_at_tags(const Index& index) { publisher_.look_at_tags(aliases_, index.entries()); }

std::string PublishTarget::text() const {
  const PushCount count = publisher_.count();
  return fmt::format("{}: {} pushed ({}, {:.1f} MB), {} unchanged, {} moved", client_.address().text(),
                     counted(report().pushed, "image"), counted(count.blobs, "blob"),
                     static_cast<double>(count.bytes) / 1e6, report().unchanged,
                     counted(report().moved, "tag"));
}

PublishedImages publish_images(const BuildPlan& plan, const ChosenCells& chosen, const PublishRun& run,
                               Invocation& invocation) {
  PublishOptions options{chosen.broken, run.pruned};
  std::optional<PublishTarget> target;
  if (!run.place.registry.empty()) {
    target.emplace(run.place, invocation);
    options.place = [&target](std::vector<ImageRecord>& images) { target->push(images); };
  }
  PublishedImages done;
  done.snapshot =
      publish_built(plan, chosen.images, invocation.state(), invocation.files, invocation.clock, options);
  if (!target) return done;
  try {
    done.registry = follow(*target, run.keep, run.take_tags, invocation.index(Index::Mode::read));
  } catch (Error& error) {
    error.while_doing(
        fmt::format("moving the readable tags to snapshot {}, which is written: the next "
                    "`kiln publish` completes them",
                    done.snapshot.snapshot));
    throw;
  }
  return done;
}

RegistryNews follow_index(const PublishDestination& place, bool keep, Invocation& invocation) {
  PublishTarget target(place, invocation);
  return follow(target, keep, false, invocation.index(Index::Mode::read));
}

void tell_registry_news(const RegistryNews& news) {
  if (!news.pushed.empty()) say("{}\n", news.pushed);
  for (const std::string& part : news.mended) say("mended {}\n", part);
  for (const std::string& part : news.lost) say("lost {}\n", part);
  for (const std::string& tag : news.foreign) say("left {}\n", tag);
  for (const std::string& alias : news.unclear) say("left {}\n", alias);
  if (auto trouble = trouble_of(news)) throw Error(*trouble);
}

}  // namespace kiln
