# shellcheck shell=bash
# Tells what keeps a machine from joining, before anything is changed on it. Answers its time as "clock SECONDS" (since 1970),
# and what of others it keeps, one a line; refuses with exit code 78. On a member it answers nothing, and on a machine that is
# prepared only the time.
refuse_unsupported_system
read_mark
# whose a marked machine is, the preview asks on its own: a stack may be about to take it over
if [ -z "$claimed_by" ]; then refuse_foreign_machine; fi
if [ -e "$MEMBER_PATH" ]; then exit 0; fi
echo "clock $(date +%s)" >&4
if [ -e "$PREPARED_PATH" ]; then exit 0; fi
refuse_other_networks
refuse_incomplete_containerd
refuse_full_disks
refuse_installation
package=$(containerd_package)
if [ "$package" != containerd ]; then echo "the package $package as its containerd" >&4; fi
if has_containerd_file; then echo "the settings of its /etc/containerd/config.toml" >&4; fi
