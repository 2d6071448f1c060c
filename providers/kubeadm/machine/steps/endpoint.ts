import { API_SERVER_PORT } from "../../../../lib/validation/ports";
import { NODE_PATHS } from "../../plan/node-paths";
import { frame, writeFile, type Script } from "./script";

/** One API server behind the loopback endpoint. */
export interface Backend {
  name: string;
  /** Address of the control plane as seen by the nodes. */
  address: string;
}

const UNIT = `[Unit]
Description=foresail: the cluster's API servers on this node's loopback address
Wants=network-online.target
After=network-online.target
Before=kubelet.service

[Service]
ExecStart=/usr/sbin/haproxy -Ws -f ${NODE_PATHS.haproxy} -p /run/foresail-endpoint.pid
ExecReload=/bin/kill -USR2 $MAINPID
Type=notify
KillMode=mixed
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`;

/** Returns haproxy's configuration: 127.0.0.1 forwards to every control plane; only ready ones get connections. */
function haproxyConfiguration(port: number, backends: Backend[]): string {
  const servers = [...backends]
    .sort((one, other) => one.name.localeCompare(other.name))
    .map(({ name, address }) => `  server ${name} ${address}:${API_SERVER_PORT}`);
  return `# written by foresail; changed whenever the control planes change
global
  log stderr format short daemon notice
  maxconn 4000

defaults
  mode tcp
  log global
  retries 2
  option redispatch
  option clitcpka
  option srvtcpka
  timeout connect 3s
  timeout client 24h
  timeout server 24h
  timeout check 3s

frontend kubernetes
  bind 127.0.0.1:${port}
  default_backend control-planes

backend control-planes
  balance leastconn
  option httpchk GET /readyz
  http-check expect status 200
  default-server check check-ssl verify none inter 1s fall 3 rise 1 on-marked-down shutdown-sessions
${servers.join("\n")}
`;
}

/** Returns shell lines that configure haproxy; it is reloaded only when the text differs. */
export function configureEndpoint(port: number, backends: Backend[]): string {
  return `
${writeFile("/etc/systemd/system/foresail-endpoint.service", UNIT, "0644")}
changed=no
${writeFile(NODE_PATHS.haproxy, haproxyConfiguration(port, backends), "0644")}
systemctl daemon-reload
systemctl enable --quiet foresail-endpoint
if [ "$changed" = yes ] && systemctl is-active --quiet foresail-endpoint; then systemctl reload foresail-endpoint; fi
systemctl start foresail-endpoint`.trim();
}

/** Returns the step that rewrites the loopback endpoint of one machine. Its answer is empty. */
export function endpointScript(machine: string, port: number, backends: Backend[]): Script {
  return frame("endpoint", machine, configureEndpoint(port, backends));
}
