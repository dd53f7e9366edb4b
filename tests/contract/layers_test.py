"""The layer check must be able to fail: each planted violation is caught, a clean tree passes."""

import sys

from planted import judge, verdict

PLANTED = {
    "a lower layer includes a higher one": {"base/a.h": '#include "stoker/feed/feed.h"\n'},
    "siblings include each other": {"text/a.cc": '#include "stoker/audio/wav.h"\n'},
    "a base header shows fmt": {"base/a.h": "#include <fmt/format.h>\n"},
    "the feed includes libtorch": {"feed/a.cc": "#include <torch/torch.h>\n"},
    "a lower room includes a higher one": {"cache/read/a.cc": '#include "stoker/cache/build/plan.h"\n'},
    "rooms that are siblings include each other": {"feed/tuner/a.h": '#include "stoker/feed/source/ram_tier.h"\n'},
    "a room inside a room includes a higher one": {
        "audio/mel/cuda/a.cu": '#include "stoker/audio/augment/augment_batch.h"\n'
    },
    "a room includes a flat file above it": {"feed/sampling/a.cc": '#include "stoker/feed/feed.h"\n'},
    "assembly includes the device above it": {"feed/assembly/a.cc": '#include "stoker/feed/device/ring.h"\n'},
    "a room the table does not name": {"cache/utilities/a.h": "#include <vector>\n"},
    "a command includes the trainer past its door": {"cli/a.cc": '#include "stoker/train/model.h"\n'},
    "a folder that the table does not list": {"misc/a.cc": "int a;\n"},
}
CLEAN = {
    "the feed includes lower layers": {
        "feed/a.cc": '#include "stoker/cache/read/reader.h"\n#include "stoker/base/io/io.h"\n'
    },
    "a room includes lower rooms and the folder's errors": {
        "cache/maintain/a.cc": '#include "stoker/cache/format/manifest.h"\n#include "stoker/cache/errors.h"\n'
    },
    "the device includes sampling and fallbacks": {
        "feed/device/a.cc": '#include "stoker/feed/sampling/sampler.h"\n#include "stoker/feed/fallbacks.h"\n'
    },
    "a flat file includes a room": {"feed/feed.h": '#include "stoker/feed/tuner/tuner_log.h"\n'},
    "a folder without an order of rooms": {"text/persian/a.cc": '#include "stoker/text/english/rules.h"\n'},
    "a command includes the trainer's door": {"cli/a.cc": '#include "stoker/train/door/loader.h"\n'},
}

OUTSIDE_PLANTED = {
    "the bindings include a layer above observe": {"bindings/python/a.cc": '#include "stoker/demo/story.h"\n'},
    "the bindings include the trainer past its door": {"bindings/python/a.cc": '#include "stoker/train/loop/run.h"\n'},
    "the bindings include libtorch": {"bindings/python/a.cc": "#include <torch/torch.h>\n"},
    "C++ in the package": {"python/stoker/a.cc": "int a;\n"},
    "the package imports NumPy for everybody": {"python/stoker/a.py": "import os\nimport numpy as np\n"},
    "the package imports torch for everybody": {"python/stoker/a.py": "from torch.utils import dlpack\n"},
}
OUTSIDE_CLEAN = {
    "the bindings include observe, lower layers and the door": {
        "bindings/python/a.cc": '#include "stoker/observe/a.h"\n#include "stoker/feed/feed.h"\n'
        '#include "stoker/train/door/loader.h"\n#include "crossing.h"\n'
    },
    "the package imports torch where it is used": {
        "python/stoker/a.py": "import os\nfrom stoker import _engine\n\ndef f():\n    import torch\n"
    },
}

if __name__ == "__main__":
    inside = judge(lambda files: verdict("check_layers.py", files), PLANTED, CLEAN)
    outside = judge(lambda files: verdict("check_layers.py", files, "--project"), OUTSIDE_PLANTED, OUTSIDE_CLEAN)
    sys.exit(inside or outside)
