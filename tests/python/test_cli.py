# SPDX-License-Identifier: Apache-2.0
"""Processes: exit statuses, streams and signals, and what they import."""

import ast
import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from conftest import PACKAGE
from conftest import Record as Maker

from showstopper import __version__, cli
from showstopper.report.page import page_text
from showstopper.text import printable, show

LAUNCH = f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); from showstopper import cli; "
REPORT = LAUNCH + "cli.launch('ssreport')"
HEAVY = ("numpy", "pandas", "scipy", "matplotlib", "jinja2")

# A program of the package; {body} is replaced by its code.
PROGRAM = LAUNCH + """
def run(words, prepare):
    prepare()
    {body}
cli.PROGRAMS["body"] = run
cli.launch("body")
"""


def run(
    code: str, *words: str | bytes, flags: str = "-IXutf8", **more: object
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, flags, "-c", code, *words]
    defaults = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(command, check=False, timeout=300, **(defaults | more))  # type: ignore


def body(text: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    return run(PROGRAM.format(body=text), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "start"),
    [
        ("ssreport --help", "Usage: ssreport [OPTION]"),
        ("ssreport --version", f"ssreport {__version__}\n"),
        ("ssreport --check record", ""),
        ("ssprofile compare --help", "Usage: ssprofile compare"),
    ],
)
def test_libraries_are_loaded_only_for_reports(words: str, start: str, make_record: Maker) -> None:
    """Otherwise loading them would disturb the benchmarks of `ssprofile portability`."""
    program, *options = words.split()
    code = LAUNCH + f"""
import atexit
from showstopper.profile import portability
loaded = lambda: [name for name in {HEAVY} if name in sys.modules]
atexit.register(lambda: print(loaded(), file=sys.stderr, flush=True))
cli.launch({program!r})"""
    done = run(code, *options, cwd=make_record().parent)
    assert (done.returncode, done.stderr) == (0, b"[]\n")
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
    why = f"{sys.executable} lacks jinja2: install python3-jinja2, or choose another Python with cmake"
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
    done = body(text)
    assert done.returncode == 125
    assert done.stderr.decode().startswith(f"body: {message}")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "de_DE"])
def test_names_of_files_are_any_bytes(locale: str, tmp_path: Path) -> None:
    name = b"\xff \xc3\xa9"
    done = run(REPORT, name, cwd=tmp_path, env=os.environ | {"LC_ALL": locale})
    assert done.stderr.startswith(b"ssreport: " + name + b": cannot read the record")


def test_other_encodings_are_not_used(tmp_path: Path) -> None:
    script = tmp_path / "ssreport"
    script.write_text(LAUNCH + "print(sys.flags.utf8_mode, file=sys.stderr); cli.ssreport()")
    environment = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-Xutf8=0", script, b"\xc3\xa9"]
    done = subprocess.run(command, capture_output=True, check=False, env=environment, cwd=tmp_path)
    assert done.stderr.startswith(b"0\n1\nssreport: \xc3\xa9: cannot read the record")


