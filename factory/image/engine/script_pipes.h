// The pipes through which a script in a container talks to us, past its engine.
//
// buildah relays what a script prints by a goroutine for which nobody waits: when the script has failed, the
// process ends at once, and the last lines, which say why, are lost where the machine is busy
// (buildah 1.28.2, chroot/run_common.go, runUsingChroot: os.Exit beside the loop over `relays`).
#pragma once

#include <array>
#include <filesystem>

namespace kiln {

class ScriptPipes {
 public:
  // FIFOs in the folder, which is ours alone; gone with the object. Throws Error(store).
  explicit ScriptPipes(std::filesystem::path folder);
  ScriptPipes(const ScriptPipes&) = delete;
  ScriptPipes& operator=(const ScriptPipes&) = delete;
  ~ScriptPipes();

  std::filesystem::path out() const { return folder_ / "stdout"; }
  std::filesystem::path err() const { return folder_ / "stderr"; }
  // A byte comes through it before the script: an engine that ends well without having started it is not
  // believed.
  std::filesystem::path begun() const { return folder_ / "begun"; }
  bool has_begun() const;  // asked once
  // Open at both ends, so that none of them ever ends; what is read does not wait (Command::more_output).
  std::array<int, 2> ends() const { return ends_; }

 private:
  std::filesystem::path folder_;
  std::array<int, 2> ends_{-1, -1};
  int begun_ = -1;
};

}  // namespace kiln
