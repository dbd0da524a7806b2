// Runs a script in the same way with every engine: the environment comes as a file, the output goes through
// kiln's pipes, the recipe's files are mounted.
#pragma once

#include <array>
#include <filesystem>
#include <optional>

#include "factory/engine/engine.h"

namespace kiln {

// A named pipe, for words between processes that share no more than a folder.
class Fifo {
 public:
  // Makes it. Every user may write to it, so its folder must be private. Gone with the object. Throws
  // Error(store).
  explicit Fifo(std::filesystem::path path);
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;
  ~Fifo();

  const std::filesystem::path& path() const { return path_; }
  // Open at both ends, so that none of them ever ends; reading and writing do not wait.
  int end() const { return end_; }

 private:
  std::filesystem::path path_;
  int end_ = -1;
};

// The pipes through which kiln reads the output of a script in a container, past its engine.
//
// buildah relays what a script prints by a goroutine that it does not wait for: when the script has failed,
// the process ends at once, and the last lines, which say why, are lost where the machine is busy (buildah
// 1.28.2, chroot/run_common.go, runUsingChroot: os.Exit next to the loop over `relays`).
class ScriptPipes {
 public:
  // FIFOs in the folder, which is ours alone; gone with the object. Throws Error(store).
  explicit ScriptPipes(const std::filesystem::path& folder)
      : out_(folder / "stdout"), err_(folder / "stderr"), begun_(folder / "begun") {}

  std::filesystem::path out() const { return out_.path(); }
  std::filesystem::path err() const { return err_.path(); }
  // A byte comes through it before the script. Without this byte, kiln does not accept the success of an
  // engine.
  std::filesystem::path begun() const { return begun_.path(); }
  bool has_begun() const;  // asked once
  // The ends that kiln reads do not block (Command::more_output).
  std::array<int, 2> ends() const { return {out_.end(), err_.end()}; }

 private:
  Fifo out_, err_, begun_;
};

class ContainerScript {
 public:
  // Writes the environment below `setup.environment["TMPDIR"]`, where only kiln's user can read it: command
  // lines are open to every user of the machine, and proxies and package sources have passwords in them. Both
  // arguments outlive it. Throws Error(store).
  ContainerScript(const ContainerRun& request, const EngineSetup& setup);
  ContainerScript(const ContainerScript&) = delete;
  ContainerScript& operator=(const ContainerScript&) = delete;
  ~ContainerScript();

  // The request's mounts and kiln's own.
  const std::vector<Mount>& mounts() const { return mounts_; }
  // The command that the container runs as root, in request.folder. `before`: commands of the shell, "…; ",
  // before it. The script is the shell's child, and the shell reports its end by its status, 128 + N for
  // signal N, for two reasons. buildah's chroot reports the signal in words alone, which its own relay of
  // output loses now and then (v1.28, chroot/run_common.go: it exits without emptying it), and its status is
  // 1. And the kernel does not deliver unhandled signals to the first process of podman's and docker's
  // containers, even its own. A script that aborts would continue. Under QEMU, which ends itself by the
  // signal of its program, it would wait for ever.
  std::vector<std::string> argv(const std::string& before = "") const;
  // The engine's whole command line, with all wrappers that the request needs. Without network, the command
  // runs in an empty network namespace whose loopback interface is up, because MPI and process groups need
  // it. `of_starter`: the engine uses the network of the process that starts it; `of_engine`: it makes such a
  // network. Throws Error(tool_missing).
  enum class Network { of_starter, of_engine };
  Command command(std::vector<std::string> words, Network network = Network::of_starter) const;
  // Throws Error(store) where the engine, by its name, never began: it ended well, or it crashed.
  void check(const CommandResult& result, const std::string& engine) const;
  // The same, and where it ended badly and never began: what it said is then the engine's and not a script's.
  void check_begun(const CommandResult& result, const std::string& engine) const;

 private:
  std::vector<std::string> without_network(const std::vector<std::string>& words) const;

  const ContainerRun& request_;
  const EngineSetup& setup_;
  fs::path folder_;  // ours alone
  std::optional<ScriptPipes> pipes_;
  std::vector<Mount> mounts_;
};

}  // namespace kiln
