#include "factory/package/package.h"

#include "factory/package/kept_contents.h"
#include "factory/package/kept_layers.h"

namespace kiln {

Artifact package(const PackageRequest& request, const BlobStore& store, FileSystem& files,
                 Conversions& conversions) {
  const ImageSpec& spec = request.image;
  const DocumentFacts& facts = request.facts;
  evidence::FolderCache cache(request.evidence_cache, files);
  KeptContents kept(request.evidence_cache, facts.tool + " " + facts.flag_table, files);
  KeptLayers layers(request.evidence_cache, files, request.jobs, &cache);
  Contents contents =
      examine(spec, request.built, store, {request.cpus, request.jobs, &cache, &kept, &layers});
  files.write(request.evidence_log, contents.table);
  if (request.refuse_excess) refuse_excess(contents);
  Artifact artifact = compose(spec, request.built, std::move(contents.evidence), facts.epoch);
  artifact = attach_documents(std::move(artifact), spec, request.plan, request.origin, contents.inventory,
                              facts, store);
  if (request.with_sif)
    artifact = attach_sif(std::move(artifact), {facts.epoch, facts.tool, request.jobs, request.scratch},
                          store, conversions);
  return artifact;
}

}  // namespace kiln
