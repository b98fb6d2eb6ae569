#pragma once

#include <cstdint>
#include <string>

// The names behind numbers in raw records, as results show them. A number without a name gives its
// digits.
namespace steplens::readers::prof {

std::string TensorTypeName(uint32_t type);
std::string TensorFormatName(uint32_t format);  // with ":<sub format>" where it has one
std::string OpTaskTypeName(uint32_t type);      // AI_CORE, MIX_AIC, ...
std::string StarsTaskName(uint32_t type);       // AI_CORE, EVENT_RECORD_SQE, ...
std::string HwtsTaskName(uint32_t type);
std::string SubTaskName(uint32_t type);  // sub-tasks of FFTS+
// Of collectives; all ones is INVALID_TYPE.
std::string HcclDataTypeName(uint32_t type);
std::string HcclLinkName(uint32_t link);
std::string HcclTransportName(uint32_t transport);
std::string HcclRdmaName(uint32_t type);
std::string ModuleName(uint32_t module);

// Values of OpTaskTypeName that a reader asks for.
enum OpTaskType : uint32_t {
  kOpAiCore = 0,
  kOpAiCpu = 1,
  kOpAiVectorCore = 2,
  kOpWriteBack = 3,
  kOpMixAic = 4,
  kOpMixAiv = 5,
  kOpFftsPlus = 6,
  kOpCommunication = 9,
  kOpInvalid = 11,
  kOpHcclAiCpu = 256,
};

// Values of StarsTaskName.
inline constexpr uint32_t kSqeCCore = 20;

}  // namespace steplens::readers::prof
