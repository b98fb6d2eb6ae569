#pragma once

#include "export/db/db_context.h"

namespace steplens::exporting {

// The enums of the exporter's newest schema, which knows more names than the results of frameworks.
void UseProfEnums(DbEnums& enums);
// ENUM_*: all of them.
void WriteProfEnums(DbContext& ctx);

}  // namespace steplens::exporting
