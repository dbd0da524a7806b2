// The report of one night of a matrix: `<state>/nights/<matrix>/<number>/night.json`. Schema: `kiln schema
// night`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/record/image_record.h"
#include "factory/state/record_store.h"

namespace kiln {

enum class Verdict {
  built,        // anew
  mended,       // built, and the last night it failed
  unchanged,    // up to date
  failed,       // a step, a test or its packaging
  unplanned,    // its recipe, target or lockfile is wrong
  not_reached,  // the night ended before its turn
  no_time,      // the budget was for others
  no_machine    // nothing here runs its programs
};
std::string_view name_of(Verdict verdict);
bool is_good(Verdict verdict);     // there is an image of today's plan
bool has_failed(Verdict verdict);  // this night tried to build it, and there is no image

// The party that must act on a failure.
enum class Actor { nobody, recipe, site };
std::string_view name_of(Actor actor);

// A night does what it can; this says how far that was.
enum class NightState {
  green,       // every image is good, or waits for its machine or for a night with time for it
  red,         // some failed, and the others were published
  held,        // the gate is closed: nothing was published
  interrupted  // by a signal
};
std::string_view name_of(NightState state);

// Sets the value by its name. Returns false and sets nothing if the name is unknown.
bool read_name(std::string_view name, Verdict& verdict);
bool read_name(std::string_view name, Actor& actor);
bool read_name(std::string_view name, NightState& state);

// The gain of an image over stock, in a workload on a kind of host.
struct NightGain {
  StockGain word = StockGain::not_measured;
  double ratio = 1;  // over 1: it is faster than stock
  double low = 1;    // 95 % interval of the ratio
  double high = 1;
  std::int64_t fell = 0;            // the night from which on it was not proven any more; 0 = it did not fall
  bool is_of_earlier_bits = false;  // that the last night knew; those of this one are not measured
};

struct NightImage {
  std::string cell;
  std::string name;  // "pytorch:2.6.0-…"; of a cell that is unplanned, its id
  std::string key;   // "" of such a cell
  std::map<std::string, std::string> axes;
  std::string include;  // "matrix/demo.json:16:5", if an include names it: no exclude removes it
  Verdict verdict = Verdict::not_reached;
  Actor actor = Actor::nobody;
  std::string advice;                          // the task of the actor, or the automatic action; a sentence
  std::string what;                            // how it failed: "pytorch 2.6.0 (pip): exit status 1: …"
  std::string step;                            // that failed, by its key; "" = packaging or planning
  std::string script;                          // of that step: "compiler/turbo (distro): distro.sh"
  FailureClass failure = FailureClass::build;  // of what failed
  ExitCode cause = ExitCode::images_failed;    // kiln's exit code for this failure alone
  std::string log;                             // relative to the state folder
  std::string end_of_log;                      // its last lines, without controls
  std::vector<std::string> why;    // it was built, or had to be: "library/openblas: distro.sh changed (…)"
  std::int64_t failing_since = 0;  // the first night of an unbroken row in which it failed; 0 = it did not
  double seconds = 0;              // of its steps, tests and packaging that ran; 0 = none did
  std::uint64_t bytes = 0;         // of its layers, compressed; 0 = there is no image
  // "mnist-cnn, ms/step, on nid001": the newest median; "times as fast as stock, …": the newest ratio.
  std::map<std::string, double> speeds;
  std::map<std::string, NightGain> gains{};  // by gain_place() (night_gains.h)
};

// Kinds of trouble of the night itself.
enum class TroubleCause {
  network,   // a registry or a source did not answer
  refused,   // a registry refuses the login or the request
  registry,  // a registry is full, or has lost or changed what kiln pushed
  tag,       // a tag or an alias was left unchanged: kiln did not set it, or its meaning is unclear
  lock,      // another program holds the state folder, the index or the lease
  disk,      // full, read-only or damaged
  tool,      // a program is missing, or ended the run
  input,     // the matrix, the lockfile or the site file
  gain,      // an image lost a proven gain over stock
  forged,    // a shared step whose signature does not match its record
  internal   // a mistake of kiln
};
std::string_view name_of(TroubleCause cause);
bool read_name(std::string_view name, TroubleCause& cause);

// Trouble of the night itself, not of one image. A night with trouble is not green. Made by trouble_of(), or
// member by member; judge() fills in the actor where there is no advice yet (night/trouble.h).
struct NightTrouble {
  TroubleCause cause = TroubleCause::internal;
  std::string subject;  // the registry, tag, step or file that it is about; "" = the night
  std::string what;     // one line
  ExitCode code = ExitCode::images_failed;  // kiln's exit code for this trouble alone
  Actor actor = Actor::nobody;
  std::string advice;      // the task of the actor; a sentence
  std::int64_t since = 0;  // the first night of an unbroken row with this trouble
};

// Images that failed for one reason.
struct FailureGroup {
  std::string what;               // as the first of them says it
  std::vector<std::string> also;  // messages of others of them, if they differ; the first few
  Actor actor = Actor::nobody;
  std::vector<std::string> cells;
  std::map<std::string, std::string> shared;  // axis values that all of them have, and not all others
  // Entries of a matrix's `exclude` that would take out all of them, and nothing that is good; empty where
  // nothing is good, and where it would be one for each of many.
  std::vector<std::map<std::string, std::string>> exclude;
  std::vector<std::string> includes;  // places of the include entries that want others of them
};

struct GateJob {
  std::string name;
  std::size_t cells = 0;             // that its patterns choose
  std::vector<std::string> missing;  // names of those that are not good
};

// A series of nights that has changed its level (bench/change_points.h).
struct Trend {
  std::string name;   // of the image
  std::string what;   // "seconds", "bytes", or a speed's name
  double before = 0;  // means of both levels
  double after = 0;
  std::int64_t night = 0;  // the first of the new level
  bool suspected = false;
};

// The changes of the lockfile, or the reason why it did not change.
struct LockNews {
  std::vector<std::string> changes;    // "base/debian@trixie: sha256:… → sha256:…"
  std::vector<std::string> held;       // moved, and does not count yet, with the day on which it will
  std::vector<std::string> proposals;  // newer versions, for the site to look at
  std::vector<std::string> problems;   // unanswered requests
};

struct NightReport {
  std::string matrix;
  std::int64_t number = 0;   // 1, 2, … of a matrix in a state folder
  std::int64_t started = 0;  // seconds since 1970
  std::int64_t ended = 0;
  std::string host;
  // Seconds from one night to the next, as the site file had it; 0 = unknown; -1 = not recorded.
  std::int64_t every = -1;
  NightState state = NightState::green;
  int exit_code = 0;
  std::vector<std::string> remarks;  // about the whole night, for people: a night that did not run, …
  std::vector<NightTrouble> troubles;
  std::vector<std::string> warnings;     // all that were given in this night, each once
  std::map<std::string, double> phases;  // seconds of each part: "build"; parts that took no time are absent
  std::size_t steps_run = 0;
  std::size_t steps_fetched = 0;  // that other builders ran
  LockNews lock;
  std::vector<NightImage> images;  // in the plan's order
  std::vector<std::string> gone;   // names that the last night had, and the matrix has no longer
  std::vector<FailureGroup> failures;
  std::vector<GateJob> gate;
  std::vector<Trend> trends;
  std::int64_t snapshot = 0;  // of the index when the night ended; 0 = none
  bool is_new_snapshot = false;
  std::int64_t last_green = 0;  // when the last green night ended; 0 = none did
  std::string collected;        // work of gc, in words; "" = none
  std::string registry;         // pushed images, in words; "" = none

  std::size_t count(Verdict verdict) const;
};

Json to_json(const NightReport& report);
NightReport night_from_json(const JsonNode& node);  // throws Error(input)

// The part of earlier nights that a report keeps: their results, and the values of series. Their reports have
// thousands of images each, and a night reads many of them. Pure.

// The values that a night has added to the series of an image.
struct PastValues {
  std::string name;                      // of the image
  double seconds = 0;                    // 0: it was not built
  double bytes = 0;                      // so, too
  std::map<std::string, double> speeds;  // as NightImage has them
};

struct PastNight {
  std::int64_t number = 0, started = 0, ended = 0, last_green = 0, snapshot = 0;  // as NightReport has them
  NightState state = NightState::green;
  std::size_t images = 0, good = 0;
  std::int64_t every = -1;           // as NightReport has it
  std::string headline;              // night_headline()
  std::vector<PastValues> values{};  // of the images that have any
};

PastNight past_of(const NightReport& report);

Json to_json(const PastNight& past);
PastNight past_night_from_json(const JsonNode& node);  // throws Error(input)

}  // namespace kiln
