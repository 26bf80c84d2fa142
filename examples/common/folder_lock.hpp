// common/folder_lock.hpp: one run at a time writes into a folder.
#pragma once

#include <filesystem>

namespace examples {

/// Locks a folder, which is made if need be, until this object or the process ends. Throws file_error if another run
/// holds the lock, with that run's process, or if the folder cannot be made or written. Removes temporary files of
/// write_atomically that a killed run left there.
class folder_lock {
 public:
  explicit folder_lock(const std::filesystem::path& folder);
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock();

 private:
  int file_;
};

}  // namespace examples
