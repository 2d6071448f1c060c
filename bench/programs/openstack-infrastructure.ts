// The cloud's half of the system openstack by foresail's own functions: the servers of the measured cloud answer no SSH,
// so the other half has nothing to stand on. The measurement refuses it when OpenstackCluster makes other objects.
import { Provider } from "@pulumi/openstack/provider";
import { makeKeypair, makeMachine, makeServerGroups } from "../../components/openstack/machines";
import { makeNetworks } from "../../components/openstack/network";
import { makeSecurityGroups, securityGroupName } from "../../components/openstack/security-groups";
import { readStackResources } from "../../components/openstack/stack-resources";
import { planRollout } from "../../core/openstack/machine-rollout";
import { wantedSlots, type Pool } from "../../core/openstack/pool";
import { recordedState, wantedMachine } from "../../core/openstack/recorded-state";
import { SECURITY_GROUPS } from "../../core/openstack/security-rules";
import { laterLines } from "../../core/openstack/rollout-lines";
import { CloudPlan } from "../../providers/openstack/cloud-plan";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { SERVERS_CIDR, SERVERS_KEY, sizeOf, wantedServers } from "./servers";

const NAME = "bench";
const PODS = "10.244.0.0/16";

function pools(servers: number): Pool[] {
  const { controlPlanes, workers } = sizeOf(servers);
  const pool = (name: string, role: Pool["role"], replicas: number): Pool => ({
    name,
    role,
    replicas,
    flavor: CLOUD_NAMES.flavor,
    image: CLOUD_NAMES.image,
    zones: [],
    antiAffinity: "soft",
    labels: {},
    taints: [],
    floatingIp: false,
    maxSurge: 1,
  });
  return [pool("cp", "control-plane", controlPlanes), pool("w", "worker", workers)];
}

async function make(): Promise<void> {
  const cloud = CLOUD_NAMES.cloud;
  const wanted = pools(wantedServers());
  const state = recordedState(NAME, await readStackResources());
  const slots = wantedSlots(wanted, SERVERS_CIDR);
  const { now, later } = planRollout(
    slots.map((slot) => ({ machine: wantedMachine(NAME, slot, state), maxSurge: slot.maxSurge })),
    state.machines,
  );
  const plan = new CloudPlan(`${NAME}-cloud`, {
    cluster: NAME,
    cloud,
    servers: now.machines.map(({ name, pool, shape: { flavor, image } }) => ({ name, pool, flavor, image })),
    externalNetwork: CLOUD_NAMES.publicNetwork,
    loadBalancer: false,
    steps: now.lines,
    leaving: now.leaving,
    later: laterLines(later),
    ...(state.mark === undefined ? {} : { mark: state.mark }),
    known: state.objects,
    securityGroups: SECURITY_GROUPS.map((group) => securityGroupName(NAME, group)),
  });
  const mark = state.mark ?? plan.mark;
  const opts = { provider: new Provider(NAME, { cloud }), dependsOn: [plan] };
  const networks = makeNetworks(
    NAME,
    {
      network: { cidr: SERVERS_CIDR, dns: [], externalNetwork: CLOUD_NAMES.publicNetwork },
      inUse: now.machines.map(({ shape }) => shape.network),
      externalNetworkId: plan.found.apply(({ externalNetworkId }) => externalNetworkId),
      mark,
    },
    opts,
  );
  const operator = [SERVERS_CIDR.replace(/\.0\/24$/, ".1/32")];
  const { groups, rules } = makeSecurityGroups(
    NAME,
    { ssh: operator, api: operator, nodePorts: [], podNetwork: "bridge" },
    mark,
    opts,
  );
  const keypair = makeKeypair(NAME, SERVERS_KEY, mark, opts);
  const serverGroups = makeServerGroups(NAME, wanted, mark, opts);
  for (const machine of now.machines) {
    const pool = wanted.find(({ name }) => name === machine.pool);
    const serverGroup = serverGroups.get(machine.pool);
    makeMachine(
      NAME,
      {
        machine,
        ...(pool ? { pool } : {}),
        plan,
        networks,
        securityGroups: groups,
        after: [...rules, ...(networks.get(machine.shape.network)?.way ?? [])],
        keypair,
        ...(serverGroup ? { serverGroup } : {}),
        externalNetwork: CLOUD_NAMES.publicNetwork,
        podCidr: PODS,
        mark,
      },
      opts,
    );
  }
}

module.exports = make;
