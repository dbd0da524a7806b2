// The files that Apptainer expects in an image from OCI: environment, run script and actions under
// /.singularity.d, so that `apptainer run|exec|shell|test|inspect` behave as with an image that it converted
// itself.
//
// The names and what they do are Apptainer's; the scripts are kiln's own. Environment values and words of
// entrypoint and command are always quoted for the shell: they are data, never code.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "factory/oci/documents.h"
#include "factory/oci/layer_merge.h"

namespace kiln::sif {

struct RuntimeOptions {
  std::string bootstrap;        // "oci-archive"
  std::string from;             // "x.tar"
  std::string tool;             // "kiln 0.1.0"
  std::int64_t build_time = 0;  // UTC seconds
};

// Paths below /.singularity.d of the scripts that are the same in every image.
const std::vector<std::string>& runtime_scripts();
// The text of one of them, or of `runscript`, the beginning of run_script().
std::string runtime_script(const std::string& path);

// The file's text, for tests and for the SIF's JSON objects.
std::string environment_script(const ImageConfig& config);
std::string run_script(const ImageConfig& config);
std::string definition_file(const RuntimeOptions& options);
std::map<std::string, std::string> image_labels(const ImageConfig& config, const RuntimeOptions& options);
// The data that `apptainer inspect` reads from the SIF without starting the image.
std::string inspect_metadata(const ImageConfig& config, const RuntimeOptions& options);

// Adds the files to a merged tree and their contents to `sink`; missing mount points of Apptainer are made,
// /etc/hosts and /etc/resolv.conf are emptied. Throws Error(input) when the image has files in the way.
void add_runtime_files(const ImageConfig& config, const RuntimeOptions& options, std::uint16_t layer,
                       ImageTree& tree, ContentSink& sink);

}  // namespace kiln::sif
