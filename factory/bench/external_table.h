// Tables of results that other projects publish. Their networks ran on hosts of those projects, in no image
// that kiln knows, so that they are never compared with measurements: only the performance model learns from
// them. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/bench/speed_records.h"

namespace kiln {

// How the rows of a table were measured. All but `compiler` are set.
struct TableFacts {
  std::string source;     // where the table is from
  std::string licence;    // SPDX: "Apache-2.0"
  std::string host;       // as the project names it: "i9_10940x"
  std::string device;     // cpu or gpu
  std::string framework;  // "pytorch"
  std::string version;    // of the framework: "2.4.0"
  std::string compiler;   // graph compiler: "inductor"; "" without one
  std::string layout;     // order of the dimensions: "nchw", "nhwc"
  std::string precision;  // "fp32", "amp", "bf16"

  // "i9_10940x, pytorch 2.4.0, inductor, nchw, fp32", with ", gpu" for a GPU of that host: all that makes its
  // rows another series than those of another table.
  std::string series() const;
};

// One network on that host.
struct ExternalRow {
  std::string network;
  double input_size = 0;   // pixels of each side
  double batch = 0;        // samples of a step
  double seconds = 0;      // of a step
  double parameters = 0;   // numbers that the network learns
  double operations = 0;   // multiplications of a sample; 0: the table does not say
  double activations = 0;  // numbers that layers pass on, of a sample; 0: the table does not say
};

struct ExternalTable {
  TableFacts facts;
  std::string text;  // as it was published
  std::vector<ExternalRow> rows;
  std::size_t failed = 0;  // rows without a speed, which the project could not measure
};

// Sets a member of TableFacts by its name. Throws Error(usage) for an unknown one.
void set_fact(TableFacts& facts, const std::string& name, const std::string& value);
// Throws Error(usage) for a fact that neither the name of `file` nor the user gives, and for one that is no
// short line of text.
void need_facts(const TableFacts& facts, const std::string& file);

// {"format": 1, "facts": {…}, "table": "model,…"}
Json to_json(const ExternalTable& table);
// Throws Error(input) with the place of what to_json() does not write.
ExternalTable external_table_from_json(const JsonNode& node);

// A record for each network and input size of each table. Operations and activations that a table does not
// say are those of the same network and size in another one.
ModelRecords external_records(std::span<const ExternalTable> tables);

}  // namespace kiln
