"""Programs that refuse to run as root, or that nobody should run so, and programs that are to meet with what a user may not do."""

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


def bound_by_permissions(*command: str) -> list[str]:
    """The command, which may write only where a file's mode says so, also where the tests run as root. It stays root: what it runs may be root's alone."""
    if os.getuid() != 0:
        return list(command)
    return ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override", "--", *command]
