"""A simulated training cluster and the captures its ranks would leave behind."""
