"""Programs that were written for myxtts run with only their imports changed.

The programs here make the same calls as the documents of myxtts show. Where STOKER_TEST_SEEDS names the folder of those
documents, the very blocks of them run too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import stoker

# Taken out of the environment, where the engine would refuse a variable that it does not know.
PROGRAM = Path(os.environ.pop("STOKER_PROGRAM", Path(stoker.__file__).parents[2] / "stoker"))
TRAINER = Path(os.environ.get("STOKER_TRAIN_LIBRARY", str(PROGRAM.parent / "lib" / "stoker" / "libstoker_train.so")))
SEEDS = os.environ.get("STOKER_TEST_SEEDS", "")

needs_trainer = pytest.mark.skipif(not TRAINER.exists(), reason=f"no trainer at {TRAINER}")
needs_seeds = pytest.mark.skipif(not SEEDS, reason="STOKER_TEST_SEEDS does not name the folder of the documents")

READ_SWITCHES = """
    from myxtts.config.config import DataConfig

    config = DataConfig()
    assert config.use_tf_native_loading is True
    assert config.enhanced_gpu_prefetch is True
    print("switches", config.use_tf_native_loading, config.enhanced_gpu_prefetch)
"""
PREPARE_AND_LOAD = """
    from myxtts.config.config import DataConfig
    from myxtts.data.ljspeech import LJSpeechDataset
    from myxtts.utils.performance import start_performance_monitoring

    config = DataConfig(
        dataset_path="./data", batch_size=4, num_workers=2, enable_memory_mapping=True, cache_verification=True
    )
    start_performance_monitoring()
    dataset = LJSpeechDataset(data_path="./data", config=config)
    dataset.precompute_mels(num_workers=config.num_workers, overwrite=False)
    dataset.precompute_tokens(num_workers=config.num_workers, overwrite=False)
    tf_dataset = dataset.create_tf_dataset(
        batch_size=config.batch_size, use_cache_files=True, num_parallel_calls=config.num_workers
    )
"""
TAKE_BATCHES = """
    taken = 0
    for tokens, mel, text_len, mel_len in tf_dataset:
        assert tokens.shape[0] == mel.shape[0] == text_len.shape[0] == mel_len.shape[0]
        assert mel.shape[2] == 80
        taken += 1
        if taken == 20:  # more than an epoch: it repeats
            break
    print("taken", taken)
"""
TRAIN = """
    from myxtts.training.trainer import XTTSTrainer

    trainer = XTTSTrainer(config, model)
    trainer.train(train_dataset, val_dataset)
"""
PRINT_REPORT = """
    from myxtts.utils.performance import print_performance_report

    print_performance_report()
"""
ASK_STATUS = """
    print(dataset.get_performance_report())

    from myxtts.utils.performance import get_performance_monitor

    monitor = get_performance_monitor()
    print(monitor.get_summary_report())
"""
# What the document leaves to the reader before it trains: a short run of the smallest model.
BEFORE_TRAINING = """
    from myxtts.config.config import TrainingConfig, XTTSConfig

    config = XTTSConfig(data=config, training=TrainingConfig(epochs=1, steps=2, checkpoint_dir="run"))
    model = "tiny"
    train_dataset = tf_dataset
    val_dataset = LJSpeechDataset("./data", config.data, subset="val").create_tf_dataset(batch_size=4)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a data set in ./data, as the programs expect."""
    data = str(tmp_path / "data")
    command = [str(PROGRAM), "data", "make", "--out", data, "--clips", "40", "--lengths", "uniform:1-2"]
    subprocess.run(command, check=True, capture_output=True)
    return tmp_path


def run(folder: Path, *blocks: str) -> str:
    """What the blocks print, one after the other in one program whose imports are changed."""
    program = "\n".join(textwrap.dedent(block) for block in blocks)
    program = re.sub(r"^from myxtts\b", "from stoker.compat.myxtts", program, flags=re.MULTILINE)
    environment = {**os.environ, "STOKER_TRAIN_LIBRARY": str(TRAINER), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_switches_are_read(folder: Path) -> None:
    assert run(folder, READ_SWITCHES) == "switches True True\n"


def test_features_are_prepared_and_batches_come(folder: Path) -> None:
    printed = run(folder, PREPARE_AND_LOAD, TAKE_BATCHES, PRINT_REPORT, ASK_STATUS)
    assert "taken 20\n" in printed
    assert printed.count("precompute_mels: ") == 3, "in each of the three reports"
    assert "Machine (" in printed and "data_loading: " in printed


@needs_trainer
def test_a_model_is_trained(folder: Path) -> None:
    printed = run(folder, PREPARE_AND_LOAD, BEFORE_TRAINING, TRAIN, PRINT_REPORT)
    assert "train: " in printed and "\nSteps: 1, " in printed and "Cache: 100.0 % hits" in printed
    assert list((folder / "run" / "checkpoints").iterdir())


def python_blocks(beginning: str) -> list[str]:
    [document] = Path(SEEDS).glob(f"{beginning}_*.txt")
    return re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@needs_seeds
def test_the_block_of_the_first_document(folder: Path) -> None:
    block = python_blocks("000")[-1]
    # The block ends with a command for the shell, which no Python reads.
    lines = [line for line in block.splitlines() if not line.startswith("python ")]
    assert len(lines) == len(block.splitlines()) - 1
    printed = run(folder, "\n".join(lines))
    assert printed == "TF Native Loading: True\nEnhanced Prefetch: True\n"


@needs_seeds
@needs_trainer
def test_the_four_blocks_of_the_third_document(folder: Path) -> None:
    prepare, train, report, status = python_blocks("002")[-4:]
    printed = run(folder, prepare, TAKE_BATCHES, BEFORE_TRAINING, train, report, status)
    assert printed.count("train: ") == 3
    assert "taken 20\n" in printed
