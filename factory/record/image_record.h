// The index's data on an image: the sidecar file and the index row are both made from this.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/json.h"
#include "factory/base/version.h"
#include "factory/oci/layout.h"
#include "factory/record/host_description.h"
#include "factory/record/host_needs.h"
#include "factory/record/tests_record.h"

namespace kiln {

struct ComponentRecord {
  std::string kind;  // framework, library, compiler, …
  std::string name;
  Version version;
  std::string method;
  bool optimised = false;
  std::string role{};  // its role in the image, for example allocator; "" = none
};

// A file with code beyond the target that does not count.
struct AcceptedRecord {
  std::string file;
  std::string reason;
  std::string by;  // the recipe that says so, "framework/xgboost"; "kiln" for its own list
};

// Summary of the findings of `kiln inspect --evidence` when the image was built.
struct EvidenceRecord {
  std::string verdict;             // conforms, exceeds, not optimised
  std::string target;              // archspec's name, as declared
  std::vector<std::string> flags;  // as given to the compilers: "gcc 14.2.0: -march=haswell -mtune=haswell"
  std::vector<std::string> unconditional;  // features beyond the baseline that run without being chosen
  std::vector<std::string> dispatched;     // features that are only chosen at run time
  std::vector<std::string> gpu;            // sm_80, compute_90, gfx90a
  bool gpu_hidden = false;                 // there is more code for AMD's than could be read
  std::string glibc;                       // needed, "" = none
  std::string glibc_provided{};            // by the image, "" = it has none, or it was not looked for
  std::vector<std::string> missing;        // libraries without which a program of the image cannot start
  std::uint64_t beyond_target = 0;         // findings that are not accepted
  std::vector<std::string> exceeding{};    // their features, sorted
  std::vector<AcceptedRecord> accepted{};  // by file
  // A file of the image that shows a finding, by feature, library, GPU code, or "glibc": of what may make the
  // image unfit for a host.
  std::map<std::string, std::string> shown_by{};
  Digest report;  // the whole of it, a blob of the store
  bool empty() const { return verdict.empty(); }
};

// Where an image can be pulled from.
struct PublishedRecord {
  std::string registry;  // "registry.site:5000/ai": its repository lies below; "" = it is in none
  Digest sif;            // there, the manifest of its SIF as an artifact; empty: it has none
};

struct ImageRecord {
  Digest manifest;         // of the OCI manifest; empty for an external mapping
  std::string reference;   // external mapping: `docker://ethcscs/openmpi:3.1.3`; "" for built images
  std::string code;        // external mapping: its opt_dsl_code
  std::string repository;  // pytorch
  std::string tag;
  std::string immutable_tag;
  std::string key;          // plan key, 64 hex
  std::string cell;         // matrix cell id
  std::string application;  // the DSL's name for it: the framework, the MPI library, or an app_tag
  Version version;
  std::string method;
  bool optimised = false;  // answers enable_opt_build: true
  std::vector<ComponentRecord> components;
  std::string cpu;  // archspec microarchitecture
  std::vector<std::string> accelerators;
  std::map<std::string, std::string> selectors;  // external mapping: further DSL choices it answers
  std::map<std::string, std::string> labels;
  HostNeeds needs{};                           // in JSON "requires"
  std::map<std::string, std::string> facts{};  // of what is inside: python, cudnn
  std::uint64_t size = 0;                      // bytes of all layers, compressed
  std::string layout;                          // OCI image layout folder, relative to the state folder
  std::string created;                         // RFC 3339
  EvidenceRecord evidence;
  std::optional<TestsRecord> tests{};  // nullopt: a mapping, or a record of before they were kept
  std::vector<Attachment> attachments;
  PublishedRecord published{};

