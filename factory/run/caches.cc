#include "factory/run/caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "factory/base/durable_file.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kIdDigits = 32;
constexpr const char* kStatistics = "/run/kiln/cache/statistics";

// What pip says of a file that is not what its index promised, or is no archive: pip's exceptions.py
// (HashMismatch, InvalidWheel), and zipfile's and zlib's words below them.
constexpr std::array kPipDamage = {"DO NOT MATCH THE HASHES", "BadZipFile", "Bad CRC-32",
                                   "' located at ",  // Wheel '…' located at … is invalid
                                   "has an invalid wheel",    "zlib.error", "Error -3 while decompressing"};

fs::path cache_root(const StepSetup& setup) {
  return fs::absolute(setup.site.cache.folder.empty() ? setup.state.caches()
                                                      : fs::path(setup.site.cache.folder));
}

// ccache (its manual, "Configuration"): no configuration file, of the image or of the cache, has a say. All
// sources are preprocessed (direct mode does not see a header that is new and found first), nothing is
// sloppy, and a compiler and an assembler are known by what is in them.
std::map<std::string, std::string> for_ccache(const std::string& inside, std::uint64_t size) {
  return {{"CCACHE_DIR", inside},
          {"CCACHE_CONFIGPATH", "/dev/null"},
          {"CCACHE_COMPILERCHECK", "content"},
          {"CCACHE_EXTRAFILES", "/usr/bin/as"},
          {"CCACHE_NODIRECT", "true"},
          {"CCACHE_MAXSIZE", fmt::format("{}Mi", size >> 20)},
          {"CCACHE_STATSLOG", kStatistics}};
}

}  // namespace

std::string cache_id(const Step& step, const StepRecord& parent) {
  std::string text = step.component + "\n";
  for (const BuiltLayer& layer : parent.chain.layers) text += layer.diff_id.text() + "\n";
  return Digest::of(text).hex().substr(0, kIdDigits);
}

Caches::Caches(const Step& step, const StepRecord& parent, const StepSetup& setup, const fs::path& folder)
    : step_(step),
      setup_(setup),
      statistics_(fs::absolute(folder) / "ccache.statistics"),
      id_(cache_id(step, parent)),
      folders_(cache_root(setup), setup.files) {
  if (!setup.site.cache.use) return;
  for (const std::string& kind : step.cache) {
    try {
      add(kind);
      kinds_.push_back(kind);
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      note(fmt::format("runs without the cache {}: {}", kind, error.message()));
    } catch (const fs::filesystem_error& error) {
      note(fmt::format("runs without the cache {}: {}", kind, error.what()));
    }
  }
}

Caches::~Caches() {
  if (uses_.empty()) return;
  uses_.clear();
  try {
    folders_.shrink(setup_.site.cache.size);
  } catch (const std::exception&) {
    return;  // the next one does it
  }
}

void Caches::add(const std::string& kind) {
  const FileMask of_images(kImageMask);  // whatever user of the container reads them
  CacheUse use = folders_.use(kind, id_);
  const std::string inside = fmt::format("{}/{}", kCachesInside, kind);
  if (kind == "ccache") {
    setup_.files.write_output(statistics_, "");
    mounts_.push_back({use.folder(), inside, true});
    mounts_.push_back({statistics_, kStatistics, true});
    environment_.merge(for_ccache(inside, setup_.site.cache.size));
  } else if (kind == "pip") {
    // Downloads only. Beside them pip keeps wheels that it compiled, by flags that it does not look at.
    for (const char* part : {"http", "http-v2"}) {  // before pip 23.3, and since
      setup_.files.make_directories(use.folder() / part);
      mounts_.push_back({use.folder() / part, fmt::format("{}/{}", inside, part), true});
    }
    environment_["PIP_CACHE_DIR"] = inside;
  }
  uses_.push_back(std::move(use));
}

void Caches::note(const std::string& what) const {
  std::ofstream(setup_.state.log(step_.key), std::ios::app) << "kiln: " << what << '\n';
}

void Caches::hand_to(ContainerRun& request) const {
  request.mounts.insert(request.mounts.end(), mounts_.begin(), mounts_.end());
  // Whatever the site hands on: what is sloppy there would be found here.
  if (environment_.contains("CCACHE_DIR"))
    std::erase_if(request.environment, [](const auto& one) { return one.first.starts_with("CCACHE_"); });
  for (const auto& [name, value] : environment_) request.environment[name] = value;
}

std::string Caches::told() const {
  std::istringstream lines(setup_.files.read(statistics_).value_or(""));
  std::size_t found = 0;
  std::size_t compiled = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line == "preprocessed_cache_hit" || line == "direct_cache_hit") ++found;
    if (line == "cache_miss") ++compiled;
  }
  return found + compiled == 0
             ? ""
             : fmt::format("ccache found {} of {} files that were compiled", found, found + compiled);
}

bool Caches::drop_damaged(std::string_view tail) {
  const bool is_there = std::ranges::find(kinds_, "pip") != kinds_.end();
  if (!is_there || !contains_any(tail, kPipDamage)) return false;
  folders_.drop("pip", id_);
  return true;
}

}  // namespace kiln
