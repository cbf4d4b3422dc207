"""What a file that takes the place of another keeps of it: permissions, owner, group, ACL."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

__all__ = ["hand_on", "new_permissions"]

_ACL = "system.posix_acl_access"
_umask_lock = threading.Lock()


def new_permissions():
    """Those of a file that replaces nothing, by the umask."""
    # the mask can only be read by setting it; for a moment it is stricter, never looser
    with _umask_lock:
        mask = os.umask(0o077)
        os.umask(mask)
    return 0o666 & ~mask


def hand_on(path, old, handle):
    """Give the open file `handle`, which is private, what others may do with the file `path`.

    old: `os.stat` of `path`.  Where the system does not let its group or its access control
    list be kept, the group gets no more than everybody, or nothing.
    """
    mode, acl = old.st_mode & 0o777, _acl(path)
    for owner in (old.st_uid, -1):
        with suppress(OSError):
            os.fchown(handle, owner, old.st_gid)
            break
    if os.fstat(handle).st_gid != old.st_gid:
        mode, acl = mode & 0o707 | (mode & 0o007) << 3, None
    if _acl(handle) != acl:  # the folder may have given one to a file that is to have none
        with suppress(OSError):
            if acl is None:
                os.removexattr(handle, _ACL)
            else:
                os.setxattr(handle, _ACL, acl)
        if _acl(handle) != acl:
            mode &= 0o707  # the group's bits are the mask of the list, and mean that only with it
    os.fchmod(handle, mode)


def _acl(file):
    """The access control list of a path or handle; None where there is none, or no such thing."""
    try:
        return os.getxattr(file, _ACL)
    except (OSError, AttributeError):  # systems without them
        return None
