"""The checks of pages must be able to fail: a block that its file does not hold, a Persian page that differs."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import run_docs

GUIDE = "# Page\n\n```sh\nstoker text hello\n```\n"


class PagesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.said = io.StringIO()
        for name in ("guide", "fa", "examples"):
            (self.root / name).mkdir()
        (self.root / "guide" / "page.md").write_text(GUIDE, encoding="utf-8")
        (self.root / "examples" / "a.cc").write_text("int main() {\n  run();\n  stop();\n}\n", encoding="utf-8")

    def sisters(self) -> list[str]:
        return list(map(str, run_docs.sister_faults(self.root / "guide", self.root / "fa")))

    def quoting(self, body: str) -> list[str]:
        page = self.root / "quoting.md"
        page.write_text(f"<!-- from examples/a.cc -->\n```cpp\n{body}```\n", encoding="utf-8")
        return list(map(str, run_docs.misquotes(page, self.root)))

    def test_a_missing_sister_is_named(self) -> None:
        self.assertEqual(len(self.sisters()), 1)

    def test_a_sister_with_another_command_is_named(self) -> None:
        (self.root / "fa" / "page.md").write_text(GUIDE.replace("hello", "salam"), encoding="utf-8")
        self.assertIn("stoker text hello", self.sisters()[0])

    def test_a_sister_with_the_same_commands_passes(self) -> None:
        (self.root / "fa" / "page.md").write_text(GUIDE.replace("Page", "صفحه"), encoding="utf-8")
        self.assertEqual(self.sisters(), [])

    def test_lines_of_the_file_pass_without_their_indentation(self) -> None:
        self.assertEqual(self.quoting("run();\nstop();\n"), [])

    def test_lines_that_the_file_does_not_hold_are_named(self) -> None:
        self.assertEqual(len(self.quoting("run();\nwait();\n")), 1)

    def running(self, *blocks: str) -> int:
        page = self.root / "running.md"
        page.write_text("\n".join(f"{block}```\n" for block in blocks), encoding="utf-8")
        with contextlib.redirect_stdout(self.said):
            return int(run_docs.run_page(page, dict(os.environ)))

    def test_python_blocks_of_a_page_share_their_names(self) -> None:
        self.assertEqual(self.running("```python\na = 2\n", "```sh\ntrue\n", "```python\nassert a == 2\n"), 0)

    def test_a_python_block_that_raises_is_a_failure_with_its_line(self) -> None:
        self.assertEqual(self.running("```python\na = 2\n", "```python\n\nassert a == 3\n"), 1)
        self.assertIn('"running.md", line 7', self.said.getvalue())

    def test_an_interpreter_that_ends_is_a_failure(self) -> None:
        self.assertGreater(self.running("```python\nimport os\nos._exit(3)\n"), 0)

    def test_a_block_whose_name_is_missing_is_passed_over_aloud(self) -> None:
        self.assertEqual(self.running("<!-- needs: json.no_such_name -->\n```python\nassert False\n"), 0)
        self.assertIn("not run: json.no_such_name is not there", self.said.getvalue())

    def test_a_block_whose_name_is_there_runs(self) -> None:
        self.assertEqual(self.running("<!-- needs: json.dumps -->\n```python\nassert False\n"), 1)


if __name__ == "__main__":
    unittest.main()
