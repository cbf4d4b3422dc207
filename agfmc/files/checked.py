"""What is written can be read: writers run the checks of the reader before a file appears."""


from ..core.errors import AgfmcError, ModelError


def checked(content, read, path=None):
    """The `content` of a file that is about to be written to `path`, if its reader accepts it.

    read: called with the content.  Whoever makes the content of a file calls this, so that no
    file appears that no command could read: raises `ModelError` in place of the reader's error.
    """
    try:
        read(content)
    except (AgfmcError, ValueError) as error:  # ValueError: of a number that JSON has not
        raise ModelError("cannot write this file, because no command could read it: "
                         f"{getattr(error, 'message', error)}", file=path) from error
    return content
