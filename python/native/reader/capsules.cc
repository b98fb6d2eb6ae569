// Arrow's structs as the capsules that Python libraries hand to each other.
#include "reader/types.h"

namespace steplens::python {
namespace {

// A capsule that nobody has taken the content of releases it.
template <typename Struct>
void DropCapsule(PyObject* capsule) {
  auto* content = static_cast<Struct*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (content == nullptr) return;
  if (content->release != nullptr) content->release(content);
  delete content;
}

template <typename Struct>
PyObject* NewCapsule(std::unique_ptr<Struct> content, const char* name) {
  PyObject* capsule = PyCapsule_New(content.get(), name, DropCapsule<Struct>);
  if (capsule == nullptr && content->release != nullptr) content->release(content.get());
  if (capsule != nullptr) (void)content.release();
  return capsule;
}

}  // namespace

PyObject* NewStream(ArrowTable table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  ExportStream(std::move(table), stream.get());
  return NewCapsule(std::move(stream), "arrow_array_stream");
}

PyObject* NewArrayPair(const ArrowField& field, const std::shared_ptr<const Chunk>& chunk) {
  auto schema = std::make_unique<ArrowSchema>();
  auto array = std::make_unique<ArrowArray>();
  const bool is_made = RunReleased([&] {
    ExportSchema(field, schema.get());
    ExportChunk(*chunk, chunk, array.get());
    return Status();
  });
  if (!is_made) return nullptr;
  Ref schema_capsule(NewCapsule(std::move(schema), "arrow_schema"));
  Ref array_capsule(NewCapsule(std::move(array), "arrow_array"));
  if (!schema_capsule || !array_capsule) return nullptr;
  return PyTuple_Pack(2, schema_capsule.get(), array_capsule.get());
}

}  // namespace steplens::python
