"""The licence texts of the libraries that auditwheel put into a wheel, put into it beside ours."""

import base64
import hashlib
import re
import subprocess
import zipfile
from pathlib import Path

COPYRIGHTS = Path("/usr/share/doc")


def soname_of(bundled: str) -> str:
    """libsoxr-1f2e3d4c.so.0.1.2, as auditwheel names it, was libsoxr.so.0.1.2."""
    return re.sub(r"-[0-9a-f]{8}(?=\.so)", "", bundled)


def package_of(library: str) -> str:
    """The Debian package that a library is from."""
    done = subprocess.run(["dpkg-query", "-S", f"*/{library}*"], check=False, capture_output=True, text=True)
    owners = {line.split(":")[0] for line in done.stdout.splitlines() if not line.startswith("diversion")}
    owners = {name for name in owners if not name.endswith("-dev")}
    if len(owners) != 1:
        raise SystemExit(f"wheel: expected one package that has {library}, found {sorted(owners)}")
    return owners.pop()


def licence_texts(names: list[str]) -> dict[str, bytes]:
    """What each package of the bundled libraries says about copying, by package."""
    texts = {}
    for package in sorted({package_of(soname_of(name)) for name in names}):
        path = COPYRIGHTS / package / "copyright"
        if not path.exists():
            raise SystemExit(f"wheel: expected the licence of {package} in {path}, found nothing")
        texts[package] = path.read_bytes()
    return texts


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(data)}\n"


def add_licences(wheel: Path) -> int:
    """Adds the texts and their lines in RECORD; the number of libraries inside."""
    with zipfile.ZipFile(wheel) as archive:
        entries = {info: archive.read(info) for info in archive.infolist()}
    libraries = [Path(info.filename).name for info in entries if ".libs/" in info.filename and ".so" in info.filename]
    record = next(info for info in entries if info.filename.endswith(".dist-info/RECORD"))
    folder = record.filename.removesuffix("RECORD") + "licenses/bundled/"
    added = {f"{folder}{package}.txt": text for package, text in licence_texts(libraries).items()}
    entries[record] += "".join(record_line(name, text) for name, text in added.items()).encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for info, data in entries.items():
            if info.is_dir():
                continue
            archive.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
        for name, data in added.items():
            archive.writestr(name, data)
    return len(libraries)
