#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "factory/bench/published_tables.h"
#include "support/input_errors.h"
#include "support/wrong_table.h"

namespace kiln::testing {
namespace {

constexpr const char* kName = "benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv";
constexpr const char* kTable =
    "model,infer_img_size,infer_samples_per_sec,infer_step_time,infer_batch_size,param_count,infer_gmacs,"
    "infer_macts\n"
    "resnet50,224,100.0,80.0,8,25.56,4.11,11.11\n"
    "tf_efficientnet_b0,224,50.0,20.1,1.0,5.29,,\n"
    "vit_huge_patch16_gap_448,448,,,,544.7,636.83,631.67\n";

ExternalTable read(const std::string& text, const std::string& name = kName,
                   const std::map<std::string, std::string>& said = {}) {
  return timm_table(text, name, said);
}

std::string usage_error(const std::string& name, const std::map<std::string, std::string>& said) {
  try {
    read(kTable, name, said);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << error.format();
    return error.format();
  }
  return "no error";
}

TEST(TimmTable, TheNameSaysHowItWasMeasured) {
  const ExternalTable table = read(kTable, std::string("some/folder/") + kName);
  EXPECT_EQ(table.facts.series(), "i9_10940x, pytorch 2.4.0, inductor, nchw, fp32");
  EXPECT_EQ(table.facts.device, "cpu");
  EXPECT_EQ(table.facts.licence, "Apache-2.0");
  EXPECT_EQ(table.facts.source, std::string("huggingface/pytorch-image-models, results/") + kName);
  EXPECT_EQ(read(kTable, "benchmark-infer-amp-nhwc-pt113-cu117-rtx3090.csv").facts.series(),
            "rtx3090, pytorch 1.13, no graph compiler, nhwc, amp, gpu");
  EXPECT_EQ(read(kTable, "benchmark-infer-amp_bf16-nchw-pt291-cu130-pro6000maxq-dynamo.csv").facts.device,
            "gpu");
}

TEST(TimmTable, OptionsReplaceWhatTheNameSays) {
  EXPECT_EQ(read(kTable, kName, {{"host", "ours"}, {"compiler", "none"}}).facts.series(),
            "ours, pytorch 2.4.0, no graph compiler, nchw, fp32");
  EXPECT_EQ(usage_error("table.csv", {}),
            "error: the name 'table.csv' does not say the host; say --set host=VALUE");
  EXPECT_EQ(usage_error(kName, {{"hots", "ours"}}),
            "error: a table has no 'hots' to set; did you mean 'host'?");
  EXPECT_EQ(usage_error(kName, {{"device", "tpu"}}), "error: a device is cpu or gpu, not 'tpu'");
  EXPECT_EQ(usage_error(kName, {{"host", "a\nb"}}),
            "error: the host of the table is no line of at most 200 bytes of text; say --set host=VALUE");
  EXPECT_EQ(usage_error("benchmark-infer-fp32-nchw-pt24-cpu-x.csv", {}).substr(0, 76),
            "error: the name 'benchmark-infer-fp32-nchw-pt24-cpu-x.csv' does not say the ");
}

TEST(TimmTable, ReadsNetworks) {
  const ExternalTable table = read(kTable);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.failed, 1U);
  const ExternalRow& row = table.rows.front();
  EXPECT_EQ(row.network, "resnet50");
  EXPECT_EQ(row.input_size, 224);
  EXPECT_EQ(row.batch, 8);
  EXPECT_DOUBLE_EQ(row.seconds, 0.08);
  EXPECT_DOUBLE_EQ(row.parameters, 25.56e6);
  EXPECT_DOUBLE_EQ(row.operations, 4.11e9);
  EXPECT_DOUBLE_EQ(row.activations, 11.11e6);
  EXPECT_EQ(table.rows.back().operations, 0);
}

TEST(TimmTable, TakesLinesOfWindowsAndTablesWithoutOperations) {
  const ExternalTable table = read(
      "model,infer_samples_per_sec,infer_step_time,infer_batch_size,infer_img_size,param_count\r\n"
      "lcnet_035,308.98,3.161,1,224,1.64\r\n");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(table.rows.front().seconds, 0.003161);
  EXPECT_EQ(table.rows.front().activations, 0);
}

TEST(TimmTable, WhatIsKeptIsReadAgain) {
  const ExternalTable table = read(kTable, kName, {{"host", "ours"}});
  const ExternalTable again =
      external_table_from_json(JsonDocument::parse(to_json(table).dump(), "file").root());
  EXPECT_EQ(to_json(again), to_json(table));
  EXPECT_EQ(again.rows.size(), 2U);
  EXPECT_EQ(again.facts.series(), table.facts.series());
  Json other = to_json(table);
  other["table"] = "model\n";
  EXPECT_NE(input_error([&] {
              external_table_from_json(JsonDocument::parse(other.dump(), "file").root());
            }).find("the table has no column 'img_size'"),
            std::string::npos);
}

class TimmTableRefuses : public ::testing::TestWithParam<WrongTable> {};

TEST_P(TimmTableRefuses, WithItsPlace) {
  const std::string text = with_mistake(kTable, GetParam().from, GetParam().to);
  const std::string error = input_error([&] { read(text); });
  EXPECT_EQ(error.substr(0, error.find(';')), std::string(kName) + ":" + GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, TimmTableRefuses,
    ::testing::Values(
        WrongTable{"infer_gmacs", "infer_gmac", "1:89: error: timm's tables have no column 'infer_gmac'"},
        WrongTable{"infer_gmacs", "infer_macts", "1:101: error: a second column 'infer_macts'"},
        WrongTable{"infer_step_time", "train_step_time",
                   "1:44: error: 'train_step_time' is a column of training results"},
        WrongTable{"resnet50,224", "resnet50,with a comma,224", "2:1: error: expected 8 fields, found 9"},
        WrongTable{"resnet50", "\"resnet50,d\"", "2:1: error: 'resnet50,d' is not the name of a network"},
        WrongTable{"resnet50", "", "2:1: error: '' is not the name of a network"},
        WrongTable{"100.0", "nan",
                   "2:14: error: samples_per_sec: expected a number over 0, 1e+09 at most, found 'nan'"},
        WrongTable{"100.0", "0",
                   "2:14: error: samples_per_sec: expected a number over 0, 1e+09 at most, found '0'"},
        WrongTable{"100.0", "-5",
                   "2:14: error: samples_per_sec: expected a number over 0, 1e+09 at most, found '-5'"},
        WrongTable{"100.0", "1e400",
                   "2:14: error: samples_per_sec: expected a number over 0, 1e+09 at most, found '1e400'"},
        WrongTable{"100.0", "",
                   "2:14: error: samples_per_sec: expected a number over 0, 1e+09 at most, found ''"},
        WrongTable{"100.0", "100x",
                   "2:14: error: samples_per_sec: expected a number over 0, 1e+09 at most, found '100x'"},
        WrongTable{"100.0", "100000",
                   "2:21: error: a step of 8 samples at 100000 a second takes 0.08 ms, not 80.0"},
        WrongTable{"80.0,8", "80.0,8.5", "2:25: error: batch_size: expected a whole number, found '8.5'"},
        WrongTable{"4.11,", ",", "2:33: error: gmacs and macts are either both known or neither"},
        WrongTable{"tf_efficientnet_b0", "resnet50",
                   "3:1: error: a second row of resnet50 with inputs of 224"},
        WrongTable{"model,", "\xEF\xBB\xBFmodel,", "1:1: error: the table begins with a byte order mark"},
        WrongTable{"resnet50", "r\xC3\xA9snet", "2:2: error: a table has printable ASCII characters only"},
        WrongTable{"resnet50", "\"resnet50", "5:1: error: the quote of a field is not closed"}));

TEST(TimmTable, RefusesWhatIsNoTable) {
  auto refusal = [](const std::string& text) { return input_error([&] { read(text, kName); }); };
  const std::string begin = kName;
  EXPECT_EQ(refusal(""), begin + ":1:1: error: the table is empty; is this a results table?");
  EXPECT_EQ(refusal("model,img_size\n").substr(begin.size()),
            ":1:1: error: the table has no column 'batch_size'; it needs model, img_size, batch_size, "
            "samples_per_sec, step_time and param_count");
  const std::string header = std::string(kTable).substr(0, std::string(kTable).find('\n') + 1);
  EXPECT_EQ(refusal(header), begin + ":1:1: error: no row of the table has a speed; nothing was imported");
  EXPECT_EQ(
      refusal(header + std::string(5000, ',')),
      begin + ":2:4097: error: the line has 5000 bytes; a line has at most 4096; is this a results table?");
  EXPECT_EQ(
      refusal(std::string(600 << 10, '\n')),
      begin +
          ":1:1: error: the table has 614400 bytes; a table has at most 524288; is this a results table?");
}

TEST(TimmTable, FactsAreShortLines) {
  for (const std::string host : {"a\nb", "a\x1b[1m", "a\xc2\x9b", "a\xff"}) {
    EXPECT_NE(usage_error("benchmark-infer-fp32-nchw-pt240-cpu-" + host + ".csv", {})
                  .find("of the table is no line"),
              std::string::npos)
        << host;
    EXPECT_NE(usage_error(kName, {{"source", host}}).find("the source of the table is no line"),
              std::string::npos);
  }
  EXPECT_NE(usage_error(kName, {{"licence", std::string(201, 'x')}}).find("at most 200 bytes"),
            std::string::npos);
  EXPECT_NE(usage_error(kName, {{"host", "  "}}).find("does not say the host"), std::string::npos);
}

TEST(TimmTable, AGpuOfAHostIsAnotherSeries) {
  const auto processor = timm_table(kTable, "benchmark-infer-fp32-nchw-pt240-cpu-box.csv", {});
  const auto gpu = timm_table(kTable, "benchmark-infer-fp32-nchw-pt240-cu124-box.csv", {});
  EXPECT_EQ(processor.facts.series(), "box, pytorch 2.4.0, no graph compiler, nchw, fp32");
  EXPECT_EQ(gpu.facts.series(), processor.facts.series() + ", gpu");
}

std::string published(const std::string& name) {
  std::ifstream file(std::string(KILN_TEST_DATA) + "/model/timm/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(TimmTable, ReadsAllPublishedTablesOfProcessors) {
  const std::map<std::string, std::size_t> rows = {
      {"benchmark-infer-fp32-nchw-pt221-cpu-i9_10940x-dynamo.csv", 1321},
      {"benchmark-infer-fp32-nchw-pt240-cpu-i7_12700h-dynamo.csv", 1440},
      {"benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv", 1435}};
  std::vector<ExternalTable> tables;
  for (const auto& [name, count] : rows) {
    tables.push_back(timm_table(published(name), name, {}));
    EXPECT_EQ(tables.back().rows.size(), count);
    EXPECT_EQ(tables.back().failed, 0U);
  }
  // The oldest table does not have the operations: they are those of the others.
  const ModelRecords found = external_records(tables);
  EXPECT_GT(found.records.size(), 4150U);
  ASSERT_FALSE(found.left_out.empty());
  EXPECT_NE(
      found.left_out.front().find("of i9_10940x, pytorch 2.2.1, inductor, nchw, fp32: no table has their"),
      std::string::npos);
}

TEST(ExternalRecords, AreWhatTheTableSaysOfThem) {
  const ExternalTable tables[] = {read(kTable)};
  const ModelRecords found = external_records(tables);
  ASSERT_EQ(found.records.size(), 1U);
  const SpeedRecord& record = found.records.front();
  EXPECT_EQ(record.workload, "resnet50@224");
  EXPECT_EQ(record.host, "i9_10940x");
  EXPECT_EQ(record.image, "pytorch 2.4.0, inductor, nchw, fp32");
  EXPECT_DOUBLE_EQ(record.amounts.at("operations"), 8 * 4.11e9);
  EXPECT_DOUBLE_EQ(record.amounts.at("input_bytes"), 8 * 3 * 224 * 224 * 4.0);
  EXPECT_EQ(record.words.at("network_family"), "resnet");
  EXPECT_EQ(record.words.at("host"), "i9_10940x");
  EXPECT_EQ(found.left_out.front(),
            "1 of i9_10940x, pytorch 2.4.0, inductor, nchw, fp32: no table has their operations");
}

}  // namespace
}  // namespace kiln::testing
