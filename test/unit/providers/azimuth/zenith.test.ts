import assert from "node:assert/strict";
import { parse } from "yaml";
import {
  keyedEntry,
  operatorValues,
  readTunnel,
  type RenderedObject,
  tunnelValues,
  withKey,
  zenithValues,
} from "../../../../providers/azimuth/plan/zenith-values";

const values = tunnelValues({ host: "zenith.example.com", port: 22 });
const { sshPrivateKeyData } = values.zenithClient as { sshPrivateKeyData: string };
const PRIVATE_KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA\n-----END OPENSSH PRIVATE KEY-----\n";
const SECRET = "demo-zenith-files";
const RIGHTS = { owner: "root:root", permissions: "0600" };
const pod = { kind: "Pod", metadata: { name: "zenith-apiserver" } };
const settings = (over: Record<string, unknown> = {}) =>
  Object.entries({ ssh_private_key_data: sshPrivateKeyData, server_address: "zenith.example.com", ...over })
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join("");
/** As the chart of Zenith renders it. */
const configMap: RenderedObject = { kind: "ConfigMap", data: { "client-apiserver.yaml": settings() } };
const endpoint = { fqdn: "abc.apps.example.com", secret: SECRET };

function filesOf(...objects: RenderedObject[]): Record<string, unknown>[] {
  const { controlPlane } = zenithValues(endpoint, readTunnel(objects), { monitoring: false });
  return (controlPlane as { kubeadmConfigSpec: { files: Record<string, unknown>[] } }).kubeadmConfigSpec
    .files;
}

