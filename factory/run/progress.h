// Progress on stderr: a status line on a terminal, plain lines otherwise, or one JSON event a line.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/oci/registry_call.h"
#include "factory/run/forecast.h"

namespace kiln {

enum class ProgressStyle { tty, plain, json, none };

// "auto" → tty or plain by what stderr is. Throws Error(usage) for an unknown word.
ProgressStyle progress_style(const std::string& word, bool stderr_is_terminal);

// An event of a run. Steps write them into the state folder's FIFO as they start, while they pull and when
// they wait, and to stdout when they end.
struct StepEvent {
  // fetched: it is done, and another builder ran it. forged: the record that another builder shares of it
  // bears a signature that does not match; it is not ended by that, but run here.
  enum class State {
    started,
    running,
    waiting,
    done,
    fetched,
    up_to_date,
    failed,
    forged
  } state = State::started;
  std::string key;
  std::string title;
  double seconds = 0;
  // running: progress; waiting: reason; fetched: source; failed: cause; forged: reason
  std::string what{};
  std::string log{};
};

Json to_json(const StepEvent& event);
std::optional<StepEvent> step_event_from_line(std::string_view line);  // nullopt: not one of kiln's

// A note of a step that is no state of it, as a line of its stdout.
std::string note_line(const std::string& text);
std::optional<std::string> note_from_line(std::string_view line);  // nullopt: another line

// Facts about the steps of a run in addition to their events.
struct ProgressSource {
  std::map<std::string, std::string> targets{};                       // by key: what a step is made for
  std::function<std::string(const std::string& key)> last_line = {};  // of its log so far; "" for none
};

// The last line of `text`, the end of a log, that holds anything; of one that a program wrote over itself
// (CR) the last state.
std::string last_line_of(std::string_view text);

// Thread-safe: starts arrive from a reader thread, ends from ninja's output.
class Progress {
 public:
  using Write = std::function<void(const std::string&)>;
  // `hear`: gets the text of each note(), whatever the style; may be empty.
  Progress(ProgressStyle style, const Clock& clock, Write write, bool colour, Write hear = {});

  void begin(std::size_t steps_to_run, Forecast forecast = {}, ProgressSource source = {});
  void event(const StepEvent& event);
  void note(const std::string& text);  // prints a separate line, kept apart from the status line
  void tick();                         // redraws the status line; called about ten times a second
  void finish();

 private:
  struct Running {
    std::string title;
    double start = 0;
    std::string what;  // how far it is, or what it waits for
    double told = 0;   // when a line last said so
    bool waits = false;
    std::string target;  // that it is made for; "" when that is not known
    std::string line;    // the last of its log
    double heard = 0;    // when the line was read, or the step began
  };
  void note_running(const StepEvent& event);
  void note_waiting(const StepEvent& event);
  void look_ahead();  // how long it still takes, from time to time
  void hear_logs();   // the last lines of what runs, from time to time
  void say_last_line(const std::string& key, const Running& step);
  std::string target_of(const std::string& key) const;
  std::string title_of(const StepEvent& event) const;  // with the target
  void say_time_left();
  void print_line(const std::string& text);  // without_controls()
  void write_line(const std::string& text);
  std::string status_line() const;
  void show_failure(const StepEvent& event);

  ProgressStyle style_;
  const Clock& clock_;
  Write write_, hear_;
  bool colour_;
  std::mutex mutex_;
  std::size_t total_ = 0;
  std::size_t finished_ = 0;
  std::size_t failed_ = 0;
  std::map<std::string, Running> running_;  // by key
  bool line_shown_ = false;
  Forecast forecast_;
  ProgressSource source_;
  std::optional<TimeLeft> left_;
  double looked_ = 0;  // when left_ was found
  double said_ = 0;    // when a line or an event said it
};

// How far a pull is, on stderr.

// For Skopeo::tell. On a terminal a line that is written anew and goes at the end; else one each ten seconds
// and for each wait before another try. `write` gets whole lines, or what replaces one. REQUIRES: `clock`
// outlives it.
std::function<void(const PullState&)> pull_teller(ProgressStyle style, const Clock& clock,
                                                  std::function<void(const std::string&)> write);

}  // namespace kiln
