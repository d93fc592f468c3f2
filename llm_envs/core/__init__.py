"""What every environment shares: the pure task protocol, the PettingZoo shell around it, spaces, roles, messages."""
