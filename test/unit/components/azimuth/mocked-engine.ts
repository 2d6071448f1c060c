import * as pulumi from "@pulumi/pulumi";
import { tunnelValues } from "../../../../providers/azimuth/plan/zenith-values";

/** A kubeconfig of a management cluster. */
export const KUBECONFIG = "{contexts: [{name: management}]}";

export interface Registered {
  /** Types of its parents and its own, and its name: the part of the URN that identifies it. */
  urn: string;
  inputs: Record<string, unknown>;
  options: pulumi.CustomResourceOptions;
}

interface Spied {
  resource: pulumi.Resource;
  name: string;
  options: pulumi.CustomResourceOptions;
}

const keySetting = (tunnelValues({ host: "", port: 0 }).zenithClient as { sshPrivateKeyData: string })
  .sshPrivateKeyData;

/** What the chart zenith-apiserver renders. */
const TUNNEL = [
  { kind: "Pod", metadata: { name: "zenith-apiserver" } },
  { kind: "Secret", stringData: { "client-apiserver.yaml": `ssh_private_key_data: ${keySetting}\n` } },
];

/** Outputs by the end of a resource's name, as the operators of a management cluster answer. */
const OUTPUTS: Record<string, object> = {
  template: { values: { values: { kubernetesVersion: "1.36.3", nodeGroups: [{ machineFlavor: "gpu" }] } } },
  realm: {
    object: { name: "az-demo" },
    values: { status: { phase: "Ready", platformUsersGroup: "/platform-users" } },
  },
  "oidc-client": { values: { clientId: "kube-demo", issuerUrl: "https://issuer.example" } },
  platform: { values: { rootGroup: "/az-demo/kube-demo" } },
  lease: { values: { status: { sizeNameMap: { gpu: "reserved-1", "vm.small": "reserved-2" } } } },
  ready: { phase: "Ready", clusterKubeconfig: "ITS" },
  "zenith-key": { fqdn: "abc.apps.example", subdomain: "abc", privateKey: "KEY", publicKey: "ssh-ed25519 A" },
};

/** The SDK on mocks of the engine, and what a program registers there. */
export class MockedEngine {
  /** Ends of names of resources that `--target` leaves out: the engine answers without outputs. */
  leftOut: readonly string[] = [];
  /** Options of the charts that were rendered, as JSON. */
  readonly rendered: string[] = [];
  private spied: Spied[] = [];
  private readonly inputs = new Map<string, Record<string, unknown>>();

  async start(): Promise<void> {
    await pulumi.runtime.setMocks(
      {
        call: ({ token, inputs }) => {
          if (token !== "kubernetes:helm:template") return { outputs: {} };
          this.rendered.push((inputs as { jsonOpts: string }).jsonOpts);
          return { result: TUNNEL };
        },
        newResource: ({ name, type, inputs }) => {
          this.inputs.set(`${type}::${name}`, inputs as Record<string, unknown>);
          if (this.leftOut.some((end) => name.endsWith(end))) return { id: "", state: {} };
          const known = Object.entries(OUTPUTS).find(([end]) => name.endsWith(end))?.[1] ?? {};
          return { id: `${name}-id`, state: { uid: "uid-1", ...(inputs as object), ...known } };
        },
      },
      "project",
      "stack",
      false,
      "organization",
    );
  }

  /** Runs a part of a program and returns what it registered, in order. */
  async run(program: (opts: pulumi.ComponentResourceOptions) => unknown): Promise<Registered[]> {
    this.spied = [];
    this.inputs.clear();
    const spy: pulumi.ResourceTransformation = ({ resource, name, props, opts }) => {
      this.spied.push({ resource, name, options: opts });
      // the mocks have no server for transforms
      const { transforms: _, ...others } = opts;
      return { props: props, opts: others };
    };
    program({ transformations: [spy] });
    let known = -1;
    // inputs that wait for another resource's outputs register late
    while (known !== this.spied.length) {
      known = this.spied.length;
      await Promise.all(this.spied.map(({ resource }) => promised(resource.urn)));
    }
    return Promise.all(
      this.spied.map(async ({ resource, name, options }) => {
        const urn = (await promised(resource.urn)).split("::").slice(2).join("::");
        const type = urn.split("::")[0]?.split("$").at(-1) ?? "";
        return { urn, inputs: this.inputs.get(`${type}::${name}`) ?? {}, options };
      }),
    );
  }
}

export const promised = <T>(output: pulumi.Output<T>): Promise<T> =>
  new Promise((resolve) => output.apply(resolve));
