"""The big target descriptions that Debian ships, against the reference tool, and the time they take."""

import subprocess
import sys
from pathlib import Path

import pytest

LLVM = Path("/usr/include/llvm-14")
MLIR = Path("/usr/lib/llvm-14/include")
DIALECTS = sorted(MLIR.glob("mlir/**/*Ops.td"))
FILES = ["llvm/IR/Intrinsics.td", "llvm/Target/Target.td", "llvm/CodeGen/ValueTypes.td"]
NEWER = (19, 22)
# Debian installs the records of one version of MLIR; `.ci/simulators` unpacks those of the others here.
UNPACKED = Path(__file__).parents[3] / "build" / "records"


def needs(path: Path, package: str) -> None:
    if not path.exists():
        pytest.skip(f"{path} is missing (Debian: apt-get install {package})")


def mlir_of(version: int) -> Path:
    """The folder of MLIR's records of a version, as installed or as unpacked."""
    folders = [root / f"usr/lib/llvm-{version}/include" for root in (Path("/"), UNPACKED)]
    return next((folder for folder in folders if (folder / "mlir").is_dir()), folders[-1])


@pytest.mark.parametrize("name", FILES)
def test_llvm(name: str, ours, reference) -> None:
    needs(LLVM / name, "llvm-14-dev")
    options = [f"-I{LLVM}"]
    assert ours(LLVM / name, options).differs(reference(LLVM / name, options)) == ""


@pytest.mark.parametrize("path", DIALECTS or [MLIR / "mlir" / "IR" / "OpBase.td"], ids=lambda path: path.stem)
def test_mlir(path: Path, ours, reference) -> None:
    needs(path, "libmlir-14-dev")
    options = [f"-I{LLVM}", f"-I{MLIR}"]
    assert ours(path, options).differs(reference(path, options)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("version", NEWER)
@pytest.mark.parametrize("name", FILES)
def test_newer_llvm(name: str, version: int, ours, reference_of) -> None:
    folder = Path(f"/usr/include/llvm-{version}")
    needs(folder / name, f"llvm-{version}-dev")
    options = [f"-I{folder}"]
    mine = ours(folder / name, [*options, f"--llvm={version}"])
    assert mine.differs(reference_of(version)(folder / name, options)) == ""


NEWER_DIALECTS = [
    (version, path)
    for version in NEWER
    for path in sorted(mlir_of(version).glob("mlir/**/*Ops.td")) or [mlir_of(version) / "mlir" / "IR" / "OpBase.td"]
]
# Files that the reference tool reads, of those that are there.
READ = {19: 63, 22: 81}


@pytest.mark.slow
@pytest.mark.parametrize(("version", "path"), NEWER_DIALECTS, ids=lambda one: getattr(one, "stem", str(one)))
def test_newer_mlir(version: int, path: Path, ours, reference_of) -> None:
    needs(path, f"libmlir-{version}-dev, or sh .ci/simulators")
    options = [f"-I/usr/include/llvm-{version}", f"-I{mlir_of(version)}"]
    theirs = reference_of(version)(path, options)
    if not theirs.accepted:
        pytest.skip(f"{path.name} is not a file that stands alone: {theirs.message.splitlines()[0]}")
    mine = ours(path, [*options, f"--llvm={version}"])
    assert mine.differs(theirs) == ""


@pytest.mark.slow
@pytest.mark.parametrize("version", NEWER)
def test_the_newer_dialects_are_there(version: int) -> None:
    needs(mlir_of(version) / "mlir", f"libmlir-{version}-dev, or sh .ci/simulators")
    assert sum(one == version for one, _ in NEWER_DIALECTS) >= READ[version]


@pytest.mark.slow
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
