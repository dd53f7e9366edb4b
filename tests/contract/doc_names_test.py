"""The check of names in the docs must be able to fail: each planted name is caught, true ones pass."""

import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_doc_names.py"
TREE = {
    "docs/reference/settings.md": "| `features.preset` | `--preset` |\n| `data.dataset_path` | `data.path` |\n",
    "src/stoker/config/mel_recipe.cc": '  visit("power", r.power);\n',
}
PLANTED = {
    "a setting of another section": "Choose with `mel.preset: NAME`.\n",
    "a setting that is gone": "`features.window` is the window.\n",
    "a key that the recipe has not": "`features.mel.pow` is 2.\n",
    "an option that is gone": "`stoker stream --rebuild`\n",
    "a file that is gone": "One row in `src/stoker/config/presets.cc`.\n",
}
TRUE = (
    "`features.preset: NAME` or `--preset NAME`, once `data.dataset_path`; `features.mel.power`; `metadata.csv`,\n"
    "`torch.stft`, `src/stoker/config/mel_recipe.cc`, mel.preset as plain words.\n```\nmel.preset --gone\n```\n"
)


def verdict(page: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**TREE, "docs/guide/page.md": page}.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, str(CHECK), "--root", folder]
        return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode


def main() -> int:
    wrong = [f"not caught: {title}" for title, page in PLANTED.items() if verdict(page) != 1]
    if verdict(TRUE) != 0:
        wrong.append("true names were refused")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
