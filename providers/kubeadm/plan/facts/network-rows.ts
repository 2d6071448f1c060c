import { cidrContains, parseCidr, parseIpv4 } from "../../../../lib/validation/addresses";
import { listed } from "../../../../lib/text/quote";
import { type AskedMachine, factOf, type FactRow, linesOf, numberOf } from "./machine-reading";

const LEAST_MTU = 1280;
/** What the kubelet hands to pods. */
const MOST_NAME_SERVERS = 3;
const LEFT_DEVICES =
  /^(cni0|flannel[.-]\S+|cilium_\S+|vxlan\.calico|tunl0|weave|kube-bridge|kube-ipvs0|nodelocaldns)$/;

/** Returns the page of a name that could not be read. */
function failedPage(asked: AskedMachine, page: string): string | undefined {
  const said = factOf(asked, `page.${page}`);
  if (said === undefined) return undefined;
  if (said.startsWith("failed")) return said.slice("failed".length).trim() || "it could not be reached";
  return /^(401|403|404|407|410)$/.test(said) ? `it answers ${said}` : undefined;
}

const via = ({ specification }: AskedMachine) =>
  specification.proxy === undefined ? "" : " through its proxy";

type Page = Pick<FactRow, "name" | "level" | "needs" | "fix"> & { readonly page: string };

function pageRow({ page, ...row }: Page): FactRow {
  const { name } = row;
  return {
    ...row,
    read: "curl, by its proxy",
    find: (asked) => {
      const why = failedPage(asked, page);
      // a registry and apt may log in where this question did not
      if (why === undefined || (row.level === "warning" && why.startsWith("it answers"))) return undefined;
      return { fact: `${name} can't be read from it${via(asked)}: ${why}` };
    },
  };
}

const FIX_REACH = "Let the machine reach it, or set cluster.proxy, a mirror or a bundle";

