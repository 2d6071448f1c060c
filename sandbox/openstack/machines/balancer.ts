/** A port of a load balancer, and the targets of its connections. */
export interface BalancerListener {
  readonly port: number;
  /** CIDRs that may connect; none: all may */
  readonly cidrs: readonly string[];
  readonly members: readonly { readonly address: string; readonly port: number }[];
  /** seconds and counts of the pool's monitor; null without one: every member counts as healthy */
  readonly check: {
    readonly delay: number;
    readonly timeout: number;
    readonly fall: number;
    readonly rise: number;
  } | null;
}

/** Returns haproxy's configuration for the TCP listeners of a load balancer, as in Octavia's amphora. */
export function renderBalancer(listeners: readonly BalancerListener[]): string {
  return `global
  log stderr format short daemon notice

defaults
  mode tcp
  log global
  retries 2
  option redispatch
  timeout connect 3s
  timeout client 24h
  timeout server 24h
${listeners.map(renderListener).join("")}`;
}

function renderListener({ port, cidrs, members, check }: BalancerListener): string {
  const lines = [
    `listen port-${port}`,
    `  bind :${port}`,
    ...(cidrs.length === 0 ? [] : [`  tcp-request connection reject unless { src ${cidrs.join(" ")} }`]),
    "  balance roundrobin",
    ...(check === null
      ? []
      : [
          `  timeout check ${check.timeout}s`,
          `  default-server check inter ${check.delay}s fall ${check.fall} rise ${check.rise} on-marked-down shutdown-sessions`,
        ]),
    ...members.map((member, index) => `  server member-${index + 1} ${member.address}:${member.port}`),
  ];
  return `\n${lines.join("\n")}\n`;
}

/**
 * Returns shell lines that configure a container node's haproxy for these listeners; without listeners they stop it.
 */
export function balancerScript(listeners: readonly BalancerListener[]): string {
  if (listeners.length === 0) return "systemctl stop haproxy";
  const text = Buffer.from(renderBalancer(listeners)).toString("base64");
  return `set -e
echo ${text} | base64 -d > /etc/haproxy/haproxy.cfg
systemctl enable --quiet haproxy
systemctl reload-or-restart haproxy`;
}