describe("Helm values for Zenith", () => {
  it("have Cluster API read the settings with the key from their own Secret", () => {
    const files = filesOf(configMap, pod);
    assert.deepEqual(
      files.map(({ path }) => path),
      ["/etc/kubernetes/manifests/zenith-apiserver.yaml", "/etc/zenith/client-apiserver.yaml"],
    );
    const { keyed, issue } = readTunnel([configMap, pod]);
    assert.equal(issue, undefined);
    const [file] = keyed;
    assert.ok(file);
    assert.deepEqual(files[1], {
      path: "/etc/zenith/client-apiserver.yaml",
      contentFrom: { secret: { name: SECRET, key: keyedEntry(file) } },
      ...RIGHTS,
    });
    assert.deepEqual(parse(Buffer.from(String(files[0]?.["content"]), "base64").toString()), pod);
    assert.deepEqual(parse(withKey(file, PRIVATE_KEY)), {
      ssh_private_key_data: Buffer.from(PRIVATE_KEY).toString("base64"),
      server_address: "zenith.example.com",
    });
  });

  it("include every file that the chart renders, text or binary, from ConfigMaps and Secrets", () => {
    const bytes = Buffer.from([0, 255, 10]).toString("base64");
    const [, ...files] = filesOf(
      { ...configMap, binaryData: { "b.bin": bytes } },
      { kind: "Secret", data: { "c.bin": bytes }, stringData: { "a.txt": "text" } },
      { kind: "Service", data: { ignored: "no file" } },
      pod,
    );
    const plain = (path: string, content: string) => ({ path, content, encoding: "base64", ...RIGHTS });
    assert.deepEqual(files[0], plain("/etc/zenith/a.txt", Buffer.from("text").toString("base64")));
    assert.deepEqual(files[1], plain("/etc/zenith/b.bin", bytes));
    assert.deepEqual(files[2], plain("/etc/zenith/c.bin", bytes));
    assert.equal(files[3]?.["path"], "/etc/zenith/client-apiserver.yaml");
    assert.equal(files.length, 4);
  });

  it("name a new entry when a file with the key changes, so that control planes are replaced", () => {
    const entry = (...data: string[]) => {
      const [file] = readTunnel([{ kind: "ConfigMap", data: { file: data.join("") } }, pod]).keyed;
      return file && keyedEntry(file);
    };
    assert.equal(entry(settings()), entry(settings()));
    assert.notEqual(entry(settings()), entry(settings({ server_port: 2222 })));
    assert.match(entry(settings()) ?? "", /^file\.[0-9a-f]{8}$/);
  });

  it("expose the API server through the reserved name, without a load balancer", () => {
    const all = zenithValues(endpoint, readTunnel([configMap, pod]), { monitoring: true });
    assert.deepEqual(all.controlPlaneEndpoint, { host: "abc.apps.example.com", port: 443 });
    assert.deepEqual(all.apiServer, { enableLoadBalancer: false, associateFloatingIP: false });
    assert.match(JSON.stringify(all.addons), /kube-prometheus-stack-grafana/);
  });

  const unusable: [string, RenderedObject[], RegExp][] = [
    ["nothing", [], /renders no Pod/],
    ["no Pod", [configMap], /renders no Pod/],
    ["no file", [pod], /no file with the private key as ssh_private_key_data/],
    [
      "settings without the key",
      [{ kind: "ConfigMap", data: { "client-apiserver.yaml": settings({ ssh_private_key_data: "" }) } }, pod],
      /no file with the private key/,
    ],
    [
      "the bare key as a file",
      [{ kind: "Secret", stringData: { "ssh-identity": sshPrivateKeyData } }, pod],
      /no file with the private key/,
    ],
    [
      "the key in a file that is no YAML",
      [{ kind: "ConfigMap", data: { file: `a: [${sshPrivateKeyData}` } }, pod],
      /no file with the private key/,
    ],
    [
      "the key in its Pod",
      [configMap, { ...pod, spec: sshPrivateKeyData }],
      /puts the private key into its Pod/,
    ],
    ["a file twice", [configMap, configMap, pod], /renders the file client-apiserver.yaml twice/],
  ];
  for (const [what, objects, words] of unusable)
    it(`refuse a chart that renders ${what}`, () => {
      const { issue = "" } = readTunnel(objects);
      assert.match(issue, words);
      assert.match(issue, /azimuth\.charts\.zenithApiServer/);
    });

  it("have the defaults of both charts below their own, and lists of both", () => {
    const server = { host: "zenith.example.com", port: 22 };
    const defaults = { zenithClient: { image: { tag: "1" }, server: { host: "other" } }, extra: [1] };
    const own = tunnelValues(server).zenithClient as { sshPrivateKeyData: string };
    assert.deepEqual(tunnelValues(server, defaults), {
      zenithClient: { image: { tag: "1" }, ...own, server },
      extra: [1],
    });
    const settings = { registrarAdminUrl: "http://registrar", sshdHost: "zenith.example.com", sshdPort: 22 };
    const operatorDefaults = { resources: { limits: { cpu: 1 } }, config: { sshdPort: 2222, debug: true } };
    const { resources, config } = operatorValues("demo", { ...settings, operatorDefaults }, "0a1b");
    assert.deepEqual(resources, operatorDefaults.resources);
    assert.deepEqual(config, { ...settings, debug: true, defaultAuthParams: { "tenancy-id": "0a1b" } });
  });

  it("give the monitoring's Reservation the icon that Azimuth's portal shows", () => {
    const tunnel = { manifest: "", files: {}, keyed: [] };
    const { addons } = zenithValues({ fqdn: "f", secret: "s" }, tunnel, { monitoring: true });
    assert.match(JSON.stringify(addons), /service-icon-url: https:\S+prometheus-icon-color.png/);
  });

  it("tell the operator the cluster's kubeconfig and project", () => {
    const where = { registrarAdminUrl: "http://registrar", sshdHost: "zenith.example.com", sshdPort: 22 };
    assert.deepEqual(operatorValues("demo", where, "0a1b"), {
      kubeconfigSecret: { name: "demo-kubeconfig", key: "value" },
      config: { ...where, defaultAuthParams: { "tenancy-id": "0a1b" } },
    });
  });
});
