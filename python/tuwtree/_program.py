"""The program ``tuwtree``, as ``pip install`` puts it onto the path."""

import signal
import sys

from tuwtree import _native


def main() -> None:
    """Run the program ``tuwtree`` with the arguments of this process; ends the process with its exit code."""
    # The program handles Ctrl-C itself; Python's handler would raise after it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.program(["tuwtree", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
