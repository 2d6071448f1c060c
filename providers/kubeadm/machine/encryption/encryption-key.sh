# shellcheck shell=bash
# needs: common/encryption
# Reads one encryption key of a control plane for another one. Answers its base64 text, which is secret.
# Parameters: KEY (its name)
refuse_foreign_machine
encryption_key "$KEY" >&4
