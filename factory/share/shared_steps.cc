#include "factory/share/shared_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "factory/oci/blob_store.h"
#include "factory/oci/layer_write.h"
#include "factory/oci/registry_call.h"
#include "factory/os/file_lock.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr std::int64_t kAway = 600;  // seconds in which nobody asks again
constexpr std::chrono::seconds kLongestConnect{10};
constexpr std::chrono::seconds kLongestStall{60};
constexpr int kMostRetries = 1;  // a step that is run costs time, and so does waiting for one

std::unique_ptr<StepShare> open_registry(const SharedStepsSetup& setup) {
  RegistryAddress address = RegistryAddress::parse(setup.place.registry);
  if (address.path.empty())
    throw Error(ExitCode::input, fmt::format("{} names no repository for steps", setup.place.registry),
                "HOST[:PORT]/PATH");
  std::chrono::seconds stall = setup.limits.stall;
  if (stall.count() == 0 || stall > kLongestStall) stall = kLongestStall;
  auto http = open_http({setup.environment, stall, setup.limits.wall, kLongestConnect});
  auto credentials = [environment = setup.environment, host = address.host, &files = setup.files,
                      &runner = setup.runner](const std::string& repository) {
    return find_credentials(host, repository, environment, files, runner);
  };
  Http& asked = *http;
  return std::make_unique<RegistryShare>(
      std::move(http), RegistryAccess{std::move(address), asked, std::move(credentials), setup.clock,
                                      std::min(setup.limits.retries, kMostRetries), wait_unless_interrupted});
}

std::unique_ptr<StepShare> open_place(const SharedStepsSetup& setup) {
  if (!setup.place.registry.empty()) return open_registry(setup);
  return std::make_unique<FolderShare>(setup.place.folder, setup.place.is_private, setup.files);
}

// All of it, or a part: another machine may be able to.
bool is_untested(const SharedRecord& shared) {
  const auto* test = std::get_if<TestRecord>(&shared.record);
  return test != nullptr && test->last_line.find(kNotRun) != std::string::npos;
}

}  // namespace

SharedSteps::SharedSteps(const SharedStepsSetup& setup) : SharedSteps(setup, open_place(setup)) {}

SharedSteps::SharedSteps(const SharedStepsSetup& setup, std::unique_ptr<StepShare> place)
    : setup_(setup), place_(std::move(place)) {
  for (const std::string& file : setup.place.trust) trusted_.push_back(VerifyingKey::read(file));
  if (setup.place.key.empty()) return;
  key_ = SigningKey::read_with(setup.place.key, setup.place.passphrase_file);
  trusted_.push_back(key_->public_half());
}

std::unique_ptr<SharedSteps> open_shared_steps(const SharedStepsSetup& setup) {
  return setup.place.is_used() ? std::make_unique<SharedSteps>(setup) : nullptr;
}

// --- a place that is away

void SharedSteps::try_again(const StatePaths& state, FileSystem& files) {
  for (const fs::path& away : {state.shared_unread(), state.shared_unwritten()}) files.remove_all(away);
}

bool SharedSteps::is_away(const fs::path& away) const {
  const auto text = setup_.files.read(away, 4096);
  if (!text) return false;
  std::int64_t since = 0;
  std::from_chars(text->data(), text->data() + text->size(), since);
  const std::int64_t passed = setup_.clock.unix_seconds() - since;
  return passed >= 0 && passed < kAway && text->ends_with(" " + place());
}

void SharedSteps::set_away(const fs::path& away, const std::string& why) {
  try {
    setup_.files.write_output(away, fmt::format("{} {}", setup_.clock.unix_seconds(), place()));
  } catch (const Error&) {
    // On a full disk the next one asks, too.
  }
  const bool reading = away == setup_.state.shared_unread();
  setup_.tell(fmt::format(
      "warning: {}; for {} minutes {}", why, kAway / 60,
      reading ? "no step is looked for there, and all are run here" : "no step of ours is given to others"));
}

// What is wrong with a record is for the caller.
template <typename Ask>
void SharedSteps::ask(const fs::path& away, const Ask& question) {
  if (is_away(away)) return;
  try {
    question();
  } catch (const Error& error) {
    if (error.code() != ExitCode::network) throw;
    set_away(away, error.message());
  }
}

std::set<std::string> SharedSteps::names() {
  std::set<std::string> names;
  try {
    ask(setup_.state.shared_unread(), [&] { names = place_->names(); });
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    set_away(setup_.state.shared_unread(), error.message());
  }
  return names;
}

