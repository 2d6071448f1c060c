import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import type { KubernetesClient } from "../../lib/kubernetes";
import { NodeFleet, nodeKeyFile, type SandboxNode } from "../../sandbox/nodes";
import { sandboxFolder } from "../../sandbox/paths";
import { ensurePackages } from "../../sandbox/toolchain/packages";
import { ensureToolchain } from "../../sandbox/toolchain";
import {
  makeKubernetesRepository,
  signRepository,
  tamperWithRepository,
} from "../sites/kubernetes-repository";
import { assertPrepared } from "../cluster/preparation-truth";
import { withApi } from "../cluster/with-api";
import { leaveOut } from "../left-out";
import { offerLaterPackages } from "../sites/distribution-repository";
import { SigningKey } from "../sites/signing-key";
import { gatewayOf, kubernetesOn, onNode, silent } from "../sites/site-machines";
import { GPU_NODE, REPOSITORY_HOST, siteConfiguration, siteNodes, VERSION } from "../sites/packages-site";
import { nodeNameOf, type SiteChanges } from "../sites/packages-site";
import { SiteServer } from "../sites/site-server";
import { SshAgent } from "../sites/ssh-agent";
import { TestAuthority } from "../support/certificates";
import { PulumiStack } from "../support/pulumi-stack";

const REPOSITORY = "core:/stable:/v1.36/deb";
const PASSWORD = "a-password-that-is-nowhere-else";
const PROXY = { username: "node", password: "a secret 'of' the \"proxy\" at 100%" };
const ENCODED = "a%20secret%20%27of%27%20the%20%22proxy%22%20at%20100%25";

