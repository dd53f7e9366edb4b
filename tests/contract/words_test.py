"""The check of words must be able to fail: each planted word is caught, and what users script against passes."""

import sys

from planted import judge, verdict

PLANTED = {
    "a retired type": {"src/stoker/feed/a.cc": "RowStore store;\n"},
    "a retired header": {"src/stoker/cache/a.cc": '#include "stoker/cache/unused_caches.h"\n'},
    "a file with a retired name": {"src/stoker/feed/batch_fill.h": "// Fills.\n"},
    "the command's context under its old name": {"src/stoker/cli/a.h": "void run(const Frame& frame);\n"},
    "a retired verb on a page": {"docs/guide/a.md": "The cache lies beside the data.\n"},
    "a retired phrase over a line break": {"docs/guide/a.md": "Names of the\noriginal are read.\n"},
    "a retired verb in a comment": {"bench/a.cc": "// The name stands in the header.\n"},
    "a retired verb in a comment of the sources": {"src/stoker/feed/a.cc": "// It lies there.\n"},
    "a retired verb in a message of a test": {"tests/feed/a_test.cc": 'FAIL() << "it lies there";\n'},
    "a retired verb in a docstring": {"tools/a.py": '"""The memory lies elsewhere."""\n'},
    "a retired verb in a message": {"tools/a.py": 'print("waits for ever")\n'},
    "a retired verb in a script": {"tools/a": "#!/bin/sh\n# It stands here.\n"},
    "an utterance called a clip": {"README.md": "It reads one clip after the other and each clip once.\n"},
    "an utterance called a row": {"docs/a.md": "A record for each row of the data set.\n"},
}
CLEAN = {
    "a frame elsewhere": {"src/stoker/data/voice/track.h": "struct Frame {};\n"},
    "code, flags and links of a page": {
        "docs/a.md": "`lies`, --stands and [a page](the-original-stands.md).\n```\nIt lies.\n```\n"
    },
    "keys and codes": {"tools/a.py": 'row["stands"] = "lies"\n'},
    "code around a string": {"bench/a.cc": 'int lies = stands["a b"];\n'},
    "generated pages, Persian and the changelog": {
        "docs/reference/a.md": "It lies.\n",
        "docs/fa/a.md": "It lies.\n",
        "CHANGELOG.md": "It lies.\n",
    },
    "the usual senses": {"docs/a.md": "A stand-in for 90 clips a second, laid out by the layout. We lay out rows.\n"},
}

if __name__ == "__main__":
    sys.exit(judge(lambda files: verdict("check_words.py", files), PLANTED, CLEAN))
