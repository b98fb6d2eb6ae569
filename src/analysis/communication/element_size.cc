#include "analysis/communication/element_size.h"

#include <utility>

#include "store/tables.h"

namespace steplens::analysis {

int64_t ElementSize(std::string_view data_type) {
  constexpr std::pair<std::string_view, int64_t> kSizes[] = {{"INT8", 1},
                                                             {"UINT8", 1},
                                                             {"INT16", 2},
                                                             {"UINT16", 2},
                                                             {"FP16", 2},
                                                             {"BFP16", 2},
                                                             {"INT32", 4},
                                                             {"UINT32", 4},
                                                             {"FP32", 4},
                                                             {"INT64", 8},
                                                             {"UINT64", 8},
                                                             {"FP64", 8},
                                                             {"INT128", 16},
                                                             {"Byte", 1},
                                                             {"Char", 1},
                                                             {"Bool", 1},
                                                             {"Short", 2},
                                                             {"Half", 2},
                                                             {"Float", 4},
                                                             {"BFloat16", 2},
                                                             {"Int", 4},
                                                             {"Long", 8},
                                                             {"Double", 8},
                                                             {"float", 4},
                                                             {"double", 8},
                                                             {"c10::Half", 2},
                                                             {"c10::BFloat16", 2},
                                                             {"long int", 8},
                                                             {"int", 4},
                                                             {"short int", 2},
                                                             {"signed char", 1},
                                                             {"unsigned char", 1},
                                                             {"bool", 1},
                                                             {"c10::Float8_e4m3fn", 1},
                                                             {"c10::Float8_e5m2", 1},
                                                             {"c10::complex<float>", 8},
                                                             {"c10::complex<double>", 16},
                                                             {"FLOAT", 4},
                                                             {"FLOAT16", 2},
                                                             {"BF16", 2},
                                                             {"DT_BF16", 2},
                                                             {"DOUBLE", 8}};
  for (const auto& [name, size] : kSizes) {
    if (name == data_type) return size;
  }
  return store::kNone;
}

int64_t DataSize(int64_t count, std::string_view data_type) {
  constexpr int64_t kMostElements = int64_t{1} << 56;  // more is damage, and would not fit
  const int64_t size = ElementSize(data_type);
  if (size == store::kNone || count < 0 || count > kMostElements) return store::kNone;
  return count * size;
}

}  // namespace steplens::analysis
