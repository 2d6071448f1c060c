# shellcheck shell=bash
# Reboots the machine, unless it is a member: only a rollout takes nodes out of service. The reboot begins after the step
# has ended, so that its caller knows the outcome.
refuse_foreign_machine
if [ -e "$MEMBER_PATH" ] || systemctl is-active --quiet foresail-reboot.timer; then exit 0; fi
systemd-run --quiet --unit=foresail-reboot --on-active=1 --timer-property=AccuracySec=100ms systemctl reboot
