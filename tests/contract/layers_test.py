"""The layer check must be able to fail: each planted violation is caught, a clean tree passes."""

import sys

from planted import judge, verdict

PLANTED = {
    "a lower layer includes a higher one": {"base/a.h": '#include "stoker/feed/feed.h"\n'},
    "siblings include each other": {"text/a.cc": '#include "stoker/audio/wav.h"\n'},
    "a base header shows fmt": {"base/a.h": "#include <fmt/format.h>\n"},
    "the feed includes libtorch": {"feed/a.cc": "#include <torch/torch.h>\n"},
    "a command includes the trainer past its door": {"cli/a.cc": '#include "stoker/train/model.h"\n'},
    "a folder that the table does not list": {"misc/a.cc": "int a;\n"},
}
CLEAN = {
    "the feed includes lower layers": {
        "feed/a.cc": '#include "stoker/cache/read/reader.h"\n#include "stoker/base/io/io.h"\n'
    },
    "a command includes the trainer's door": {"cli/a.cc": '#include "stoker/train/door/loader.h"\n'},
}

if __name__ == "__main__":
    sys.exit(judge(lambda files: verdict("check_layers.py", files), PLANTED, CLEAN))
