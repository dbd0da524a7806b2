// A document in, job scripts out: the choice of the image and the deployment, for programs that answer many
// documents (the server, the library).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/answer/chooser.h"
#include "registry/deploy/deploy_site.h"
#include "registry/deploy/job_image.h"
#include "registry/deploy/render_job.h"

namespace kiln {

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
// infrastructure that the site does not have, else as ImageChooser, deploy() and render_job().
JobAnswer answer_job(const JsonDocument& document, const JobQuestion& question, const DeploySite& site,
                     const Microarchitectures& cpus, const ReferencePlaces& places, const AskIndex& ask);

// As `kiln job --json` prints it, with the notes of the choice.
Json to_json(const JobAnswer& answer);

}  // namespace kiln
