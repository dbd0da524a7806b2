// The file of a step history: lines are added under a lock, and it is written anew when it has grown.
#include "factory/state/step_history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/enum_names.h"
#include "factory/base/json_fields.h"
#include "factory/base/read_whole.h"

namespace kiln {
namespace {

constexpr std::size_t kRunsKept = 5;  // of a step: as many as a prediction looks at
constexpr double kMostMemory = 1e15;  // what no machine has: damage

constexpr auto kEnds = enum_names<PastRun::End>({{PastRun::End::done, "done"},
                                                 {PastRun::End::failed, "failed"},
                                                 {PastRun::End::out_of_memory, "out of memory"},
                                                 {PastRun::End::out_of_time, "out of time"}});

constexpr auto kSources = enum_names<MemorySource>({{MemorySource::none, "none"},
                                                    {MemorySource::processes, "processes"},
                                                    {MemorySource::cgroup1, "cgroup v1"},
                                                    {MemorySource::cgroup2, "cgroup v2"}});

template <typename Names>
auto word_of(const Names& names) {
  return [&names](const JsonNode& node) {
    const auto found = names.find(node.string());
    if (!found) node.fail("an unknown word");
    return *found;
  };
}

std::uint64_t bytes_in(const JsonNode& node) {
  return static_cast<std::uint64_t>(node.integer(0, static_cast<std::int64_t>(kMostMemory)));
}

double seconds_in(const JsonNode& node) {
  const double seconds = node.number();
  if (!(seconds >= 0)) node.fail("a time before the start");
  return seconds;
}

constexpr std::size_t kRuns = 5;
constexpr double kMarginOfStep = 1.25;
constexpr double kMarginOfOthers = 1.5;
constexpr std::uint64_t kLeast = 64u << 20;  // bytes: an engine and a shell

bool is_like(StepNeed::Like like, const PastRun& step, const PastRun& run) {
  if (like == StepNeed::Like::step) return run.key == step.key;
  if (run.component != step.component || run.kind != step.kind) return false;
  return like == StepNeed::Like::component || (run.version == step.version && run.method == step.method);
}

// What ended early for another reason says nothing.
bool says_something(const PastRun& run) {
  return run.end == PastRun::End::done || run.end == PastRun::End::out_of_memory;
}

double memory_of(const PastRun& run) {
  const auto peak = static_cast<double>(run.memory.peak);
  return run.end == PastRun::End::out_of_memory ? 2 * peak : peak;
}

StepNeed summary(StepNeed::Like like, const std::vector<const PastRun*>& runs) {
  StepNeed need;
  need.like = like;
  need.runs = runs.size();
  double most = 0;
  std::vector<double> seconds;
  for (const PastRun* run : runs) {
    most = std::max(most, memory_of(*run));
    if (run->end != PastRun::End::done) continue;
    seconds.push_back(run->seconds);
    if (run->seconds > 0) need.processors = std::max(need.processors, run->processor_seconds / run->seconds);
  }
  if (most > 0) {
    const double margin = like == StepNeed::Like::step ? kMarginOfStep : kMarginOfOthers;
    need.memory = std::max(kLeast, static_cast<std::uint64_t>(std::llround(most * margin)));
  }
  if (seconds.empty()) return need;
  const auto count = static_cast<double>(seconds.size());
  for (double time : seconds) need.seconds += time / count;
  double squares = 0;
  for (double time : seconds) squares += (time - need.seconds) * (time - need.seconds);
  need.deviation = seconds.size() > 1 ? std::sqrt(squares / (count - 1)) : need.seconds / 2;
  return need;
}

constexpr std::uint64_t kShortenFrom = 4u << 20;  // bytes: some 14,000 runs, read by each step in some ms
constexpr std::uint64_t kMostRead = 64u << 20;
constexpr std::chrono::seconds kHistoryPatience{5};  // a run that is not kept harms nobody

void shorten(const fs::path& file) {
  std::string text;
  for (const PastRun& run : without_oldest(read_history(file), kShortenFrom / 2)) text += history_line(run);
  DurableFile written(file.parent_path());
  written.write(text.data(), text.size());
  written.publish(file);
}

}  // namespace

std::string_view name_of(PastRun::End end) { return kEnds.of(end); }
static std::string_view name_of(MemorySource source) { return kSources.of(source); }

template <typename Fields>
void describe(Fields& fields, MemoryUse& memory) {
  fields.must("by", memory.source, word_of(kSources));
  fields.when(true, "peak", memory.peak, bytes_in);
  fields.may("with_files", memory.with_files, bytes_in);
}

template <typename Fields>
void describe(Fields& fields, PastRun& run) {
  fields.must("key", run.key);
  fields.must("kind", run.kind);
  fields.must("component", run.component);
  fields.may("version", run.version);
  fields.may("method", run.method);
  fields.may("host", run.host);
  fields.must("time", run.time);
  fields.must("end", run.end, word_of(kEnds));
  fields.must("seconds", run.seconds, seconds_in);
  fields.when(run.processor_seconds > 0, "processor_seconds", run.processor_seconds, seconds_in);
  fields.when(run.memory.source != MemorySource::none, "memory", run.memory);
}

PastRun past_run_of(const Step& step) {
  PastRun run;
  run.key = step.key;
  run.kind = name_of(step.kind);
  run.component = step.component;
  run.version = step.version;
  run.method = step.method;
  return run;
}

std::string history_line(const PastRun& run) {
  return fields_of(run).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<PastRun> parse_history(std::string_view lines, std::string_view component) {
  // Of a long history most lines are of others, and need not be parsed.
  const std::string mark = Json(std::string(component)).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<PastRun> runs;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (!component.empty() && line.find(mark) == std::string_view::npos) continue;
    try {
      auto run = read_as<PastRun>(JsonDocument::parse(line, "history.jsonl").root());
      if (component.empty() || run.component == component) runs.push_back(std::move(run));
    } catch (const Error&) {  // cut by a full disk, or damaged: a run less
    }
  }
  return runs;
}

std::vector<PastRun> without_oldest(std::vector<PastRun> runs, std::size_t most) {
  std::map<std::string, std::size_t> kept;
  std::vector<PastRun> rest;  // newest first
  std::size_t bytes = 0;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (++kept[run->key] > kRunsKept) continue;
    bytes += history_line(*run).size();
    if (bytes > most) break;
    rest.push_back(std::move(*run));
  }
  std::ranges::reverse(rest);
  return rest;
}

StepNeed need_of(const PastRun& step, const std::vector<PastRun>& history) {
  for (auto like : {StepNeed::Like::step, StepNeed::Like::method, StepNeed::Like::component}) {
    std::vector<const PastRun*> runs;
    for (auto run = history.rbegin(); run != history.rend() && runs.size() < kRuns; ++run)
      if (says_something(*run) && is_like(like, step, *run)) runs.push_back(&*run);
    if (!runs.empty()) return summary(like, runs);
  }
  return {};
}

namespace fs = std::filesystem;

bool record_run(const fs::path& file, const PastRun& run) {
  LineFile history(file, kHistoryPatience);
  if (!history.is_open() || !history.append(history_line(run))) return false;
  try {
    if (history.size() >= kShortenFrom) shorten(file);
  } catch (const Error&) {  // the next one does it
  }
  return true;
}

std::vector<PastRun> read_history(const fs::path& file, std::string_view component) {
  return unless_error([&] { return parse_history(read_whole(file, kMostRead).value_or(""), component); });
}

}  // namespace kiln
