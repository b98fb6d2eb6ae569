#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/testing/scratch_folder.h"
#include "format/framework.h"
#include "steplens/collect.h"

// What the tests of the library share: a folder of their own, starting and stopping, reading what
// was written.
namespace steplens::collect {

// The options keep a pointer to the name: it must outlive them.
sl_options OptionsFor(std::string&& directory) = delete;
inline sl_options OptionsFor(const std::string& directory) {
  sl_options options = {};
  options.struct_size = sizeof(options);
  options.directory = directory.c_str();
  options.rank = -1;
  return options;
}

inline sl_string Id(std::string_view text) { return sl_intern(text.data(), text.size()); }

inline std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A framed record with its fields by tag.
template <typename T>
struct Framed {
  uint16_t type = 0;
  T fixed;
  std::map<int, std::string> fields;
};

// All records of a framed file; fails the test if the file is not whole.
template <typename T>
std::vector<Framed<T>> ReadFramed(const std::string& capture, std::string_view file) {
  const std::string text = ReadWhole(capture + "/FRAMEWORK/" + std::string(file));
  std::vector<Framed<T>> records;
  format::TlvReader reader(format::AsBytes(text));
  while (const auto item = reader.Next()) {
    Framed<T> record;
    record.type = item->type;
    EXPECT_TRUE(Decode(item->value, &record.fixed));
    format::TlvReader fields = format::Fields(item->value, T::kFixedBytes);
    while (const auto field = fields.Next()) {
      record.fields[field->type] = format::AsText(field->value);
    }
    EXPECT_FALSE(fields.truncated());
    records.push_back(std::move(record));
  }
  EXPECT_FALSE(reader.truncated());
  return records;
}

// Samples of steplens.counter in order, each with the name of its series; fails the test if a
// series is named too late.
inline std::vector<std::pair<std::string, double>> ReadCounters(const std::string& capture) {
  const std::string text = ReadWhole(capture + "/FRAMEWORK/" + std::string(format::kCounterFile));
  std::map<uint64_t, std::string> names;
  std::vector<std::pair<std::string, double>> samples;
  format::TlvReader reader(format::AsBytes(text));
  while (const auto item = reader.Next()) {
    format::Keyed series;
    format::CounterSample sample;
    if (item->type == format::kCounterSeriesRecord && Decode(item->value, &series)) {
      const auto field = format::Fields(item->value, format::Keyed::kFixedBytes).Next();
      EXPECT_TRUE(names.emplace(series.key, format::AsText(field->value)).second);
    } else if (Decode(item->value, &sample)) {
      EXPECT_TRUE(names.contains(sample.series));
      samples.emplace_back(names[sample.series], sample.value);
    }
  }
  EXPECT_FALSE(reader.truncated());
  return samples;
}

inline std::vector<Framed<format::OpRange>> ReadOps(const std::string& capture) {
  return ReadFramed<format::OpRange>(capture, format::kOpRangeFile);
}
inline std::vector<Framed<format::Mark>> ReadMarks(const std::string& capture) {
  return ReadFramed<format::Mark>(capture, format::kMarkFile);
}

}  // namespace steplens::collect
