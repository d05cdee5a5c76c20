"""Options that commands share, as frozen values."""
