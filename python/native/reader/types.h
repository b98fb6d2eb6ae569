#pragma once

#include "reader/python.h"  // first

#include <memory>
#include <optional>

#include "reader/arrow.h"
#include "reader/opened_job.h"

namespace steplens::python {

// Each adds its type to the module; false with an exception set if that fails.
bool AddColumnType(PyObject* module);
bool AddResultType(PyObject* module);
bool AddJobType(PyObject* module);

// What the owner keeps alive, as `_reader.Column`: a buffer, and an Arrow array.
PyObject* NewColumn(std::shared_ptr<const Chunk> chunk);
PyObject* NewResult(std::shared_ptr<ResultTable> result);

// A capsule with an ArrowArrayStream, as __arrow_c_stream__ returns it.
PyObject* NewStream(ArrowTable table);
// (schema, array) as __arrow_c_array__ returns it. What is missing in a column is looked for first.
PyObject* NewArrayPair(const ArrowField& field, const std::shared_ptr<const Chunk>& chunk);

// module.query, module.compare, ...: what is asked of opened jobs.
std::shared_ptr<OpenedJob> JobOf(PyObject* object);  // null with an exception set if it is none
PyObject* Compare(PyObject* module, PyObject* arguments);

}  // namespace steplens::python
