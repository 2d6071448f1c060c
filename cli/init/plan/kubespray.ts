import { isObject } from "../../../lib/json";
import { type Inventory, InventoryError, type ListedMachine, nameMachines } from "./inventory";

type Variables = Readonly<Record<string, unknown>>;

/** The hosts of an inventory with their variables, and the hosts of each group, nested groups resolved. */
interface Groups {
  readonly hosts: ReadonlyMap<string, Variables>;
  readonly of: (group: string) => readonly string[];
}

// the second of each is what releases before 2.17 call it
const CONTROL_PLANES = ["kube_control_plane", "kube-master"];
const WORKERS = ["kube_node", "kube-node"];

/** Reads an inventory of kubespray in YAML: what `all:` has. @throws InventoryError */
export function readKubesprayYaml(content: Readonly<Record<string, unknown>>): Inventory {
  const hosts = new Map<string, Variables>();
  const members = new Map<string, string[]>();
  const children = new Map<string, string[]>();
  const visit = (name: string, group: unknown, level: number): void => {
    if (!isObject(group) || level > 20) return;
    const { hosts: own, children: below } = group;
    for (const [host, variables] of Object.entries(isObject(own) ? own : {})) {
      hosts.set(host, { ...hosts.get(host), ...(isObject(variables) ? variables : {}) });
      members.set(name, [...(members.get(name) ?? []), host]);
    }
    for (const [child, content] of Object.entries(isObject(below) ? below : {})) {
      children.set(name, [...(children.get(name) ?? []), child]);
      visit(child, content, level + 1);
    }
  };
  visit("all", content["all"], 0);
  const { all } = content;
  const shared = isObject(all) && isObject(all["vars"]) ? all["vars"] : {};
  return inventoryOf({ hosts, of: membersOf(members, children) }, shared);
}

/** Reads an inventory of kubespray in Ansible's INI form. @throws InventoryError */
export function readKubesprayIni(text: string): Inventory {
  const hosts = new Map<string, Variables>();
  const members = new Map<string, string[]>();
  const children = new Map<string, string[]>();
  const shared: Record<string, unknown> = {};
  let section = "all";
  let kind = "";
  for (const line of text.split(/\r?\n/)) {
    const words = line.replace(/(^|\s)[#;].*/, "").trim();
    if (words === "") continue;
    const [, group, suffix] = /^\[([^\]:]+)(?::([a-z]+))?\]$/.exec(words) ?? [];
    if (group !== undefined) {
      section = group;
      kind = suffix ?? "";
    } else if (kind === "children") children.set(section, [...(children.get(section) ?? []), words]);
    else if (kind === "vars") {
      if (section === "all") Object.assign(shared, variablesOf([words.replace(/\s*=\s*/, "=")]));
    } else {
      const [host = "", ...rest] = words.split(/\s+/);
      hosts.set(host, { ...hosts.get(host), ...variablesOf(rest) });
      members.set(section, [...(members.get(section) ?? []), host]);
    }
  }
  return inventoryOf({ hosts, of: membersOf(members, children) }, shared);
}

function variablesOf(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.flatMap((word) => {
      const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/.exec(word) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value.replace(/^(["'])(.*)\1$/, "$2")]];
    }),
  );
}

function membersOf(
  members: ReadonlyMap<string, readonly string[]>,
  children: ReadonlyMap<string, readonly string[]>,
): Groups["of"] {
  const find = (group: string, seen: ReadonlySet<string>): string[] =>
    seen.has(group)
      ? []
      : [
          ...(members.get(group) ?? []),
          ...(children.get(group) ?? []).flatMap((child) => find(child, new Set([...seen, group]))),
        ];
  return (group) => [...new Set(find(group, new Set()))];
}

function inventoryOf({ hosts, of }: Groups, shared: Variables): Inventory {
  const controlPlanes = CONTROL_PLANES.flatMap(of);
  const workers = WORKERS.flatMap(of).filter((host) => !controlPlanes.includes(host));
  if (controlPlanes.length === 0)
    throw new InventoryError(`the inventory has no host in the group ${CONTROL_PLANES[0]}`);
  const machine = (name: string, role: ListedMachine["role"]): ListedMachine => {
    const variables = { ...shared, ...hosts.get(name) };
    const word = (key: string) => {
      const value = variables[key];
      return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
    };
    const port = word("ansible_port");
    return {
      name,
      role,
      address: word("ansible_host") ?? word("access_ip") ?? word("ip") ?? name,
      user: word("ansible_user"),
      port: port === undefined ? undefined : Number(port),
      internalAddress: word("ip"),
    };
  };
  const both = WORKERS.flatMap(of).filter((host) => controlPlanes.includes(host));
  const etcd = of("etcd").filter((host) => !controlPlanes.includes(host));
  return {
    machines: nameMachines([
      ...controlPlanes.map((name) => machine(name, "control-plane")),
      ...workers.map((name) => machine(name, "worker")),
    ]),
    notes: [
      ...(both.length > 0
        ? [
            `control planes that also run workloads: ${both.join(", ")}; here they run none, unless pods tolerate their taint`,
          ]
        : []),
      ...(etcd.length > 0
        ? [`${etcd.join(", ")}: an etcd of its own is left out; here etcd runs on the control planes`]
        : []),
    ],
  };
}
