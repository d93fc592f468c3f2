"""`python -m at_grpo`: the same as the `at-grpo` script."""

import sys

from at_grpo.cli import main

if __name__ == "__main__":
    sys.exit(main())
