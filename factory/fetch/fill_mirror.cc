#include "factory/fetch/fill_mirror.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/durable_file.h"
#include "factory/base/text.h"
#include "factory/engine/architecture.h"
#include "factory/fetch/commits.h"
#include "factory/fetch/debian_archive.h"
#include "factory/oci/image_source.h"
#include "factory/plan/lock_update.h"
#include "factory/run/offline.h"
#include "factory/run/script.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

class Filling {
 public:
  explicit Filling(const FillSetup& setup)
      : setup_(setup),
        before_(setup.folder.read()),
        mirror_(before_),
        needs_(source_needs(setup.plan, setup.images, setup.recipes)),
        locks_(lock_needs(setup.plan.resolution(), setup.recipes)) {
    std::set<std::string> others;  // which are not asked for now
    for (std::uint32_t image : all_images(setup.plan)) others.insert(cell_of(image));
    for (std::uint32_t image : setup.images) {
      chosen_.insert(cell_of(image));
      others.erase(cell_of(image));
    }
    mirror_.forget(setup.plan.name(), others);
  }

  FillReport run() {
    const FileMask readable(kImageMask);  // steps read it as other users
    for (const auto& one : needs_.images)
      each([&] { add_image(one.first.first, one.first.second, one.second); });
    for (const auto& one : needs_.sources)
      each([&] { add_source(one.first.first, one.first.second, one.second); });
    for (const auto& one : needs_.wheels) each([&] { add_wheels(one.first, one.second); });
    keep();
    for (const auto& one : needs_.bases) each([&] { add_base(one.second); });
    for (const auto& one : needs_.pulled) each([&] { add_pulled(one.second); });
    for (const auto& [component, cells] : needs_.unknown)
      report_.problems.emplace_back(ExitCode::input,
                                    fmt::format("{} does not say where its packages come from, so "
                                                "they are not mirrored",
                                                component));
    if (report_.problems.empty()) {
      drop_what_is_lost();
      setup_.folder.write(mirror_);
    } else {
      keep();
    }
    count();
    return std::move(report_);
  }

 private:
  std::string cell_of(std::uint32_t image) const {
    return fmt::format("{}/{}", setup_.plan.name(), setup_.plan.image(image).id());
  }

  // What an earlier lockfile needs, and is damaged: nobody fetches it again.
  void drop_what_is_lost() {
    for (auto item = mirror_.items.begin(); item != mirror_.items.end();) {
      const bool is_lost = item->second.cells.empty() && !fault_of(item->second).empty();
      if (is_lost) report_.lost.push_back(item->second.name);
      item = is_lost ? mirror_.items.erase(item) : std::next(item);
    }
    std::erase_if(mirror_.archives, [&](const MirrorArchive& archive) {
      return std::ranges::none_of(mirror_.items,
                                  [&](const auto& one) { return is_list_of(one.second, archive); });
    });
  }

  std::string fault_of(const MirrorItem& item) const {
    return setup_.folder.fault_of(item, setup_.steps.runner, setup_.git_environment);
  }