// --- what others made

void SharedSteps::refuse(const Wanted& wanted, const std::string& why) {
  refused_.insert(wanted.name.text());
  setup_.tell(
      fmt::format("warning: {} is not taken from {}: {}; it is run here", wanted.title, place(), why));
}

SharedSteps::Look SharedSteps::look(const SharedName& name) {
  try {
    const auto found = place_->find(name);
    if (!found) return {};
    OpenedRecord opened = open_shared(name, found->envelope, trusted_);
    if (is_untested(opened.shared)) return {};
    if (!opened.signer.empty() || found->is_ours) return {std::move(opened), found->used, ""};
    if (!opened.forged.empty())
      return {
          {},
          "",
          fmt::format("its signature names the key {} and does not match: no key that the site file trusts "
                      "has signed it",
                      opened.forged),
          true};
    return {{},
            "",
            found->why_not.empty() ? "no key that the site file trusts has signed it"
                                   : "its record there " + found->why_not};
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted || error.code() == ExitCode::network) throw;
    return {{}, "", error.format()};
  }
}

// By us, or by who made the record of that step here.
bool SharedSteps::is_proven(const BuiltLayer& layer) const {
  if (!seen_damage(BlobStore::reading(setup_.state.store()), layer.blob.digest, layer.blob.size).empty())
    return false;
  if (proven_.contains({layer.blob.digest, layer.diff_id})) return true;
  return unless_error([&] {
    const auto known = RecordReader(setup_.state, setup_.files).step(layer.step);
    return known && std::ranges::any_of(known->chain.layers, [&](const auto& own) {
             return own.blob.digest == layer.blob.digest && own.diff_id == layer.diff_id;
           });
  });
}

std::uint64_t SharedSteps::fetch_layers(const StepRecord& step) {
  const BlobStore store(setup_.state.store());
  std::uint64_t bytes = 0;
  for (const BuiltLayer& layer : step.chain.layers) {
    if (is_proven(layer)) continue;
    // Whoever needs it, too, waits for it.
    const PassingLock alone(setup_.state.temporary() / ("step-fetch-" + layer.blob.digest.hex() + ".lock"));
    if (!seen_damage(store, layer.blob.digest, layer.blob.size).empty()) {
      if (!place_->fetch(layer.blob, store))
        throw Error(ExitCode::store, fmt::format("its layer {} is missing there", layer.blob.digest.text()));
      bytes += layer.blob.size;
    }
    if (diff_id_of(store.path(layer.blob.digest)) != layer.diff_id)
      throw Error(ExitCode::store, fmt::format("its layer {} does not hold {}", layer.blob.digest.text(),
                                               layer.diff_id.text()));
    proven_.insert({layer.blob.digest, layer.diff_id});
  }
  return bytes;
}

void SharedSteps::tell_difference(const std::string& title, const std::string& key) {
  if (!differ_.insert(key).second) return;
  setup_.tell(fmt::format(
      "WARNING: {} has other bits in {} than here ({}): one of its scripts does not make the same bits each "
      "time, or the two builders are not set up alike; see docs/lock.md",
      title, place(), key.substr(0, 12)));
}

// Of each step of the chain that was run here, too.
void SharedSteps::compare_with_ours(const StepRecord& theirs, const std::string& title) {
  const RecordReader reader(setup_.state, setup_.files);
  std::string last;
  for (const BuiltLayer& layer : theirs.chain.layers) {
    if (layer.step == last) continue;
    last = layer.step;
    try {
      const auto ours = reader.step(last);
      if (ours && ours->origin.place.empty() &&
          own_layers(ours->chain, last) != own_layers(theirs.chain, last))
        tell_difference(fmt::format("{}, which {} stands on,", layer.created_by, title), last);
    } catch (const Error&) {
      // A damaged record of ours says nothing.
    }
  }
}

void SharedSteps::write(const SharedName& name, OpenedRecord opened, const std::string& from) const {
  const RecordWriter writer(setup_.state, setup_.files);
  const std::string signer =
      opened.signer.empty() ? "" : fmt::format(", signed by the key {}", opened.signer);
  setup_.files.write_output(setup_.state.log(name.key),
                            fmt::format("Not run here: fetched from {} at {}{}.\n", from,
                                        rfc3339(setup_.clock.unix_seconds()), signer));
  std::visit(
      [&](auto& record) {
        record.origin = {place(), opened.signer};
        writer.write(record);
      },
      opened.shared.record);
  writer.forget_failure(name.key);
}

