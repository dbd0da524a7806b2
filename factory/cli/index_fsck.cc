// kiln index fsck: what of the store is not what was written, and what can be done about it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/cli/collection.h"
#include "factory/cli/image_name.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/publication.h"
#include "factory/cli/state_lock.h"
#include "factory/derive/derivation.h"
#include "factory/os/processors.h"
#include "factory/run/kept_files.h"
#include "factory/run/mend.h"
#include "factory/run/package_cell.h"
#include "factory/state/plan_file.h"
#include "factory/state/sif_folder.h"

namespace kiln {
namespace {

struct RegistryCheck {
  std::string registry;    // "registry.site:5000/ai"
  std::size_t images = 0;  // of the index, that are in it
  RegistryNews news;
};

// Looks at everything. `asked`: "" for the site's registry. `read`: blobs to their last byte. `repair`: what
// is lost is pushed again, and tags that are missing are set. Throws Error(usage), Error(network). REQUIRES:
// with `repair` the state's lock is held.
RegistryCheck check_registry(const std::string& asked, bool read, bool repair, Invocation& invocation) {
  PublishDestination place = site_place(invocation.site());
  place.registry = registry_to_collect(asked, invocation);
  RegistryCheck found;
  found.registry = RegistryAddress::parse(place.registry).text();
  if (!invocation.has_index()) return found;
  const Index index = invocation.index(Index::Mode::read);
  for (const IndexEntry& entry : index.entries())
    if (entry.image.published.registry == found.registry) ++found.images;
  PublishTarget target(place, invocation,
                       repair ? PublishTarget::Work::publish : PublishTarget::Work::only_look);
  target.keep_all(index, read);
  if (repair)
    target.move_tags(index, false);
  else
    target.look_at_tags(index);
  const PushReport& report = target.report();
  found.news.mended = report.mended;
  found.news.lost = report.lost;
  found.news.foreign = report.foreign;
  return found;
}

Json to_json(const RegistryCheck& found) {
  return {{"registry", found.registry},
          {"images", found.images},
          {"mended", found.news.mended},
          {"lost", found.news.lost},
          {"left", found.news.foreign}};
}

void print(const RegistryCheck& found) {
  for (const std::string& part : found.news.mended) say("mended {}\n", part);
  for (const std::string& part : found.news.lost) say("lost {}\n", part);
  for (const std::string& tag : found.news.foreign) say("left {}\n", tag);
  say("{}: {} looked at: ", found.registry, counted(found.images, "image"));
  if (found.news.lost.empty() && found.news.foreign.empty())
    return say("{}\n", found.news.mended.empty() ? "nothing is lost" : "all of them are whole now");
  say("{} lost, {} left\n", counted(found.news.lost.size(), "part"),
      counted(found.news.foreign.size(), "tag"));
}

// "registry.site:5000/ai, registry.other": those that images of the index are in; "" where there are none.
std::string registries_of_index(const Invocation& invocation) {
  std::set<std::string> registries;
  if (invocation.has_index())
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      if (!entry.image.published.registry.empty()) registries.insert(entry.image.published.registry);
  return fmt::format("{}", fmt::join(registries, ", "));
}

struct FsckRequest {
  std::string format = "table";
  unsigned jobs = 0;
  bool deep = false;
  bool repair = false;
  bool in_registry = false;
  std::string registry;  // "": the site's
};

// Packages images again as the build did that made them, from the plans that it kept.
class Packager {
 public:
  explicit Packager(Invocation& invocation) : invocation_(invocation), state_(invocation.state()) {}

  void operator()(const BlobUser& image) {
    for (const std::string& name : invocation_.files.stems(state_.plan("x").parent_path())) {
      auto spec = image_in(name, image.image.cell);
      if (spec && record_name(*spec) == image.record) return package(*spec, name, image.image.created);
    }
  }

 private:
  std::optional<ImageSpec> image_in(const std::string& plan, const std::string& cell) {
    auto [file, is_new] = plans_.try_emplace(plan);
    if (is_new) file->second = PlanFile::open(invocation_.files, state_.plan(plan));
    return file->second ? file->second->image(cell) : std::nullopt;
  }

  void package(const ImageSpec& spec, const std::string& plan, const std::string& created) {
    const Site site = invocation_.site();
    auto environment = invocation_.environment;
    if (auto epoch = unix_seconds_of(created)) environment["SOURCE_DATE_EPOCH"] = std::to_string(*epoch);
    package_cell({spec, plan, site, state_, invocation_.files, invocation_.clock, invocation_.cpus(),
                  environment, KILN_VERSION, invocation_.archspec_version()});
  }

