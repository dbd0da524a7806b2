#include "factory/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/base/json_text.h"
#include "factory/base/read_whole.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kLogLinesShown = 40;
constexpr std::uint64_t kLogBytesShown = 64u << 10;
constexpr double kBetweenLines = 10;  // seconds
constexpr double kBetweenForecasts = 2;
constexpr double kBetweenTimesLeft = 60;
constexpr double kBetweenLogReads = 1;
constexpr double kBetweenLogLines = 60;  // on lines of their own: a log of CI keeps each
constexpr std::size_t kStatusWidth = 120;
constexpr std::size_t kLeastOfLine = 20;  // less of a log's line says nothing

constexpr auto kStates = enum_names<StepEvent::State>({{StepEvent::State::started, "started"},
                                                       {StepEvent::State::running, "running"},
                                                       {StepEvent::State::waiting, "waiting"},
                                                       {StepEvent::State::done, "done"},
                                                       {StepEvent::State::fetched, "fetched"},
                                                       {StepEvent::State::up_to_date, "up_to_date"},
                                                       {StepEvent::State::failed, "failed"},
                                                       {StepEvent::State::forged, "forged"}});

constexpr auto kStyles = enum_names<ProgressStyle>({{ProgressStyle::tty, "tty"},
                                                    {ProgressStyle::plain, "plain"},
                                                    {ProgressStyle::json, "json"},
                                                    {ProgressStyle::none, "none"}});

std::string with_target(const std::string& title, const std::string& target) {
  return target.empty() ? title : title + " for " + target;
}

// The first `most` bytes at most, and no part of a character.
std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0u) == 0x80u) --most;
  text.resize(most);
  return text;
}

constexpr double kBetweenPullLines = 10;  // seconds
constexpr const char* kClearLine = "\r\x1b[K";

std::string line_of(const PullState& state, ProgressStyle style) {
  if (style != ProgressStyle::json)
    return without_controls(fmt::format("pulling {}: {}", state.image, text_of(state)));
  Json json{{"event", "pull"}, {"image", state.image}, {"bytes", state.bytes}, {"rate", state.rate}};
  if (!state.waits.empty()) json["waits"] = state.waits;
  return printable_json(json, -1);
}

}  // namespace

std::string last_line_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t last = text.find_last_not_of(kBlanks);
  if (last == text.npos) return "";
  text = text.substr(0, last + 1);
  text.remove_prefix(text.find_last_of("\r\n") + 1);  // npos + 1 is 0: the text is one line
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return std::string(text);
}

ProgressStyle progress_style(const std::string& word, bool stderr_is_terminal) {
  if (word == "auto") return stderr_is_terminal ? ProgressStyle::tty : ProgressStyle::plain;
  if (auto style = kStyles.find(word)) return *style;
  throw Error(ExitCode::usage, "unknown progress style '" + word + "'",
              "one of auto, tty, plain, json, none");
}

Json to_json(const StepEvent& event) {
  Json json{
      {"event", "step"}, {"key", event.key}, {"title", event.title}, {"state", kStates.of(event.state)}};
  if (event.state != StepEvent::State::started) json["seconds"] = event.seconds;
  put(json, "what", event.what);
  put(json, "log", event.log);
  return json;
}

std::optional<StepEvent> step_event_from_line(std::string_view line) {
  if (!line.starts_with("{\"event\":\"step\"")) return std::nullopt;
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  StepEvent event;
  event.key = json.value("key", "");
  event.title = json.value("title", "");
  event.seconds = json.value("seconds", 0.0);
  event.what = json.value("what", "");
  event.log = json.value("log", "");
  if (auto state = kStates.find(json.value("state", ""))) event.state = *state;
  return event;
}

std::string note_line(const std::string& text) {
  return printable_json(Json{{"event", "note"}, {"text", text}}, -1);
}

std::optional<std::string> note_from_line(std::string_view line) {
  if (!line.starts_with("{\"event\":\"note\"")) return std::nullopt;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("text") || !json["text"].is_string()) return std::nullopt;
  return json["text"].get<std::string>();
}

Progress::Progress(ProgressStyle style, const Clock& clock, Write write, bool colour, Write hear)
    : style_(style), clock_(clock), write_(std::move(write)), hear_(std::move(hear)), colour_(colour) {}

