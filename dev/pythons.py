"""The Pythons that Tillgate runs on, and which one of this machine makes its environment. Written
for any Python 3, as an older one reads it as well to say what is needed."""

import os
import shutil
import subprocess
import sys

SUPPORTED = ((3, 11), (3, 12), (3, 13), (3, 14))
# Where Debian and Ubuntu put them.
SYSTEM = "/usr/bin"
NAMES = ["python%d.%d" % version for version in SUPPORTED]
_ASKED = (
    "import sys, sysconfig; print('%d.%d' % sys.version_info[:2]);"
    " options = sysconfig.get_config_var('CONFIG_ARGS') or '';"
    " print('--enable-optimizations' in options or '--with-wheel-pkg-dir=/usr' in options);"
    " import ensurepip, venv"
)


def is_supported():  # type: ignore[no-untyped-def]
    """True if this Python is supported."""
    return sys.version_info[:2] in SUPPORTED


def hand_over(arguments):  # type: ignore[no-untyped-def]
    """Run the command with a Python of this machine that is supported; end with one line when there
    is none."""
    for program in candidates():
        version, _, _ = described(program)
        if version in SUPPORTED:
            os.execv(program, [program] + arguments)
    needed = "Python {}.{} to {}.{} is needed, this is {}.{}.{}.".format(
        *(SUPPORTED[0] + SUPPORTED[-1] + tuple(sys.version_info[:3]))
    )
    sys.exit("{} Run: sudo apt-get install -y {}".format(needed, packages()))


def packages():  # type: ignore[no-untyped-def]
    """Packages to install: the system's own Python, or the first beside one that is too old."""
    own = os.path.join(SYSTEM, "python3")
    if not os.path.exists(own) or described(own)[0] in SUPPORTED:
        return "python3 python3-venv"
    return "{0} {0}-venv".format(NAMES[0])


def candidates():  # type: ignore[no-untyped-def]
    """The one that runs first, then those on the path and the system's, in the order of SUPPORTED;
    each once."""
    programs = [sys.executable if is_supported() else None]
    for name in NAMES + ["python3"]:
        programs += [shutil.which(name), os.path.join(SYSTEM, name)]
    there = [path for path in programs if path and os.path.exists(path)]
    return list(dict.fromkeys(there))


def described(program):  # type: ignore[no-untyped-def]
    """Its version, whether it was built with profiles, which Debian does without saying so in its
    options, and whether it can make environments, which Debian keeps apart. (), False, False for
    what is no Python."""
    answer = subprocess.run(
        [program, "-I", "-c", _ASKED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        check=False,
    )
    lines = answer.stdout.split()
    if not lines:
        return (), False, False
    version = tuple(int(part) for part in lines[0].split("."))
    return version, lines[1:] == ["True"], answer.returncode == 0
