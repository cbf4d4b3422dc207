"""What the tests of pictures share: a picture that is read back."""

import base64
import re
import struct
import zlib
from xml.etree import ElementTree
import pytest
from agfmc.report.svg import text_width
from agfmc.report.picture_file import draw_document


PARTS = {"svg", "g", "rect", "circle", "path", "text", "title", "image"}


class Read:
    """The markup of a picture as elements, with what it shows."""

    def __init__(self, picture):
        self.picture, self.root = picture, ElementTree.fromstring(picture.svg)
        self.size = float(self.root.get("width")), float(self.root.get("height"))
        assert {element.tag for element in self.root.iter()} <= PARTS
        allowed = {
            "class",
            "d",
            "x",
            "y",
            "width",
            "height",
            "cx",
            "cy",
            "r",
            "rx",
            "viewBox",
            "role",
            "aria-label",
            "href",
            "preserveAspectRatio",
            "transform",
            "fill-opacity",
            "stroke-width",
            "stroke-dasharray",
            "data-classes",
            "data-node",
        }
        assert {name for element in self.root.iter() for name in element.keys()} <= allowed

    def all(self, tag, look=""):
        """Elements with all the classes of `look`."""
        return [
            element
            for element in self.root.iter(tag)
            if set(look.split()) <= set(element.get("class", "").split())
        ]

    @property
    def texts(self):
        """Texts as they are shown."""
        return [self.shown(element) for element in self.root.iter("text")]

    @staticmethod
    def shown(element):
        title = element.find("title")
        return (element.text or "") if title is None else (title.tail or "")

    def boxes(self):
        """(text, left, top, right, bottom) of each level text."""
        yield from self._boxes(self.root, 0, 0)

    def _boxes(self, group, right, down):
        for element in group:
            if element.tag == "g":
                moved = re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
                x, y = map(float, moved.groups()) if moved else (0, 0)
                yield from self._boxes(element, right + x, down + y)
            elif element.tag == "text" and element.get("transform") is None:
                text, looks = self.shown(element), element.get("class", "").split()
                wide = text_width(text)
                x, y = right + float(element.get("x")), down + float(element.get("y"))
                if "end" in looks:
                    x -= wide
                elif "mid" in looks:
                    x -= wide / 2
                yield text, x, y - 9, x + wide, y + 2

    def clashes(self):
        """Pairs of texts that overlap, and texts that leave the picture."""
        boxes, found = list(self.boxes()), []
        for at, (text, *a) in enumerate(boxes):
            found += [
                (text, other)
                for other, *b in boxes[:at]
                if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1
            ]
            if a[0] < -1 or a[1] < -1 or a[2] > self.size[0] + 1 or a[3] > self.size[1] + 1:
                found.append((text, "the edge"))
        return found

    def classes(self):
        """The places of all classes that anything in it is about."""
        return {
            int(word)
            for element in self.root.iter()
            for word in element.get("data-classes", "").split()
        }

    def pixels(self):
        """Rows of the numbers in the palette, and the palette with its opacity, of its image."""
        (image,) = self.all("image")
        return read_png(base64.b64decode(image.get("href").removeprefix("data:image/png;base64,")))


def read_png(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = data[at + 8 : at + 8 + length]
        (check,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert check == zlib.crc32(kind + chunks[kind])
        at += 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 3)
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[i * (width + 1) + 1 : (i + 1) * (width + 1)] for i in range(height)]
    reds = chunks[b"PLTE"]
    palette = [(*reds[3 * i : 3 * i + 3], opacity) for i, opacity in enumerate(chunks[b"tRNS"])]
    return rows, palette


def moves(path):
    """The places to which a path jumps, as numbers."""
    return [tuple(map(float, pair)) for pair in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", path)]


@pytest.fixture
def read():
    """A function: picture -> `Read`."""
    return Read


@pytest.fixture
def places():
    """The function `moves`."""
    return moves


class Shown(Read):
    """The document of a file of pictures."""

    def __init__(self, document, size):
        self.root = ElementTree.fromstring(document.split("\n", 1)[1].replace(" xmlns=", " name="))
        self.size = size


@pytest.fixture
def shown():
    """A function: pictures, and their title -> `Shown`."""

    def show(*pictures, title="a title"):
        return Shown(*draw_document(title, pictures))

    return show