SharedSteps::Fetched SharedSteps::take_step(const Wanted& wanted, OpenedRecord opened) {
  Fetched fetched{fmt::format("{}, made on {}", place(), opened.shared.host)};
  if (const auto* step = std::get_if<StepRecord>(&opened.shared.record)) {
    for (const BuiltLayer& layer : step->chain.layers)
      if (layer.step == step->key && !wanted.media_type.empty() && layer.blob.media_type != wanted.media_type)
        throw Error(ExitCode::input, fmt::format("its layer is of the type {}, and this site writes {}",
                                                 layer.blob.media_type, wanted.media_type));
    fetched.bytes = fetch_layers(*step);
    compare_with_ours(*step, wanted.title);
  }
  write(wanted.name, std::move(opened), fetched.from);
  return fetched;
}

std::optional<SharedSteps::Fetched> SharedSteps::fetch(const Wanted& wanted) {
  std::optional<Fetched> fetched;
  try {
    ask(setup_.state.shared_unread(), [&] {
      Look found = look(wanted.name);
      if (found.opened) {
        fetched = take_step(wanted, *std::move(found.opened));
        touch(wanted.name, found.used);
      } else if (!found.why_not.empty()) {
        if (found.is_forged)
          forged_.emplace(wanted.name.text(), fmt::format("{} in {}", found.why_not, place()));
        refuse(wanted, found.why_not);
      }
    });
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    refuse(wanted, error.message());
  } catch (const fs::filesystem_error& error) {
    refuse(wanted, error.what());
  }
  return fetched;
}

std::string SharedSteps::forged(const SharedName& name) const { return value_or(forged_, name.text()); }

// So that it stays. Once in a while is enough, and where that cannot be done it goes sooner.
void SharedSteps::touch(const SharedName& name, const std::string& used) {
  const std::int64_t now = setup_.clock.unix_seconds();
  const auto last = unix_seconds_of(used);
  if (!setup_.place.writes() || (last && now - *last < setup_.place.keep_for.count() / 10)) return;
  try {
    ask(setup_.state.shared_unwritten(), [&] { place_->touch(name, rfc3339(now)); });
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
  }
}

SharedSteps::Old SharedSteps::old() const {
  Old old;
  const std::int64_t oldest = setup_.clock.unix_seconds() - setup_.place.keep_for.count();
  for (const auto& [name, used] : place_->used()) {
    ++old.all;
    const auto last = unix_seconds_of(used);
    if (last && *last < oldest) old.names.insert(name);
  }
  return old;
}

// --- what was made here

void SharedSteps::give(const Wanted& made) {
  const RecordReader reader(setup_.state, setup_.files);
  SharedRecord ours{StepRecord{}, host_name(), rfc3339(setup_.clock.unix_seconds())};
  std::vector<Descriptor> blobs;
  const auto step = made.name.is_test ? std::nullopt : reader.step(made.name.key);
  const auto test = made.name.is_test ? reader.test(made.name.key) : std::nullopt;
  if (step) {
    ours.record = *step;
    for (const BuiltLayer& layer : step->chain.layers) blobs.push_back(layer.blob);
  }
  if (test) ours.record = *test;
  const bool is_ours = (step && step->origin.place.empty()) || (test && test->origin.place.empty());
  if (!is_ours || is_untested(ours)) return;
  const Look there = look(made.name);
  const bool mends = refused_.contains(made.name.text());
  if (there.opened && step) {
    const auto& theirs = std::get<StepRecord>(there.opened->shared.record);
    if (own_layers(theirs.chain, step->key) != own_layers(step->chain, step->key))
      return tell_difference(made.title, step->key);
  }
  if (there.opened && !mends) return;
  const std::string envelope = shared_envelope(made.name, ours, key_ ? &*key_ : nullptr);
  place_->put(made.name, envelope, ours.made, blobs, BlobStore::reading(setup_.state.store()), mends);
}

void SharedSteps::share(const Wanted& made) {
  if (!setup_.place.writes()) return;
  auto tell = [&](const std::string& why) {
    setup_.tell(fmt::format("warning: {} is not given to {}: {}", made.title, place(), why));
  };
  try {
    ask(setup_.state.shared_unwritten(), [&] { give(made); });
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    tell(error.message());
  } catch (const fs::filesystem_error& error) {
    tell(error.what());
  }
}

}  // namespace kiln
