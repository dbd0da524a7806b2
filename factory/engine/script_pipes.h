// The pipes through which a script in a container talks to us, past its engine.
//
// buildah relays what a script prints by a goroutine for which nobody waits: when the script has failed, the
// process ends at once, and the last lines, which say why, are lost where the machine is busy
// (buildah 1.28.2, chroot/run_common.go, runUsingChroot: os.Exit beside the loop over `relays`).
#pragma once

#include <array>

#include "factory/engine/fifo.h"

namespace kiln {

class ScriptPipes {
 public:
  // FIFOs in the folder, which is ours alone; gone with the object. Throws Error(store).
  explicit ScriptPipes(const std::filesystem::path& folder)
      : out_(folder / "stdout"), err_(folder / "stderr"), begun_(folder / "begun") {}

  std::filesystem::path out() const { return out_.path(); }
  std::filesystem::path err() const { return err_.path(); }
  // A byte comes through it before the script: an engine that ends well without having started it is not
  // believed.
  std::filesystem::path begun() const { return begun_.path(); }
  bool has_begun() const;  // asked once
  // What is read of them does not wait (Command::more_output).
  std::array<int, 2> ends() const { return {out_.end(), err_.end()}; }

 private:
  Fifo out_, err_, begun_;
};

}  // namespace kiln
