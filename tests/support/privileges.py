"""Programs that refuse to run as root, or that nobody should run so."""

from __future__ import annotations

import os
import pwd


def without_root(*command: str) -> list[str]:
    """The command, which becomes nobody first where the tests run as root.

    `Popen(user=…)` would fork for it, and a fork in the midst of gRPC's threads may crash.
    """
    if os.getuid() != 0:
        return list(command)
    nobody = pwd.getpwnam("nobody")
    return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", "--", *command]
