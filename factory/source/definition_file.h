// A Singularity or Apptainer definition file as a small typed tree with places. The grammar is that of
// Apptainer (pkg/build/types/parser/deffile.go and internal/pkg/build/args, 1.3). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/source/source_file.h"

namespace kiln {

// `Bootstrap: docker`; a value that a backslash continues is whole.
struct HeaderField {
  std::string key;  // lower case
  std::string value;
  Position place;        // of the key
  Position value_place;  // of the value's first byte
};

// A line of %files: source and destination, the latter "" when it is the same.
struct FilePair {
  std::string source;
  std::string destination;
  Position place;
};

// A line of %labels or %arguments.
struct NamedValue {
  std::string name;
  std::string value;
  Position place;
};

struct DefinitionSection {
  std::string name;       // lower case: "post", "files", "appinstall"
  std::string arguments;  // the rest of its line: "-c /bin/bash", "from build", an app's name
  std::string body;       // with line ends
  Position place;         // of the "%"
  int last_line = 0;      // of the body; the section's own line when there is none

  std::vector<FilePair> files() const;          // of %files and %appfiles
  std::vector<NamedValue> labels() const;       // of %labels and %applabels
  std::vector<NamedValue> assignments() const;  // of %arguments
};

struct DefinitionStage {
  std::vector<HeaderField> header;
  std::vector<DefinitionSection> sections;  // in the file's order; Apptainer runs those of one name as one
  Position place;
  const HeaderField* find(std::string_view key) const;
  std::string value(std::string_view key) const;  // "" when absent
};

struct DefinitionFile {
  std::string file;
  std::vector<DefinitionStage> stages;  // at least one
};

// Replaces {{ name }} by `arguments`, else by the stage's %arguments; columns count in the text after that.
// Throws Error(input) `file:line:col: error: …`, also for a name without a value.
DefinitionFile parse_definition(std::string_view text, const std::string& file,
                                const std::map<std::string, std::string>& arguments = {});

// For callers with a possibly broken file: {{ name }} stays as written, unreadable parts are left out, and
// the first kMostErrors mistakes are added to `errors`. There may be no stage.
DefinitionFile read_definition(std::string_view text, const std::string& file, std::vector<Error>& errors);

}  // namespace kiln
