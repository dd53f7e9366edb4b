"""The check of outputs must be able to fail: each planted file is caught, a clean tree passes."""

import sys

from planted import judge, verdict

PLANTED = {
    "a command publishes by itself": {"cli/a.cc": "publish_file(folder, name, bytes);\n"},
    "a command renames": {"cli/a.cc": "folder.io().rename_at(handle, from, to);\n"},
    "a benchmark writes with a stream": {"bench/a.cc": "std::ofstream(path) << text;\n"},
    "the feed creates a file": {"feed/a.cc": "open_beneath(folder, name, OpenFor::kCreateNew);\n"},
    "the library makes folders by itself": {"data/a.cc": "std::filesystem::create_directories(path);\n"},
}
CLEAN = {"a command uses the publisher": {"cli/a.cc": "publish_output(io, path, bytes);  // never publish_file\n"}}

if __name__ == "__main__":
    sys.exit(judge(lambda files: verdict("check_outputs.py", files), PLANTED, CLEAN))
