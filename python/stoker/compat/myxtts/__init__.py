"""What programs import from myxtts, over stoker: `from myxtts.x` becomes `from stoker.compat.myxtts.x`.

Old configuration keys mean here what `stoker` makes of an old settings file: the features, vocabulary and defaults of
myxtts. Keys that have no meaning any more give one notice.
"""

from stoker.compat.myxtts.config.config import DataConfig, ModelConfig, TrainingConfig, XTTSConfig
from stoker.compat.myxtts.data.ljspeech import BatchTuples, LJSpeechDataset
from stoker.compat.myxtts.training.trainer import XTTSTrainer
from stoker.compat.myxtts.utils.performance import (
    PerformanceMonitor,
    get_performance_monitor,
    print_performance_report,
    start_performance_monitoring,
    stop_performance_monitoring,
    time_operation,
)

__all__ = [
    "BatchTuples",
    "DataConfig",
    "LJSpeechDataset",
    "ModelConfig",
    "PerformanceMonitor",
    "TrainingConfig",
    "XTTSConfig",
    "XTTSTrainer",
    "get_performance_monitor",
    "print_performance_report",
    "start_performance_monitoring",
    "stop_performance_monitoring",
    "time_operation",
]
