# shellcheck shell=bash
# Ends a restore, so that the same snapshot can be restored once more.
refuse_foreign_machine
rm -f "$RESTORED_PATH"
