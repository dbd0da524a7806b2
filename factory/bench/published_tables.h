// The tables of results that OpenVINO and timm publish. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/bench/external_table.h"

namespace kiln {

struct OpenvinoTables {
  std::vector<ExternalTable> tables;  // by host, then by precision
  std::size_t left_out = 0;           // rows of GPUs, and of a CPU and a GPU together
};

// The results table of openvinotoolkit/openvino (docs/_static/benchmarks_files/OV-benchmark-data.csv), as
// OpenVINO 2022.3 has it: a table for each CPU, release and precision (int8, fp16, fp32) with at least one
// speed. `said` has `source` and `licence` by name, in place of OpenVINO's own.
//
// The host is the platform's name in lower case without "Intel", trademark signs and "CPU-only", and with '-'
// for blanks: "core-i9-13900k", "xeon-gold-6448y". The text of each table has only its CPU's rows.
//
// The speeds are frames a second of the whole processor, with as many requests at a time as are fastest
// there. kiln takes 1 / speed as the seconds of a step with one sample. This is a rate, and not the time in
// which one sample is done: the table's latencies are longer. Layout, input size, parameters and operations
// are not in the table, and stay unknown.
//
// Throws Error(usage) for another fact in `said`, and Error(input) with `file`, line and column of what
// cannot be such a table; docs/formats/files.md.
OpenvinoTables openvino_tables(std::string_view text, const std::string& file,
                               const std::map<std::string, std::string>& said);

// A results table of inference of huggingface/pytorch-image-models (results/benchmark-infer-*.csv), whose
// name says how it was measured: benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv. `said` has members
// of TableFacts by name, in place of what the name says. Throws Error(usage) for a fact that neither says,
// Error(input) with `file`, line and column of what cannot be such a table; docs/formats/files.md.
ExternalTable timm_table(std::string_view text, const std::string& file,
                         const std::map<std::string, std::string>& said);

}  // namespace kiln
