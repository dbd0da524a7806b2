// One state folder that is asked again and again, by a library or a server: what kiln select answers, without
// a process for each question.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/cpu/microarchitecture.h"
#include "registry/answer/answer.h"
#include "registry/answer/resident_snapshot.h"
#include "registry/select/demand.h"
#include "registry/select/tuned_setting.h"

namespace kiln {

struct ChooserPaths {
  std::filesystem::path state;                       // has index.db; need not be there yet
  std::filesystem::path archspec;                    // microarchitectures.json
  std::vector<std::filesystem::path> recipes{};      // their graph compilers are known beside the index's
  std::filesystem::path targets = "matrix/targets";  // what hosts may be called
  std::filesystem::path sif_folder{};                // $SINGULARITY_DIR; "" = the state's own
};

struct ChooserQuestion {
  std::string_view document;      // DSL, JSON
  std::string name = "document";  // of the document, in messages
  QuestionTerms terms{};
  // A description (JSON, begins with `{`), `here`, `any`, or the name of a target; "" = the document's, else
  // `unsaid`. Never the name of a file.
  std::string host{};
  UnsaidHost unsaid = UnsaidHost::here;
  std::size_t limit = 20;   // of each kind of others that are told; 0: all
  bool explained = true;    // false: `answer` has the winner and no reasons, and takes a fraction of the time
  bool with_image = false;  // the reply has the record of the image
};

struct ChooserReply {
  ExitCode code = ExitCode::ok;      // as kiln select ends: ok, input, no_match, store
  Json answer{};                     // as kiln select --json prints it; null where there is nothing to say
  std::string text{};                // as --explain prints it
  std::string reference{};           // "" unless code is ok
  std::vector<std::string> notes{};  // lines for people
  std::optional<Error> error{};      // says why, where code is not ok
  // The question, to be counted by record_demand() with the day of today; choose() writes nothing.
  std::optional<Demand> demand{};
  std::int64_t snapshot = 0;           // that was asked; 0: there is no index
  std::optional<ImageRecord> image{};  // where it was asked for, and one was chosen
  TunedChoice tuned{};                 // of that image
};

// Threads may ask at once. A new snapshot, and an index that was made again, is seen by the next question.
class ImageChooser {
 public:
  // Reads archspec's table. Throws Error(input) when it is not there.
  explicit ImageChooser(ChooserPaths paths);
  // Never throws for what was asked, or for what the index is: `error` says it.
  ChooserReply choose(const ChooserQuestion& question);

  // Runs `use` on an open index; false: there is none yet. Throws what `use` throws, and Error(store).
  bool with_index(const std::function<void(const Index& index)>& use);
  IndexIdentity identity() const { return identity_of_index(paths_.state); }
  const Microarchitectures& cpus() const { return cpus_; }
  const ChooserPaths& paths() const { return paths_; }

 private:
  struct OpenIndex {
    IndexIdentity file;  // device and inode: another file wants opening
    Index index;
  };
  GraphCompilers compilers(const Index* index, std::optional<std::int64_t> snapshot) const;
  QuestionHost host_of(const ChooserQuestion& question, const ImageQuery& query) const;
  void answer(const ChooserQuestion& question, const Index* index, const IndexIdentity& file,
              ChooserReply& reply);
  std::optional<OpenIndex> reuse_idle(const IndexIdentity& file);

  ChooserPaths paths_;
  RealFileSystem files_;
  Microarchitectures cpus_;
  GraphCompilers recipe_compilers_;
  ResidentSnapshot resident_;
  std::mutex lock_;              // of idle_
  std::vector<OpenIndex> idle_;  // SQLite's connections are one thread's at a time
};

}  // namespace kiln