describe("a site with its own package repository, proxy and pools", function () {
  this.timeout(300_000);
  const fleet = new NodeFleet("sites");
  let folder: string;
  let nodes: SandboxNode[];
  let key: SigningKey;
  let agent: SshAgent;
  let server: SiteServer;
  let stack: PulumiStack;
  let authority: TestAuthority;
  let software: { containerd?: string; osPackages?: string } = {};

  const controlPlane = () => nodes[0]!;
  const general = () => nodes[1]!;
  const gpu = () => nodes[2]!;

  before(async () => {
    await ensurePackages(["ssh-client", "gpg", "gpg-agent"], silent);
    const toolchain = await ensureToolchain(
      { programs: ["pulumi", "language-nodejs", "plugin-command"], kubernetes: [VERSION] },
      silent,
    );
    await fleet.deleteAll();
    await mkdir(sandboxFolder, { recursive: true });
    folder = await mkdtemp(path.join(sandboxFolder, "site-"));
    authority = new TestAuthority(folder);
    nodes = await siteNodes(fleet);
    key = await SigningKey.generate();
    await makeKubernetesRepository(path.join(folder, REPOSITORY), toolchain.kubernetes(VERSION), key);
    server = await SiteServer.start(folder, await gatewayOf(controlPlane()));
    server.requireLogin(`${PROXY.username}:${PROXY.password}`);
    const names = [`DNS:${REPOSITORY_HOST}`];
    server.proxyHttps(REPOSITORY_HOST, authority.issue("packages", `/CN=${REPOSITORY_HOST}`, names));
    agent = await SshAgent.start(nodeKeyFile);
    stack = await PulumiStack.create("test-sites-packages", toolchain, { SSH_AUTH_SOCK: agent.socket });
  });

  after(async () => {
    await stack?.remove();
    await fleet.deleteAll();
    await Promise.all([server?.close(), agent?.stop(), key?.remove()]);
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const cluster = (changes: SiteChanges = {}) =>
    siteConfiguration(
      nodes,
      { proxy: server.url, caBundle: authority.own.certificate, keyFingerprint: key.fingerprint },
      changes,
    );

  const configure = (changes?: SiteChanges) =>
    stack.configure(
      { system: "ssh", cluster: cluster(changes) },
      {
        proxyCredentials: JSON.stringify(PROXY),
        registryCredentials: JSON.stringify({
          "registry.example.test": { username: "robot", password: PASSWORD },
        }),
      },
    );

  const ask = async <Answer>(use: (client: KubernetesClient) => Promise<Answer>): Promise<Answer> =>
    withApi(await stack.kubeconfig(), use);

  interface NodeObject {
    metadata: { labels: Record<string, string> };
    spec: { taints?: { key: string; value?: string; effect: string }[] };
    status: { nodeInfo: { kubeletVersion: string } };
  }
  const nodeObject = (name: string) =>
    ask((client) => client.get<NodeObject>({ apiVersion: "v1", kind: "Node", name }));

  async function configMap(name: string, field: string): Promise<string> {
    const reference = { apiVersion: "v1", kind: "ConfigMap", namespace: "kube-system", name };
    const object = await ask((client) => client.get<{ data: Record<string, string> }>(reference));
    return object?.data[field] ?? "";
  }

  it("refuses a machine whose system is not supported, and changes none", async () => {
    await onNode(
      gpu(),
      "cp -L /etc/os-release /root/os-release; sed -i 's/^VERSION_ID=.*/VERSION_ID=\"11\"/' /etc/os-release",
    );
    await configure();
    const { exitCode, words } = await stack.up();
    await onNode(gpu(), "cat /root/os-release > /etc/os-release");
    assert.notEqual(exitCode, 0);
    assert.match(words, /gpu-1\.site\.example\.test: runs debian 11; foresail supports Debian 12, Debian 13/);
    const kept = "ls -A /etc/foresail /var/lib/foresail | grep -v : | grep -v keys || true";
    assert.equal(await onNode(gpu(), kept), "");
  });

  it("reports which version its repository does not have", async () => {
    await configure({ version: "1.36.9" });
    const { exitCode, words } = await stack.up();
    assert.notEqual(exitCode, 0);
    assert.match(words, /has no kubeadm 1\.36\.9; it has: 1\.36\.3-1\.1/);
    assert.deepEqual(await Promise.all(nodes.map(kubernetesOn)), ["", "", ""]);
  });

  it("installs no package that the repository's key did not sign", async () => {
    await tamperWithRepository(path.join(folder, REPOSITORY));
    await configure();
    const { exitCode, words } = await stack.up();
    assert.notEqual(exitCode, 0);
    assert.match(words, /is not signed by the key [0-9A-F]{40}.*; nothing was installed from it/);
    assert.deepEqual(await Promise.all(nodes.map(kubernetesOn)), ["", "", ""]);
    await signRepository(path.join(folder, REPOSITORY), key);
  });

  it("installs no package of a repository whose key is another one than the configuration names", async () => {
    const other = await SigningKey.generate();
    await configure({ keyFingerprint: other.fingerprint });
    await other.remove();
    const { exitCode, words } = await stack.up();
    assert.notEqual(exitCode, 0);
    assert.match(words, new RegExp(`is not signed by the key ${other.fingerprint}`));
    assert.deepEqual(await Promise.all(nodes.map(kubernetesOn)), ["", "", ""]);
    const traces = `grep -rl ${other.fingerprint} /etc/apt || true; find /etc/apt -name '*.new'`;
    assert.equal(await onNode(controlPlane(), traces), "");
  });

  it("creates a cluster from signed packages, through its proxy, with keys of the SSH agent only, as the preview listed", async () => {
    await configure();
    const { steps } = await stack.previewed();
    const { exitCode, words } = await stack.up();
    assert.equal(exitCode, 0, words);
    await assertPrepared(steps, nodes.map(nodeNameOf), (at, command) => onNode(nodes[at]!, command));
    assert.match(words, /kubeadm init on cp-1 took/);
    const holds = "apt-mark showhold; dpkg-query --show --showformat='${Version}\\n' kubelet kubeadm";
    const held = await onNode(gpu(), holds);
    assert.equal(held, "kubeadm\nkubectl\nkubelet\n1.36.3-1.1\n1.36.3-1.1");
    assert.ok(
      server.proxied.some((url) => url.startsWith(`https://${REPOSITORY_HOST}/`) && url.endsWith(".deb")),
    );
    assert.deepEqual(server.direct, []);
    assert.equal(server.refused, 0);
    assert.equal((await nodeObject(GPU_NODE))?.status.nodeInfo.kubeletVersion, "v1.36.3");
    assert.equal((await stack.preview("--expect-no-changes")).exitCode, 0);
  });

  it("applies its files, audit log, kubelet and kube-proxy settings to the cluster", async () => {
    assert.equal(
      await onNode(controlPlane(), "stat -c '%a %U:%G' /opt/site /opt/site/notice"),
      "755 root:root\n640 nobody:nogroup",
    );
    assert.match(await onNode(controlPlane(), "head -n 1 /var/log/kubernetes/audit.log"), /"kind":"Event"/);
    assert.match(
      await onNode(controlPlane(), "cat /etc/kubernetes/manifests/kube-apiserver.yaml"),
      /--encryption-provider-config=/,
    );
    assert.match(await configMap("kubelet-config", "kubelet"), /^maxPods: 64$/m);
    assert.match(await configMap("kube-proxy", "config.conf"), /nodePortAddresses:\n- 127\.0\.0\.0\/8/);
  });

  it("configures its mirrors, proxy and certificates on every machine", async () => {
    const found = await onNode(
      gpu(),
      `cat /etc/containerd/certs.d/docker.io/hosts.toml
       cat /etc/foresail/proxy.env
       for unit in containerd kubelet; do tr '\\0' '\\n' </proc/$(systemctl show $unit --property MainPID --value)/environ | grep -c -F ${ENCODED}; done
       openssl verify -CAfile /etc/ssl/certs/ca-certificates.crt /usr/local/share/ca-certificates/foresail.crt
       containerd config dump | grep config_path`,
    );
    assert.match(
      found,
      /server = "https:\/\/registry-1\.docker\.io"\n\n\[host\."https:\/\/mirror\.example\.test"\]/,
    );
    const address = server.url.replace("://", `://node:${ENCODED}@`);
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY"])
      assert.ok(found.includes(`${name}="${address}"\n`), found);
    assert.match(
      found,
      new RegExp(
        `^NO_PROXY=.*10\\.96\\.0\\.0/12.*${controlPlane().internalAddress}.*intranet.*"\n2\n2$`,
        "m",
      ),
    );
    assert.match(found, /foresail\.crt: OK/);
    assert.match(found, /config_path = "\/etc\/containerd\/certs\.d"/);
  });

  it("lets containerd ask the paths of its mirrors and servers, with their headers", async () => {
    const pulls = ["quay.io/team/app:1", "registry.example.test/app:1"].map(
      (image) => `ctr --namespace k8s.io images pull --hosts-dir /etc/containerd/certs.d ${image} || true`,
    );
    const before = server.direct.length;
    await onNode(gpu(), pulls.join("\n"));
    const asked = [...new Set(server.direct.slice(before).map((path) => path.replace(/\?.*/, "")))];
    assert.ok(asked.includes("/v2/quay/team/app/manifests/1"), asked.join());
    assert.ok(asked.includes("/registry/v2/own/app/manifests/1"), asked.join());
    assert.equal(asked.filter((path) => path.includes("/v2/quay/v2/")).length, 0);
    assert.ok(server.sites.includes("north"), "the header is missing");
  });

  it("keeps registry credentials only in containerd's configuration, and out of the state", async () => {
    const found = await onNode(
      gpu(),
      `grep -rlF ${PASSWORD} /etc /root /home /run /var/log /var/lib/foresail /tmp 2>/dev/null || true`,
    );
    assert.equal(found, "/etc/containerd/config.toml");
    assert.equal(await onNode(gpu(), "stat -c '%a %U' /etc/containerd/config.toml"), "600 root");
    assert.match(await onNode(gpu(), "containerd config dump"), /configs\."registry\.example\.test"\.auth\]/);
    assert.equal((await stack.export()).includes(PASSWORD), false);
  });

  it("keeps the password of the proxy in files and processes of root, and out of the cluster and the state", async () => {
    const found = await onNode(
      controlPlane(),
      `{ grep -rlF -e ${ENCODED} -e "a secret 'of'" /etc /root /home /run /var/log /tmp 2>/dev/null || true; } | sort
       find $(grep -rlF ${ENCODED} /etc /var/lib/foresail) -printf '%m %u %p\\n' | grep -v '^[67]00 root ' || true
       systemctl show --all containerd kubelet | grep -c -F ${ENCODED} || true
       runuser -u nobody -- apt-config dump 2>&1 | grep -F ${ENCODED} || true`,
    );
    assert.equal(found, "/etc/apt/apt.conf.d/90foresail-proxy\n/etc/foresail/proxy.env\n0");
    assert.doesNotMatch(await configMap("kube-proxy", "config.conf"), /proxy\.env|secret/);
    const pods = await ask((client) => client.listPods({ namespace: "kube-system" }));
    assert.doesNotMatch(JSON.stringify(pods), /_PROXY/);
    const state = await stack.export();
    for (const secret of [ENCODED, "a secret 'of'"]) assert.equal(state.includes(secret), false);
  });

  it("sets the labels and taints of its pools on the Nodes", async () => {
    const before = await Promise.all([nodeObject("general-1"), nodeObject(GPU_NODE)]);
    assert.equal(before[0]?.metadata.labels["example.com/site"], "north");
    assert.equal(before[0]?.metadata.labels["foresail/group"], "general");
    assert.equal(before[1]?.metadata.labels["example.com/gpu"], "true");
    assert.deepEqual(before[1]?.spec.taints, [
      { key: "example.com/gpu", value: "yes", effect: "NoSchedule" },
    ]);
  });

  it("previews a changed label as one step", async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(this, "engine/life.test.ts changes labels; FORESAIL_TEST_ALL=1 does so here");
    await configure({ labels: { "example.com/site": "south", "example.com/rack": "7" } });
    const preview = await stack.preview("--diff");
    assert.match(preview.words, /general-1: label example\.com\/rack=7, label example\.com\/site=south/);
    assert.doesNotMatch(preview.words, /(cp-1|gpu-1\S*): (label|join|taint)/);
    assert.equal((await stack.up()).exitCode, 0);
    const changed = (await nodeObject("general-1"))?.metadata.labels;
    assert.deepEqual([changed?.["example.com/site"], changed?.["example.com/rack"]], ["south", "7"]);

    await configure();
    assert.match((await stack.preview("--diff")).words, /label example\.com\/rack removed/);
    assert.equal((await stack.up()).exitCode, 0);
    const again = (await nodeObject("general-1"))?.metadata.labels;
    assert.deepEqual([again?.["example.com/site"], again?.["example.com/rack"]], ["north", undefined]);
  });

  for (const [property, changes] of [
    ["cluster.network.podSubnet", { podSubnet: "10.200.0.0/16" }],
    ["cluster.endpoint", { port: 9443 }],
  ] as const) {
    it(`refuses a change of ${property} in the preview`, async () => {
      await configure(changes);
      const { exitCode, words } = await stack.preview();
      assert.notEqual(exitCode, 0);
      assert.ok(words.includes(property), words);
      assert.match(words, /is "[^"]+" and can't become "[^"]+": /);
      assert.doesNotMatch(words, new RegExp(PASSWORD));
    });
  }

  it("refuses a lower minor version in the preview, and asks the machines for nothing else", async () => {
    await configure({ version: "1.35.4" });
    const { exitCode, words } = await stack.preview();
    assert.notEqual(exitCode, 0);
    assert.match(words, /cluster\.version[^]*1\.36\.3[^]*1\.35\.4/);
  });

  it("rolls out containerd and the distribution's packages to its nodes, as the preview listed", async () => {
    const later = await offerLaterPackages([controlPlane(), general(), gpu()], ["containerd", "ethtool"], {
      folder: path.join(folder, "debian"),
      url: "http://packages.example.test/debian",
      key,
    });
    software = { containerd: later.containerd, osPackages: "2026-11" };
    await configure({ software });
    const preview = await stack.preview();
    const started = (node: SandboxNode) =>
      onNode(node, "systemctl show containerd --property ExecMainStartTimestamp");
    const before = await Promise.all(nodes.map(started));
    const { exitCode, words } = await stack.up();
    assert.equal(exitCode, 0, words);
    for (const node of nodes) {
      const line = new RegExp(
        `${nodeNameOf(node)} 1\\.36\\.3, containerd .*\\+site1, os-packages .* 2026-11 \\(cordon, drain`,
      );
      assert.match(preview.words, line);
      assert.match(words, new RegExp(`begins ${line.source}`));
      const versions =
        "dpkg-query --show --showformat='${Version} ' containerd ethtool; apt-mark showhold | head -n 1";
      assert.equal(await onNode(node, versions), `${later.containerd} ${later.ethtool} containerd`);
    }
    const after = await Promise.all(nodes.map(started));
    for (const [index, at] of after.entries()) assert.notEqual(at, before[index]);
    assert.equal((await stack.preview("--expect-no-changes")).exitCode, 0);
  });

  it("resets its machines, which are then ready for another cluster", async () => {
    await configure({ software });
    const { exitCode, words } = await stack.destroy();
    assert.equal(exitCode, 0, words);
    const left = await Promise.all(
      nodes.map((node) =>
        onNode(
          node,
          "find /etc/kubernetes /etc/foresail/machine /var/lib/foresail -type f 2>/dev/null || true",
        ),
      ),
    );
    assert.deepEqual(left, ["", "", ""]);
  });
});