void Progress::begin(std::size_t steps_to_run, Forecast forecast, ProgressSource source) {
  std::lock_guard lock(mutex_);
  source_ = std::move(source);
  total_ = steps_to_run;
  forecast_ = std::move(forecast);
  left_ = forecast_.left(clock_.monotonic_seconds());
  looked_ = clock_.monotonic_seconds();
  if (style_ == ProgressStyle::json) write_(Json{{"event", "plan"}, {"steps", total_}}.dump() + "\n");
  say_time_left();
}

void Progress::event(const StepEvent& event) {
  std::lock_guard lock(mutex_);
  if (style_ == ProgressStyle::json) {
    Json json = to_json(event);
    put(json, "target", target_of(event.key));
    write_(printable_json(json, -1) + "\n");
  }
  if (event.state == StepEvent::State::started) {
    const double now = clock_.monotonic_seconds();
    running_[event.key] = {event.title, now, "", now, false, target_of(event.key), "", now};
    forecast_.start(event.key, now);
    if (style_ == ProgressStyle::plain) print_line("start  " + title_of(event));
    return;
  }
  if (event.state == StepEvent::State::running) return note_running(event);
  if (event.state == StepEvent::State::waiting) return note_waiting(event);
  if (event.state == StepEvent::State::forged)
    return print_line(fmt::format("FORGED {}: {}", event.title, event.what));
  const bool has_begun = running_.erase(event.key) > 0;
  const bool fetched = event.state == StepEvent::State::fetched;
  forecast_.end(event.key);
  if (has_begun || !fetched) ++finished_;  // what is fetched before all else is none of those to run
  if (event.state == StepEvent::State::up_to_date) return;
  bool failed = event.state == StepEvent::State::failed;
  if (failed) ++failed_;
  const char* word = failed    ? (colour_ ? "\033[31mFAILED\033[0m" : "FAILED")
                     : fetched ? (colour_ ? "\033[32mfetched\033[0m" : "fetched")
                               : (colour_ ? "\033[32mdone\033[0m  " : "done  ");
  write_line(fmt::format("{} {}  {:.1f} s{}", word, without_controls(title_of(event)), event.seconds,
                         failed || fetched ? "  " + without_controls(event.what) : ""));
  if (failed) show_failure(event);
}

void Progress::note_running(const StepEvent& event) {
  auto found = running_.find(event.key);
  if (found == running_.end()) return;
  Running& step = found->second;
  step.what = event.what;
  const double now = clock_.monotonic_seconds();
  if (step.waits) {
    step.waits = false;
    step.start = now;
    forecast_.start(event.key, now);
    if (style_ == ProgressStyle::plain && step.what.empty()) print_line("resume " + step.title);
  }
  if (style_ != ProgressStyle::plain || step.what.empty() || now - step.told < kBetweenLines) return;
  step.told = now;
  print_line(fmt::format("       {}: {}", step.title, step.what));
}

void Progress::note_waiting(const StepEvent& event) {
  const double now = clock_.monotonic_seconds();
  auto [found, is_new] = running_.try_emplace(
      event.key, Running{event.title, now, "", now, false, target_of(event.key), "", now});
  Running& step = found->second;
  const bool says = !step.waits || now - step.told >= kBetweenLines;
  step.waits = true;
  step.what = event.what;
  if (style_ != ProgressStyle::plain || !says) return;
  step.told = now;
  print_line(fmt::format("wait   {}: {}", step.title, step.what));
}

void Progress::look_ahead() {
  const double now = clock_.monotonic_seconds();
  if (now - looked_ >= kBetweenForecasts) {
    looked_ = now;
    left_ = forecast_.left(now);
  }
  if (now - said_ >= kBetweenTimesLeft) say_time_left();
}

std::string Progress::target_of(const std::string& key) const { return value_or(source_.targets, key); }

std::string Progress::title_of(const StepEvent& event) const {
  return with_target(event.title, target_of(event.key));
}

void Progress::hear_logs() {
  if (!source_.last_line || style_ == ProgressStyle::none) return;
  const double now = clock_.monotonic_seconds();
  for (auto& [key, step] : running_) {
    const bool read =
        now - step.heard >= (style_ == ProgressStyle::tty ? kBetweenLogReads : kBetweenLogLines);
    if (step.waits || !read) continue;
    step.heard = now;
    step.line = without_controls(source_.last_line(key));
    if (style_ != ProgressStyle::tty && !step.line.empty()) say_last_line(key, step);
  }
}

