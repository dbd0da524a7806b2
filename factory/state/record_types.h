// What the build leaves on disk: one small JSON file for each thing done, named by its key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/oci/layer_chain.h"

namespace kiln {

// Of a record that another builder made.
struct RecordOrigin {
  std::string place{};   // where it was fetched from: "registry.site:5000/ai/steps"; "": it was made here
  std::string signer{};  // id of the key that signed it; "": the place alone vouches for it
};

// A step that is done.
struct StepRecord {
  std::string key;
  LayerChain chain;
  double seconds = 0;
  RecordOrigin origin{};
};

struct TestRecord {
  std::string key;
  double seconds = 0;
  std::string last_line;  // what the test said it proved
  std::string host{};     // where it ran: the machine's name,
  std::string cpu{};      // and archspec's of its processor; "" in records of before these were kept
  std::string taken{};    // RFC 3339
  std::vector<std::string> accelerators{};  // "nvidia:sm_90", "nvidia"
  std::string kernel{};
  std::string emulator{};  // "qemu-aarch64 7.2.22": it ran in that, and not on the processor
  RecordOrigin origin{};
};

enum class FailureClass { input, build, infrastructure, policy };  // who must act
std::string_view name_of(FailureClass failure);
std::optional<FailureClass> failure_class_named(std::string_view name);  // nullopt: it is none

struct FailureRecord {
  std::string key;
  FailureClass failure = FailureClass::build;
  std::string what;  // "exit status 1", "killed after 2700 s of silence"
  std::string hint;  // may be empty
  fs::path log;
  ExitCode exit_code =
      ExitCode::images_failed;  // what `kiln` would exit with were this step all there is to do
  double seconds = 0;
  std::vector<std::string> tries = {};  // how those before the last one ended, and what the next was given
};

Json to_json(const StepRecord& record);
Json to_json(const TestRecord& record);
Json to_json(const FailureRecord& record);
StepRecord step_record_from_json(const JsonNode& node);
TestRecord test_record_from_json(const JsonNode& node);
FailureRecord failure_record_from_json(const JsonNode& node);

}  // namespace kiln
