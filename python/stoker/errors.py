"""What the library refuses, as exceptions: which rule, where, what was expected and found, and what to do."""

from __future__ import annotations


class StokerError(Exception):
    """A failure with a code, a place and a cure; the class says which kind it is."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "E-BUG",
        exit_code: int = 1,
        path: str = "",
        where: str = "",
        promised: str = "",
        found: str = "",
        help: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        """The rule that was broken, "E-WAV-TRUNC": docs/reference/errors.md."""
        self.exit_code = exit_code
        """What the command ends with for the same failure."""
        self.path = path
        """The file, or the argument, that it is about."""
        self.where = where
        """The same with line, column or byte."""
        self.promised = promised
        self.found = found
        self.help = help
        """What to do."""

    def __str__(self) -> str:
        return f"{self.message}\nhelp: {self.help}" if self.help else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (type(self), dict(self.__dict__)))


class ConfigError(StokerError, ValueError):
    """A setting or an argument is not what it may be."""


class DataError(StokerError):
    """The data set, or a file of it, cannot be used as it is."""


class StorageError(StokerError, OSError):
    """Reading or writing failed."""


class OutOfMemory(StokerError, MemoryError):
    """Memory or threads do not suffice."""


class GpuError(StokerError, RuntimeError):
    """The GPU, its driver or CUDA refused."""


class LockError(StokerError):
    """Another process holds what this one needs."""


class FeedTimeout(StokerError, TimeoutError):
    """No batch came in time."""


class UsageError(StokerError, RuntimeError):
    """A call at the wrong time: after close(), in a forked process, by two threads at once."""


_BY_EXIT: dict[int, type[StokerError]] = {
    1: DataError,
    2: ConfigError,
    3: DataError,
    4: StorageError,
    5: OutOfMemory,
    6: GpuError,
    7: LockError,
}
_BY_CODE: dict[str, type[StokerError]] = {
    "E-FEED-TIMEOUT": FeedTimeout,
    "E-FEED-RELEASED": UsageError,
    "E-FEED-CLOSED": UsageError,
    "E-FEED-FORK": UsageError,
    "E-FEED-ITERATION": UsageError,
    "E-PIPE-LEASES": UsageError,
}


def _again(kind: type[StokerError], parts: dict[str, object]) -> StokerError:
    """The same exception in another process."""
    error = kind(str(parts["message"]))
    error.__dict__.update(parts)
    return error


def make(*, code: str, exit_code: int, message: str, **parts: str) -> StokerError:
    """The exception for a failure of the library."""
    kind = _BY_CODE.get(code, _BY_EXIT.get(exit_code, StokerError))
    return kind(message, code=code, exit_code=exit_code, **parts)
