#include "factory/run/step_terms.h"

#include "factory/base/json_fields.h"
#include "factory/base/reading.h"

namespace kiln {

template <typename Fields>
void describe(Fields& fields, StepTerms& terms) {
  fields.must("run", terms.run);
  fields.must("of_ninja", terms.of_ninja);
  fields.must("no_step_after", terms.no_step_after);
  fields.must("fetch", terms.fetch);
  fields.must("at_once", terms.at_once);
  fields.must("site", terms.site);
  fields.must("engine", terms.engine);
  fields.must("mirror", terms.mirror);
  fields.must("no_cache", terms.no_cache);
  fields.must("offline", terms.offline);
}

StepTerms terms_of(const Site& site) {
  StepTerms terms;
  terms.of_ninja = site.launcher.words.empty();
  if (!site.file.empty()) terms.site = fs::absolute(site.file).string();
  terms.engine = site.engine;
  terms.mirror = site.mirror;
  terms.no_cache = !site.cache.use;
  terms.offline = site.offline;
  return terms;
}

Json to_json(const StepTerms& terms) { return fields_of(terms); }

StepTerms read_step_terms(const FileSystem& files, const fs::path& file) {
  StepTerms terms;
  read_into(read_document(files, file).root(), terms);
  return terms;
}

}  // namespace kiln
