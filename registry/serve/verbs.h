// The verbs, by what they are about. What each answers is in docs/query.md and openapi.json.
#pragma once

#include "registry/serve/verb.h"

namespace kiln {

// /v1/select and /v1/explain.
VerbAnswer answer_select(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_explain(const VerbCall& call, const VerbPlace& place);

// /v1/job.
VerbAnswer answer_job_script(const VerbCall& call, const VerbPlace& place);

// What the index holds.
VerbAnswer answer_images(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_image(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_snapshots(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_demand(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_health(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_openapi(const VerbCall& call, const VerbPlace& place);

// For people: the catalogue's pages.
VerbAnswer answer_page(const VerbCall& call, const VerbPlace& place);

// MODAK's.
VerbAnswer answer_get_image(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_mappings(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_mapping(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_new_mapping(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_optimise(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_get_build(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_get_optimisation(const VerbCall& call, const VerbPlace& place);

// MODAK's infrastructures, scripts and scaling models: all, one by its id, and a new one.
VerbAnswer answer_infrastructures(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_infrastructure(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_new_infrastructure(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_scripts(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_script(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_no_infrastructure(const VerbCall& call, const VerbPlace& place);  // removes it
VerbAnswer answer_no_script(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_no_scaling_model(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_new_script(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_scaling_models(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_scaling_model(const VerbCall& call, const VerbPlace& place);
VerbAnswer answer_new_scaling_model(const VerbCall& call, const VerbPlace& place);

}  // namespace kiln
