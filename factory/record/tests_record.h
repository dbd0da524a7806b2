// Results of an image's tests on the building machine: part of its record (docs/formats/files.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/record/host_description.h"

namespace kiln {

// Where and when a test was run; what was not written down is empty.
struct TestRun {
  std::string host;                       // the machine's name
  std::string cpu;                        // archspec's of its processor
  std::vector<std::string> accelerators;  // "nvidia:sm_90", "nvidia"; as many as it has
  std::string kernel;                     // "6.1.0-18-amd64"
  std::string at;                         // RFC 3339
  std::string emulator{};                 // "qemu-aarch64 7.2.22": emulated a processor of its kind

  // "nid0412 (zen4, nvidia:sm_90)", "nid0412 (emulated: qemu-aarch64 7.2.22)"; "" where nothing is known.
  std::string text() const;
  bool operator==(const TestRun&) const = default;
};

// The name of a test is that of its subject: "pytorch 2.6.0 (pip)".
struct TestsRecord {
  std::vector<std::string> passed;             // tried all that they have to try; sorted
  std::map<std::string, std::string> not_run;  // passed, but could not try all of it here: why
  std::map<std::string, TestRun> ran{};        // where, of each of both that was run since this is kept

  // Why the image does not count as tested where it was built; "" where all of it was.
  std::string why_untested() const;
  bool operator==(const TestsRecord&) const = default;
};

// The rest of a test's last line, after these words, says why the test did not run in full.
inline constexpr std::string_view kNotRun = "not run: ";

// The reason why a test left a part out, from the last line that it printed: in "…, not run: there is no GPU
// here; …" the text before the semicolon. "" if the line has no such reason.
std::string not_run_reason(std::string_view last_line);

// On which kinds of machines the tests of an image were passed, as much of it as selection asks: a run for
// each kind, with its processor and, of an image with accelerators, those of the machine. Nullopt: not all
// that it has were run where it is known, or of such an image without accelerators, or one was emulated.
std::optional<TestsRecord> test_kinds(const std::optional<TestsRecord>& tests, bool has_accelerators);
// Whether each of those kinds is that of `here`: the same microarchitecture and, of an image with
// accelerators, the same accelerators, as measurements compare (docs/selection.md).
bool is_tested_like(const std::optional<TestsRecord>& kinds, const HostDescription& here);
// "tested on nid0412 (zen4), 2026-11-24"; each machine once, with its last day. "" where nothing is known.
std::string tested_where(const TestsRecord& tests);

Json to_json(const TestRun& run);
Json to_json(const TestsRecord& tests);
TestsRecord tests_record_from_json(const JsonNode& node);

}  // namespace kiln
