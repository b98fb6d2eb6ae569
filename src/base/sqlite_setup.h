#pragma once

namespace steplens {

// Once, before SQLite is used and before there are other threads. Without it SQLite works as well,
// and slower.
void SetUpSqlite();

}  // namespace steplens
