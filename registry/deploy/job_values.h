// Values of `job_options` that schedulers write differently: read once here, by one grammar for all
// schedulers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

// Each read_… throws Error(input) at the node.

std::optional<int> whole_number(std::string_view text);     // one to nine digits; nullopt for another text
int read_count(const JsonNode& node, int least, int most);  // a whole number, or a text of digits
std::string read_option(const JsonNode& node);       // a line of text without blanks around it, at most 1 KiB
std::string read_option_name(const JsonNode& node);  // of an account, a queue: [A-Za-z0-9_][A-Za-z0-9_.@+-]*
std::uint64_t read_memory(const JsonNode& node);     // bytes: "8GB", "512 MiB", "4g"; K is 1024, never 0
// In MiB, rounded up, with the unit as the reader writes it: `8192M` for Slurm, `8192mb` for PBS.
std::string mebibytes_text(std::uint64_t bytes, std::string_view unit);

// Names of nodes, or of one property that they have: "n1,n2", "n[01-04]", ["n1", "n2"].
std::vector<std::string> read_node_names(const JsonNode& node);
// "0-15%4", "1,3,7-9:2", or a number.
std::string read_array(const JsonNode& node);
// "afterok:17:18,afterany:19", "singleton".
std::string read_dependency(const JsonNode& node);
std::string read_address(const JsonNode& node);  // one e-mail address, ASCII

// Which ends and beginnings of a job are mailed. MODAK's documents have PBS's letters or Slurm's words.
struct MailEvents {
  std::string letters;             // as written: "abe"; "" = words were written
  std::vector<std::string> words;  // "BEGIN", "END", "FAIL", …
  bool empty() const { return letters.empty() && words.empty(); }
};
MailEvents read_mail_events(const JsonNode& node);
std::string mail_words(const MailEvents& events);                        // of Slurm: "BEGIN,END,FAIL"
std::string mail_letters(const MailEvents& events, bool knows_failure);  // of PBS; Torque alone has `f`

// When a job may start: a date and time, a time of day, or a distance from now.
struct StartTime {
  std::string date;      // 2026-11-27; "" = today or tomorrow
  std::string time;      // 08:30:00; "" of a distance
  std::string distance;  // "now+1hour", which Slurm alone knows
};
StartTime read_start_time(const JsonNode& node);
std::string slurm_begin(const StartTime& start);
std::string pbs_begin(const StartTime& start);  // "" where PBS has no word for it

// A variable of the environment: copied, or set to a value.
struct JobVariable {
  std::string name;
  std::optional<std::string> value;
};
// "A,B=1", ["A", "B=x,y"].
std::vector<JobVariable> read_variables(const JsonNode& node);

// When an application saves its state, and by which signal or interval.
struct JobCheckpoint {
  std::string path;
  std::chrono::seconds interval{0};           // 0: by `failure_rate`, or the application's own
  std::string signal;                         // "" = as deploy() chooses
  std::chrono::seconds before{120};           // the limit of time
  std::optional<double> failure_rate;         // failures of one node in a year
  std::optional<std::chrono::seconds> write;  // time that one checkpoint takes
  std::uint64_t size = 0, bandwidth = 0;      // in place of `write`: bytes, and bytes a second
};

JobCheckpoint read_checkpoint(const JsonNode& node);  // throws Error(input)

// Seconds between failures of a job on `nodes`, of which each fails `rate` times a year of 365 days.
double mean_time_between_failures(double rate, int nodes);
// Seconds that a checkpoint takes. REQUIRES: `write`, or size and bandwidth.
double write_time(const JobCheckpoint& checkpoint);

// The interval, in seconds, that loses the least time where a checkpoint takes `write` and failures are
// `between` apart. Young: J. W. Young, "A first order approximation to the optimum checkpoint interval",
// 1974.
double young_interval(double write, double between);
// J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006, eq. 37.
double daly_interval(double write, double between);

// Times of jobs: read once to seconds, written once for each scheduler.

// A number of seconds (as in MODAK), or a text: `12:00:00`, `1-12:00:00`, `90:00` (minutes and seconds), `29`
// (seconds), `PT12H` (ISO 8601), `12h`. Blanks around it are dropped. Throws Error(input) for any other text,
// for minutes or seconds over 59 after a colon, and for zero, which schedulers read as "no limit".
std::chrono::seconds read_wall_time(const JsonNode& node);

std::string slurm_time(std::chrono::seconds time);  // 1-12:00:00; sbatch(1): "days-hours:minutes:seconds"
std::string pbs_time(std::chrono::seconds time);    // 36:00:00

}  // namespace kiln
