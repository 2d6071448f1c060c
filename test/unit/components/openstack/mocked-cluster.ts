import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import type { OpenstackCluster } from "../../../../components/openstack/openstack-cluster";
import type { OpenstackClusterArgs } from "../../../../components/openstack/openstack-cluster-args";
import type { Pool } from "../../../../providers/openstack/plan/machine";
import type { StateResources } from "../../../../lib/pulumi/state";

export interface Registered {
  name: string;
  type: string;
  inputs: Record<string, unknown>;
  options: pulumi.CustomResourceOptions;
}

export const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

export const pool = (name: string, over: Partial<Pool> = {}): Pool => ({
  name,
  role: name === "cp" ? "control-plane" : "worker",
  replicas: 1,
  flavor: "m1",
  image: "debian",
  zones: [],
  antiAffinity: "soft",
  labels: {},
  taints: [],
  floatingIp: false,
  replacementsPerRun: 1,
  ...over,
});

export const promised = <T>(output: pulumi.Output<T>): Promise<T> =>
  new Promise((resolve) => output.apply(resolve));

interface MakeOptions extends Partial<OpenstackClusterArgs> {
  existing?: StateResources;
  /** Types of resources that `--target` leaves out, for which the engine answers no outputs. */
  leftOut?: readonly string[];
  /** Providers that the program gives to the cluster. */
  providers?: pulumi.ProviderResource[];
}

/** OpenstackCluster on mocks of the engine, and what it registers there. */
export class MockedCluster {
  registered: Registered[] = [];
  /** The stack's state, as the engine answers it. */
  private existing: StateResources = {};
  private leftOut: readonly string[] = [];
  private component?: typeof OpenstackCluster;

  /** @param isPreview whether outputs that no answer has are unknown, as in a preview */
  async start(isPreview = false): Promise<void> {
    await pulumi.runtime.setMocks(
      {
        call: ({ token, inputs }) =>
          token === "pulumi:pulumi:readStackResourceOutputs"
            ? { outputs: this.existing }
            : (inputs as Record<string, unknown>),
        newResource: ({ name, inputs, type }) => {
          const known = this.registered.find((resource) => resource.name === name && resource.type === type);
          if (known) known.inputs = inputs as Record<string, unknown>;
          const index = this.registered.filter((resource) => resource.type === type).length;
          const outputs = this.leftOut.some((kind) => type.endsWith(`:${kind}`)) ? {} : outputsOf(index);
          return { id: `${name}-id`, state: { ...outputs, ...(inputs as object) } };
        },
      },
      "foresail",
      "test",
      isPreview,
      "organization",
    );
    const { OpenstackCluster } = await import("../../../../components/openstack/openstack-cluster.js");
    this.component = OpenstackCluster;
  }

  /** Forgets what was registered. */
  forget(): void {
    this.registered = [];
  }

  /** Makes the cluster, and waits until all of it is registered. */
  async make(options: MakeOptions = {}) {
    const made = this.begin(options);
    await promised(made.nodes);
    await promised(made.remaining);
    await promised(pulumi.output(made.servers));
    await promised(pulumi.output(made.kubeconfig));
    // what waits for all of the cluster comes last
    await new Promise((resolve) => setImmediate(resolve));
    return made;
  }

  /** Makes the cluster, of which a preview does not know all. */
  begin({ existing = {}, leftOut = [], providers = [], ...over }: MakeOptions = {}) {
    this.existing = existing;
    this.leftOut = leftOut;
    const spy: pulumi.ResourceTransformation = ({ name, type, opts }) => {
      this.registered.push({ name, type, inputs: {}, options: opts });
      return undefined;
    };
    assert.ok(this.component);
    return new this.component(
      "demo",
      {
        cloud: "eu1",
        network: { cidr: "10.20.0.0/24", dnsNameservers: [], externalNetwork: "public" },
        keypair: { publicKey: KEY },
        pools: [pool("cp"), pool("w", { replicas: 2 })],
        access: { ssh: ["198.51.100.0/24"], api: ["198.51.100.0/24"], nodePorts: [] },
        cloudProvider: { enabled: false },
        cluster: { version: "1.36.3", network: { plugin: { flannel: {} } }, ssh: { privateKey: "KEY" } },
        ...over,
      },
      { transformations: [spy], providers },
    );
  }

  of(type: string): Registered[] {
    return this.registered.filter((resource) => resource.type.endsWith(`:${type}`));
  }

  names(type: string): string[] {
    return this.of(type).map(({ name }) => name);
  }

  only(type: string): Registered {
    const [first, ...more] = this.of(type);
    assert.ok(first && more.length === 0, `${type}: ${this.names(type).join(", ")}`);
    return first;
  }

  /** The state after a run with these arguments, all Nodes joined. */
  stateOf(): StateResources {
    const nodes = this.of("Instance").map(({ inputs }) => ({ name: inputs.name }));
    const types = ["openstack:compute/instance:Instance", "openstack:networking/port:Port"];
    const servers = types.flatMap((type) =>
      this.of(type.split(":").at(-1)!).map(({ name, inputs }): [string, StateResources[string]] => [
        `urn:pulumi:test::foresail::x$${type}::${name}`,
        { type, outputs: inputs },
      ]),
    );
    const group = { type: "pulumi-nodejs:dynamic/foresail:NodeGroup", outputs: { nodes } };
    return Object.fromEntries([...servers, ["urn:pulumi:test::foresail::x$y::demo-control-plane", group]]);
  }
}

/** What only the cloud and the handlers know. */
function outputsOf(index: number): object {
  return {
    allFixedIps: [`10.20.0.${10 + index}`],
    address: `192.0.2.${10 + index}`,
    vipAddress: "10.20.0.9",
    vipPortId: "vip-port",
    secret: "application-credential-secret",
    nodes: [],
    hostKey: KEY,
    mark: "0123456789ab",
    healthy: "cp-1",
    admin: { certificateAuthority: "Q0E=", clientCertificate: "Q0M=", clientKey: "S0VZ" },
    found: {
      images: { debian: "image-id" },
      flavors: { m1: "flavor-id" },
      externalNetworkId: "external-id",
      authUrl: "http://127.0.0.1:5000/v3",
      region: "one",
    },
  };
}
