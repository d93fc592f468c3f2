"""Tree-structured sampling: how episodes become groups of comparable samples."""
