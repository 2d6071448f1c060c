# shellcheck shell=bash
# Ends a restore, so that the same snapshot can be restored once more, and removes what killed steps left of it.
refuse_foreign_machine
rm -rf "$SNAPSHOT_PATH" "$RESTORING_PATH" "$RESTORED_PATH"
