"""The program ``tuwtree``, as ``pip install`` puts it onto the path."""

import sys

from tuwtree import _native


def main() -> None:
    """Run the program ``tuwtree`` with the arguments of this process; ends the process with its exit code."""
    sys.exit(_native.program(["tuwtree", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
