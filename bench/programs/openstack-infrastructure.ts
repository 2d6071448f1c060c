// The cloud's half of the system openstack: the servers of the measured cloud do not answer SSH, so the other half
// cannot run.
import { makeInfrastructure } from "../../components/openstack/infrastructure";
import { checkedOpenstack } from "../../components/openstack/openstack-cluster-args";
import { readStackResources } from "../../lib/pulumi/stack";
import type { Pool } from "../../providers/openstack/plan/machine";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { SERVERS_CIDR, SERVERS_KEY, sizeOf, wantedServers } from "./servers";

function pools(servers: number) {
  const { controlPlanes, workers } = sizeOf(servers);
  const pool = (name: string, role: Pool["role"], replicas: number) => ({
    name,
    role,
    replicas,
    flavor: CLOUD_NAMES.flavor,
    image: CLOUD_NAMES.image,
  });
  return [pool("cp", "control-plane", controlPlanes), pool("w", "worker", workers)];
}

async function make(): Promise<void> {
  const operator = [SERVERS_CIDR.replace(/\.0\/24$/, ".1/32")];
  const args = checkedOpenstack("bench", {
    cloud: CLOUD_NAMES.cloud,
    network: { cidr: SERVERS_CIDR, dnsNameservers: [], externalNetwork: CLOUD_NAMES.publicNetwork },
    keypair: { publicKey: SERVERS_KEY },
    pools: pools(wantedServers()),
    access: { ssh: operator, api: operator, nodePorts: [] },
    cloudProvider: { enabled: false },
    cluster: { version: "1.34.0", ssh: {}, network: { plugin: { bridge: {} } } },
  });
  await makeInfrastructure("bench", args, await readStackResources());
}

module.exports = make;
