#include "factory/cli/publication.h"

#include <fmt/format.h>

#include <optional>

#include "factory/base/text.h"
#include "factory/cli/print.h"
#include "factory/distribution/credentials.h"
#include "registry/index/image_patterns.h"

namespace kiln {

namespace {

std::optional<SigningKey> read_key(const PublishDestination& place, const Invocation& invocation) {
  if (place.key.empty()) return std::nullopt;
  if (!place.passphrase_file.empty()) invocation.need_file(place.passphrase_file);
  return SigningKey::read_with(place.key, place.passphrase_file);
}

// What can be known of them before anything is asked.
void check_aliases(const Site& site) {
  for (std::size_t i = 0; i < site.publish.aliases.size(); ++i) {
    try {
      const ImagePatterns patterns(site.publish.aliases[i].images);
    } catch (const Error& error) {
      throw Error(ExitCode::input, {site.file, 0, 0, fmt::format("/publish/aliases/{}/images", i)},
                  error.message(), error.hint());
    }
  }
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

PublishDestination site_place(const Invocation& invocation) {
  const Site site = invocation.site();
  if (site.publish.registry.empty()) return site.publish;
  try {
    RegistryAddress::parse(site.publish.registry);
  } catch (const Error& error) {
    throw Error(ExitCode::input, {site.file, 0, 0, "/publish/registry"}, error.message(), error.hint());
  }
  check_aliases(site);
  return site.publish;
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
  const ExitCode code = exit_code_of(news);
  if (code == ExitCode::network)
    throw Error(
        code,
        fmt::format("the registry lacks {} that the index answers with", counted(news.lost.size(), "part")),
        "`kiln build` makes again what the store lacks as well; `kiln index fsck --registry --repair` "
        "pushes it");
  if (code == ExitCode::locked)
    throw Error(code,
                news.foreign.size() == 1 ? "a tag was moved by another program, and left as it is"
                                         : "tags were moved by another program, and left as they are",
                "--take-tags moves them to the images of the index");
  const bool is_one = news.unclear.size() == 1;
  if (code == ExitCode::input)
    throw Error(code,
                fmt::format("{} of the site file {} not clear, and left as {}",
                            counted(news.unclear.size(), "alias", "aliases"), is_one ? "is" : "are",
                            is_one ? "it is" : "they are"),
                "patterns that choose one image a platform, and names that no image has");
}

}  // namespace kiln
