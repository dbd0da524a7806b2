#include "registry/index/image_profiles.h"

namespace kiln {
namespace {

// That something is there is all that counts.
Digest some_digest() { return Digest::of("kiln"); }

EvidenceRecord refusing(const EvidenceRecord& evidence) {
  EvidenceRecord part;
  part.verdict = evidence.verdict;
  part.gpu = evidence.gpu;
  part.gpu_hidden = evidence.gpu_hidden;
  part.glibc = evidence.glibc;
  part.missing = evidence.missing;
  part.exceeding = evidence.exceeding;
  if (evidence.verdict == "exceeds" && evidence.exceeding.empty())
    part.unconditional = evidence.unconditional;
  return part;
}

}  // namespace

ImageRecord bare_profile(bool external) {
  ImageRecord part;
  if (!external) part.manifest = some_digest();
  return part;
}

ImageRecord choice_profile(const ImageRecord& image) {
  ImageRecord part = bare_profile(image.external());
  part.application = image.application;
  part.version = image.version;
  part.method = image.method;
  part.optimised = image.optimised;
  part.components = image.components;
  part.selectors = image.selectors;
  part.tests = test_kinds(image.tests, !image.accelerators.empty());
  if (!image.why_untested().empty() && !image.external()) part.tests.emplace();  // none that it passed
  return part;
}

ImageRecord host_profile(const ImageRecord& image) {
  ImageRecord part = bare_profile(image.external());
  part.cpu = image.cpu;
  part.accelerators = image.accelerators;
  part.needs = image.needs;
  part.evidence = refusing(image.evidence);
  if (image.attachment("sif") != nullptr)
    part.attachments.push_back({"sif", {"sif", some_digest(), 0, {}}, {}});
  return part;
}

}  // namespace kiln
