# shellcheck shell=bash
# Reads what the node agent logged last. Answers text.
refuse_foreign_machine
journalctl --unit foresail-node-agent --lines 10 --no-pager --output cat >&4
