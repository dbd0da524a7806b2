// Tables of results that other projects publish. Their networks ran on hosts of those projects, in no image
// that kiln knows, so that they are never compared with measurements: only the performance model learns from
// them. Pure.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/enum_names.h"
#include "factory/base/json.h"
#include "factory/bench/speed_records.h"

namespace kiln {

// TableFacts::framework of OpenVINO's tables.
inline constexpr std::string_view kOpenvino = "openvino";

// How the rows of a table were measured. All but `compiler` and `layout` are set.
struct TableFacts {
  std::string source;     // where the table is from
  std::string licence;    // SPDX: "Apache-2.0"
  std::string host;       // as the project names it: "i9_10940x"
  std::string device;     // cpu or gpu
  std::string framework;  // "pytorch", "openvino"
  std::string version;    // of the framework: "2.4.0"
  std::string compiler;   // graph compiler: "inductor"; "" without one, and for OpenVINO, which is one
  std::string layout;     // order of the dimensions: "nchw", "nhwc"; "": the table does not say
  std::string precision;  // "fp32", "amp", "bf16", "int8"

  // "pytorch 2.4.0, inductor, nchw, fp32"; "openvino 2022.3, int8".
  std::string image() const;
  // "i9_10940x, pytorch 2.4.0, inductor, nchw, fp32", with ", gpu" for a GPU of that host: all that makes its
  // rows another series than those of another table.
  std::string series() const;

  bool operator==(const TableFacts&) const = default;
};

// One network on that host.
struct ExternalRow {
  std::string network;
  double batch = 0;    // samples of a step
  double seconds = 0;  // of a step
  // 0: the table does not say.
  double input_size = 0;   // pixels of each side
  double parameters = 0;   // numbers that the network learns
  double operations = 0;   // multiplications of a sample
  double activations = 0;  // numbers that layers pass on, of a sample
};

// The project whose layout the text of a table has.
enum class TableProject { timm, openvino };
inline constexpr auto kTableProjects =
    enum_names<TableProject>({{TableProject::timm, "timm"}, {TableProject::openvino, "openvino"}});

struct ExternalTable {
  TableFacts facts;
  std::string text;  // as it was published; of OpenVINO: the rows of this host
  std::vector<ExternalRow> rows;
  std::size_t failed = 0;  // rows without a speed, which the project could not measure
  TableProject project = TableProject::timm;
};

// Sets a member of TableFacts by its name. Throws Error(usage) for an unknown one.
void set_fact(TableFacts& facts, const std::string& name, const std::string& value);
// Throws Error(usage) for a fact that neither `file` nor the user gives and that is not in `optional`, and
// for one that is no short line of text.
void need_facts(const TableFacts& facts, const std::string& file,
                std::initializer_list<std::string_view> optional);

// {"format": 1, "facts": {…}, "table": "model,…"}, with "as": "openvino" for a table of OpenVINO.
Json to_json(const ExternalTable& table);
// Throws Error(input) with the place of what to_json() does not write.
ExternalTable external_table_from_json(const JsonNode& node);

// A record for each network and input size of each table. Operations and activations that a table does not
// say are those of the same network and size in another one. Rows without operations are left out; of a table
// in which no row has any, all rows are `anchored` (ModelRecords).
ModelRecords external_records(std::span<const ExternalTable> tables);

}  // namespace kiln
