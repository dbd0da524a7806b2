// Which host a question is about: docs/selection.md, "The host".
#pragma once

#include <filesystem>
#include <string>

#include "factory/base/effects.h"
#include "factory/cpu/microarchitecture.h"
#include "registry/select/select.h"

namespace kiln {

struct QuestionHost {
  Host host;
  bool here = false;   // it is this machine, by default
  std::string note{};  // a line for people, where the document's machines are not known, or this one was not
                       // taken; "" mostly
};

// Where hosts are looked up: files of this machine, archspec's table, the folder of a site's targets. All
// outlive this.
struct HostBook {
  const FileSystem& files;
  const Microarchitectures& cpus;
  std::filesystem::path targets = "matrix/targets";
};

// A description, as `kiln host` writes it. Throws Error(input) with the place of what is wrong.
QuestionHost described_host(const JsonDocument& document, const HostBook& book);

// `here`, `any`, or a target: a site's own, one of archspec's, or a composition (`zen4,nvidia:sm_90`). Throws
// Error(input) at `where` for another word.
QuestionHost named_host(const std::string& name, const SourceLocation& where, const HostBook& book);

// What a question that says nothing of a host is about.
enum class UnsaidHost {
  here,  // this machine, where it can be what the document asks for
  any    // no host is taken into account: the question comes from elsewhere
};

// The document's own host or target, else what `unsaid` says. Throws Error(input) for what describes no host.
QuestionHost host_of_question(const ImageQuery& query, UnsaidHost unsaid, const HostBook& book);

}  // namespace kiln
