"""`python -m riskcore`: the command line."""

from riskcore.cli import main

if __name__ == "__main__":
    main()
