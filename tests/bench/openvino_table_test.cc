#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "factory/bench/published_tables.h"
#include "support/input_errors.h"
#include "support/wrong_table.h"

namespace kiln::testing {
namespace {

constexpr const char* kOpenvinoName = "OV-benchmark-data.csv";
constexpr const char* kOpenvinoHeader =
    "Network model,Release,IE-Type,Platform name,Throughput-INT8,Throughput-FP16,Throughput-FP32,Value,"
    "Efficiency,Price,TDP,Sockets,Price/socket,TDP/socket,Latency\n";
constexpr const char* kOpenvinoTable =
    "Network model,Release,IE-Type,Platform name,Throughput-INT8,Throughput-FP16,Throughput-FP32,Value,"
    "Efficiency,Price,TDP,Sockets,Price/socket,TDP/socket,Latency\n"
    "begin_rec,,,,,,,,,,,,,,\n"
    "resnet-50 ,OV-2022.3-8991,core,Intel® Core™  i9-13900K CPU-only,800,,250,1,1,$599 ,125,1,$599 ,125,2\n"
    "resnet-50 ,OV-2022.3-8991,core-iGPU,Intel® Core™  i9-13900K iGPU-only,9,,8,1,1,,,1,,,-\n"
    "resnet-50 ,OV-2022.3-8991,core-CPU+iGPU,Intel® Core™  i9-13900K CPU+iGPU,9,,8,1,1,,,1,,,-\n"
    "resnet-50 ,OV-2022.3-8991,xeon,Intel®  Xeon®  Gold 6448Y CPU-only,9000,4000,5000,1,1,\"$7,166 "
    "\",450,2,,,1\n"
    "resnet-50 ,OV-2022.3-8991,accel,Intel® Flex-170 GPU,,,,,,,,1,,,\n"
    "end_rec,,,,,,,,,,,,,,\n"
    "begin_rec,,,,,,,,,,,,,,\n"
    "yolo_v4,OV-2022.3-8991,core,Intel® Core™  i9-13900K CPU-only,,,12.5,1,1,,,1,,,9\n"
    "yolo_v4,OV-2022.3-8991,xeon,Intel® Xeon® Gold 6448Y CPU-only,,,,,,,,2,,,\n"
    "end_rec,,,,,,,,,,,,,,";

OpenvinoTables read_openvino(const std::string& text, const std::map<std::string, std::string>& said = {}) {
  return openvino_tables(text, std::string("some/folder/") + kOpenvinoName, said);
}

std::vector<std::string> series_of(const OpenvinoTables& found) {
  std::vector<std::string> series;
  for (const ExternalTable& table : found.tables) series.push_back(table.facts.series());
  return series;
}

TEST(OpenvinoTable, HasATableForEachCpuAndPrecision) {
  const OpenvinoTables found = read_openvino(kOpenvinoTable);
  EXPECT_EQ(series_of(found),
            (std::vector<std::string>{
                "core-i9-13900k, openvino 2022.3, int8", "core-i9-13900k, openvino 2022.3, fp32",
                "xeon-gold-6448y, openvino 2022.3, int8", "xeon-gold-6448y, openvino 2022.3, fp16",
                "xeon-gold-6448y, openvino 2022.3, fp32"}));
  EXPECT_EQ(found.left_out, 3U);
  const TableFacts& facts = found.tables.front().facts;
  EXPECT_EQ(facts.source, "openvinotoolkit/openvino, docs/_static/benchmarks_files/OV-benchmark-data.csv");
  EXPECT_EQ(facts.licence, "Apache-2.0");
  EXPECT_EQ(facts.device, "cpu");
  EXPECT_EQ(facts.compiler + facts.layout, "");
}

TEST(OpenvinoTable, ASpeedIsTheTimeOfOneSample) {
  const OpenvinoTables found = read_openvino(kOpenvinoTable);
  const ExternalTable& fp32 = found.tables[1];
  ASSERT_EQ(fp32.rows.size(), 2U);
  EXPECT_EQ(fp32.rows[0].network, "resnet-50");
  EXPECT_DOUBLE_EQ(fp32.rows[0].seconds, 0.004);
  EXPECT_DOUBLE_EQ(fp32.rows[1].seconds, 0.08);
  EXPECT_EQ(fp32.rows[0].batch, 1);
  EXPECT_EQ(fp32.rows[0].input_size + fp32.rows[0].parameters + fp32.rows[0].operations, 0) << "not known";
  // A network without a speed of this precision.
  EXPECT_EQ(found.tables[0].rows.size(), 1U);
  EXPECT_EQ(found.tables[0].failed, 1U);
  EXPECT_EQ(fp32.failed, 0U);
}

TEST(OpenvinoTable, OnlySourceAndLicenceAreReplaced) {
  const OpenvinoTables found = read_openvino(kOpenvinoTable, {{"source", "mirror"}, {"licence", "MIT"}});
  EXPECT_EQ(found.tables[3].facts.source + found.tables[3].facts.licence, "mirrorMIT");
  const auto usage = [](const std::string& name, const std::string& value) {
    try {
      read_openvino(kOpenvinoTable, {{name, value}});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << error.format();
      return error.format();
    }
    return std::string("no error");
  };
  EXPECT_EQ(usage("host", "ours"),
            "error: the host of OpenVINO's results is in the table; --set replaces source and licence only");
  EXPECT_EQ(usage("sauce", "ours"), "error: a table has no 'sauce' to set; did you mean 'source'?");
  EXPECT_EQ(usage("source", "a\nb").substr(0, 37), "error: the source of the table is no ");
}

TEST(OpenvinoTable, WhatIsKeptIsReadAgain) {
  for (const ExternalTable& table : read_openvino(kOpenvinoTable, {{"source", "mirror"}}).tables) {
    const ExternalTable again =
        external_table_from_json(JsonDocument::parse(to_json(table).dump(), "file").root());
    EXPECT_EQ(again.facts, table.facts);
    EXPECT_EQ(to_json(again), to_json(table)) << table.facts.series();
    ASSERT_EQ(again.rows.size(), table.rows.size());
    EXPECT_EQ(again.rows.front().seconds, table.rows.front().seconds);
    EXPECT_EQ(again.failed, table.failed);
  }
}

// What kiln did not write.
TEST(OpenvinoTable, AKeptTableIsThatOfItsFacts) {
  const Json kept = to_json(read_openvino(kOpenvinoTable).tables.front());
  const auto refusal = [&](const std::string& pointer, const std::string& value) {
    Json other = kept;
    other[Json::json_pointer(pointer)] = value;
    return input_error([&] { external_table_from_json(JsonDocument::parse(other.dump(), "file").root()); });
  };
  EXPECT_NE(refusal("/facts/host", "other").find("the table has no rows of other, openvino 2022.3, int8"),
            std::string::npos);
  EXPECT_NE(refusal("/facts/precision", "bf16").find("the table has no rows of"), std::string::npos);
  EXPECT_NE(refusal("/facts/layout", "nchw").find("the table has no rows of"), std::string::npos);
  EXPECT_NE(refusal("/as", "mlperf").find("kiln reads no tables of 'mlperf'"), std::string::npos);
  EXPECT_NE(refusal("/as", "timm").find("does not say the layout"), std::string::npos);
  EXPECT_NE(refusal("/table", "").find("the table is empty"), std::string::npos);
}

class OpenvinoTableRefuses : public ::testing::TestWithParam<WrongTable> {};

TEST_P(OpenvinoTableRefuses, WithItsPlace) {
  const std::string text = with_mistake(kOpenvinoTable, GetParam().from, GetParam().to);
  const std::string error = input_error([&] { read_openvino(text); });
  EXPECT_EQ(error.substr(0, error.find(';')),
            std::string("some/folder/") + kOpenvinoName + ":" + GetParam().error);
}

constexpr const char* kInt8Number = "Throughput-INT8: expected a number over 0, 1e+09 at most, found ";

INSTANTIATE_TEST_SUITE_P(
    Rows, OpenvinoTableRefuses,
    ::testing::Values(
        WrongTable{"Throughput-INT8", "Throughput-INT4",
                   "1:45: error: OpenVINO's tables have no column 'Throughput-INT4'"},
        WrongTable{"Efficiency", "Value", "1:99: error: a second column 'Value'"},
        WrongTable{"Release", "Price", "1:108: error: a second column 'Price'"},
        WrongTable{",125,1,$599 ,125,2\n", ",125,1,$599 ,125\n", "3:1: error: expected 15 fields, found 14"},
        WrongTable{",800,", ",-800,", std::string("3:68: error: ") + kInt8Number + "'-800'"},
        WrongTable{",800,", ",nan,", std::string("3:68: error: ") + kInt8Number + "'nan'"},
        WrongTable{",800,", ",inf,", std::string("3:68: error: ") + kInt8Number + "'inf'"},
        WrongTable{",800,", ",0,", std::string("3:68: error: ") + kInt8Number + "'0'"},
        WrongTable{",800,", ",2e9,", std::string("3:68: error: ") + kInt8Number + "'2e9'"},
        WrongTable{",800,", ",1e999,", std::string("3:68: error: ") + kInt8Number + "'1e999'"},
        WrongTable{",800,", ",8OO,", std::string("3:68: error: ") + kInt8Number + "'8OO'"},
        WrongTable{",800,", ", 800,", std::string("3:68: error: ") + kInt8Number + "' 800'"},
        WrongTable{"begin_rec,,,,,,,,,,,,,,\nresnet", "resnet",
                   "2:1: error: 'resnet-50' is not between begin_rec and end_rec"},
        WrongTable{"end_rec,,,,,,,,,,,,,,\nbegin_rec", "begin_rec",
                   "8:1: error: the block of line 2 has no end_rec"},
        WrongTable{"end_rec,,,,,,,,,,,,,,\nbegin_rec,,,,,,,,,,,,,,\n", "",
                   "8:1: error: a block of resnet-50 has a row of yolo_v4"},
        WrongTable{"begin_rec,,,,,,,,,,,,,,\nyolo", "end_rec,,,,,,,,,,,,,,\nyolo",
                   "9:1: error: 'end_rec' is not between begin_rec and end_rec"},
        WrongTable{"i9-13900K iGPU-only", "i9-13900K  CPU-only",
                   "4:37: error: a second row of resnet-50 on core-i9-13900k"},
        WrongTable{"Core™  i9-13900K CPU", "Core™  i9/13900K CPU",
                   "3:32: error: 'Intel® Core™  i9/13900K CPU-only' is not the name of a CPU"},
        WrongTable{"Intel® Core™  i9-13900K CPU", "Intel® CPU",
                   "3:32: error: 'Intel® CPU-only' is not the name of a CPU"},
        WrongTable{"Intel® Core™  i9-13900K CPU-only", " ", "3:32: error: the row has no platform"},
        WrongTable{"OV-2022.3-8991", "2022.3", "3:12: error: '2022.3' is not a release of OpenVINO"},
        WrongTable{"OV-2022.3-8991", "OV-", "3:12: error: 'OV-' is not a release of OpenVINO"},
        WrongTable{"resnet-50 ", "resnet 50", "3:1: error: 'resnet 50' is not the name of a network"},
        WrongTable{"resnet-50 ", "resnet@50", "3:1: error: 'resnet@50' is not the name of a network"},
        WrongTable{"resnet-50 ", " ", "3:1: error: '' is not the name of a network"},
        WrongTable{"Core™", "Core\xe2\x84", "3:44: error: a table has visible characters of UTF-8 only"},
        WrongTable{"Core™", "Core\x1b[1m", "3:44: error: a table has visible characters of UTF-8 only"},
        WrongTable{"Core™", "Core\xc2\x9b", "3:44: error: a table has visible characters of UTF-8 only"},
        WrongTable{"Core™", "Core\xe2\x80\xae", "3:44: error: a table has visible characters of UTF-8 only"},
        WrongTable{"Core™", "Core\t", "3:44: error: a table has visible characters of UTF-8 only"},
        WrongTable{"yolo_v4,", "\"yolo_v4,", "12:22: error: the quote of a field is not closed"},
        WrongTable{"Network", "\xEF\xBB\xBFNetwork", "1:1: error: the table begins with a byte order mark"}));

TEST(OpenvinoTable, RefusesWhatIsNoTable) {
  const auto refusal = [](const std::string& text) {
    return input_error([&] { openvino_tables(text, kOpenvinoName, {}); })
        .substr(std::string(kOpenvinoName).size());
  };
  EXPECT_EQ(refusal(""), ":1:1: error: the table is empty; is this a results table?");
  EXPECT_EQ(refusal("Network model,Release,Platform name,Throughput-INT8,Throughput-FP16\n"),
            ":1:1: error: the table has no column 'Throughput-FP32'; it needs Network model, Release, "
            "Platform name, Throughput-INT8, Throughput-FP16 and Throughput-FP32");
  EXPECT_EQ(refusal(kOpenvinoHeader),
            ":1:1: error: the table has no row of a CPU alone; nothing was imported");
  const std::string text = kOpenvinoTable;
  EXPECT_EQ(refusal(text.substr(0, text.rfind("end_rec"))),
            ":9:1: error: the block has no end_rec; is the file whole?");
  const std::string begin = std::string(kOpenvinoHeader) + "begin_rec,,,,,,,,,,,,,,\nn,OV-1,,X CPU-only,";
  EXPECT_EQ(refusal(begin + ",,,,,,,,,,\nend_rec,,,,,,,,,,,,,,\n"),
            ":1:1: error: no row of the table has a speed; nothing was imported");
  EXPECT_EQ(refusal(kOpenvinoHeader + std::string(5000, ',')),
            ":2:4097: error: the line has 5000 bytes; a line has at most 4096; is this a results table?");
  EXPECT_EQ(
      refusal(std::string(100'000'000, '\n')),
      ":1:1: error: the table has 100000000 bytes; a table has at most 524288; is this a results table?");
}

TEST(OpenvinoTable, TakesLinesOfWindowsAndOtherOrders) {
  const OpenvinoTables found = read_openvino(
      "Platform name,Network model,Release,Throughput-FP32,Throughput-INT8,Throughput-FP16\r\n"
      ",begin_rec,,,,\r\n"
      "AMD EPYC 9654 CPU-only,yolo_v4,OV-2023.0.1,50,,\r\n"
      ",end_rec,,,,\r\n");
  EXPECT_EQ(series_of(found), std::vector<std::string>{"amd-epyc-9654, openvino 2023.0.1, fp32"});
  const ExternalTable again =
      external_table_from_json(JsonDocument::parse(to_json(found.tables[0]).dump(), "file").root());
  EXPECT_DOUBLE_EQ(again.rows.at(0).seconds, 0.02);
}

std::string published_openvino() {
  std::ifstream file(std::string(KILN_TEST_DATA) + "/model/openvino/" + kOpenvinoName);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const OpenvinoTables& published_tables() {
  static const OpenvinoTables found = openvino_tables(published_openvino(), kOpenvinoName, {});
  return found;
}

TEST(OpenvinoTable, ReadsThePublishedTable) {
  const OpenvinoTables& found = published_tables();
  std::set<std::string> hosts;
  std::map<std::string, std::size_t> precisions;
  for (const ExternalTable& table : found.tables) {
    hosts.insert(table.facts.host);
    ++precisions[table.facts.precision];
    EXPECT_EQ(table.rows.size(), 15U) << table.facts.series();
    EXPECT_EQ(table.failed, 0U) << table.facts.series();
    EXPECT_EQ(table.facts.version, "2022.3");
  }
  EXPECT_EQ(hosts.size(), 19U);
  EXPECT_EQ(precisions, (std::map<std::string, std::size_t>{{"int8", 19}, {"fp16", 1}, {"fp32", 19}}));
  EXPECT_EQ(found.left_out, 255U);
  const auto xeon = std::ranges::find(found.tables, "xeon-gold-6448y, openvino 2022.3, fp32",
                                      [](const ExternalTable& table) { return table.facts.series(); });
  ASSERT_NE(xeon, found.tables.end());
  const auto row = std::ranges::find(xeon->rows, "unet-camvid--0001", &ExternalRow::network);
  ASSERT_NE(row, xeon->rows.end());
  EXPECT_DOUBLE_EQ(1 / row->seconds, 151.98);
}

TEST(OpenvinoRecords, HaveNoAmountsAndAreForAnchorsOnly) {
  const ModelRecords found = external_records(published_tables().tables);
  EXPECT_TRUE(found.records.empty());
  EXPECT_TRUE(found.left_out.empty());
  ASSERT_EQ(found.anchored.size(), 585U);
  EXPECT_EQ(found.only_anchors, std::vector<std::string>{"585 results of openvino 2022.3 (39 series): no "
                                                         "table has their operations"});
  const SpeedRecord& record = found.anchored.front();
  EXPECT_EQ(record.workload, "bert-base-cased");
  EXPECT_EQ(record.image, "openvino 2022.3, int8");
  EXPECT_EQ(record.amounts.size(), 1U) << "the batch alone";
  EXPECT_EQ(record.words.at("layout"), "");
  EXPECT_EQ(record.words.at("network_family"), "bert");
}

// Tables of timm have operations, and those without would take them from the model.
TEST(OpenvinoRecords, DoNotChangeTheRecordsOfOtherTables) {
  std::vector<ExternalTable> tables = published_tables().tables;
  ExternalTable other = tables.front();
  other.facts.framework = "pytorch";
  other.rows = {{"resnet50", 1, 0.1, 224, 25e6, 4e9, 11e6}};
  tables.push_back(other);
  const ModelRecords found = external_records(tables);
  ASSERT_EQ(found.records.size(), 1U);
  EXPECT_EQ(found.records.front().workload, "resnet50@224");
  EXPECT_EQ(found.anchored.size(), 585U);
}

}  // namespace
}  // namespace kiln::testing