  // What fails is told at the end.
  void each(const std::function<void()>& add) {
    try {
      add();
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted || error.code() == ExitCode::store) {
        keep();
        throw;
      }
      report_.problems.push_back(error);
    }
  }

  // So far, and what was there before: a kill takes nothing from anybody.
  void keep() const {
    Mirror all = mirror_;
    for (const auto& [key, item] : before_.items) all.add(item);
    setup_.folder.write(all);
  }

  void add(MirrorItem item, const CellNames& cells) {
    item.cells.clear();
    for (const std::string& cell : cells) item.cells.insert(mirror_.cell(cell));
    mirror_.add(std::move(item));
  }

  void add_image(const std::string& reference, const std::string& architecture, const CellNames& cells) {
    MirrorItem item{MirrorKind::image, fmt::format("{} {}", reference, architecture),
                    image_path(reference, architecture), Digest()};
    item.source = reference;
    if (const MirrorItem* known = before_.image(reference, architecture)) item.digest = known->digest;
    if (!fault_of(item).empty()) {
      tell(item.name);
      ++report_.fetched;
      const fs::path place = setup_.folder.path(item.path), aside = setup_.folder.temporary() / "image";
      setup_.steps.files.remove_all(aside);
      pull_base(reference, aside, "", setup_.skopeo, architecture);
      setup_.steps.files.remove_all(place);
      setup_.steps.files.make_directories(place.parent_path());
      setup_.steps.files.rename(aside, place);
    }
    item.digest = setup_.folder.index_of(item);
    add(std::move(item), cells);
  }

  void add_source(const std::string& url, const std::string& checksum, const CellNames& cells) {
    constexpr std::string_view kGit = "git:";
    if (checksum.starts_with(kGit)) {
      tell(url);
      CommitFetcher git(setup_.steps.runner, setup_.git_environment, setup_.steps.site.pull_limits,
                        setup_.folder);
      for (MirrorItem& item : git.fetch(url, checksum.substr(kGit.size()))) add(std::move(item), cells);
      report_.fetched += git.fetched();
      return;
    }
    const Digest digest = Digest::parse(checksum);
    if (!setup_.folder.is_whole(digest)) {
      tell(url);
      ++report_.fetched;
      fetch_file(url, "", digest, setup_.http(), setup_.folder);
    }
    MirrorItem item{MirrorKind::archive, file_name_of(url),
                    fmt::format("archives/{}/{}", digest.hex(), file_name_of(url)), digest};
    item.source = url;
    setup_.folder.link(item.path, digest);
    item.size = fs::file_size(setup_.folder.path(item.path));
    add(std::move(item), cells);
  }

  void add_wheels(const WheelNeed& need, const CellNames& cells) {
    tell("files of " + need.package);
    const std::size_t before = setup_.wheels().fetched();
    for (MirrorItem& item : setup_.wheels().fetch(need, before_)) add(std::move(item), cells);
    report_.fetched += setup_.wheels().fetched() - before;
  }

  // What the uppermost layers of the steps that are built say; the others are counted.
  std::vector<LayerApt> apt_of_steps(const BaseNeed& need, std::size_t& unbuilt) const {
    std::vector<LayerApt> layers;
    const BlobStore store = BlobStore::reading(setup_.steps.state.store());
    for (const std::string& key : need.steps) {
      const auto record = record_of(key);
      if (!record)
        ++unbuilt;
      else if (!record->chain.layers.empty())
        layers.push_back(read_apt(record->chain.layers.back(), store));
    }
    return layers;
  }

  std::optional<StepRecord> record_of(const std::string& key) const {
    return RecordReader(setup_.steps.state, setup_.steps.files).step(key);
  }

  static AptPackages packages_of(const std::vector<LayerApt>& layers) {
    AptPackages packages;
    for (const LayerApt& layer : layers) packages.merge(packages_in_status(layer.status.value_or("")));
    return packages;
  }

  // The base's recipe, to run its scripts.
  StepSetup setup_of(const Step& base, const fs::path& folder) {
    StepSetup own = setup_.steps;
    own.base = base;
    own.recipe_folders[base.component] = folder / "recipe";
    if (const LockNeed* need = lock_need_of(base))
      for (const auto& [path, file] : need->component->files)
        own.files.write_output(folder / "recipe" / path, file.bytes);
    return own;
  }

  const LockNeed* lock_need_of(const Step& base) const {
    for (const auto& [id, need] : locks_)
      for (const auto& [architecture, step] : need.base_steps)
        if (step.key == base.key) return &need;
    return nullptr;
  }

  void add_base(const BaseNeed& need) {
    const AptPackages packages = packages_of(apt_of_steps(need, report_.unbuilt));
    const fs::path folder = setup_.temporary / need.base.key.substr(0, 12);
    const StepSetup own = setup_of(need.base, folder);
    const auto site = site_of_base(own, folder, folder / "site.log");
    DebianArchive apt(own, need.base.component, site.value_or(""), setup_.folder, folder);
    add_packages(need, packages, apt, own, folder);
  }

  // What its image has is not installed again.
  void add_pulled(const BaseNeed& need) {
    std::size_t unbuilt = 0;
    const std::vector<LayerApt> steps = apt_of_steps(need, unbuilt);
    AptPackages packages = packages_of(steps);
    const bool is_told = mirror_.image(need.base.reference, architecture_of(need.base)) == nullptr;
    if (is_told || (unbuilt == 0 && packages.empty())) return;
    const ImageApt image = apt_of_image(need.base, steps);
    const AptPackages of_base = image.packages();
    if (!of_base.empty()) report_.unbuilt += unbuilt;  // else there is no dpkg
    for (const std::string& package : of_base) packages.erase(package);
    if (packages.empty()) return;
    const auto sources = image.sources(apt_architecture(architecture_of(need.base)));
    if (sources.empty())
      throw Error(ExitCode::input,
                  fmt::format("steps upon {} {} have packages, and apt's sources in them and in its image "
                              "name no archive, so they are not mirrored",
                              need.base.component, need.base.version));
    const fs::path folder = setup_.temporary / need.base.key.substr(0, 12);
    DebianArchive apt(setup_.steps, need.base.component, site_of_image(sources, folder, setup_.steps.files),
                      setup_.folder, folder);
    add_packages(need, packages, apt, setup_.steps, folder);
  }

  // As the mirror has it. Throws Error(input) where it does not.
  ImageApt apt_of_image(const Step& base, const std::vector<LayerApt>& steps) const {
    const std::string architecture = architecture_of(base);
    const fs::path layout = setup_.folder.path(image_path(base.reference, architecture));
    const SourceImage source = SourceImage::open({"oci", layout.string(), "base"}, architecture);
    ImageApt image;
    for (std::size_t i = 0; i < source.layer_count(); ++i)
      image.add_layer(read_apt(*source.open_layer(i, LayerLimits{})));
    for (const LayerApt& step : steps) image.add_step(step);
    return image;
  }

  void add_packages(const BaseNeed& need, const AptPackages& packages, DebianArchive& apt,
                    const StepSetup& own, const fs::path& folder) {
    FoundPackages found;
    const MirrorArchive archive = archive_for(need, packages, apt, own, folder, found);
    std::vector<ListedPackage> absent;
    for (const ListedPackage& package : found.found)
      if (!is_there(archive, package)) absent.push_back(package);
    std::optional<Error> problem;
    if (!absent.empty()) {
      tell(fmt::format("{} packages of {} {}", absent.size(), need.base.component, need.base.version));
      report_.fetched += absent.size();
      try {
        apt.fetch(archive, absent);
      } catch (const Error& error) {
        if (error.code() != ExitCode::network) throw;
        problem = error;
      }
    }
    for (const ListedPackage& package : found.found)
      if (is_there(archive, package))
        add({MirrorKind::package, package.package, archive.suites[package.suite].folder + "/" + package.path,
             package.digest, package.size},
            need.cells);
    if (problem) throw Error(*problem);
    if (found.missing.empty()) return;
    throw Error(
        ExitCode::no_match,
        fmt::format("{} {} of {} {} are in no list of the archives any more: {}", found.missing.size(),
                    found.missing.size() == 1 ? "package" : "packages", need.base.component,
                    need.base.version, fmt::join(found.missing, ", ")),
        "build anew what has them, of the archives as they are (`kiln lock --update`), and mirror then");
  }

  bool is_there(const MirrorArchive& archive, const ListedPackage& package) const {
    const std::string path = archive.suites[package.suite].folder + "/" + package.path;
    return setup_.folder.is_linked(path, package.digest) && setup_.folder.is_whole(package.digest);
  }

  // What the mirror has, when that lists all packages; else what the archives list now.
  MirrorArchive archive_for(const BaseNeed& need, const AptPackages& packages, DebianArchive& apt,
                            const StepSetup& own, const fs::path& folder, FoundPackages& found) {
    if (const MirrorArchive* known = archive_of(before_, need.base);
        known != nullptr && lists_whole(*known)) {
      found = apt.find(*known, packages);
      if (found.missing.empty()) {
        for (const auto& [key, item] : before_.items)
          if (is_list_of(item, *known)) add(item, need.cells);
        return *known;
      }
    }
    tell(fmt::format("lists of packages for {} {}", need.base.component, need.base.version));
    std::vector<MirrorItem> lists;
    const std::string architecture = architecture_of(need.base);
    MirrorArchive archive =
        apt.fetch_lists(fmt::format("{}@{}", need.base.component, need.base.version), architecture, lists);
    archive.state = state_now(need.base, architecture, own, folder);
    report_.fetched += lists.size();
    for (MirrorItem& item : lists) add(std::move(item), need.cells);
    std::erase_if(mirror_.archives, [&](const MirrorArchive& one) { return one == archive; });
    mirror_.archives.push_back(archive);
    found = apt.find(archive, packages);
    return archive;
  }

  // Throws Error(locked) where a lockfile has the archives at another state.
  std::string state_now(const Step& base, const std::string& architecture, const StepSetup& own,
                        const fs::path& folder) {
    const LockNeed* need = lock_need_of(base);
    if (need == nullptr || need->method->archive.empty()) return "";
    std::string now = archive_state(base, need->method->archive, architecture, own, folder / "state");
    const std::string locked = value_or(base.parameters, "KILN_ARCHIVE");
    if (locked.empty() || locked == now) return now;
    throw Error(ExitCode::locked,
                fmt::format("the lockfile has the archives of {} {} at: {}; they hold now: {}",
                            base.component, base.version, locked, now),
                "an archive has only its current packages: `kiln lock --update`, build, and mirror again");
  }

  static bool is_list_of(const MirrorItem& item, const MirrorArchive& archive) {
    if (item.kind != MirrorKind::index && item.kind != MirrorKind::key) return false;
    return std::ranges::any_of(archive.suites, [&](const MirrorSuite& suite) {
      return item.path.starts_with(suite.folder + "/") ||
             suite.options.find("Signed-By: " + item.path) != std::string::npos;
    });
  }

  bool lists_whole(const MirrorArchive& archive) const {
    return std::ranges::all_of(before_.items, [&](const auto& one) {
      const MirrorItem& item = one.second;
      return !is_list_of(item, archive) ||
             (setup_.folder.is_linked(item.path, item.digest) && setup_.folder.is_whole(item.digest));
    });
  }

  void tell(const std::string& what) const { setup_.tell(what); }

  void count() {
    for (const auto& [key, item] : mirror_.items) {
      const bool ours = std::ranges::any_of(
          item.cells, [&](std::uint32_t cell) { return chosen_.contains(mirror_.cells[cell]); });
      if (!ours) continue;
      ++report_.items;
      report_.bytes += item.size;
    }
  }

  const FillSetup& setup_;
  const Mirror before_;
  Mirror mirror_;
  SourceNeeds needs_;
  LockNeeds locks_;
  CellNames chosen_;
  FillReport report_;
};

}  // namespace

FillReport fill_mirror(const FillSetup& setup) { return Filling(setup).run(); }

}  // namespace kiln
