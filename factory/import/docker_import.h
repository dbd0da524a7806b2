// Dockerfile → LegacyImage: instructions in legacy_dockerfile.cc, copies in legacy_docker_copy.cc. Used by
// the import only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/import/legacy_bases.h"
#include "factory/import/legacy_image.h"
#include "factory/import/legacy_script.h"

namespace kiln {

class DockerfileImport {
 public:
  DockerfileImport(const LegacyTree& tree, LegacyImage& image, const Dockerfile& file)
      : tree_(tree), image_(image), file_(file), facts_(image) {}
  void read();

 private:
  std::vector<std::size_t> chain(std::size_t stage) const;
  std::string read_chain(std::size_t last, bool build);
  void instruction(const DockerInstruction& one, std::size_t stage);
  void run(const DockerInstruction& one);
  void run_notes(const DockerInstruction& one);
  void copy(const DockerInstruction& one, std::size_t stage);
  void copy_from_stage(const DockerInstruction& one, std::size_t stage);
  void copy_local(const DockerInstruction& one);
  void copy_or_add(const DockerInstruction& one, const std::string& source, const std::string& destination);
  void add_url(const DockerInstruction& one, const std::string& url, const std::string& destination);
  void environment(const DockerInstruction& one);
  void argument(const DockerInstruction& one, bool above);
  void health(const DockerInstruction& one);
  void left_out(const DockerInstruction& one);
  std::string base_of(const DockerStage& stage);
  std::optional<std::string> value_of(std::string_view name, Position place);
  std::string expand_marked(const std::string& word, Position place);
  std::string expand(const std::string& word, Position place);
  void heredoc(const DockerInstruction& one, const DockerHeredoc& heredoc, const std::string& destination);
  bool is_plain_shell() const;
  std::string shell_command(const std::string& text) const;
  std::string absolute(const std::string& path) const;

  const LegacyTree& tree_;
  LegacyImage& image_;
  const Dockerfile& file_;
  FactReader facts_;
  LegacyScript script_;
  BaseValues base_;
  std::map<std::string, std::string> variables_;  // ARG and ENV so far; marked (legacy_values.h)
  std::map<std::string, std::string> above_;      // ARG above the first FROM
  std::vector<std::string> shell_ = {"/bin/sh", "-c"};
  std::string folder_ = "/";
  int folder_line_ = 0;  // of the last WORKDIR
  bool building_ = false;
};

}  // namespace kiln