void Progress::say_last_line(const std::string& key, const Running& step) {
  const double seconds = clock_.monotonic_seconds() - step.start;
  if (style_ == ProgressStyle::json) {
    Json json = to_json(StepEvent{StepEvent::State::running, key, step.title, seconds, step.what});
    json["line"] = step.line;
    put(json, "target", step.target);
    return write_(printable_json(json, -1) + "\n");
  }
  print_line(fmt::format("       {} {:.0f}s: {}", with_target(step.title, step.target), seconds, step.line));
}

void Progress::say_time_left() {
  said_ = clock_.monotonic_seconds();
  if (!left_) return;
  if (style_ == ProgressStyle::json)
    write_(Json{{"event", "forecast"}, {"seconds_left", left_->seconds}, {"error", left_->error}}.dump() +
           "\n");
  if (style_ == ProgressStyle::plain)
    print_line(fmt::format("[{}/{}] {}", finished_, total_, text_of(left_)));
}

void Progress::show_failure(const StepEvent& event) {
  std::string end = read_end(event.log, kLogBytesShown);
  if (end.empty()) return;
  print_line(fmt::format("--- last lines of {}", event.log));
  print_line(last_lines(end, kLogLinesShown));
  print_line(fmt::format("--- {}: {}", event.title, event.what));
}

void Progress::note(const std::string& text) {
  std::lock_guard lock(mutex_);
  if (hear_) hear_(text);
  if (style_ == ProgressStyle::json)
    write_(note_line(text) + "\n");
  else
    print_line(text);
}

void Progress::print_line(const std::string& text) { write_line(without_controls(text)); }

void Progress::write_line(const std::string& text) {
  if (style_ == ProgressStyle::none || style_ == ProgressStyle::json) return;
  if (style_ == ProgressStyle::tty && line_shown_) write_("\r\033[K");
  line_shown_ = false;
  write_(text + "\n");
}

std::string Progress::status_line() const {
  std::string line = fmt::format("[{}/{}]", finished_, total_);
  if (failed_ > 0) line += fmt::format(" {} failed", failed_);
  if (left_) line += " " + text_of(left_);
  std::vector<std::pair<std::string, const Running*>> steps;
  std::size_t width = line.size(), with_lines = 0;
  for (const auto& [key, step] : running_) {
    const double seconds = clock_.monotonic_seconds() - step.start;
    if (step.waits)
      steps.emplace_back(fmt::format("  {} waits ({})", step.title, step.what), nullptr);
    else
      steps.emplace_back(fmt::format("  {} {:.0f}s{}", with_target(step.title, step.target), seconds,
                                     step.what.empty() ? "" : " (" + step.what + ")"),
                         &step);
    width += steps.back().first.size();
    with_lines += steps.back().second != nullptr && !step.line.empty() ? 1 : 0;
  }
  std::stable_partition(steps.begin(), steps.end(), [](const auto& step) { return step.second != nullptr; });
  // What the titles leave is the logs'.
  const std::size_t left = width < kStatusWidth && with_lines > 0 ? (kStatusWidth - width) / with_lines : 0;
  for (const auto& [text, step] : steps) {
    line += text;
    if (step != nullptr && !step->line.empty() && left >= kLeastOfLine + 2)
      line += ": " + cut(step->line, left - 2);
  }
  return line.size() > kStatusWidth ? cut(std::move(line), kStatusWidth - 3) + "..." : line;
}

void Progress::tick() {
  std::lock_guard lock(mutex_);
  look_ahead();
  hear_logs();
  if (style_ != ProgressStyle::tty) return;
  write_("\r\033[K" + without_controls(status_line()));
  line_shown_ = true;
}

void Progress::finish() {
  std::lock_guard lock(mutex_);
  if (style_ == ProgressStyle::tty && line_shown_) write_("\r\033[K");
  line_shown_ = false;
}

std::function<void(const PullState&)> pull_teller(ProgressStyle style, const Clock& clock,
                                                  std::function<void(const std::string&)> write) {
  if (style == ProgressStyle::none) return {};
  if (style == ProgressStyle::tty)
    return [style, write = std::move(write)](const PullState& state) {
      write(state.ended ? kClearLine : kClearLine + line_of(state, style));
    };
  return [style, &clock, write = std::move(write),
          told = clock.monotonic_seconds()](const PullState& state) mutable {
    const double now = clock.monotonic_seconds();
    if (state.ended || (state.waits.empty() && now - told < kBetweenPullLines)) return;
    told = now;
    write(line_of(state, style) + "\n");
  };
}

}  // namespace kiln
