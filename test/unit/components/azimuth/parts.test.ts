import assert from "node:assert/strict";
import type * as pulumi from "@pulumi/pulumi";
import { KUBECONFIG, MockedEngine, promised } from "./mocked-engine";

const tenancy = { kubeconfig: KUBECONFIG, namespace: "az-demo" };
const inRealm = { ...tenancy, cluster: "demo", realmName: "az-demo" };
const zenith = { registrarAdminUrl: "http://registrar.example", sshdHost: "zenith.example", sshdPort: 22 };
const owner = { apiVersion: "v1", kind: "ConfigMap", name: "demo", uid: "uid-2" };

describe("the parts of a cluster through Azimuth, on their own", () => {
  const engine = new MockedEngine();
  let parts: typeof import("../../../../package/azimuth");

  before(async function () {
    this.timeout(60_000);
    await engine.start();
    parts = await import("../../../../package/azimuth.js");
  });
  beforeEach(() => (engine.leftOut = []));

  interface Part {
    /** the children, by the end of their URN */
    children: string[];
    make: (opts: pulumi.ComponentResourceOptions) => Record<string, unknown>;
    outputs: Record<string, unknown>;
    /** outputs when `--target` leaves the children out */
    leftOut: Record<string, unknown>;
  }

  const PARTS: Record<string, Part> = {
    Realm: {
      children: ["dynamic/foresail:ObjectReady::the-realm"],
      make: (opts) => ({ ...new parts.Realm("the-realm", tenancy, opts) }),
      outputs: { realmName: "az-demo", status: { phase: "Ready", platformUsersGroup: "/platform-users" } },
      leftOut: { status: {} },
    },
    OidcClient: {
      children: ["dynamic/foresail:Adoption::the-oidc-client"],
      make: (opts) => ({ ...new parts.OidcClient("the-oidc-client", inRealm, opts) }),
      outputs: { issuerUrl: "https://issuer.example", clientId: "kube-demo" },
      leftOut: { issuerUrl: undefined, clientId: undefined },
    },
    Platform: {
      children: ["dynamic/foresail:Adoption::the-platform"],
      make: (opts) => ({ ...new parts.Platform("the-platform", inRealm, opts) }),
      outputs: { rootGroup: "/az-demo/kube-demo" },
      leftOut: { rootGroup: undefined },
    },
    Lease: {
      children: ["dynamic/foresail:Adoption::the-lease"],
      make: (opts) => ({ ...new parts.Lease("the-lease", { ...tenancy, leaseName: "demo" }, opts) }),
      outputs: { sizes: { gpu: "reserved-1", "vm.small": "reserved-2" } },
      leftOut: { sizes: {} },
    },
    ZenithApiServer: {
      children: [
        "pulumi:providers:kubernetes::the-zenith-key-management",
        "dynamic/foresail:ZenithKeypair::the-zenith-key",
      ],
      make: (opts) => ({
        ...new parts.ZenithApiServer("the-zenith-key", { ...tenancy, cluster: "demo", zenith, owner }, opts),
      }),
      outputs: { fqdn: "abc.apps.example" },
      leftOut: {},
    },
    ZenithOperator: {
      children: [
        "pulumi:providers:kubernetes::the-operator-management",
        "kubernetes:helm.sh/v4:Chart::the-operator",
      ],
      make: (opts) => ({
        ...new parts.ZenithOperator(
          "the-operator",
          { ...tenancy, cluster: "demo", zenith, projectId: "0a1b" },
          opts,
        ),
      }),
      outputs: {},
      leftOut: {},
    },
  };

  /** Runs a part and returns what it registers, and those of its outputs that are expected. */
  async function run({ make }: Part, expected: Record<string, unknown>) {
    let made: Record<string, unknown> = {};
    const registered = await engine.run((opts) => (made = make(opts)));
    const names = Object.keys(expected);
    const values = names.map((name) => promised(made[name] as pulumi.Output<unknown>));
    const entries = (await Promise.all(values)).map((value, index) => [names[index], value]);
    return { urns: registered.map(({ urn }) => urn), outputs: Object.fromEntries(entries) as object };
  }

  for (const [type, part] of Object.entries(PARTS)) {
    it(`${type} is a component with its own children and outputs`, async () => {
      const { urns, outputs } = await run(part, part.outputs);
      const parent = `foresail:azimuth:${type}`;
      assert.deepEqual(
        urns.map((urn) => urn.replace("pulumi-nodejs:", "")),
        [
          `${parent}::${part.children.at(-1)?.split("::").at(-1)}`,
          ...part.children.map((child) => `${parent}$${child}`),
        ],
      );
      assert.deepEqual(outputs, part.outputs);
    });

    it(`${type} has outputs without a value when --target leaves it out`, async () => {
      engine.leftOut = ["the-realm", "the-oidc-client", "the-platform", "the-lease"];
      assert.deepEqual((await run(part, part.leftOut)).outputs, part.leftOut);
    });
  }

  it("give an object the configured owner, and none otherwise", async () => {
    const ownersOf = async (args: object) => {
      const registered = await engine.run(
        (opts) => new parts.Platform("the-platform", { ...inRealm, ...args }, opts),
      );
      return registered.at(-1)?.inputs.owners;
    };
    assert.deepEqual([await ownersOf({ owner }), await ownersOf({})], [[owner], undefined]);
  });
});
