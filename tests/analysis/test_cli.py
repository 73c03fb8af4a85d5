# SPDX-License-Identifier: Apache-2.0
"""Processes: exit statuses, streams and signals, and what they import."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from showstopper import __version__, cli

PACKAGE = Path(__file__).parents[2] / "tools/analysis"
LAUNCH = f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); from showstopper import cli; "
# Lines of these processes are counted, too, if lines are.
COUNT = "import os\nif 'COVERAGE_PROCESS_START' in os.environ: import coverage; coverage.process_startup()\n"
REPORT = COUNT + LAUNCH + "cli.launch('ssreport')"
HEAVY = ("numpy", "pandas", "scipy", "matplotlib", "jinja2", "argparse", "dataclasses")

# A program whose body is given.
PROGRAM = COUNT + LAUNCH + """
import types
module = types.ModuleType("showstopper.body")
def run(values): {body}
module.PROGRAM = cli.Program("body", "", (cli.Option("help", ""),), lambda values: None, run)
sys.modules["showstopper.body"] = module
cli.PROGRAMS["body"] = "body:PROGRAM"
cli.launch("body")
"""


def run(
    code: str, *words: str | bytes, flags: str = "-IXutf8", **more: object
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, flags, "-c", code, *words]
    defaults = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(command, check=False, timeout=60, **(defaults | more))  # type: ignore


def body(text: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    return run(PROGRAM.format(body=text), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_imports_no_library(option: str) -> None:
    code = LAUNCH + f"""
import atexit
loaded = lambda: [name for name in {HEAVY} if name in sys.modules]
atexit.register(lambda: print(loaded(), file=sys.stderr, flush=True))
cli.launch("ssreport")"""
    done = run(code, option)
    assert (done.returncode, done.stderr) == (0, b"[]\n")
    start = f"ssreport {__version__}\n" if option == "--version" else "Usage: ssreport [OPTION]"
    assert done.stdout.decode().startswith(start)


def test_missing_packages_are_named() -> None:
    done = run(LAUNCH + "cli.launch('ssreport')", "record", flags="-ISXutf8")  # -S hides packages
    assert done.returncode == 125
    needed = "python3-numpy python3-pandas python3-scipy python3-matplotlib python3-jinja2"
    assert f"install {needed}, or" in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_check_names_a_missing_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["check"]) == 0
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert cli.main(["check"]) == 125
    why = f"{sys.executable} lacks jinja2: install python3-jinja2, or choose another Python with"
    assert capsys.readouterr().err.startswith(f"analysis: {why} -DSHOWSTOPPER_PYTHON")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_closed_stream(stream: str) -> None:
    number = {"stdout": 1, "stderr": 2}[stream]
    words = ["--help"] if stream == "stdout" else ["--nothing"]
    done = run(REPORT, *words, preexec_fn=lambda: os.close(number))
    assert done.returncode == 125
    assert stream == "stderr" or done.stderr == (
        b"ssreport: standard output: closed: the output is lost\n"
    )


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="dev-full: not a device")
def test_full_disk_is_reported_once() -> None:
    with open("/dev/full", "wb") as full:
        done = body("print('x' * 100_000); return 1", stdout=full)
        assert body("return 2", stderr=full).returncode == 2
    assert done.returncode == 125
    assert done.stderr == b"body: standard output: No space left on device\n"


def test_error_comes_before_lost_output() -> None:
    text = "print('x'); raise cli.UserError('no\\nresults', 1)"
    done = body(text, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1
    lost = b"body: standard output: closed: the output is lost\n"
    assert done.stderr == b"body: no?results\n" + lost


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGPIPE])
def test_signals_end_the_process_silently(number: signal.Signals) -> None:
    done = body(f"import os; os.kill(os.getpid(), {int(number)})")
    assert (done.returncode, done.stdout, done.stderr) == (-number, b"", b"")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise MemoryError", "out of memory"),
        ("def f(): f()\n    f()", "internal error: RecursionError: maximum recursion depth"),
        ("return {}['x']", "internal error: KeyError: 'x' (<string>:"),
    ],
)
def test_internal_errors_are_one_line(text: str, message: str) -> None:
    done = body("\n    " + text)
    assert done.returncode == 125
    assert done.stderr.decode().startswith(f"body: {message}")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "de_DE"])
def test_names_of_files_are_any_bytes(locale: str, tmp_path: Path) -> None:
    name = b"\xff \xc3\xa9"
    done = run(REPORT, name, cwd=tmp_path, env=os.environ | {"LC_ALL": locale})
    assert done.stderr.startswith(b"ssreport: " + name + b": the record cannot be read")


def test_other_encodings_are_not_used(tmp_path: Path) -> None:
    script = tmp_path / "ssreport"
    script.write_text(LAUNCH + "print(sys.flags.utf8_mode, file=sys.stderr); cli.ssreport()")
    environment = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-Xutf8=0", script, b"\xc3\xa9"]
    done = subprocess.run(command, capture_output=True, check=False, env=environment, cwd=tmp_path)
    assert done.stderr.startswith(b"0\n1\nssreport: \xc3\xa9: the record cannot be read")


def test_libraries_may_write_their_cache(tmp_path: Path) -> None:
    text = "import os; print(os.environ['MPLCONFIGDIR'], os.path.isdir(os.environ['MPLCONFIGDIR']))"
    environment = {name: os.environ[name] for name in os.environ if name != "MPLCONFIGDIR"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    expected = f"{tmp_path}/showstopper/matplotlib False\n"  # matplotlib makes it
    assert body(text, env=environment).stdout.decode() == expected

    environment["XDG_CACHE_HOME"] = "/dev/null/cache"
    folder, exists = body(text, env=environment).stdout.decode().split()
    assert folder.startswith(f"{tmp_path}/showstopper-") and exists == "True"
    assert not os.path.exists(folder)


def test_launcher_runs_the_named_program(tmp_path: Path) -> None:
    build = os.environ.get("SHOWSTOPPER_BUILD")
    if not build:
        pytest.skip("left-out: SHOWSTOPPER_BUILD is not set")
    launcher = Path(build) / "libexec/showstopper/analysis"
    link = tmp_path / "link"
    link.symlink_to(launcher)
    for program in (launcher, link):
        done = subprocess.run([program, "ssreport", "--version"], capture_output=True, check=False)
        assert done.stdout.decode() == f"ssreport {__version__}\n"
    done = subprocess.run([launcher, "--help"], capture_output=True, check=False)
    assert done.returncode == 0 and b"ssreport" in done.stdout
    done = subprocess.run([launcher, "ssrepor"], capture_output=True, check=False)
    assert done.stderr.decode().startswith(
        "analysis: unknown program 'ssrepor': did you mean 'ssreport'?"
    )