/** Rows about addresses, names, ports and firewalls. */
export const NETWORK_ROWS: readonly FactRow[] = [
  {
    name: "address of the node",
    read: "ip address",
    level: "refused",
    needs: "the machine's internalAddress on one of its devices, unless foresail puts it there",
    fix: "Write one of these as the machine's internalAddress",
    find: (asked) => {
      const { internalAddress, specification } = asked;
      const has = addressesOf(asked);
      if (internalAddress === undefined || has.length === 0) return undefined;
      if (
        specification.network.holdNodeAddress === true ||
        has.some(({ address }) => address === internalAddress)
      )
        return undefined;
      const others = has.filter(({ address }) => !address.startsWith("127."));
      return {
        fact: `no device of it has the address ${internalAddress}; it has ${listed(others.map(({ address }) => address))}`,
      };
    },
  },
  {
    name: "MTU",
    read: "/sys/class/net",
    level: "warning",
    needs: `${LEAST_MTU} or more`,
    fix: "Run there: ip link set dev DEVICE mtu 1500, if the network allows it",
    find: (asked) => {
      const mtu = numberOf(asked, "mtu");
      return mtu !== undefined && mtu < LEAST_MTU
        ? {
            fact: `the device of its address has an MTU of ${mtu}; a pod network takes up to 50 of it, and large packets are lost`,
          }
        : undefined;
    },
  },
  {
    name: "default route",
    read: "ip route",
    level: "warning",
    needs: "one",
    fix: "Run there: ip route add default via GATEWAY, and write it to the network's configuration",
    find: (asked) => {
      const routes = linesOf(asked, "routes");
      return routes.length > 0 && !routes.some((line) => line.startsWith("default"))
        ? { fact: "it has no default route, and Kubernetes finds its addresses by it" }
        : undefined;
    },
  },
  {
    name: "networks that overlap",
    read: "ip route",
    level: "warning",
    needs: "no network of the machine in network.podSubnet or network.serviceSubnet",
    fix: "Choose another {field} for the cluster",
    find: (asked) => {
      const { podCidr, serviceCidr } = asked.specification.network;
      for (const [field, block] of [
        ["network.podSubnet", parseCidr(podCidr)],
        ["network.serviceSubnet", parseCidr(serviceCidr)],
      ] as const)
        for (const { block: own, device } of networksOf(asked))
          if (block !== undefined && own.prefix >= block.prefix && cidrContains(block, own.first))
            return {
              fact: `its device ${device} is in a network of ${field}, so that packets to one go to the other`,
              values: { field },
            };
      return undefined;
    },
  },
  {
    name: "devices of an earlier pod network",
    read: "ip address",
    level: "warning",
    needs: "none",
    fix: "Run there: ip link delete {device}",
    find: (asked) => {
      const device = addressesOf(asked).find(({ device: name }) => LEFT_DEVICES.test(name))?.device;
      return device === undefined
        ? undefined
        : { fact: `the device ${device} of an earlier pod network is left on it`, values: { device } };
    },
  },
  {
    name: "name servers",
    read: "/etc/resolv.conf",
    level: "warning",
    needs: `one to ${MOST_NAME_SERVERS}`,
    fix: "Change the network's configuration or /etc/resolv.conf",
    find: (asked) => {
      const { length } = linesOf(asked, "nameServers");
      return length > MOST_NAME_SERVERS
        ? { fact: `its /etc/resolv.conf has ${length} name servers, of which pods get ${MOST_NAME_SERVERS}` }
        : undefined;
    },
  },
  {
    name: "name server of its own",
    read: "/etc/resolv.conf",
    level: "warning",
    needs: "none at 127.0.0.0/8, unless systemd-resolved is there",
    fix: "Name a real one in kubelet.resolvConf, for example a file of its own",
    find: (asked) => {
      const own = linesOf(asked, "nameServers").find((server) => server.startsWith("127."));
      if (own === undefined || factOf(asked, "resolver") === "active") return undefined;
      return asked.specification.kubelet["resolvConf"] === undefined
        ? { fact: `its name server is ${own}, at which CoreDNS would ask itself` }
        : undefined;
    },
  },
  pageRow({
    name: "the Kubernetes repository",
    page: "repository",
    level: "refused",
    needs: "source.packages.repository, unless its packages are installed",
    fix: FIX_REACH,
  }),
  pageRow({
    name: "the bundle",
    page: "bundle",
    level: "refused",
    needs: "source.bundle.url",
    fix: "Correct cluster.source.bundle.url, or let the machine reach it",
  }),
  pageRow({
    name: "the distribution's repository",
    page: "distribution",
    level: "warning",
    needs: "the first one of apt's, if packages are missing",
    fix: "Correct /etc/apt/sources.list.d, or set cluster.proxy",
  }),
  pageRow({
    name: "the image registry",
    page: "registry",
    level: "warning",
    needs: "that of Kubernetes' images, unless it has mirrors",
    fix: FIX_REACH,
  }),
  {
    name: "answers in time",
    read: "curl",
    level: "warning",
    needs: "each of these pages within 4 s",
    fix: "Look there at: curl --verbose --output /dev/null the address in cluster.source",
    find: (asked) => {
      const slow = [...asked.reading.facts].flatMap(([name, said]) =>
        name.startsWith("page.") && said === "timeout" ? [name.slice("page.".length)] : [],
      );
      return slow.length === 0
        ? undefined
        : { fact: `these did not answer it within 4 s${via(asked)}: ${slow.sort().join(", ")}` };
    },
  },
  {
    name: "way to the other machines",
    read: "a connection to their port of SSH",
    level: "warning",
    needs: "an answer, or a refusal, at each control plane's internalAddress",
    fix: "Look there at: ip route get ADDRESS, and at the firewalls between them",
    find: (asked) => {
      const silent = [...asked.reading.facts].flatMap(([name, said]) =>
        name.startsWith("neighbor.") && /timeout|No route to host|unreachable/.test(said)
          ? [`${name.slice("neighbor.".length)} (${said})`]
          : [],
      );
      return silent.length === 0 ? undefined : { fact: `it does not reach ${listed(silent)}` };
    },
  },
];

interface OwnAddress {
  readonly device: string;
  readonly address: string;
}

const addressesOf = (asked: AskedMachine): OwnAddress[] =>
  linesOf(asked, "addresses").flatMap((line) => {
    const [, device, address] = /^\d+: (\S+)\s+inet ([\d.]+)/.exec(line) ?? [];
    return device === undefined || address === undefined ? [] : [{ device, address }];
  });

/** Returns the networks of a machine's devices, without those that a pod network left. */
const networksOf = (asked: AskedMachine) =>
  linesOf(asked, "routes").flatMap((line) => {
    const [, to, device] = /^([\d./]+) dev (\S+)/.exec(line) ?? [];
    if (to === undefined || device === undefined || LEFT_DEVICES.test(device)) return [];
    const single = parseIpv4(to);
    const block = single === undefined ? parseCidr(to) : { first: single, prefix: 32 };
    return block === undefined ? [] : [{ block, device }];
  });
