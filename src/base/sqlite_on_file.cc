#include "base/sqlite_on_file.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/number.h"

namespace steplens {
namespace {

constexpr std::string_view kNamePrefix = "open-file-";  // then the number of the descriptor

// What SQLite holds of an open file; it makes the room and calls the functions of `base`.
struct NumberedFile {
  sqlite3_file base;
  int fd;
};

int FdOf(sqlite3_file* file) { return reinterpret_cast<NumberedFile*>(file)->fd; }

// Moves all bytes with pread or pwrite, which `move(done)` calls; how many were moved, or -1.
template <typename Move>
int MoveAll(int size, const Move& move) {
  int done = 0;
  while (done < size) {
    const ssize_t moved = move(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return -1;
    if (moved == 0) break;
    done += static_cast<int>(moved);
  }
  return done;
}

int ReadPage(sqlite3_file* file, void* buffer, int size, sqlite3_int64 offset) {
  char* bytes = static_cast<char*>(buffer);
  const int got = MoveAll(size, [&](int done) {
    return ::pread(FdOf(file), bytes + done, static_cast<size_t>(size - done), offset + done);
  });
  if (got < 0) return SQLITE_IOERR_READ;
  if (got == size) return SQLITE_OK;
  std::memset(bytes + got, 0, static_cast<size_t>(size - got));  // as SQLite asks for
  return SQLITE_IOERR_SHORT_READ;
}

int WritePage(sqlite3_file* file, const void* buffer, int size, sqlite3_int64 offset) {
  const char* bytes = static_cast<const char*>(buffer);
  const int put = MoveAll(size, [&](int done) {
    return ::pwrite(FdOf(file), bytes + done, static_cast<size_t>(size - done), offset + done);
  });
  if (put == size) return SQLITE_OK;
  return put >= 0 || errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return ::ftruncate(FdOf(file), size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  struct stat info{};
  if (::fstat(FdOf(file), &info) != 0) return SQLITE_IOERR_FSTAT;
  *size = info.st_size;
  return SQLITE_OK;
}

// The descriptor is its owner's; nobody else knows the file, and nothing is waited for.
int Close(sqlite3_file*) { return SQLITE_OK; }
int Sync(sqlite3_file*, int) { return SQLITE_OK; }
int Lock(sqlite3_file*, int) { return SQLITE_OK; }
int CheckReservedLock(sqlite3_file*, int* is_reserved) {
  *is_reserved = 0;
  return SQLITE_OK;
}
int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int SectorSize(sqlite3_file*) { return 4096; }
int DeviceCharacteristics(sqlite3_file*) { return 0; }

sqlite3_io_methods MakeMethods() {
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = Close;
  methods.xRead = ReadPage;
  methods.xWrite = WritePage;
  methods.xTruncate = Truncate;
  methods.xSync = Sync;
  methods.xFileSize = FileSize;
  methods.xLock = Lock;
  methods.xUnlock = Lock;
  methods.xCheckReservedLock = CheckReservedLock;
  methods.xFileControl = FileControl;
  methods.xSectorSize = SectorSize;
  methods.xDeviceCharacteristics = DeviceCharacteristics;
  return methods;
}

// The database itself; what SQLite sorts in goes where it always does.
int OpenByNumber(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  static const sqlite3_io_methods kMethods = MakeMethods();
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 && name != nullptr) return SQLITE_CANTOPEN;
  if (name == nullptr) {
    sqlite3_vfs* usual = sqlite3_vfs_find(nullptr);
    return usual->xOpen(usual, name, file, flags, out_flags);
  }
  const std::optional<int64_t> fd = ParseInt64(std::string_view(name).substr(kNamePrefix.size()));
  if (!fd) return SQLITE_CANTOPEN;
  auto* opened = reinterpret_cast<NumberedFile*>(file);
  opened->base.pMethods = &kMethods;
  opened->fd = static_cast<int>(*fd);
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int NothingThere(sqlite3_vfs*, const char*, int, int* is_there) {
  *is_there = 0;
  return SQLITE_OK;
}

int SameName(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

// The way SQLite reaches files, but for those above. SQLite keeps it until the process ends.
const char* RegisteredVfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs made = *sqlite3_vfs_find(nullptr);
    made.zName = "steplens-open-file";
    made.szOsFile = std::max(made.szOsFile, static_cast<int>(sizeof(NumberedFile)));
    made.xOpen = OpenByNumber;
    made.xAccess = NothingThere;
    made.xFullPathname = SameName;
    return made;
  }();
  static const int kRegistered = sqlite3_vfs_register(&vfs, /*makeDflt=*/0);
  return kRegistered == SQLITE_OK ? vfs.zName : nullptr;
}

}  // namespace

void SqliteCloser::operator()(sqlite3* db) const { sqlite3_close(db); }

Result<SqliteConnection> OpenSqliteOn(const AtomicFile& file) {
  sqlite3_initialize();
  const std::string name = fmt::format("{}{}", kNamePrefix, file.fd());
  sqlite3* opened = nullptr;
  const int state = sqlite3_open_v2(
      name.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      RegisteredVfs());
  SqliteConnection db(opened);
  // Room to sort an index of some hundred thousand rows without temporary files.
  for (const char* sql :
       {"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -16000"}) {
    if (state != SQLITE_OK || sqlite3_exec(opened, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
      return Error{ErrorCode::kIo,
                   fmt::format("{}: cannot write: {}", file.path(), sqlite3_errmsg(opened))};
  }
  // What is written to may be a copy of somebody's file: no code of its schema runs.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  return db;
}

Status CopySqlite(const std::string& source, AtomicFile& file) {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  // Whether what is written goes to a log first (2) or not (1): bytes 18 and 19 of a database. The
  // log is empty, and the copy has none.
  constexpr size_t kLogPlace = 18;
  constexpr std::string_view kNoLog = "\1\1";
  constexpr std::string_view kLog = "\2\2";
  for (uint64_t offset = 0;; offset += kPieceBytes) {
    SL_ASSIGN_OR_RETURN(std::string piece, ReadFileRange(source, offset, kPieceBytes));
    if (offset == 0 && std::string_view(piece).substr(std::min(kLogPlace, piece.size()), 2) == kLog)
      piece.replace(kLogPlace, kNoLog.size(), kNoLog);
    SL_RETURN_IF_ERROR(file.WriteAt(offset, piece));
    if (piece.size() < kPieceBytes) return {};
  }
}

}  // namespace steplens
