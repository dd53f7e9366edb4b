"""The check of names in the docs must be able to fail: each planted name is caught, true ones pass."""

import sys

from planted import judge, verdict

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


def tree_with(page: str) -> dict[str, str]:
    return {**TREE, "docs/guide/page.md": page}


if __name__ == "__main__":
    true = {"true names": TRUE}
    sys.exit(judge(lambda page: verdict("check_doc_names.py", tree_with(page), "--root"), PLANTED, true))
