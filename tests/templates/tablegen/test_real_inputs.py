"""The big target descriptions that Debian ships, against the reference tool, and the time they take."""

import subprocess
import sys
from pathlib import Path

import pytest

LLVM = Path("/usr/include/llvm-14")
MLIR = Path("/usr/lib/llvm-14/include")
DIALECTS = sorted(MLIR.glob("mlir/**/*Ops.td"))


def needs(path: Path, package: str) -> None:
    if not path.exists():
        pytest.skip(f"{path} is missing (Debian: apt-get install {package})")


@pytest.mark.parametrize("name", ["llvm/IR/Intrinsics.td", "llvm/Target/Target.td", "llvm/CodeGen/ValueTypes.td"])
def test_llvm(name: str, ours, reference) -> None:
    needs(LLVM / name, "llvm-14-dev")
    options = [f"-I{LLVM}"]
    assert ours(LLVM / name, options).differs(reference(LLVM / name, options)) == ""


@pytest.mark.parametrize("path", DIALECTS or [MLIR / "mlir" / "IR" / "OpBase.td"], ids=lambda path: path.stem)
def test_mlir(path: Path, ours, reference) -> None:
    needs(path, "libmlir-14-dev")
    options = [f"-I{LLVM}", f"-I{MLIR}"]
    assert ours(path, options).differs(reference(path, options)) == ""


def test_intrinsics_take_ten_seconds_and_a_gigabyte_at_most() -> None:
    path = LLVM / "llvm/IR/Intrinsics.td"
    needs(path, "llvm-14-dev")
    code = (
        "import resource, sys; from tabla.templates import tablegen; "
        f"records = tablegen.load({str(path)!r}, include_dirs=[{str(LLVM)!r}]); "
        "usage = resource.getrusage(resource.RUSAGE_SELF); "
        "status = open('/proc/self/status').read(); "
        "print(len(records), usage.ru_utime + usage.ru_stime, status.split('VmHWM:')[1].split()[0])"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    count, seconds, kilobytes = done.stdout.split()
    assert int(count) == 14_854
    # Processor time, so that a busy machine does not fail the test. Memory is VmHWM, that of this program alone:
    # ru_maxrss also counts the memory of the process that started it, here that of the tests that ran before.
    assert float(seconds) < 10 and int(kilobytes) < 1 << 20
