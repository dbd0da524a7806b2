"""Values of component axes: `none` or `name[@version][:method]`, joined by `+` (docs/formats/matrix.md, "Values")."""


class Written:
    """One component as a cell names it."""

    def __init__(self, text):
        self.written = text
        text, _, self.method = text.partition(":")
        self.name, _, self.version = text.partition("@")
        self.method, self.version = self.method or None, self.version or None


def parse(value):
    return [] if value == "none" else [Written(text) for text in value.split("+")]
