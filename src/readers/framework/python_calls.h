#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "readers/framework/context.h"
#include "readers/framework/record_reader.h"

namespace steplens::readers {

// Calls and returns of the interpreter -> python_function slices. Add the files in any order, then
// Finish once: it replays each thread's records in time order (a return ends the latest call, one
// without a call is ignored, calls that never return end at the thread's last record).
//
//   name          as recorded; a module "Class######address" is "nn.Module: Class_<k>", k counting
//                 the objects of the class on the thread by first appearance
//   correlation   "Python id", the call's place among the thread's records
class PythonCalls {
 public:
  explicit PythonCalls(FrameworkContext& ctx);
  ~PythonCalls();

  Status ReadNames(RecordReader& reader);       // torch.python_tracer_hash
  Status ReadCalls(RecordReader& reader);       // torch.python_tracer_func
  Status ReadOldCalls(RecordReader& reader);    // torch.python_func_call
  Status ReadOldModules(RecordReader& reader);  // torch.python_module_call
  Status ReadParameters(RecordReader& reader);  // torch.param_tensor_info -> sheet
  void Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace steplens::readers
