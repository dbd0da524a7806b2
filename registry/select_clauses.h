// The clauses that an image must meet to answer a query, in the order of preference. Pure.
#pragma once

#include <map>
#include <string>

#include "base/microarchitecture.h"
#include "registry/dsl.h"
#include "registry/image_record.h"
#include "registry/select.h"

namespace kiln {

struct Judgement {
  int met = 0;         // clauses that held before the first that did not
  std::string failed;  // that one as a sentence, "" when all hold
};

// One query against many images: what depends on the image's microarchitecture alone is found once. The
// arguments must outlive it.
class Judge {
 public:
  Judge(const ImageQuery& query, const Host& host, const Microarchitectures& cpus)
      : query_(&query), host_(&host), cpus_(&cpus) {}
  Judgement operator()(const ImageRecord& image);

 private:
  const ImageQuery* query_;
  const Host* host_;
  const Microarchitectures* cpus_;
  std::map<std::string, Judgement> by_cpu_;  // of the first clauses
};

// True when code built for the GPU target `built` (sm_70, gfx90a, or "" for "any of the vendor") runs on
// `gpu`. NVIDIA: the same major version and no newer minor one; PTX, which kiln adds for the newest target,
// reaches later GPUs: `newest_built`.
bool gpu_runs(const std::string& gpu, const std::string& built, bool newest_built);

}  // namespace kiln
