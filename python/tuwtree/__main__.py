"""``python -m tuwtree`` is the program ``tuwtree``."""

from tuwtree._program import main

main()