  Invocation& invocation_;
  StatePaths state_;
  std::map<std::string, std::optional<PlanFile>> plans_;
};

FsckReport check(const FsckRequest& request, Invocation& invocation) {
  ProgressBar bar(invocation, invocation.clock.monotonic_seconds());
  FsckOptions options;
  options.deep = request.deep;
  options.jobs = request.jobs == 0 ? usable_processors() : request.jobs;
  options.progress = [&](std::uint64_t done, std::uint64_t all) { bar.show(done, all); };
  return check_store(invocation.state(), invocation.files, options);
}

Json to_json(const FsckReport& report, const std::vector<Mended>& found) {
  Json damage = json_list(found, [](const Mended& one) {
    return Json{{"damage", one.damage}, {"remedy", one.done}, {"whole", one.is_whole}};
  });
  return {{"blobs", report.looked_at}, {"bytes_read", report.read}, {"damage", std::move(damage)}};
}

// What is wrong with the index itself; "" = nothing. With --repair, it is made again from its sidecars.
std::string damage_of_index(bool repair, Invocation& invocation) {
  if (!invocation.has_index()) return "";
  try {
    invocation.index(Index::Mode::read).prove();
    return "";
  } catch (const Error& error) {
    if (error.code() != ExitCode::store) throw;
    if (repair) invocation.index(Index::Mode::write).prove();
    return error.message();
  }
}

void print_index(const std::string& damage, const FsckRequest& request, Invocation& invocation) {
  if (!damage.empty())
    say("{}\n    {}\n", damage,
        request.repair ? "made again from its sidecars"
                       : "`kiln index fsck --repair` makes it again from its sidecars");
  else if (invocation.has_index())
    say("index.db: no damage\n");
}

void print(const FsckReport& report, const std::vector<Mended>& found, const FsckRequest& request) {
  std::size_t whole = 0;
  for (const Mended& one : found) {
    say("{}\n    {}\n", one.damage, one.done);
    whole += one.is_whole ? 1 : 0;
  }
  say("{} blobs looked at{}: ", report.looked_at,
      request.deep ? fmt::format(", {:.1f} MB read", static_cast<double>(report.read) / 1e6) : "");
  if (found.empty()) return say("no damage{}\n", request.deep ? "" : " (--deep reads them)");
  if (request.repair) return say("{} damaged, {} mended\n", found.size(), whole);
  say("{} damaged; {}\n", found.size(), kDamageRemedy);
}

std::vector<Mended> repair(const FsckReport& report, Invocation& invocation) {
  const StatePaths state = invocation.state();
  Packager packager(invocation);
  std::vector<Mended> done =
      mend(report, {state, invocation.files, [&](const BlobUser& image) { packager(image); }});
  if (invocation.has_index()) show_sifs(state, invocation.index(Index::Mode::read));
  return done;
}

Json tell_damage(const std::vector<Error>& damage, bool is_json, Invocation& invocation) {
  Json told = Json::array();
  for (const Error& error : damage) {
    told.push_back(error.format(""));
    if (!is_json) say("{}\n", error.format(""));
    invocation.exit_code = ExitCode::store;
  }
  return told;
}

void run_fsck(const FsckRequest& request, Invocation& invocation) {
  const StatePaths state = invocation.state();
  if (!invocation.files.is_directory(state.store()))
    throw Error(ExitCode::store, "there is no store in " + state.root().string(),
                "name another folder with --state");
  std::optional<WriterLock> lock;
  if (request.repair) lock.emplace(lock_state(invocation, "kiln index fsck --repair"));
  const std::string index_damage = damage_of_index(request.repair, invocation);
  const FsckReport report = check(request, invocation);
  const std::vector<Mended> found = request.repair ? repair(report, invocation) : remedies(report);
  const bool is_json = request.format == "json";
  if (!is_json) {
    print_index(index_damage, request, invocation);
    print(report, found, request);
  }
  Json json = to_json(report, found);
  json["index_damage"] = index_damage;
  if (request.in_registry) {
    const RegistryCheck there = check_registry(request.registry, request.deep, request.repair, invocation);
    json["registry"] = to_json(there);
    if (!is_json) print(there);
    if (const ExitCode code = exit_code_of(there.news); code != ExitCode::ok) invocation.exit_code = code;
  } else if (!is_json && (index_damage.empty() || request.repair)) {
    const std::string registries = registries_of_index(invocation);
    if (!registries.empty()) say("{}: not looked at (--registry looks)\n", registries);
  }
  json["derived"] = tell_damage(DerivedStore(state, invocation.files).damage(), is_json, invocation);
  json["kept"] = tell_damage(kept_damage(state, invocation.files), is_json, invocation);
  if (is_json) print_json(json);
  for (const Mended& one : found)
    if (!one.is_whole) invocation.exit_code = ExitCode::store;
  if (!index_damage.empty() && !request.repair) invocation.exit_code = ExitCode::store;
}

}  // namespace

void add_index_fsck(CLI::App& index, Invocation& invocation) {
  auto request = std::make_shared<FsckRequest>();
  CLI::App* command = add_below(
      index, "fsck", "Compare the store with its records, and prove the index; exit code 8 for damage",
      "kiln index fsck\nkiln index fsck --deep --repair\nkiln index fsck --registry --repair");
  command->add_flag("--deep", request->deep, "read every byte, not only names and sizes");
  command->add_flag("--repair", request->repair,
                    "repair files where possible, and leave the rest for the next `kiln build`");
  CLI::Option* registry = command->add_option(
      "--registry", request->registry,
      "also ask this registry (default: the site file's) for all that the index answers with; exit code 6 if "
      "a part is lost, which --repair pushes again");
  registry->expected(0, 1)->type_name("REGISTRY");
  add_number(*command, "--jobs", request->jobs, "N", "reading threads (default: one for each processor)", 1,
             1024);
  add_format_option(*command, request->format);
  add_wait_option(*command, invocation.options);
  command->callback([request, registry, &invocation] {
    request->in_registry = registry->count() > 0;
    run_fsck(*request, invocation);
  });
}

}  // namespace kiln
