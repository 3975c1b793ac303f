"""python3 -m supple FILE… lists what is in files."""
import sys

from .files import main

sys.exit(main(sys.argv[1:]))
