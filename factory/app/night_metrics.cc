#include "factory/app/night_metrics.h"

#include <fmt/format.h>

#include <array>

#include "factory/base/text.h"

namespace kiln {
namespace {

struct Family {
  std::string_view name;
  std::string_view help;
};

constexpr std::string_view kStarted = "kiln_night_started_timestamp_seconds";

// In the order of the document. All are gauges.
constexpr std::array kFamilies = {
    Family{kStarted, "When the last night began; later than its end while it runs, or when it was killed."},
    Family{"kiln_night_ended_timestamp_seconds", "When the last night with a report ended."},
    Family{"kiln_night_last_success_timestamp_seconds", "When the last green night ended; 0: none did."},
    Family{"kiln_night_number", "Number of the last night with a report."},
    Family{"kiln_night_exit_code", "Exit code of that night."},
    Family{"kiln_night_state", "1 for the state of that night."},
    Family{"kiln_night_images", "Images of that night by verdict and by who must act."},
    Family{"kiln_night_troubles", "Troubles of the night itself by who must act."},
    Family{"kiln_night_warnings", "Warnings of that night."},
    Family{"kiln_night_image_bytes", "Compressed bytes of the layers of its images, each image for itself."},
    Family{"kiln_night_steps", "Steps of that night: run here, or fetched from other builders."},
    Family{"kiln_night_phase_seconds", "Seconds of each part of that night."},
    Family{"kiln_night_snapshot", "Snapshot of the index when that night ended; 0: none."},
};

std::string escaped(std::string_view text) {
  std::string label;
  for (const char c : text) {
    if (c == '"' || c == '\\') label += '\\';
    label += c == '\n' ? ' ' : c;
  }
  return label;
}

class Samples {
 public:
  explicit Samples(const NightReport& report) : matrix_(escaped(report.matrix)) {}

  template <typename Value>
  void add(std::string_view name, Value value, const std::string& labels = "") {
    text_ +=
        fmt::format("{}{{matrix=\"{}\"{}{}}} {}\n", name, matrix_, labels.empty() ? "" : ",", labels, value);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string matrix_;
  std::string text_;
};

constexpr std::array kActors = {Actor::nobody, Actor::recipe, Actor::site};
constexpr std::array kVerdicts = {Verdict::built,   Verdict::mended,    Verdict::unchanged,
                                  Verdict::failed,  Verdict::unplanned, Verdict::not_reached,
                                  Verdict::no_time, Verdict::no_machine};
constexpr std::array kNightStates = {NightState::green, NightState::red, NightState::held,
                                     NightState::interrupted};

// Every combination, so that no series ends when its count falls to 0.
void add_images(const NightReport& report, Samples& samples) {
  std::map<std::pair<Verdict, Actor>, std::size_t> counts;
  std::uint64_t bytes = 0;
  for (const NightImage& image : report.images) {
    ++counts[{image.verdict, image.actor}];
    bytes += image.bytes;
  }
  for (Verdict verdict : kVerdicts)
    for (Actor actor : kActors)
      samples.add("kiln_night_images", counts[std::pair(verdict, actor)],
                  fmt::format("verdict=\"{}\",actor=\"{}\"", name_of(verdict), name_of(actor)));
  samples.add("kiln_night_image_bytes", bytes);
}

void add_troubles(const NightReport& report, Samples& samples) {
  for (Actor actor : kActors) {
    std::size_t count = 0;
    for (const NightTrouble& trouble : report.troubles) count += trouble.actor == actor ? 1 : 0;
    samples.add("kiln_night_troubles", count, fmt::format("actor=\"{}\"", name_of(actor)));
  }
  samples.add("kiln_night_warnings", report.warnings.size());
}

bool is_of(std::string_view line, std::string_view family) {
  return line.starts_with(family) && line.substr(family.size()).starts_with('{');
}

fs::path samples_file(const StatePaths& state, const std::string& matrix) {
  return state.nights(matrix) / "kiln.prom";
}

void write_metrics(const StatePaths& state, const std::string& matrix, const std::string& samples,
                   const std::string& folder, FileSystem& files) {
  files.write_output(samples_file(state, matrix), samples);
  std::vector<std::string> all;
  for (const std::string& name : files.list(state.root() / "nights"))
    if (auto text = files.read(samples_file(state, name))) all.push_back(*std::move(text));
  const std::string document = merged_metrics(all);
  files.write_output(metrics_file(state), document);
  if (!folder.empty()) files.write_output(fs::path(folder) / "kiln.prom", document);
}

}  // namespace

fs::path metrics_file(const StatePaths& state) { return state.root() / "kiln.prom"; }

std::string read_metrics(const StatePaths& state, const FileSystem& files) {
  constexpr std::uint64_t kMostMetrics = std::uint64_t{4} << 20;
  return unless_error([&] { return files.read(metrics_file(state), kMostMetrics).value_or(""); });
}

std::string begin_metrics(const std::string& before, const NightReport& report) {
  std::string text;
  for (const std::string_view line : split(before, '\n'))
    if (!line.empty() && !is_of(line, kStarted)) text += std::string(line) + "\n";
  Samples samples(report);
  samples.add(kStarted, report.started);
  return text + std::move(samples).text();
}

std::string night_metrics(const NightReport& report) {
  Samples samples(report);
  samples.add(kStarted, report.started);
  samples.add("kiln_night_ended_timestamp_seconds", report.ended);
  samples.add("kiln_night_last_success_timestamp_seconds", report.last_green);
  samples.add("kiln_night_number", report.number);
  samples.add("kiln_night_exit_code", report.exit_code);
  for (NightState state : kNightStates)
    samples.add("kiln_night_state", report.state == state ? 1 : 0,
                fmt::format("state=\"{}\"", name_of(state)));
  add_images(report, samples);
  add_troubles(report, samples);
  samples.add("kiln_night_steps", report.steps_run, "done=\"run\"");
  samples.add("kiln_night_steps", report.steps_fetched, "done=\"fetched\"");
  for (const auto& [phase, seconds] : report.phases)
    samples.add("kiln_night_phase_seconds", fmt::format("{:.3f}", seconds),
                fmt::format("phase=\"{}\"", escaped(phase)));
  samples.add("kiln_night_snapshot", report.snapshot);
  return std::move(samples).text();
}

std::string merged_metrics(const std::vector<std::string>& all) {
  std::string document;
  for (const Family& family : kFamilies) {
    std::string samples;
    for (const std::string& text : all)
      for (const std::string_view line : split(text, '\n'))
        if (is_of(line, family.name)) samples += std::string(line) + "\n";
    if (!samples.empty())
      document +=
          fmt::format("# HELP {} {}\n# TYPE {} gauge\n{}", family.name, family.help, family.name, samples);
  }
  return document;
}

void write_begin_metrics(const StatePaths& state, const NightReport& report, const std::string& folder,
                         FileSystem& files) {
  const std::string before = files.read(samples_file(state, report.matrix)).value_or("");
  write_metrics(state, report.matrix, begin_metrics(before, report), folder, files);
}

void write_night_metrics(const StatePaths& state, const NightReport& report, const std::string& folder,
                         FileSystem& files) {
  write_metrics(state, report.matrix, night_metrics(report), folder, files);
}

}  // namespace kiln
