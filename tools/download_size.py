"""Prints how much pip would download for a requirement, before anything is fetched."""

import json
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path


def size_of(url: str) -> int | None:
    """Bytes behind a URL, or None when the server does not say."""
    parts = urllib.parse.urlparse(url)
    if parts.scheme == "file":
        return Path(urllib.request.url2pathname(parts.path)).stat().st_size
    try:
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=20) as answer:
            length = answer.headers.get("Content-Length")
            return int(length) if length else None
    except OSError:
        return None


def main() -> int:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-", *sys.argv[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print("an unknown amount")
        return 0
    urls = [item["download_info"]["url"] for item in json.loads(done.stdout)["install"]]
    sizes = [size_of(url) for url in urls]
    known = sum(size for size in sizes if size is not None)
    more = " or more" if None in sizes else ""
    print(f"{known / 1e6:.0f} MB{more} in {len(urls)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
