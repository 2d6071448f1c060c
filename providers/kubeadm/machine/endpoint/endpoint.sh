# shellcheck shell=bash
# needs: common/endpoint
# Rewrites the loopback endpoint of the machine.
refuse_foreign_machine
configure_endpoint
