import { SSH_PORT, TAKEN_PORTS } from "../../../../lib/validation/ports";
import { POD_NETWORK_PORTS } from "../endpoint/network-ports";
import { type AskedMachine, factOf, type FactRow, type Found, linesOf } from "./machine-reading";

/** Ports of every node; the others are those of control planes. */
const NODE_PORTS = [10_248, 10_249, 10_250, 10_256];

const isControlPlane = ({ machine }: AskedMachine) => machine.role === "control-plane";

/** Returns the ports that a node of this role listens on, with what does. */
function ownPorts(asked: AskedMachine): Map<number, string> {
  const all = Object.entries(TAKEN_PORTS).map(([port, what]) => [Number(port), what] as const);
  const own = all.filter(
    ([port]) => port !== SSH_PORT && (isControlPlane(asked) || NODE_PORTS.includes(port)),
  );
  return new Map(own);
}

interface Listener {
  readonly port: number;
  readonly name: string;
}

/** Returns what listens on the TCP ports of a machine. */
const listenersOf = (asked: AskedMachine): Listener[] =>
  linesOf(asked, "listening").flatMap((line) => {
    const [, protocol, port, name] = /^(tcp|udp) \S*:(\d+) ?(.*)$/.exec(line) ?? [];
    return protocol === "tcp" ? [{ port: Number(port), name: name ?? "" }] : [];
  });

function taken(asked: AskedMachine, ports: ReadonlyMap<number, string>): Found | undefined {
  const found = listenersOf(asked).find(({ port }) => ports.has(port));
  if (found === undefined) return undefined;
  const who = found.name === "" ? "something" : found.name;
  return {
    fact: `${who} listens on its port ${found.port}, which ${ports.get(found.port)} needs`,
    values: { port: String(found.port) },
  };
}

/** Rows about ports and firewalls. */
export const PORT_ROWS: readonly FactRow[] = [
  {
    name: "ports of a node",
    read: "ss",
    level: "refused",
    needs: NODE_PORTS.join(", "),
    fix: "Run there: ss -lntp 'sport = :{port}', and stop what listens",
    find: (asked) =>
      taken(asked, new Map([...ownPorts(asked)].filter(([port]) => NODE_PORTS.includes(port)))),
  },
  {
    name: "ports of a control plane",
    read: "ss",
    level: "refused",
    needs: "2379 to 2381, 6443, 10257, 10259",
    fix: "Run there: ss -lntp 'sport = :{port}', and stop what listens",
    find: (asked) =>
      taken(asked, new Map([...ownPorts(asked)].filter(([port]) => !NODE_PORTS.includes(port)))),
  },
  {
    name: "port of the endpoint",
    read: "ss",
    level: "refused",
    needs: "the port of haproxy on every node",
    fix: "Run there: ss -lntp 'sport = :{port}', and stop what listens, or write another endpoint.loopback.port",
    find: (asked) => {
      const { endpoint } = asked.specification;
      return "loopback" in endpoint
        ? taken(asked, new Map([[endpoint.loopback.port, "the endpoint of the API servers"]]))
        : undefined;
    },
  },
  {
    name: "ports of the pod network",
    read: "ss",
    level: "refused",
    needs: "those of its TCP services",
    fix: "Run there: ss -lntp 'sport = :{port}', and stop what listens",
    find: (asked) => {
      const own = POD_NETWORK_PORTS[asked.podNetwork].flatMap(({ protocol, ports, why }) =>
        protocol === "tcp" && ports !== undefined ? [[ports[0], why] as const] : [],
      );
      return taken(asked, new Map(own));
    },
  },
  {
    name: "ufw",
    read: "ufw status",
    level: "warning",
    needs: "rules for the nodes' ports, where it is active",
    fix: "Run there, for the network of the nodes: ufw allow from NETWORK; ufw default allow routed",
    find: (asked) =>
      /^Status: active/.test(factOf(asked, "ufw") ?? "") && closedPorts(asked).length > 0
        ? { fact: `ufw is active on it and no rule allows ${closedPorts(asked).join(", ")}` }
        : undefined,
  },
  {
    name: "firewalld",
    read: "systemctl",
    level: "warning",
    needs: "rules for the nodes' ports, where it is active",
    fix: "Run there: firewall-cmd --permanent --zone=trusted --add-source=NETWORK; firewall-cmd --reload",
    find: (asked) =>
      factOf(asked, "firewalld") === "active"
        ? { fact: "firewalld is active on it, and drops what no rule allows among the nodes" }
        : undefined,
  },
  {
    name: "firewall",
    read: "nft, iptables",
    level: "warning",
    needs: "no policy that drops what comes in, or rules that accept the nodes' ports",
    fix: "Accept these ports from the other nodes there",
    find: (asked) => {
      const [chain] = linesOf(asked, "drops");
      const closed = closedPorts(asked);
      if (chain === undefined || closed.length === 0 || /^Status: active/.test(factOf(asked, "ufw") ?? ""))
        return undefined;
      return {
        fact: `the policy of its chain ${chain} drops what comes in, and no rule accepts TCP ${closed.join(", ")}`,
      };
    },
  },
];

/** Returns the ports of a node that no rule of its firewall accepts. */
function closedPorts(asked: AskedMachine): number[] {
  const accepted = linesOf(asked, "acceptedPorts").map((line) => line.split(/[-:]/).map(Number));
  const needed = [10_250, ...(isControlPlane(asked) ? [2379, 2380, 6443] : [])];
  return needed.filter(
    (port) => !accepted.some(([first = 0, last = first]) => port >= first && port <= last),
  );
}
