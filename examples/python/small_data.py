"""The data that an example reads: the folder given as argument, or a small set made for this run."""

import atexit
import shutil
import subprocess
import sys
import tempfile


def data_folder() -> str:
    if len(sys.argv) > 1:
        return sys.argv[1]
    folder = tempfile.mkdtemp(prefix="stoker-example-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = ["stoker", "data", "make", "--out", f"{folder}/voice", "--clips", "24", "--speakers", "2"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return f"{folder}/voice"