def test_libraries_may_write_their_cache(tmp_path: Path) -> None:
    text = "import os; print(os.environ['MPLCONFIGDIR'], os.path.isdir(os.environ['MPLCONFIGDIR']))"
    environment = {name: os.environ[name] for name in os.environ if name != "MPLCONFIGDIR"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    expected = f"{tmp_path}/showstopper/matplotlib True\n"
    for more in ({}, {"MPLCONFIGDIR": ""}):  # an empty value counts as unset
        assert body(text, env=environment | more).stdout.decode() == expected

    environment["XDG_CACHE_HOME"] = "/dev/null/cache"
    folder, exists = body(text, env=environment).stdout.decode().split()
    assert folder.startswith(f"{tmp_path}/showstopper-") and exists == "True"
    assert not os.path.exists(folder)


def test_unknown_program_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ssrepor"]) == cli.main([]) == 125
    assert capsys.readouterr().err.startswith("analysis: unknown program 'ssrepor': use check, ")


# What files contain

HOSTILE = "\x1b[31m \x9b31m \x7f \udc9b31m"
CONTROL = re.compile(
    rb"[\0-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\xc2-\xf4\x80-\xbf])[\x80-\x9f]"
)


def on_a_terminal(words: list[str], folder: Path) -> bytes:
    """Return what a program prints on a terminal."""
    ours, theirs = pty.openpty()
    settings = termios.tcgetattr(theirs)
    settings[1] &= ~termios.OPOST  # which would print \r\n
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    command = [sys.executable, "-IXutf8", "-c", REPORT, *words]
    with subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        printed = b""
        with contextlib.suppress(OSError):  # EIO at the end
            while data := os.read(ours, 1 << 16):
                printed += data
    os.close(ours)
    assert process.returncode in (0, 1, 3, 125)
    return printed


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record whose name and texts would control a terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    record = folder / f"record{HOSTILE}"
    record.mkdir()
    escaped = json.dumps(HOSTILE[:-4])
    plan = '{"schema": 2, "instances": [{"command": [%s]}], "cpus": [0], "target": {"mean": 0.5}}'
    (record / "plan.json").write_text(plan % escaped)
    check = '{"check": %s, "result": "invalid", "figure": 1}' % escaped
    summary = '{"schema": 2, "ended_by": "duration", "verdict": %s}'
    verdict = '{"result": "invalid", "reasons": [%s], "checks": [%s]}' % (escaped, check)
    (record / "summary.json").write_text(summary % verdict)
    rows = "".join(f"2026-01-01T00:00:0{at}Z,{at + 1},0.5,0.4,0.4,1\n" for at in range(9))
    heading = "time,elapsed_seconds,target,load,duty,counted\n"
    text = f"{heading}{rows}{HOSTILE},\n"
    (record / "samples.csv").write_text(text, errors="surrogateescape")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "", "--check", "--table runs", "--table runs --format md", "--table runs --format json",
        "--table none", "--quiet --policy x",
    ],
)
def test_texts_of_files_do_not_control_a_terminal(words: str, hostile: Path) -> None:
    printed = on_a_terminal([*words.split(), f"record{HOSTILE}"], hostile)
    assert b"record" in printed or words == "--table none"
    assert CONTROL.findall(printed) == []


@pytest.mark.parametrize("words", ["", "--check", "--table runs --format md"])
def test_lines_for_people_have_no_control_characters(words: str, hostile: Path) -> None:
    """They may be shown later, as those of a log."""
    done = run(REPORT, *words.split(), f"record{HOSTILE}", cwd=hostile)
    assert b"record" in done.stdout and CONTROL.findall(done.stdout + done.stderr) == []


def test_pages_have_no_control_characters(hostile: Path) -> None:
    run(REPORT, "-o", "out", f"record{HOSTILE}", cwd=hostile)
    page = (hostile / "out/report.html").read_bytes()
    assert b"record" in page and CONTROL.findall(page) == []


def test_tables_for_programs_are_exact(hostile: Path) -> None:
    done = run(REPORT, "--table", "runs", f"record{HOSTILE}", cwd=hostile)
    assert HOSTILE.encode("utf-8", "surrogateescape") in done.stdout


def test_every_control_character_is_replaced() -> None:
    octets = [bytes([code]).decode("utf-8", "surrogateescape") for code in range(256)]
    for one in {*octets, *map(chr, range(256))}:
        is_control = bool(CONTROL.search(one.encode("utf-8", "surrogateescape"))) or one == "\n"
        assert printable(one) == ("?" if is_control else one)
    for shown in (show("a\x9bb"), page_text("a\x9bb")):
        assert len(shown) == 3 and "\x9b" not in shown


def test_lines_for_people_are_printed_by_one_function() -> None:
    """Only tables, documents and plans for programs are printed as they are."""
    found = {}
    for path in (PACKAGE / "showstopper").rglob("*.py"):
        calls = [one for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.Call)]
        if count := sum(ast.unparse(one.func) == "print" for one in calls):
            found[str(path.relative_to(PACKAGE / "showstopper"))] = count
    assert found == {
        "cli.py": 3, "text.py": 2, "antagonist/plan.py": 2, "antagonist/answer.py": 1,
        "lab/antagonist.py": 1, "lab/carry.py": 1, "lab/words.py": 2,
    }
