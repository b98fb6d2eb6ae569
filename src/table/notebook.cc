#include "table/notebook.h"

#include <fmt/format.h>

#include "base/json_writer.h"

namespace steplens::table {
namespace {

// One function for all files; a file that is missing or has other columns does not stop the rest.
constexpr std::string_view kSetUp = R"py(from pathlib import Path

import pandas as pd
from IPython.display import display

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None  # tables only


def show(name, key, values):
    """Shows a CSV file of this directory as a table and its value columns as a chart."""
    path = Path(name)
    if not path.is_file():
        print(f"{name} is not here; run steplens again to write it.")
        return
    frame = pd.read_csv(path)
    display(frame)
    values = [column for column in values
              if column in frame and pd.api.types.is_numeric_dtype(frame[column])]
    if plt is None or not values or frame.empty:
        return
    kind = "bar" if len(frame) <= 60 else "line"
    frame.plot(x=key if key in frame else None, y=values, kind=kind, figsize=(12, 4), title=name)
    plt.tight_layout()
    plt.show()
)py";

// A JSON string is also a Python string literal: both support the escapes that the writer uses.
std::string PythonString(std::string_view text) {
  std::string literal;
  AppendJsonString(literal, text);
  return literal;
}

std::string ShowCall(const NotebookFile& file) {
  std::string values;
  for (const std::string& column : file.value_columns) {
    values += (values.empty() ? "" : ", ") + PythonString(column);
  }
  return fmt::format("show({}, {}, [{}])", PythonString(file.csv_name),
                     PythonString(file.key_column), values);
}

// Plain words in Markdown: no HTML, and no line of a name becomes a heading of its own.
std::string MarkdownText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '\n':
        out += ' ';
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

class Cells {
 public:
  explicit Cells(JsonWriter& json) : json_(json) {}
  void AddMarkdown(std::string_view source) {
    Begin("markdown", source);
    json_.EndObject();
  }
  void AddCode(std::string_view source) {
    Begin("code", source);
    json_.Key("execution_count").Null().Key("outputs").BeginArray().EndArray().EndObject();
  }

 private:
  void Begin(std::string_view type, std::string_view source) {
    json_.NewLine().BeginObject().Key("cell_type").String(type);
    json_.Key("id").String(fmt::format("cell-{}", ++count_));
    json_.Key("metadata").BeginObject().EndObject().Key("source").String(source);
  }

  JsonWriter& json_;
  int count_ = 0;
};

}  // namespace

std::string ToNotebook(std::string_view title, std::span<const NotebookFile> files) {
  JsonWriter json;
  json.BeginObject().Key("cells").BeginArray();
  Cells cells(json);
  cells.AddMarkdown("# " + MarkdownText(title));
  cells.AddCode(kSetUp);
  for (const NotebookFile& file : files) {
    cells.AddMarkdown(
        fmt::format("## {}\n\n{}", MarkdownText(file.csv_name), MarkdownText(file.explanation)));
    cells.AddCode(ShowCall(file));
  }
  json.EndArray().NewLine();
  json.Key("metadata").BeginObject().Key("kernelspec").BeginObject();
  json.Key("display_name").String("Python 3").Key("language").String("python");
  json.Key("name").String("python3").EndObject();
  json.Key("language_info").BeginObject().Key("name").String("python").EndObject().EndObject();
  json.Key("nbformat").Int(4).Key("nbformat_minor").Int(5).EndObject().NewLine();
  return json.Take();
}

}  // namespace steplens::table
