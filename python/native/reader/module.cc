// The module steplens._reader: opens captures and answers questions about them.
// steplens/_reading.py is what people see of it.
#include "reader/types.h"

#include "analysis/question/question.h"
#include "store/schema_doc.h"

namespace steplens::python {

PyObject* OpenPaths(PyObject* module, PyObject* arguments);

namespace {

PyObject* DescribeArgument(const analysis::QuestionArg& arg) {
  return Py_BuildValue("(NNNN)", ToPython(arg.name), ToPython(analysis::ArgTypeName(arg.type)),
                       ToPython(arg.default_text), ToPython(arg.doc));
}

PyObject* DescribeQuestion(const analysis::Question& question) {
  Ref args(PyList_New(0));
  Ref tables(PyList_New(0));
  for (const analysis::QuestionArg& arg : question.args) {
    const Ref one(DescribeArgument(arg));
    if (!args || !one || PyList_Append(args.get(), one.get()) != 0) return nullptr;
  }
  for (const table::Table& table : question.answer) {
    const Ref one(ToPython(table.name()));
    if (!tables || !one || PyList_Append(tables.get(), one.get()) != 0) return nullptr;
  }
  return Py_BuildValue("(NNNN)", ToPython(question.name), ToPython(question.description),
                       args.release(), tables.release());
}

// [(name, description, [(argument, type, default, doc)], [table])]
PyObject* Questions(PyObject*, PyObject*) {
  Ref list(PyList_New(0));
  for (const analysis::Question& question : analysis::Questions()) {
    const Ref one(DescribeQuestion(question));
    if (!list || !one || PyList_Append(list.get(), one.get()) != 0) return nullptr;
  }
  return list.release();
}

// The tables that any capture has.
PyObject* TableNames(PyObject*, PyObject*) {
  Ref list(PyList_New(0));
  for (const store::TableDoc& table : store::DescribeTables()) {
    const Ref one(ToPython(table.name));
    if (!list || !one || PyList_Append(list.get(), one.get()) != 0) return nullptr;
  }
  return list.release();
}

PyMethodDef functions[] = {
    {"open", OpenPaths, METH_VARARGS, "Opens what is below some paths."},
    {"compare", Compare, METH_VARARGS, "What changed between two jobs."},
    {"questions", Questions, METH_NOARGS, "What can be asked of a job."},
    {"table_names", TableNames, METH_NOARGS, "The tables that any capture has."},
    {"set_errors", SetErrors, METH_O, "The exception classes, by the code of the error."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "steplens._reader",
                          "Reads captures; use steplens.open.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace steplens::python

PyMODINIT_FUNC PyInit__reader() {
  using steplens::python::Ref;
  Ref module(PyModule_Create(&steplens::python::definition));
  if (!module || !steplens::python::AddColumnType(module.get()) ||
      !steplens::python::AddResultType(module.get()) ||
      !steplens::python::AddJobType(module.get())) {
    return nullptr;
  }
  return module.release();
}
