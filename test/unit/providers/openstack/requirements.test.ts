import assert from "node:assert/strict";
import type { CloudFacts, DesiredCloud } from "../../../../providers/openstack/plan/cloud-facts";
import { unmetCloud } from "../../../../providers/openstack/plan/requirements";
import { desired, facts, server } from "./cloud-examples";

const NONE_LEFT = { limit: 0, used: 0 };

describe("unmet requirements of a run on a cloud", () => {
  const cases: [what: string, desired: DesiredCloud, facts: CloudFacts, said: string[]][] = [
    ["nothing", desired({ externalNetwork: "public" }), facts(), []],
    [
      "nothing, by ids",
      desired({ servers: [server({ flavor: "f1", image: "i1" })], externalNetwork: "n1" }),
      facts(),
      [],
    ],
    [
      "a flavor, named once for a pool",
      desired({ servers: [server({ flavor: "huge" }), server({ name: "w-2-bbbbb", flavor: "huge" })] }),
      facts(),
      ['openstack.pools.w.flavor: the cloud has no flavor "huge"; it has diskless, small'],
    ],
    [
      "objects that were deleted in the cloud, but for those of machines that leave",
      desired({ arriving: [], leaving: ["w-2-bbbbb"] }),
      facts({
        gone: [
          { kind: "security group", name: "demo-nodes", id: "g1" },
          { kind: "port", name: "demo-w-1-aaaaa", id: "p1" },
          { kind: "port", name: "demo-w-2-bbbbb", id: "p2" },
        ],
      }),
      [
        "openstack: deleted in the cloud: the security group demo-nodes, the port demo-w-1-aaaaa; run `pulumi refresh`, and " +
          "the next preview shows what is made again, and which machines are replaced because their ports are gone",
      ],
    ],
    [
      "the port and the root volume that someone took from a server",
      desired({ arriving: [] }),
      facts({
        recorded: { "w-1-aaaaa": "ACTIVE" },
        detached: { "w-1-aaaaa": { port: "p1", server: "s1" } },
        withoutVolume: ["w-1-aaaaa"],
      }),
      [
        "openstack.pools.w: the port of w-1-aaaaa is not attached to its server: attach it (`openstack server add port s1 p1`), " +
          "or have another machine made with the next number in `openstack.replace: {w-1: …}`",
        "openstack.pools.w: the root volume of w-1-aaaaa is gone: have another machine made with the next number in `openstack.replace: {w-1: …}`",
      ],
    ],
    [
      "an image with one meaning",
      desired({ servers: [server({ image: "twice" })] }),
      facts(),
      ['openstack.pools.w.image: the cloud has 2 images called "twice"; write the id of one: i2, i3'],
    ],
    [
      "an image that is ready",
      desired({ servers: [server({ image: "queued" })] }),
      facts(),
      ['openstack.pools.w.image: "queued" is queued, not active; wait for it or choose another'],
    ],
    [
      "disk and memory for the image",
      desired({ servers: [server({ image: "big" })] }),
      facts(),
      [
        'openstack.pools.w.flavor: 10 GiB is too small for the image "big", which needs 40 GiB',
        'openstack.pools.w.flavor: "small" has 2048 MiB of memory, and the image "big" needs 4096 MiB',
      ],
    ],
    [
      "a root volume of the image's size",
      desired({ servers: [server({ flavor: "diskless", rootVolume: { size: 4 } })] }),
      facts({ volumes: { types: [] } }),
      ['openstack.pools.w.rootVolume.sizeGiB: 4 GiB is too small for the image "debian", which needs 5 GiB'],
    ],
    [
      "a service for volumes, said once for a pool",
      desired({
        servers: [
          server({ rootVolume: { size: 9 } }),
          server({ name: "w-2-bbbbb", rootVolume: { size: 9 } }),
        ],
      }),
      facts(),
      [
        "openstack.pools.w.rootVolume: the cloud has no block-storage service (Cinder); leave `rootVolume` out, and machines boot from their flavor's disk",
      ],
    ],
    [
      "a type of volumes",
      desired({ servers: [server({ rootVolume: { size: 9, type: "nvme" } })] }),
      facts({ volumes: { types: [{ id: "t1", name: "ssd" }] } }),
      ['openstack.pools.w.rootVolume.type: the cloud has no volume type "nvme"; it has ssd'],
    ],
    [
      "volumes of that size",
      desired({ servers: [server({ rootVolume: { size: 90 } })] }),
      facts({ volumes: { types: [], quota: { per_volume_gigabytes: { limit: 50, used: 0 } } } }),
      [
        "openstack.pools.w.rootVolume.sizeGiB: 90 GiB is more than the quota allows one volume: 50 GiB; ask for more, or take a smaller one",
      ],
    ],
    [
      "quota of volumes, all together and of a type, by its id, too",
      desired({
        servers: [
          server({ rootVolume: { size: 30 } }),
          server({ name: "w-2-bbbbb", rootVolume: { size: 30, type: "t1" } }),
        ],
      }),
      facts({
        volumes: {
          types: [{ id: "t1", name: "ssd" }],
          quota: {
            volumes: { limit: 10, used: 9 },
            gigabytes: { limit: 100, used: 50 },
            volumes_ssd: { limit: -1, used: 9 },
            gigabytes_ssd: { limit: 20, used: 0 },
            gigabytes_hdd: { limit: 0, used: 0 },
          },
        },
      }),
      [
        "openstack.pools: quota for volumes exceeded: needs 2 more, limit 10, used 9; raise the quota, or take fewer machines with a `rootVolume`",
        "openstack.pools: quota for the size of volumes exceeded: needs 60 GiB more, limit 100 GiB, used 50 GiB; raise the quota, or take a smaller `rootVolume.sizeGiB`",
        'openstack.pools: quota for the size of volumes of type "ssd" exceeded: needs 30 GiB more, limit 20 GiB, used 0 GiB; raise the quota, or take a smaller `rootVolume.sizeGiB`',
      ],
    ],
    [
      "nothing for volumes that are there",
      desired({ servers: [server({ rootVolume: { size: 30, type: "gone" } })] }),
      facts({ servers: ["w-1-aaaaa"], volumes: { types: [], quota: { volumes: { limit: 1, used: 1 } } } }),
      [],
    ],
    [
      "nothing for a flavor without a disk",
      desired({ servers: [server({ flavor: "diskless" })] }),
      facts(),
      [],
    ],
    [
      "a zone",
      desired({ servers: [server({ zone: "az9" })] }),
      facts(),
      ['openstack.pools.w.zones: the cloud has no availability zone "az9"; it has az1, az2'],
    ],
    [
      "a zone that is up",
      desired({ servers: [server({ zone: "az2" })] }),
      facts(),
      ['openstack.pools.w.zones: the availability zone "az2" is not available now; take another'],
    ],
    [
      "an external network",
      desired({ externalNetwork: "outside" }),
      facts(),
      ['openstack.network.externalNetwork: the cloud has no external network "outside"; it has public'],
    ],
    [
      "load balancers",
      desired({ loadBalancer: true }),
      facts(),
      [
        "openstack.endpoint.octavia: the cloud has no load-balancer service (Octavia); write `endpoint: {loopback: {}}`",
      ],
    ],
    [
      "volumes",
      desired({ volumes: true }),
      facts(),
      [
        "openstack.cloudProvider.cinder: the cloud has no block-storage service (Cinder); write `cinder: {enabled: false}`",
      ],
    ],
    [
      "an application credential that may make others",
      desired({ newCredential: true }),
      facts({ isRestricted: true }),
      [
        "openstack.cloudProvider: the application credential of clouds.yaml may make no other one for the cluster; make one by " +
          "hand and give it in `foresail:cloudApplicationCredential`, or write `enabled: false`",
      ],
    ],
    ["nothing where it may make others", desired({ newCredential: true }), facts(), []],
    ["nothing where it makes none", desired(), facts({ isRestricted: true }), []],
    ["nothing where there are volumes", desired({ volumes: true }), facts({ hasVolumes: true }), []],
    [
      "quota",
      desired({ servers: [server(), server({ name: "w-2-bbbbb" })] }),
      facts({
        compute: {
          instances: { limit: 3, used: 2 },
          cores: { limit: 4, used: 0 },
          ram: { limit: 4000, used: 0 },
        },
      }),
      [
        "openstack.pools: quota for servers exceeded: needs 2 more, limit 3, used 2; raise the quota, or take fewer or smaller machines",
        "openstack.pools: quota for memory exceeded: needs 4096 MiB more, limit 4000 MiB, used 0 MiB; raise the quota, or take fewer or smaller machines",
      ],
    ],
    [
      "floating IPs",
      desired({ floatingIps: 2 }),
      facts({ network: { floatingip: { limit: 5, used: 4 } } }),
      [
        "openstack.pools: quota for floating IPs exceeded: needs 2 more, limit 5, used 4; raise the quota, or release some",
      ],
    ],
    [
      "nothing where no floating IP is made",
      desired(),
      facts({ network: { floatingip: { limit: 5, used: 5 } } }),
      [],
    ],
    [
      "every other object that the run creates and the quota has no room for",
      desired({
        objects: {
          ...{ port: 3, network: 1, subnet: 1, router: 1, server_groups: 2 },
          ...{ security_group: 2, security_group_rule: 19 },
        },
      }),
      facts({
        compute: { ...facts().compute, serverGroups: { limit: 10, used: 9 } },
        network: {
          port: { limit: 4, used: 2 },
          network: { limit: 1, used: 1 },
          subnet: { limit: 1, used: 0 },
          router: { limit: -1, used: 70 },
          security_group: { limit: 10, used: 9 },
          security_group_rule: { limit: 100, used: 90 },
        },
      }),
      [
        "openstack.pools: quota for ports exceeded: needs 3 more, limit 4, used 2; raise the quota, or delete some",
        "openstack.pools: quota for networks exceeded: needs 1 more, limit 1, used 1; raise the quota, or delete some",
        "openstack.pools: quota for server groups exceeded: needs 2 more, limit 10, used 9; raise the quota, or delete some",
        "openstack.pools: quota for security groups exceeded: needs 2 more, limit 10, used 9; raise the quota, or delete some",
        "openstack.pools: quota for security group rules exceeded: needs 19 more, limit 100, used 90; raise the quota, or delete some",
      ],
    ],
    [
      "a server that the cloud could not make, with its reason",
      desired({ servers: [server(), server({ name: "w-2-bbbbb" })] }),
      facts({
        servers: ["w-1-aaaaa", "w-2-bbbbb", "w-2-ccccc"],
        failed: [
          { id: "s2", name: "w-2-bbbbb", reason: "No valid host was found." },
          { id: "s3", name: "w-2-ccccc", reason: "it is on its way out." },
        ],
      }),
      [
        "openstack.pools.w: the server w-2-bbbbb is in state ERROR: No valid host was found. Choose another flavor, image or zone, or have another one made with the next number in `replace: {w-2: …}`",
      ],
    ],
    [
      "a server whose volume the cloud could not make",
      desired(),
      facts({
        servers: ["w-1-aaaaa"],
        failed: [{ id: "s1", name: "w-1-aaaaa", reason: "Volume v1 did not finish being created." }],
      }),
      [
        "openstack.pools.w: the server w-1-aaaaa is in state ERROR: Volume v1 did not finish being created. Take another `rootVolume`, or have another one made with the next number in `replace: {w-1: …}`",
      ],
    ],
    [
      "nothing for a server under another name, which the run does not create",
      desired({ servers: [server({ flavor: "gone", image: "twice" })], arriving: [] }),
      facts({ servers: ["renamed"], recorded: { "w-1-aaaaa": "ACTIVE" } }),
      [],
    ],
    [
      "a refresh for a server that someone deleted, and that the run would go on with",
      desired({ servers: [server(), server({ name: "w-2-bbbbb" })], arriving: [] }),
      facts({ recorded: { "w-1-aaaaa": undefined, "w-2-bbbbb": "SHUTOFF", "w-3-ccccc": undefined } }),
      [
        "openstack.pools.w: the server of w-1-aaaaa was deleted in the cloud; run `pulumi refresh`, and the next preview shows the machine that replaces it",
      ],
    ],
    [
      "nothing for a server that is there, whatever has gone since",
      desired({ servers: [server({ flavor: "gone", image: "gone" })] }),
      facts({
        servers: ["w-1-aaaaa"],
        compute: { instances: NONE_LEFT, cores: NONE_LEFT, ram: NONE_LEFT },
      }),
      [],
    ],
  ];
  for (const [what, wanted, found, said] of cases)
    it(what, () =>
      assert.deepEqual(
        unmetCloud(wanted, found).map(({ property, reason }) => `${property}: ${reason}`),
        said,
      ),
    );
});
