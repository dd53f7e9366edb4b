// Writes plain .npy files for tests of named arrays.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace stoker::feed {

// An npy 1.0 file [length, 2] of equal values; `type` is numpy's name of T ("<f4").
template <class T>
void write_npy(const std::string& path, unsigned length, T value, const std::string& type) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                       std::to_string(length) + ", 2), }";
  header.resize(117, ' ');
  header += "\n";
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\x00' << static_cast<char>(header.size()) << '\x00' << header;
  const std::vector<T> values(2 * std::size_t{length}, value);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

}  // namespace stoker::feed
