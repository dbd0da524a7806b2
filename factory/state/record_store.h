// The records of a state folder on disk: each kind is read and written here, and nowhere else. Names are
// StatePaths', contents records.h's and ImageRecord's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/oci/blob_store.h"
#include "factory/record/image_record.h"
#include "factory/sbom/provenance.h"
#include "factory/state/state.h"

namespace kiln {

// The build's records on disk: one small JSON file for each finished step, test or image, named by its key.

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
  std::string last_line;  // of the test's output: its claim
  std::string host{};     // where it ran: the machine's name,
  std::string cpu{};      // and archspec's of its processor; "" in records of before these were kept
  std::string taken{};    // RFC 3339
  std::vector<std::string> accelerators{};  // "nvidia:sm_90", "nvidia"
  std::string kernel{};
  std::string emulator{};  // "qemu-aarch64 7.2.22": it ran in that, and not on the processor
  RecordOrigin origin{};
};

enum class FailureClass { input, build, infrastructure, policy };  // says who must act
std::string_view name_of(FailureClass failure);
std::optional<FailureClass> failure_class_named(std::string_view name);  // nullopt: unknown name

struct FailureRecord {
  std::string key;
  FailureClass failure = FailureClass::build;
  std::string what;  // "exit status 1", "killed after 2700 s of silence"
  std::string hint;  // may be empty
  fs::path log;
  ExitCode exit_code = ExitCode::images_failed;  // exit code of `kiln` if this step were its only one
  double seconds = 0;
  std::vector<std::string> tries = {};  // how those before the last one ended, and what the next was given
};

Json to_json(const StepRecord& record);
Json to_json(const TestRecord& record);
Json to_json(const FailureRecord& record);
StepRecord step_record_from_json(const JsonNode& node);
TestRecord test_record_from_json(const JsonNode& node);
FailureRecord failure_record_from_json(const JsonNode& node);

// Each is nullopt when there is no such record, and throws Error(input) that names the file for a damaged
// one.
class RecordReader {
 public:
  // REQUIRES: both outlive this.
  RecordReader(const StatePaths& state, const FileSystem& files) : state_(&state), files_(&files) {}

  std::optional<StepRecord> step(std::string_view key) const;
  std::optional<TestRecord> test(std::string_view key) const;
  // Of a step, or of the image with that key.
  std::optional<FailureRecord> failure(std::string_view key) const;
  // Of an image that is packaged; `record`: its record_name().
  std::optional<ImageRecord> image(std::string_view record) const;
  // The first, in the order of their names, of the packaged images that `is_wanted`.
  std::optional<ImageRecord> find_image(const std::function<bool(const ImageRecord&)>& is_wanted) const;
  // The packaged images with this key (64 hex digits), whatever they are called, in the order of their names.
  std::vector<ImageRecord> images_of(std::string_view key) const;
  // The SIF that was made before. nullopt for a damaged record, too: it is made anew.
  std::optional<Descriptor> conversion(std::string_view key) const;
  // Of the plan of that name; empty in a state folder of an older kiln.
  sbom::RecipeOrigin recipe_origin(std::string_view plan) const;

 private:
  const StatePaths* state_;
  const FileSystem* files_;
};

// Whole file or nothing, durably. Each throws Error(store).
class RecordWriter {
 public:
  // REQUIRES: both outlive this.
  RecordWriter(const StatePaths& state, FileSystem& files) : state_(&state), files_(&files) {}

  void write(const StepRecord& record) const;
  void write(const TestRecord& record) const;
  void write(const FailureRecord& record) const;
  void forget_failure(std::string_view key) const;  // of the last attempt; none is fine
  void remove_step(std::string_view key) const;     // so that it is run again
  void remove_test(std::string_view key) const;     // the same
  void write_image(std::string_view record, const ImageRecord& image) const;
  void remove_image(std::string_view record) const;
  void write_recipe_origin(std::string_view plan, const sbom::RecipeOrigin& origin) const;
  void write_conversion(std::string_view key, const Descriptor& sif) const;

 private:
  const StatePaths* state_;
  FileSystem* files_;
};

}  // namespace kiln
