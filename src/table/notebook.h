#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::table {

// A CSV file beside the notebook and what to draw of it.
struct NotebookFile {
  std::string csv_name;                    // in the notebook's own directory
  std::string explanation;                 // what the file says, in a sentence or two
  std::string key_column;                  // along the axis; empty: the number of the row
  std::vector<std::string> value_columns;  // drawn above it; none: the file is only shown
};

// A Jupyter notebook (nbformat 4.5) that shows each file as a table and, where matplotlib is
// installed, as a chart. It needs pandas. Names may hold anything: in the code they are quoted, in
// the texts escaped.
std::string ToNotebook(std::string_view title, std::span<const NotebookFile> files);

}  // namespace steplens::table
