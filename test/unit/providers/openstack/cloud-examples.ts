import type {
  CloudFacts,
  DesiredCloud,
  DesiredServer,
} from "../../../../providers/openstack/plan/cloud-facts";

/** A worker's server. */
export const server = (over: Partial<DesiredServer> = {}): DesiredServer => ({
  name: "w-1-aaaaa",
  pool: "w",
  flavor: "small",
  image: "debian",
  ...over,
});
/** A run that makes one server. */
export const desired = (over: Partial<DesiredCloud> = {}): DesiredCloud => ({
  servers: [server()],
  arriving: (over.servers ?? [server()]).map(({ name }) => name),
  leaving: [],
  loadBalancer: false,
  floatingIps: 0,
  ...over,
});
/** A cloud in which that server can be made. */
export const facts = (over: Partial<CloudFacts> = {}): CloudFacts => ({
  flavors: [
    { id: "f1", name: "small", vcpus: 2, ram: 2048, disk: 10 },
    { id: "f2", name: "diskless", vcpus: 2, ram: 2048, disk: 0 },
  ],
  images: [
    { id: "i1", name: "debian", status: "active", minDisk: 5, minRam: 512 },
    { id: "i2", name: "twice", status: "active", minDisk: 0, minRam: 0 },
    { id: "i3", name: "twice", status: "active", minDisk: 0, minRam: 0 },
    { id: "i4", name: "queued", status: "queued", minDisk: 0, minRam: 0 },
    { id: "i5", name: "big", status: "active", minDisk: 40, minRam: 4096 },
  ],
  zones: [
    { name: "az1", available: true },
    { name: "az2", available: false },
  ],
  externalNetworks: [{ id: "n1", name: "public" }],
  servers: [],
  recorded: {},
  metadata: {},
  gone: [],
  detached: {},
  withoutVolume: [],
  failed: [],
  compute: {
    instances: { limit: 10, used: 2 },
    cores: { limit: -1, used: 99 },
    ram: { limit: 51200, used: 0 },
  },
  hasLoadBalancer: false,
  hasVolumes: false,
  isRestricted: false,
  ...over,
});
