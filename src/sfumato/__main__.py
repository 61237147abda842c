"""`python -m sfumato` is `sfumato`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.argv[0] = "sfumato"  # what the help calls it
    main()
