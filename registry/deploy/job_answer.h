// A document in, job scripts out: the choice of the image and the deployment, for programs that answer many
// documents (the server, the library).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/answer/chooser.h"
#include "registry/deploy/deploy_site.h"
#include "registry/deploy/infrastructure.h"
#include "registry/deploy/render_job.h"

namespace kiln {

// The image of a job: for the nodes that it may run on.

// Asks the index. May throw in place of a reply that has an error.
using AskIndex = std::function<ChooserReply(const ChooserQuestion& question)>;

struct ImageChoice {
  ChooserReply reply;      // with an error where no image qualifies
  std::string constraint;  // of the scheduler, under which the image is right; "" = on all nodes that may be
  std::vector<std::string> reasons, notes;
};

// The host's name of which each of these nodes can run the images: their nearest common microarchitecture of
// archspec, and the accelerators if all have the same; "" for nodes without a common one.
std::string common_host(const std::vector<AlikeNodes>& kinds, const Microarchitectures& cpus);

// The image that `application.derive` of the document asks for.
struct DerivedImage {
  ImageRecord record;
  std::string reference;  // as `kiln select` answers
};
// Makes the derived image on top of the chosen one, if it is missing. Throws the reason of a failure.
using DeriveImage = std::function<DerivedImage(const ImageRecord& parent, const JobDerivation& derivation)>;

struct JobQuestion {
  QuestionTerms terms{};
  std::string host{};  // as ChooserQuestion has it; "" = nodes of the infrastructure, else the document's
  UnsaidHost unsaid = UnsaidHost::any;
  std::string infrastructure{};  // its name; "" = the document's target.name
  DeployTerms deploy{};
  // An image that the index has for the document comes before the one that the document names, as in MODAK.
  bool chooses_anew = false;
};

struct JobAnswer {
  Deployment deployment;
  JobScripts scripts;
  std::string reference;           // of the image, as `kiln select` answers
  std::vector<std::string> notes;  // of the choice
  std::optional<Demand> demand;    // the question of the choice, to be counted
};

// `document`: DSL. The questions that `ask` gets have no document: it has it already.
// No file is read that the document or the question names. Throws Error(usage) for the name of an
// infrastructure that the site does not have, Error(input) for `application.derive` without `derive`, else as
// ImageChooser, deploy(), render_job() and `derive`.
JobAnswer answer_job(const JsonDocument& document, const JobQuestion& question, const DeploySite& site,
                     const Microarchitectures& cpus, const ReferencePaths& paths, const AskIndex& ask,
                     const DeriveImage& derive = {});

// As `kiln job --json` prints it, with the notes of the choice.
Json to_json(const JobAnswer& answer);

}  // namespace kiln
