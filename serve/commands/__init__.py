"""The commands of ``slowwave``, one module per group; each is a client of the HTTP API."""
