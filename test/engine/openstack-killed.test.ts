/** Runs on a simulated OpenStack cloud are killed, and people go on with an edit or a destroy. clouds/openstack-killed goes on with the same run. */
import assert from "node:assert/strict";
import { TEST_NEEDS } from "../../sandbox/set-up";
import { CLOUD } from "../simulation/openstack/simulated-openstack";
import { SSH_PORT } from "../simulation/simulated-machines";
import { newKey } from "../support/ssh-server";
import { killedCells, KilledCloud, type KilledRun, type Way } from "./killed-cloud";
import { PORTS } from "./recorded/recorded-stack";
import { startOpenstack } from "./recorded/openstack";
import { engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";

const URL = `http://127.0.0.1:${PORTS.service}`;
const KEY = newKey();

/** What a person can edit. */
interface Desired {
  name?: string;
  cidr?: string;
  /** Workers, with their flavor; absent for no pool of workers. */
  workers?: { replicas: number; flavor: string };
  kubelet?: object;
}
const [SMALL, LARGE] = [CLOUD.flavor, CLOUD.otherFlavor];
const ONE: Desired = { workers: { replicas: 1, flavor: SMALL } };

function configuration({ name = "test", cidr = "10.20.0.0/24", workers, kubelet = {} }: Desired) {
  const control = { name: "cp", role: "control-plane", replicas: 1, flavor: SMALL, image: CLOUD.image };
  return {
    system: "openstack",
    cluster: {
      name,
      version: "1.36.3",
      source: { bundle: { path: "/opt/bundle" } },
      ssh: { user: "operator", port: SSH_PORT },
      network: { plugin: { bridge: {} } },
      kubelet,
    },
    openstack: {
      cloud: CLOUD.cloud,
      network: { cidr, externalNetwork: CLOUD.externalNetwork },
      keypair: { publicKey: KEY.public },
      access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] },
      pools: [control, ...(workers ? [{ name: "w", role: "worker", image: CLOUD.image, ...workers }] : [])],
      cloudProvider: { enabled: false },
    },
  };
}

const RUNS: KilledRun<Desired>[] = [
  {
    title: "the first up",
    to: ONE,
    kills: [/Instance test-w-\S+ created/, /ClusterInit \S+ creating/, /NodeGroup test-w creating/],
  },
  {
    title: "a scale-up",
    from: ONE,
    to: { workers: { replicas: 2, flavor: SMALL } },
    kills: [/Instance test-w-2\S* creat/, /NodeGroup test-w updating/],
  },
  {
    title: "a change of the flavor",
    from: ONE,
    to: { workers: { replicas: 1, flavor: LARGE } },
    kills: [/Instance test-w-1\S* created/, /NodeGroup test-w updating/, /Instance test-w-1\S* deleting/],
  },
  {
    title: "a rollout of the kubelet's settings",
    from: ONE,
    to: { ...ONE, kubelet: { maxPods: 90 } },
    kills: [/ClusterInit \S+ updating/, /NodeAgents \S+ updating/, /begins w-1-/, /begins cp-1-/],
  },
];

const WAYS: Way<Desired>[] = [
  { title: "the same up", edit: (to) => to },
  { title: "the change taken back", goesBack: true, edit: (_to, from) => from },
  { title: "another flavor", edit: (to) => ({ ...to, workers: { replicas: 1, flavor: LARGE } }) },
  { title: "three workers", edit: (to) => ({ ...to, workers: { replicas: 3, flavor: SMALL } }) },
  { title: "the pool left out", edit: ({ workers: _, ...to }) => to },
  { title: "other settings of the kubelet", edit: (to) => ({ ...to, kubelet: { maxPods: 80 } }) },
  {
    title: "another network",
    edit: (to) => ({ ...to, cidr: "10.30.0.0/24" }),
    refusal: /destroy|set it back|write that network again/,
  },
  { title: "another name", edit: (to) => ({ ...to, name: "other" }), refusal: /destroy|set it back/ },
  { title: "a destroy" },
];

const BY_DAY = ["0 1 2", "2 1 1", "3 2 5", "0 2 8"];

interface Server {
  id: string;
  name: string;
  flavor: { id: string };
}

describe("a run on an OpenStack cloud that is killed, and then", function () {
  this.timeout(SET_UP_MILLISECONDS);
  let cloud: KilledCloud<Desired>;

  const list = async <One>(path: string): Promise<One[]> =>
    Object.values((await (await fetch(`${URL}${path}`)).json()) as Record<string, One[]>)[0] ?? [];
  const servers = () => list<Server>("/compute/v2.1/servers/detail");

  before(async () => {
    const toolchain = await engineToolchain([...TEST_NEEDS.programs, "plugin-openstack"]);
    const secrets = { sshPrivateKey: KEY.private };
    cloud = new KilledCloud({ start: startOpenstack, toolchain, secrets, configuration });
  });
  afterEach(() => cloud?.close());

  /** Asserts that the project has what is configured, and nothing else. */
  async function expectEnd({ workers }: Desired): Promise<void> {
    const found = await servers();
    const flavorOf = ({ flavor }: Server) => (flavor.id === "2" ? LARGE : SMALL);
    const slots = Array.from({ length: workers?.replicas ?? 0 }, (_, index) => `w-${index + 1}`);
    assert.deepEqual(
      found.map((server) => [server.name.replace(/-[0-9a-z]{5}$/, ""), flavorOf(server)]).sort(),
      [["cp-1", SMALL], ...slots.map((slot) => [slot, workers?.flavor])],
    );
    assert.deepEqual(await cloud.nodes(), found.map(({ name }) => name).sort());
    const ports = (await list<{ device_id: string }>("/network/v2.0/ports")).map((port) => port.device_id);
    assert.deepEqual(ports.filter((id) => found.some((server) => server.id === id)).length, found.length);
    // the router has one, too
    assert.equal(ports.length, found.length + 1);
    assert.equal((await list("/network/v2.0/networks")).length, 2);
    assert.equal((await list("/network/v2.0/subnets")).length, 1);
  }

  async function expectNothing(): Promise<void> {
    assert.deepEqual(await servers(), []);
    for (const kind of ["ports", "subnets", "routers", "security-groups"])
      assert.deepEqual(await list(`/network/v2.0/${kind}`), [], kind);
    assert.deepEqual(await list("/compute/v2.1/os-keypairs"), []);
  }

  for (const cell of killedCells(RUNS, WAYS, BY_DAY))
    it(cell.title, () => cloud.go(cell, { expectEnd, expectNothing }));
});
