# shellcheck shell=bash
# Rewrites the loopback endpoint of the machine.
configure_endpoint
