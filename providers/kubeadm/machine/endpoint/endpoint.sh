# shellcheck shell=bash
# Rewrites the loopback endpoint of the machine.
refuse_foreign_machine
configure_endpoint
