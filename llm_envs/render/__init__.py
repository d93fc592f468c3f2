"""How states are shown to people."""