  // `<repository>:<tag>` for a built image, `reference` for an external one.
  std::string name() const;
  std::string sif_name() const;  // `<repository>_<tag>.sif`, as MODAK's $SINGULARITY_DIR has it
  // `docker://<registry>/<repository>:<tag>`; REQUIRES: it is in a registry.
  std::string registry_tag() const;
  std::string registry_digest() const;  // `docker://<registry>/<repository>@sha256:…`; REQUIRES as above
  std::string registry_sif() const;     // `oras://…@sha256:…`; "" where no SIF of it is in a registry
  bool external() const { return manifest.empty(); }
  // "its recipes have no test"; "" if it was tested where it was built, or if that is not known.
  std::string why_untested() const;
  const Attachment* attachment(std::string_view kind) const;  // nullptr when the image has none
  // 64 hex digits, equal for equal contents under any name: the plan's key, else the manifest's digest; of
  // mappings, that of the reference.
  std::string bits() const;
  // Name of sidecar and row: the manifest's digest; for an external image, the digest of its record.
  Digest identity() const;
};

// How many times as fast an image is as another one of the same session (bench/session.h).
struct MeasuredGain {
  std::string key;   // of the other image
  double ratio = 1;  // over 1: this image is the faster one
  double low = 1;    // 95 % interval of the ratio
  double high = 1;
  bool different() const { return low > 1 || high < 1; }  // else: no difference
};
// The same seen from the other image, whose key is `key`.
MeasuredGain inverse(const MeasuredGain& gain, const std::string& key);
// "1.35 times as fast (1.31 to 1.40)", "no difference (0.98 to 1.03)"; with `against`, "1.35 times as fast as
// pytorch:2.6.0 (1.31 to 1.40)". Every command prints a gain in these words.
std::string gain_text(const MeasuredGain& gain, std::string_view against = "");

// A measured speed of one image on one host, in one session.
struct Measurement {
  Digest image;     // manifest digest of the image that was run
  std::string key;  // its plan key: the measurement is of these bits, under whatever name; "" in old ones
  std::string workload;  // mnist-cnn
  std::string unit;      // "ms/step": less is better
  double median = 0;     // of the medians of the starts
  double low = 0;        // first quartile of all steady samples
  double high = 0;       // third quartile
  int samples = 0;
  double busy = 0;  // processors that others kept busy just before
  HostDescription host;
  std::string taken;                  // RFC 3339
  std::string session{};              // in which images took turns; "" in old ones
  std::string workload_files{};       // digest of the workload's files, 64 hex; "" in old ones
  int rounds = 0;                     // of the session that count; 0 in old ones
  std::vector<MeasuredGain> gains{};  // over images of the same session that come before it by key
  bool withdrawn = false;             // its runs were discarded: the index does not return it
  bool stock = false;                 // the image is what the framework's project publishes for its version
  std::optional<MeasuredGain> over_stock{};  // over the fastest stock image of its framework and version that
                                             // took turns with it
};

// An image's gain over stock by a measurement: docs/measure.md, "Gain over stock".
enum class StockGain { not_measured, proven, no_gain, slower };
// Starts of an image that show how much its starts differ. Fewer prove nothing: stock PyTorch took 139 to 221
// ms a step from one start to the next.
inline constexpr int kProvingRounds = 7;
// `not_measured`: no stock image took turns with it, or in fewer than kProvingRounds rounds.
StockGain stock_gain(const Measurement& measurement);
// "proven", "no gain", "slower", "not measured".
std::string_view stock_gain_word(StockGain gain);
// Whether it is of a stock image, in enough rounds to hold others against it.
bool is_yardstick(const Measurement& measurement);

// Reasons to doubt a measurement: samples far apart, or other load on the machine; "" without a doubt.
std::string doubt_about(const Measurement& measurement);
// "185.0 ms/step, quartiles 180.1 to 190.2"; then its doubts, if there are any.
std::string speed_text(const Measurement& measurement);

Json to_json(const EvidenceRecord& evidence);
Json to_json(const ImageRecord& record);
Json to_json(const Measurement& measurement);
EvidenceRecord evidence_record_from_json(const JsonNode& node);
ImageRecord image_record_from_json(const JsonNode& node);
Measurement measurement_from_json(const JsonNode& node);

// The names of images for people: several mappings may have one reference, and then the code says which.

class DistinctNames {
 public:
  void add(const ImageRecord& image);  // all of those that are shown together
  std::string operator()(const ImageRecord& image) const;

 private:
  std::set<std::string> once_, again_;  // references
};

// The Python modules of frameworks.

// The Python module of an application (ImageRecord::application, in any case): "torch" for PyTorch. "" if
// kiln knows none.
std::string python_module_of(std::string_view application);

}  // namespace kiln
