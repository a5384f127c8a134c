# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.exir.dump`."""

import sys

from executorch.exir.dump import main

sys.exit(main())
