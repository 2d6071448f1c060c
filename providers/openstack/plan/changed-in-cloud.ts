import { listed } from "../../../lib/text/quote";
import type { Role } from "../../kubeadm/plan/cluster/machine";
import { slotOfMachine } from "./machine";
import type { CloudFacts, DesiredCloud, DesiredServer, UnmetRequirement } from "./cloud-facts";

/** Reports what someone deleted or took from a server in the cloud: no step of the run would restore it. */
export function changedInCloud(desired: DesiredCloud, facts: CloudFacts): UnmetRequirement[] {
  return [
    ...desired.servers.flatMap((server) => deletedServerIssues(server, facts)),
    ...goneObjectIssues(desired, facts),
    ...desired.servers.flatMap((server) => unattachedServerIssues(server, facts)),
  ];
}

/** Reports recorded servers that someone deleted in the cloud: no step of the run would reach them. */
function deletedServerIssues({ name, pool }: DesiredServer, { recorded }: CloudFacts): UnmetRequirement[] {
  if (!(name in recorded) || recorded[name] !== undefined) return [];
  const reason =
    `the server of ${name} was deleted in the cloud; run \`pulumi refresh\`, ` +
    "and the next preview shows the machine that replaces it";
  return [{ property: `openstack.pools.${pool}`, reason }];
}

/** Reports recorded objects that someone deleted in the cloud, but for those that leave with their machines. */
function goneObjectIssues({ leaving }: DesiredCloud, { gone }: CloudFacts): UnmetRequirement[] {
  const missing = gone.filter(({ name }) => !leaving.some((machine) => name.endsWith(`-${machine}`)));
  if (missing.length === 0) return [];
  const names = listed(missing.map(({ kind, name }) => `the ${kind} ${name}`));
  const reason =
    `deleted in the cloud: ${names}; run \`pulumi refresh\`, and the next preview shows what is made again, ` +
    "and which machines are replaced because their ports are gone";
  return [{ property: "openstack", reason }];
}

/** Reports servers that someone took a port or root volume from, which no refresh finds. */
function unattachedServerIssues(
  { name, pool }: DesiredServer,
  { detached, recorded, withoutVolume }: CloudFacts,
): UnmetRequirement[] {
  if (recorded[name] === undefined) return [];
  const { port, server } = detached[name] ?? {};
  const replace = `with the next number in \`openstack.replace: {${slotOfMachine(name)}: …}\``;
  const reasons = [
    ...(port === undefined
      ? []
      : [
          `the port of ${name} is not attached to its server: attach it (\`openstack server add port ${server} ${port}\`), ` +
            `or have another machine made ${replace}`,
        ]),
    ...(withoutVolume.includes(name)
      ? [`the root volume of ${name} is gone: have another machine made ${replace}`]
      : []),
  ];
  return reasons.map((reason) => ({ property: `openstack.pools.${pool}`, reason }));
}

/** Returns why a run can't go on when no control plane has kept its port: the cluster's data is on them alone. */
export function unattachedRefusals(
  unattached: readonly { name: string; role: Role }[],
  machines: readonly { role: Role; joined: boolean }[],
): UnmetRequirement[] {
  const planes = unattached.filter(({ role }) => role === "control-plane");
  const hasOther = machines.some(({ role, joined }) => role === "control-plane" && joined);
  if (planes.length === 0 || hasOther) return [];
  const reason =
    `the ports of all control planes are gone (${listed(planes.map(({ name }) => name))}), and the cluster's data is on their servers only; ` +
    'attach a port with the former address to one and import it in place of its port (page openstack, "a port that was deleted")';
  return [{ property: "openstack.pools", reason }];
}

/** Statuses of servers that run, or are about to. */
const RUNNING = [
  "ACTIVE",
  "BUILD",
  "HARD_REBOOT",
  "MIGRATING",
  "PASSWORD",
  "REBOOT",
  "RESIZE",
  "VERIFY_RESIZE",
];

/** Returns the status of a server that does not run, since it was stopped or has failed; otherwise undefined. */
export const stoppedStatus = (status: string | undefined): string | undefined =>
  status === "ERROR" || (status !== undefined && Object.hasOwn(STARTED_BY, status)) ? status : undefined;

/**
 * Returns a line for each recorded server that does not run, with what starts it. Those that failed before they were ready
 * have an issue of their own.
 *
 * @param serverIds machine name → id of its server, which may have another name
 * @param leaving machines that leave in this run
 */
export function stoppedServers(
  { recorded, failed }: Pick<CloudFacts, "recorded" | "failed">,
  serverIds: Readonly<Record<string, string>>,
  leaving: readonly string[] = [],
): string[] {
  return Object.entries(recorded).flatMap(([name, status]) => {
    if (status === undefined || RUNNING.includes(status) || leaving.includes(name)) return [];
    const id = serverIds[name];
    if (status === "ERROR")
      return failed.some((server) => server.id === id)
        ? []
        : [
            `${name}: its server is ERROR; restart it: \`openstack server reboot --hard ${id}\`, or have another machine made ` +
              `with the next number in \`openstack.replace: {${slotOfMachine(name)}: …}\``,
          ];
    const how = STARTED_BY[status];
    const start = how === undefined ? "" : `; start it: \`openstack server ${how} ${id}\``;
    return [`${name}: its server is ${status}${start}`];
  });
}

/** Status → subcommand of `openstack server` that starts the server again. */
const STARTED_BY: Readonly<Record<string, string>> = {
  SHUTOFF: "start",
  PAUSED: "unpause",
  SUSPENDED: "resume",
  SHELVED: "unshelve",
  SHELVED_OFFLOADED: "unshelve",
  RESCUE: "unrescue",
};

/** Returns why a run can't go on while the metadata of servers does not say which machines they are. */
export function unreadableRefusals(machines: readonly string[], mark = ""): UnmetRequirement[] {
  return machines.map((name) => ({
    property: "openstack.pools",
    reason:
      `the metadata of the server of ${name} was changed in the cloud, and no longer says which machine it is; ` +
      `restore its foresail-… properties as another server of its pool has them, with foresail-slot=${slotOfMachine(name)}` +
      `${mark === "" ? "" : ` and foresail-mark=${mark}`}, then run \`pulumi refresh\``,
  }));
}
