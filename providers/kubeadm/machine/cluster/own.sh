# shellcheck shell=bash
# Records the stack as the owner of a machine whose mark an earlier release wrote, or from whose owner it takes over.
# Changes nothing on a machine without a mark.
refuse_foreign_mark
if [ -n "$claimed_by" ]; then write_mark; fi
