import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../../lib/pulumi/dynamic-resource";
import { UNKNOWN } from "../../../../lib/unknown";

interface PoolInputs {
  __provider: string;
  name: string;
  machines: { name: string; port: number; role: "server" | "agent" }[];
  endpoint: { local: { port: number } } | { host: string };
  labels?: Record<string, string>;
  token: string;
  /** Set by check. */
  found?: string;
  steps?: string[];
}

interface PoolOutputs extends PoolInputs {
  address: string;
}

type PoolArgs = ResourceArgs<PoolInputs, "found">;

class Pool extends DynamicResource<PoolOutputs> {
  declare readonly address: pulumi.Output<string>;

  constructor(args: PoolArgs, opts?: pulumi.CustomResourceOptions) {
    super("test/Pool", "pool", args, { outputs: ["address"], secrets: ["token"] }, opts);
  }
}

/** Known at compile time only: each accepted or refused argument is checked by the compiler. */
function typeOf(args: PoolArgs): PoolArgs {
  return args;
}

describe("the arguments of a dynamic resource", () => {
  const plain: PoolArgs = {
    name: "a",
    machines: [{ name: "m-1", port: 22, role: "agent" }],
    endpoint: { local: { port: 8443 } },
    token: "s3cret",
  };

  it("accept values, and Outputs of values and of any part", () => {
    typeOf({
      ...plain,
      name: pulumi.output("a"),
      machines: [{ name: pulumi.output("m-1"), port: Promise.resolve(22), role: "agent" }],
      endpoint: pulumi.output<PoolInputs["endpoint"]>({ host: "192.0.2.1" }),
      labels: { zone: pulumi.output("a") },
    });
    typeOf({ ...plain, machines: pulumi.output<PoolInputs["machines"]>([]) });
  });

  it("are the handlers' inputs, without those that the check computes", () => {
    // @ts-expect-error -- a required input is missing
    typeOf({ name: "a", machines: [], endpoint: { host: "192.0.2.1" } });
    // @ts-expect-error -- the handlers have no such input
    typeOf({ ...plain, nmae: "a" });
    // @ts-expect-error -- the type of a nested field differs
    typeOf({ ...plain, machines: [{ name: "m-1", port: "22", role: "agent" }] });
    // @ts-expect-error -- not one of the literals
    typeOf({ ...plain, machines: [{ name: "m-1", port: 22, role: "worker" }] });
    // @ts-expect-error -- the Output's value has another type
    typeOf({ ...plain, name: pulumi.output(1) });
    // @ts-expect-error -- set by check
    typeOf({ ...plain, steps: ["join m-1"] });
    // @ts-expect-error -- set by check
    typeOf({ ...plain, found: "a" });
  });

  it("reach the engine with the line that names the handlers, and with the names of secret properties", async () => {
    await pulumi.runtime.setMocks({
      newResource: ({ name, inputs }) => ({
        id: name,
        state: { ...(inputs as object), address: "192.0.2.9" },
      }),
      call: () => ({}),
    });
    const registered: pulumi.ResourceTransformationArgs[] = [];
    const transformations = [(args: pulumi.ResourceTransformationArgs) => void registered.push(args)];
    const pool = new Pool(plain, { additionalSecretOutputs: ["address"], transformations });
    assert.equal(await new Promise((resolve) => pool.address.apply(resolve)), "192.0.2.9");
    assert.deepEqual(
      registered.map(({ type, props, opts }) => ({
        type,
        props: props,
        secrets: (opts as pulumi.CustomResourceOptions).additionalSecretOutputs,
      })),
      [
        {
          type: "pulumi-nodejs:dynamic/foresail:Pool",
          props: {
            address: undefined,
            ...plain,
            __provider: 'exports.handler=()=>require("foresail/handlers").handlers["test/Pool"]',
          },
          secrets: ["token", "address"],
        },
      ],
    );
  });
});

describe("an unknown value", () => {
  it("has the placeholder of Pulumi's own runtime", async () => {
    const { unknownValue } = (await import("@pulumi/pulumi/runtime/rpc.js")) as { unknownValue: string };
    assert.equal(UNKNOWN, unknownValue);
  });
});
