import assert from "node:assert/strict";
import { DIRT } from "../../sandbox/nodes";
import { machineState, stateDifferences } from "../cluster/machine-state";
import { LEFTOVERS } from "../cluster/pod-network-leftovers";
import { TestCluster } from "../cluster/test-cluster";

const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1";
const kinds = Object.keys(DIRT);
const joining = kinds.filter((kind) => !DIRT[kind]?.refusal);
const refused = kinds.filter((kind) => DIRT[kind]?.refusal);
/** The refusals that only a real machine shows; the others have unit tests, too. */
const BY_DAY = ["cni", "full-log", "requiretty", "docker-damaged", "excluded-packages"];
const tried = BY_NIGHT ? [...BY_DAY, ...refused.filter((kind) => !BY_DAY.includes(kind))] : BY_DAY;
const machinesWith = (dirt: string[]) =>
  Object.fromEntries(dirt.map((kind, index) => [`w-${index + 2}`, [kind]]));

/** What a refused machine must keep: files, firewall, network. The step's own log is all that it may add. */
const SNAPSHOT = `find /etc /usr/local /opt /root /home -xdev -type f -exec sha256sum {} + | sort -k 2
ls -A /var/lib/foresail 2>/dev/null || true; iptables-save | grep -v '^#' | sed 's/\\[.*//'; ip route; ip -br address; dpkg --get-selections | sort`;

describe("machines as people have them", function () {
  this.timeout(900_000);
  let cluster: TestCluster;
  let fresh: Record<string, string[]> = {};
  before(async () => {
    // the other kind by day: what people's older machines are
    cluster = await TestCluster.open("e2e-dirt", { kind: { system: "debian-12" } });
    await cluster.configure({ machines: ["cp-1"] });
    await cluster.up();
  });
  after(() => cluster.remove());

  it(`join with all of ${joining.join(", ")} at once, and their pods are reached from other nodes`, async () => {
    await cluster.configure({ machines: ["cp-1", "w-1"], dirt: { "w-1": joining } });
    fresh = await machineState(cluster, "w-1");
    await cluster.up();
    await cluster.check(["cp-1", "w-1"]);
    // no proxy in the static environment of the kubelet
    const environment = await cluster.fleet.execute("w-1", "tr '\\0' '\\n' </proc/$(pidof kubelet)/environ");
    assert.doesNotMatch(environment, /192\.0\.2\.1/);
  });

  it("are given back as they were, without what other pod networks left, and join and run pods again", async () => {
    // those of the built-in network and of kube-proxy are there in any case
    const left = [LEFTOVERS.flannel, LEFTOVERS.Cilium, LEFTOVERS.Calico].join("\n");
    // flannel's own record of its ranges
    const ranges = "mkdir -p /run/flannel; echo FLANNEL_IPV6_NETWORK=fd00:244::/48 >/run/flannel/subnet.env";
    await cluster.fleet.execute("w-1", `set +e\n${left}\n${ranges}`);
    const devices = (await machineState(cluster, "w-1"))["devices"]?.join("\n") ?? "";
    for (const device of ["cni0", "cilium_host", "vxlan.calico"])
      assert.ok(devices.includes(device), `${device} in ${devices}`);
    await cluster.configure({ machines: ["cp-1"] });
    await cluster.up();
    const after = await machineState(cluster, "w-1");
    // packages that were installed stay
    after["packages"] = after["packages"]?.filter((line) => fresh["packages"]?.includes(line)) ?? [];
    assert.deepEqual(stateDifferences(fresh, after), []);
    await cluster.configure({ machines: ["cp-1", "w-1"] });
    await cluster.up();
    await cluster.check(["cp-1", "w-1"]);
    // a reload of the firewall removes the rules of others
    await cluster.fleet.execute("w-1", "iptables -F FORWARD");
    await cluster.fleet.execute(
      "w-1",
      "timeout 40 sh -c 'until iptables -S FORWARD | grep -q -- \"-j ACCEPT\"; do sleep 1; done'",
    );
  });

  it(`are refused in words with ${tried.join(", ")}, and nothing on them is changed`, async () => {
    const configure = (refusing: Record<string, string[]>) =>
      cluster.configure({ machines: ["cp-1", "w-1", ...Object.keys(refusing)], dirt: refusing });
    const assertRefused = (output: string, refusing: Record<string, string[]>) => {
      for (const [name, [kind = ""]] of Object.entries(refusing))
        assert.match(output, DIRT[kind]!.refusal!, `${name} has ${kind}: ${output}`);
    };
    const all = machinesWith(tried);
    await configure(all);
    const look = () => Promise.all(Object.keys(all).map((name) => cluster.fleet.execute(name, SNAPSHOT)));
    const before = await look();
    assertRefused(await cluster.failingPreview(), all);
    assert.deepEqual(await look(), before);
    // a run without a preview; it begins with as many machines as there are here by day, and may end before the others
    const some = machinesWith(BY_DAY);
    await configure(some);
    assertRefused(await cluster.failingUp(), some);
    assert.deepEqual(await look(), before);
  });
});
