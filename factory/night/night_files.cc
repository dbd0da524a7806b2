#include "factory/night/night_files.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace kiln {
namespace {

constexpr JsonLimits night_limits() {
  JsonLimits limits;
  limits.bytes = kMostFile;
  limits.members = 20'000'000;
  return limits;
}

// Small documents of ours, which may be gone or damaged: then nothing is known.
template <typename Read>
auto read_small(const FileSystem& files, const fs::path& file, Read read)
    -> std::optional<decltype(read(std::declval<JsonNode>()))> {
  try {
    const auto text = files.read(file);
    if (!text) return std::nullopt;
    return read(JsonDocument::parse(*text, file.string()).root());
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Size and time of change, by which a report is known again; "" where there is none.
std::string stamp_of(const fs::path& file) {
  std::error_code missing;
  const auto size = fs::file_size(file, missing);
  if (missing) return "";
  const auto changed = fs::last_write_time(file, missing).time_since_epoch().count();
  return missing ? "" : std::to_string(size) + " " + std::to_string(changed);
}

// What FileSystem::write makes aside, and a killed night leaves.
bool is_half_written(const std::string& name) { return name.starts_with('.') && name.ends_with(".tmp"); }

}  // namespace

std::vector<std::int64_t> numbers_in(const fs::path& folder, const FileSystem& files) {
  constexpr std::int64_t kMostNumber = 1'000'000'000'000;
  std::vector<std::int64_t> numbers;
  for (const std::string& name : files.list(folder)) {
    std::int64_t number = 0;
    auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool is_whole = problem == std::errc{} && end == name.data() + name.size();
    if (is_whole && number > 0 && number <= kMostNumber) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

NightFolder::NightFolder(const StatePaths& state, const std::string& matrix, FileSystem& files)
    : path_(state.nights(matrix)), files_(files) {}

fs::path NightFolder::night(std::int64_t number) const { return path_ / std::to_string(number); }

std::optional<NightReport> NightFolder::report(std::int64_t number, std::vector<std::string>* damaged) const {
  const fs::path file = night(number) / "night.json";
  try {
    if (const auto text = files_.read(file))
      return night_from_json(JsonDocument::parse(*text, file.string(), night_limits()).root());
  } catch (const Error& error) {
    if (damaged != nullptr) damaged->push_back(error.format(""));
  }
  return std::nullopt;
}

std::optional<PastNight> NightFolder::past(std::int64_t number) const {
  const std::string stamp = stamp_of(night(number) / "night.json");
  const fs::path file = night(number) / "past.json";
  try {
    if (const auto text = stamp.empty() ? std::nullopt : files_.read(file)) {
      const JsonDocument document = JsonDocument::parse(*text, file.string(), night_limits());
      if (document.root().at("report").string() == stamp) return past_night_from_json(document.root());
    }
  } catch (const Error&) {
    // The report has it all.
  }
  return std::nullopt;
}

void NightFolder::each_report(const std::function<bool(const NightReport&)>& visit,
                              std::vector<std::string>* damaged) const {
  const std::vector<std::int64_t> all = numbers_in(path_, files_);
  for (auto number = all.rbegin(); number != all.rend(); ++number) {
    const auto found = report(*number, damaged);
    if (found && !visit(*found)) return;
  }
}

void NightFolder::each_past(const std::function<bool(PastNight)>& visit,
                            std::vector<std::string>* damaged) const {
  const std::vector<std::int64_t> all = numbers_in(path_, files_);
  for (auto number = all.rbegin(); number != all.rend(); ++number) {
    std::optional<PastNight> found = past(*number);
    if (!found)
      if (const auto whole = report(*number, damaged)) found = past_of(*whole);
    if (found && !visit(*std::move(found))) return;
  }
}

std::optional<NightBegun> NightFolder::begun() const {
  auto begun = read_small(files_, path_ / "running.json", [](const JsonNode& node) {
    const auto started = unix_seconds_of(node.at("started").string());
    return NightBegun{node.at("number").integer(1, INT64_MAX), started.value_or(0), node.at("by").string()};
  });
  // It was killed when all that it had to do was done.
  if (begun && files_.exists(night(begun->number) / "night.json")) return std::nullopt;
  return begun;
}

SentNotice NightFolder::told() const {
  return read_small(files_, path_ / "told.json", sent_notice_from_json).value_or(SentNotice{});
}

NightBegun NightFolder::begin(std::int64_t now, const std::string& by) {
  const std::vector<std::int64_t> all = numbers_in(path_, files_);
  const auto before = begun();
  const std::int64_t last = std::max(all.empty() ? 0 : all.back(), before ? before->number : 0);
  NightBegun night{last + 1, now, by};
  for (const fs::path& folder : {path_, this->night(last)})
    for (const std::string& name : files_.list(folder))
      if (is_half_written(name)) files_.remove_all(folder / name);
  files_.write(path_ / "running.json",
               Json{{"number", night.number}, {"started", rfc3339(now)}, {"by", by}}.dump() + "\n");
  return night;
}

void NightFolder::write(const NightReport& report, const std::string& html, const std::string& junit) {
  const fs::path folder = night(report.number);
  files_.write(folder / "report.html", html);
  files_.write(folder / "junit.xml", junit);
  files_.write(folder / "night.json",
               to_json(report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  keep_past(report);
  files_.remove_all(path_ / "running.json");
  // A name for people and for CI systems. Without it, the highest number is the latest night.
  std::error_code ignored;
  fs::remove(path_ / "latest.new", ignored);
  fs::create_symlink(folder.filename(), path_ / "latest.new", ignored);
  if (!ignored) fs::rename(path_ / "latest.new", path_ / "latest", ignored);
}

// Ignores an error, such as a full disk: each_past() then makes the summary from the report.
void NightFolder::keep_past(const NightReport& report) {
  Json past = to_json(past_of(report));
  past["report"] = stamp_of(night(report.number) / "night.json");
  try {
    files_.write_output(night(report.number) / "past.json",
                        past.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const Error&) {
    files_.remove_all(night(report.number) / "past.json");
  }
}

void NightFolder::write(const SentNotice& told) {
  files_.write(path_ / "told.json", to_json(told).dump() + "\n");
}

void NightFolder::keep_only(int newest) {
  const std::vector<std::int64_t> all = numbers_in(path_, files_);
  for (std::size_t i = 0; i + static_cast<std::size_t>(newest) < all.size(); ++i)
    files_.remove_all(night(all[i]));
}

}  // namespace kiln
