import { AGENT_PATHS } from "./paths";

/**
 * The agent's systemd unit: systemd restarts the agent however it ends, and ends the agent's child processes with it.
 */
export const AGENT_UNIT = `[Unit]
Description=foresail: node agent, brings this machine to the versions that its Node's annotations ask for
Wants=network-online.target
After=network-online.target containerd.service
StartLimitIntervalSec=0

[Service]
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=${AGENT_PATHS.program}
Restart=always
RestartSec=2
KillMode=control-group

[Install]
WantedBy=multi-user.target
`;
